"""Analytics: computations on a graph that can be found by name and told their arguments.

An analytic becomes a dataflow in two steps. `bind` checks what a user passes and says which vertices and edge
properties are needed; `build` gets the graph as collections, and a way to number the vertices.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self, get_type_hints

from graphtide.analytics.parameter import Parameter, ParameterKind
from graphtide.dataflow.collection import Collection
from graphtide.errors import PlanError, UsageError
from graphtide.rows import INT, did_you_mean
from graphtide.rows.misfit import shown

__all__ = ["Analytic", "AnalyticGraph", "BoundAnalytic"]


@dataclass(frozen=True, slots=True)
class AnalyticGraph:
    """A graph as an analytic sees it: collections that change, and may become empty.

    - `nodes` has the column `node`, each node once. Vertices are ints from 0 on, which sort as the users' ids do.
    - `edges` has `src`, `dst`, and a column for each edge property that was asked for, called like the parameter
      and never None. Parallel edges are rows of their own, or one row with a multiplicity; an edge may be
      a loop. Both ends of an edge are among the nodes; a node need not have an edge.
    """

    nodes: Collection
    edges: Collection


@dataclass(frozen=True, slots=True)
class Analytic:
    """A function `f(graph, **parameters)` that gives a collection whose first column is a vertex.

    `vertex_columns` are the further columns that hold vertices: they are shown as the users' ids, as is the first.
    """

    name: str
    function: Callable[..., Collection]
    parameters: tuple[Parameter, ...]
    vertex_columns: tuple[str, ...] = ()

    @classmethod
    def of(cls, function: Callable[..., Collection], vertex_columns: Iterable[str] = ()) -> Self:
        """The analytic that a function is, by its name, its annotations and its defaults."""
        name = getattr(function, "__name__", "")
        if not name.isidentifier():
            raise UsageError(f"{shown(function)} has no name to be found by", hint="define it with def")
        try:
            parameters = tuple(_declared(function))
        except UsageError as error:
            raise UsageError(f'analytic "{name}": {error.message}', hint=error.hint) from None
        return cls(name, function, parameters, tuple(vertex_columns))

    @property
    def description(self) -> str:
        """What it finds: the first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def signature(self) -> str:
        """How it is called, such as `sssp(source: vertex, weight: edge property)`."""
        return _called(self.name, map(str, self.parameters))

    def bind(self, arguments: Mapping[str, Any]) -> BoundAnalytic:
        """The analytic with its arguments, or a `UsageError` that says what is wrong with them."""
        given = {name: self.accepted(name, value) for name, value in arguments.items()}
        for parameter in self.parameters:
            if parameter.required and parameter.name not in given:
                raise UsageError(f'{self.name} needs "{parameter.name}"', hint=f"it is {self.signature}")
        bound = {each.name: given.get(each.name, each.default) for each in self.parameters}
        return BoundAnalytic(self, bound)

    def accepted(self, name: str, value: Any) -> Any:
        """What is passed for a parameter as the function gets it, or a `UsageError` that says what is wrong with it."""
        known = {each.name: each for each in self.parameters}
        if name not in known:
            hint = did_you_mean(name, known) if known else f"{self.name} takes no arguments"
            raise UsageError(f'{self.name} has no parameter "{name}"', hint=f"{hint}; it is {self.signature}")
        try:
            return known[name].accepted(value)
        except UsageError as error:
            raise UsageError(f"{self.name}: {error.message}", hint=f"it is {self.signature}") from None


@dataclass(frozen=True, slots=True)
class BoundAnalytic:
    """An analytic with all its arguments, ready to be built into a dataflow."""

    analytic: Analytic
    arguments: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The analytic's."""
        return self.analytic.name

    @property
    def vertex_columns(self) -> tuple[str, ...]:
        """The analytic's."""
        return self.analytic.vertex_columns

    @property
    def vertices(self) -> tuple[Any, ...]:
        """The users' ids that the arguments name, each once."""
        ids = (id_ for each in self.analytic.parameters for id_ in each.vertices(self.arguments[each.name]))
        return tuple(dict.fromkeys(ids))

    @property
    def edge_properties(self) -> dict[str, str]:
        """The edge properties that the arguments name, by the parameters whose columns they become."""
        return {
            each.name: self.arguments[each.name]
            for each in self.analytic.parameters
            if each.kind is ParameterKind.EDGE_PROPERTY and self.arguments[each.name] is not None
        }

    def build(self, graph: AnalyticGraph, number_of: Callable[[Any], int | None]) -> Collection:
        """What the analytic makes of a graph; `number_of` gives a user's id its vertex, or None if it has none."""
        assert all(name in graph.edges.schema for name in self.edge_properties), "the columns that were asked for"
        numbers: dict[Any, int] = {}
        for id_ in self.vertices:
            number = number_of(id_)
            if number is None:
                raise UsageError(
                    f"{self}: there is no vertex {shown(id_)}", hint="name a vertex of the graph by its id"
                )
            numbers[id_] = number
        arguments = {p.name: p.numbered(self.arguments[p.name], numbers) for p in self.analytic.parameters}
        result: object = self.analytic.function(graph, **arguments)
        return _with_vertices(result, self.analytic)

    def __str__(self) -> str:
        given = ((each, self.arguments[each.name]) for each in self.analytic.parameters)
        shown_ones = (f"{each.name} = {each.written(value)}" for each, value in given if value is not None)
        return _called(self.name, shown_ones)


def _declared(function: Callable[..., Any]) -> Iterator[Parameter]:
    """The parameters of a function behind its first, which is the graph."""
    try:
        hints = get_type_hints(function)
    except NameError as error:
        raise UsageError(str(error), hint="import what annotations name, and not for type checking alone") from error
    declared = [*inspect.signature(function).parameters.values()]
    if not declared:
        raise UsageError("it takes no graph", hint="let its first parameter be one")
    for each in declared[1:]:
        if each.kind not in {each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY}:
            raise UsageError(f'parameter "{each}" cannot be passed by name', hint="declare each parameter by itself")
        if each.name not in hints:
            raise UsageError(f'parameter "{each.name}" has no type', hint=f"annotate it, as in {each.name}: int")
        default = () if each.default is each.empty else (each.default,)
        yield Parameter.of(each.name, hints[each.name], *default)


def _called(name: str, parts: Iterable[str]) -> str:
    inside = ", ".join(parts)
    return f"{name}({inside})" if inside else name


def _with_vertices(result: object, analytic: Analytic) -> Collection:
    """What an analytic's function gave, if it is what it must be."""
    if not isinstance(result, Collection):
        raise PlanError(f'analytic "{analytic.name}" gave {shown(result)}', hint="return a collection from it")
    schema = result.schema
    for column in (*schema.names[:1], *analytic.vertex_columns):
        if schema[column] != INT:
            raise PlanError(
                f'analytic "{analytic.name}" gave {schema}, where "{column}" is no vertex',
                hint="the first column is a vertex, and so are those that vertices=... names",
            )
    return result
