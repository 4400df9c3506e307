"""The vertices that a batch brought and those that it took away.

A vertex that is removed leaves its number behind, without edges, for the next new vertex. So whatever is kept by number
follows a removal as it follows the loss of edges, and takes no more room than the most vertices that there ever were.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphtide.errors import CatalogueError
from graphtide.rows.codes import Codes

if TYPE_CHECKING:
    from graphtide.frontier.edges import Edges
    from graphtide.frontier.query import Query

__all__ = ["NOBODY", "Turnover", "check_unused", "gone_if_refused"]

NOBODY: Codes = np.zeros(0, np.int64)


class Turnover(NamedTuple):
    """Numbers of vertices; none came and went with one batch."""

    known: int = 0  # so many numbers were there before
    came: Codes = NOBODY  # those that were not there, and those that stand for other vertices now
    went: Codes = NOBODY


@contextmanager
def gone_if_refused(edges: Edges, remove: Callable[[Codes], object]) -> Generator[None]:
    """Let vertices that come in the block, as those that a query speaks of do, be removed again if it fails."""
    before = edges.are_there()
    try:
        yield
    except BaseException:
        came = edges.are_there()
        came[: len(before)] &= ~before
        if came.any():
            remove(np.flatnonzero(came))
        raise


def check_unused(edges: Edges, queries: Iterable[Query], vertices: Codes) -> None:
    """Raise if a query begins or ends at one of the vertices, which are about to be removed."""
    for query in queries:
        used = np.intersect1d(query.ends(), vertices)
        if len(used):
            vertex = edges.ids_of(used[:1]).to_pylist()[0]
            raise CatalogueError(
                f'cannot remove vertex {vertex!r}: query "{query.name}" begins or ends there',
                hint="drop the query first; nothing was applied",
            )
