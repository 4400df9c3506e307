"""`register query` bound to a catalogue: the graph is there, and what the question names fits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from graphtide.errors import StatementError
from graphtide.frontier.pattern import automaton, where_unreadable
from graphtide.graph.schema import PropertyType
from graphtide.gvdl import syntax
from graphtide.gvdl.bound import BoundQuery, Catalogue
from graphtide.gvdl.predicate import EdgeProperty
from graphtide.gvdl.scope import Scope
from graphtide.text import Span, error_at, hint_at_nearest

__all__ = ["bind_query"]

_NUMBERS: Final = (PropertyType.INT, PropertyType.FLOAT)
_OF_PAGERANK: Final = {"rounds": (PropertyType.INT,), "damping": _NUMBERS}
_LABEL: Final = "label"  # what the property with the labels is called unless the statement says otherwise


def bind_query(statement: syntax.RegisterQuery, catalogue: Catalogue, text: str) -> BoundQuery:
    """What a statement of a text asks for, with properties by their exact names."""
    graph = _graph(statement.on, catalogue, text)
    scope = Scope(text, graph, catalogue.schema(graph))
    return BoundQuery(statement.name.text, graph, _question(statement.question, scope))


def _graph(name: syntax.Name, catalogue: Catalogue, text: str) -> str:
    if name.text in catalogue.graphs():
        return name.text
    if name.text in catalogue.views():
        base = catalogue.view(name.text).graph
        message = f'"{name.text}" is a view, and queries are registered on graphs'
        raise error_at(text, name.span, message, hint=f'register it on "{base}"')
    if name.text in catalogue.collections():
        message = f'"{name.text}" is a view collection, and queries are registered on graphs'
        raise error_at(text, name.span, message, hint="run a computation on its views: run wcc on ...")
    hint = hint_at_nearest(name.text, catalogue.graphs(), "graphs")
    raise error_at(text, name.span, f'there is no graph "{name.text}"', hint)


def _question(question: syntax.Question, scope: Scope) -> syntax.Question:
    match question:
        case syntax.ShortestPath(source, target, weight):
            _check_ids((source, target), scope)
            return replace(question, weight=_weight(weight, scope))
        case syntax.ShortestPaths(source, weight):
            _check_ids((source,), scope)
            return replace(question, weight=_weight(weight, scope))
        case syntax.KHop(_, source):
            _check_ids((source,), scope)
            return question
        case syntax.PathPattern(pattern, sources, label):
            _check_ids(sources, scope)
            _check_pattern(pattern, scope)
            return replace(question, label=_label(label, pattern.span, scope))
        case syntax.PageRank(arguments):
            for each in arguments:
                _check_argument(each, scope)
            return question
        case syntax.Components():
            return question


def _check_ids(ids: Sequence[syntax.Literal], scope: Scope) -> None:
    wanted = scope.schema.id_type
    for each in ids:
        if each.type is not wanted:
            is_text = wanted is PropertyType.STRING
            hint = f"write '{each.value}'" if is_text else "write an int, without quotes"
            kind = "strings" if is_text else "ints"
            raise scope.error(each.span, f'the ids of graph "{scope.graph}" are {kind}', hint)


def _weight(name: syntax.Name | None, scope: Scope) -> syntax.Name | None:
    return None if name is None else _edge_property(name, _NUMBERS, "a number", scope)


def _label(name: syntax.Name | None, pattern: Span, scope: Scope) -> syntax.Name:
    if name is not None:
        return _edge_property(name, (PropertyType.STRING,), "a string", scope)
    if scope.schema.edge(_LABEL) is None:
        known = [each.name for each in scope.schema.edges if each.type is PropertyType.STRING]
        hint = f"say which one has the labels: label {known[0]}" if known else "no edge property is a string"
        raise scope.error(pattern, f'edges of graph "{scope.graph}" have no property "{_LABEL}"', hint)
    return _edge_property(syntax.Name(_LABEL, span=pattern), (PropertyType.STRING,), "a string", scope)


def _edge_property(name: syntax.Name, types: Sequence[PropertyType], wanted: str, scope: Scope) -> syntax.Name:
    """The name of an edge property as it is spelt, if it has one of these types."""
    found = scope.property(syntax.Property(name.text, span=name.span))
    if not isinstance(found, EdgeProperty):
        hint = hint_at_nearest(name.text, [each.name for each in scope.schema.edges], "edge properties")
        raise scope.error(name.span, f'"{name.text}" is the number of an edge, not a property', hint)
    if found.type not in types:
        fitting = [each.name for each in scope.schema.edges if each.type in types]
        hint = f"{wanted} is {', '.join(fitting)}" if fitting else f"no edge property is {wanted}"
        raise scope.error(name.span, f'edge property "{found.name}" is of type {found.type}, not {wanted}', hint)
    return syntax.Name(found.name, span=name.span)


def _check_pattern(pattern: syntax.Literal, scope: Scope) -> None:
    """Point into the string, in which a quote is written twice."""
    written = str(pattern.value)
    unreadable = where_unreadable(written)
    if unreadable is not None:
        at, message = unreadable
        place = pattern.span.start + 1 + at + written[:at].count("'")
        raise scope.error(Span(place, place + 1), message, "for example: 'knows likes* | (^wrote wrote)+'")
    try:
        automaton(written)
    except StatementError as error:
        raise scope.error(pattern.span, error.message, error.hint or "shorten it") from None


def _check_argument(argument: syntax.Argument, scope: Scope) -> None:
    name, value = argument.name, argument.value
    if name.text not in _OF_PAGERANK:
        hint = hint_at_nearest(name.text, _OF_PAGERANK, "parameters")
        raise scope.error(name.span, f'pagerank has no parameter "{name.text}"', hint)
    if not isinstance(value, syntax.Literal) or value.type not in _OF_PAGERANK[name.text]:
        wanted = "an int" if name.text == "rounds" else "a number"
        raise scope.error(value.span, f'"{name.text}" of pagerank is {wanted}', "for example: pagerank(rounds = 10)")
