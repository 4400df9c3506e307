"""Statements bound to a catalogue: `create view` and `create view collection` become predicates on a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice, product
from math import prod
from typing import Final, overload

from graphtide.gvdl import syntax
from graphtide.gvdl.bound import BoundCollection, BoundDimension, BoundView, Catalogue
from graphtide.gvdl.expressions import bind_condition
from graphtide.gvdl.loops import fill_in, values_of
from graphtide.gvdl.predicate import ALL, Predicate, conjunction
from graphtide.gvdl.scope import Scope
from graphtide.text import error_at, hint_at_nearest

__all__ = ["MOST_VIEWS", "bind"]

MOST_VIEWS: Final = 4096

_FEWEST_DIMENSIONS: Final = 2
_MOST_DIMENSIONS: Final = 3
_FEWER: Final = "take longer steps, or split the view collection"


@overload
def bind(statement: syntax.CreateView, catalogue: Catalogue, text: str) -> BoundView: ...
@overload
def bind(statement: syntax.CreateCollection, catalogue: Catalogue, text: str) -> BoundCollection: ...
def bind(
    statement: syntax.CreateView | syntax.CreateCollection, catalogue: Catalogue, text: str
) -> BoundView | BoundCollection:
    """What a statement of a text means, given what the catalogue holds."""
    graph, base = _base(statement.base, catalogue, text)
    scope = Scope(text, graph, catalogue.schema(graph))
    if isinstance(statement, syntax.CreateView):
        where = bind_condition(statement.where, scope)
        return BoundView(statement.name.text, graph, conjunction(base, where))
    return _collection(statement, base, scope)


def _base(name: syntax.Name, catalogue: Catalogue, text: str) -> tuple[str, Predicate]:
    """The graph under a graph or a view, and the predicate of its edges."""
    graphs, views = catalogue.graphs(), catalogue.views()
    if name.text in graphs:
        return name.text, ALL
    if name.text in views:
        view = catalogue.view(name.text)
        return view.graph, view.predicate
    if name.text in catalogue.collections():
        message = f'"{name.text}" is a view collection, not a graph or a view'
        raise error_at(text, name.span, message, hint="build on a graph, or on a view made with create view")
    hint = hint_at_nearest(name.text, [*graphs, *views], "graphs and views")
    raise error_at(text, name.span, f'there is no graph or view "{name.text}"', hint)


def _collection(statement: syntax.CreateCollection, base: Predicate, scope: Scope) -> BoundCollection:
    name, order = statement.name.text, statement.order or "auto"
    if statement.views is not None:
        return BoundCollection(name, scope.graph, _views(statement.views, base, scope), (), order)
    dimensions = _dimensions(statement, base, scope)
    sizes = [len(each.views) for each in dimensions]
    if prod(sizes) > MOST_VIEWS:
        message = f"{' x '.join(map(str, sizes))} views are more than {MOST_VIEWS}"
        raise scope.error(statement.name.span, message, hint=_FEWER)
    cells = tuple(_cell(scope.graph, views) for views in product(*(each.views for each in dimensions)))
    repeated = _first_repeated([cell.name for cell in cells])
    if repeated is not None:
        message = f'two cells of the product are called "{cells[repeated].name}"'
        raise scope.error(statement.name.span, message, hint="rename the views of a dimension")
    return BoundCollection(name, scope.graph, cells, dimensions, order)


def _views(views: syntax.Views, base: Predicate, scope: Scope) -> tuple[BoundView, ...]:
    loop, scopes = views.loop, [scope]
    if loop is not None:
        values = islice(values_of(loop, scope), MOST_VIEWS + 1)
        scopes = [replace(scope, variables={loop.variable.text: value}) for value in values]
    if len(scopes) * len(views.definitions) > MOST_VIEWS:
        place = views if loop is None else loop
        raise scope.error(place.span, f"these are more than {MOST_VIEWS} views", hint=_FEWER)
    pairs = list(product(scopes, views.definitions))
    names = [fill_in(definition.name, each) for each, definition in pairs]
    repeated = _first_repeated(names)
    if repeated is not None:
        _, definition = pairs[repeated]
        hint = "rename one of them"
        if loop is not None and names[repeated] == definition.name.text:
            hint = f"put ${loop.variable.text} into it"
        raise scope.error(definition.name.span, f'two views are called "{names[repeated]}"', hint)
    conditions = (bind_condition(definition.where, each) for each, definition in pairs)
    return tuple(
        BoundView(name, scope.graph, conjunction(base, condition))
        for name, condition in zip(names, conditions, strict=True)
    )


def _dimensions(statement: syntax.CreateCollection, base: Predicate, scope: Scope) -> tuple[BoundDimension, ...]:
    dimensions = statement.dimensions
    if not _FEWEST_DIMENSIONS <= len(dimensions) <= _MOST_DIMENSIONS:
        place = dimensions[0] if len(dimensions) < _FEWEST_DIMENSIONS else dimensions[_MOST_DIMENSIONS]
        message = f"a product has two or three dimensions, not {len(dimensions)}"
        raise scope.error(place.name.span, message, hint="views in a row need no dimension: leave the word out")
    repeated = _first_repeated([each.name.text for each in dimensions])
    if repeated is not None:
        name = dimensions[repeated].name
        raise scope.error(name.span, f'two dimensions are called "{name.text}"', hint="rename one of them")
    # The edges of the base need asking once, so it goes into the first dimension alone.
    bases = [base, *[ALL] * (len(dimensions) - 1)]
    return tuple(
        BoundDimension(each.name.text, _views(each.views, under, scope))
        for each, under in zip(dimensions, bases, strict=True)
    )


def _cell(graph: str, views: Sequence[BoundView]) -> BoundView:
    name = "_".join(view.name for view in views)
    return BoundView(name, graph, reduce(conjunction, (view.predicate for view in views)))


def _first_repeated(names: Sequence[str]) -> int | None:
    """The place of the first name that stands in front of it too."""
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            return i
        seen.add(name)
    return None
