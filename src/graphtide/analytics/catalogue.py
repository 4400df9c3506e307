"""The analytics that can be run, by their names: those that come with the package, and users' own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar, overload

from graphtide.analytics.analytic import Analytic
from graphtide.dataflow.collection import Collection
from graphtide.errors import CatalogueError
from graphtide.rows import did_you_mean

__all__ = ["analytic", "find", "names"]

F = TypeVar("F", bound=Callable[..., Collection])

_ANALYTICS: Final[dict[str, Analytic]] = {}


@overload
def analytic(function: F, /) -> F: ...
@overload
def analytic(*, vertices: Iterable[str] = (), replace: bool = False) -> Callable[[F], F]: ...
def analytic(
    function: F | None = None, /, *, vertices: Iterable[str] = (), replace: bool = False
) -> F | Callable[[F], F]:
    """Enter a function into the catalogue under its name; it stays the function it is.

    It takes an `AnalyticGraph`, and parameters whose annotations say what users pass for them: `Vertex`,
    `VertexPairs`, `EdgeProperty`, int, float, bool or str, or one of these `| None`. The first column of what it gives
    is a vertex; `vertices` names further columns that hold some. An edge property is a column of `graph.edges` and may
    have any type: string, bool, date and timestamp too. Only with `replace` may the name be taken.

        @analytic
        def followers(graph: AnalyticGraph, of: Vertex) -> Collection:
            return graph.edges.where(col("dst") == of).select(vertex="src").distinct()
    """

    def enter(entered: F) -> F:
        made = Analytic.of(entered, vertices)
        if made.name in _ANALYTICS and not replace:
            raise CatalogueError(
                f'there already is a computation "{made.name}"',
                hint="give this one another name, or write @analytic(replace=True)",
            )
        _ANALYTICS[made.name] = made
        return entered

    return enter if function is None else enter(function)


def find(name: str) -> Analytic:
    """The analytic of a name.

    >>> find("sssp").signature
    'sssp(source: vertex, weight: edge property)'
    """
    if name not in _ANALYTICS:
        raise CatalogueError(f'there is no computation "{name}"', hint=did_you_mean(name, names()))
    return _ANALYTICS[name]


def names() -> list[str]:
    """The names of all analytics, sorted."""
    return sorted(_ANALYTICS)
