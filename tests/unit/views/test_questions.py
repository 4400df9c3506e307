"""`register query`: how it is read, what it means for a graph, and what is wrong with one that fits no graph."""

from __future__ import annotations

import re
from typing import Any

import pytest

from graphtide.errors import StatementError
from graphtide.graph.schema import GraphSchema, Property, PropertyType
from graphtide.gvdl import BoundQuery, BoundView, parse, show, syntax
from graphtide.gvdl.predicate import ALL
from graphtide.gvdl.syntax import (
    Argument,
    Components,
    Explain,
    KHop,
    Literal,
    Name,
    PageRank,
    PathPattern,
    Question,
    RegisterQuery,
    ShortestPath,
    ShortestPaths,
)
from graphtide.views.questions import bind_query

INT, FLOAT, STRING = PropertyType.INT, PropertyType.FLOAT, PropertyType.STRING


class Catalogue:
    """A graph of calls between numbers, one of roads between names, a view and a view collection."""

    def graphs(self) -> list[str]:
        return ["Calls", "Roads"]

    def views(self) -> list[str]:
        return ["Late"]

    def collections(self) -> list[str]:
        return ["by_year"]

    def schema(self, graph: str) -> GraphSchema:
        calls = {"duration": INT, "Cost": FLOAT, "kind": STRING, "paid": PropertyType.BOOL}
        roads = {"length": FLOAT, "label": STRING}
        edges = calls if graph == "Calls" else roads
        id_type = INT if graph == "Calls" else STRING
        return GraphSchema(id_type, (Property("state", STRING),), tuple(Property(*each) for each in edges.items()))

    def view(self, name: str) -> BoundView:
        return BoundView(name, "Calls", ALL)


def number(value: float) -> Literal:
    return Literal(value, INT if isinstance(value, int) else FLOAT)


def string(value: str) -> Literal:
    return Literal(value, STRING)


def bound(rest: str) -> BoundQuery:
    text = f"register query q as {rest}"
    (statement,) = parse(text)
    assert isinstance(statement, RegisterQuery)
    return bind_query(statement, Catalogue(), text)


@pytest.mark.parametrize(
    ("rest", "question", "on"),
    [
        (
            "shortest path from 17 to 42 on Calls weight duration",
            ShortestPath(number(17), number(42), Name("duration")),
            "Calls",
        ),
        ("shortest path from 'a' to 'b' on Roads", ShortestPath(string("a"), string("b")), "Roads"),
        ("shortest paths from -17 on Calls", ShortestPaths(number(-17)), "Calls"),
        ("3 hop from 17 on Calls", KHop(number(3), number(17)), "Calls"),
        (
            "path 'knows likes*' from 17, 18 on Calls label kind",
            PathPattern(string("knows likes*"), (number(17), number(18)), Name("kind")),
            "Calls",
        ),
        ("path '''it''''s''' on Roads", PathPattern(string("'it''s'")), "Roads"),
        ("components on path", Components(), "path"),
        ("pagerank on Calls", PageRank(), "Calls"),
        (
            "pagerank(rounds = 5, damping = 0.9) on Calls",
            PageRank((Argument(Name("rounds"), number(5)), Argument(Name("damping"), number(0.9)))),
            "Calls",
        ),
    ],
)
def test_every_question_is_read(rest: str, question: Question, on: str) -> None:
    text = f"register query q as {rest}"
    statement = RegisterQuery(Name("q"), question, Name(on))
    assert parse(f"{text}; explain {text}") == (statement, Explain(statement))
    assert show(statement) == text


def test_there_is_more_than_one_way_to_say_it() -> None:
    assert parse("REGISTER QUERY query AS 3 Hops FROM 1 ON weight") == (
        RegisterQuery(Name("query"), KHop(number(3), number(1)), Name("weight")),
    )
    assert parse("register query wcc as wcc on wcc") == parse("register query wcc as components on wcc")
    assert parse("show queries; drop query path") == (syntax.Show("queries"), syntax.Drop("query", Name("path")))


def test_properties_are_named_as_the_graph_spells_them() -> None:
    assert bound("shortest paths from 1 on Calls weight cost").question == ShortestPaths(number(1), Name("Cost"))
    assert bound("path 'a' on Roads").question == PathPattern(string("a"), (), Name("label"))
    assert bound("components on Calls") == BoundQuery("q", "Calls", Components())


@pytest.mark.parametrize(
    ("rest", "underlined", "message", "hint"),
    [
        ("shortest paths from 1 on Cals", "Cals", 'there is no graph "Cals"', 'did you mean "Calls"?'),
        (
            "components on Late",
            "Late",
            '"Late" is a view, and queries are registered on graphs',
            'register it on "Calls"',
        ),
        (
            "components on by_year",
            "by_year",
            '"by_year" is a view collection, and queries are registered on graphs',
            "run a computation on its views: run wcc on ...",
        ),
        ("3 hop from 'a' on Calls", "'a'", 'the ids of graph "Calls" are ints', "write an int, without quotes"),
        ("shortest path from 'a' to 7 on Roads", "7", 'the ids of graph "Roads" are strings', "write '7'"),
        (
            "shortest paths from 1 on Calls weight durations",
            "durations",
            'edge property "durations" does not exist in graph "Calls"',
            'did you mean "duration"?',
        ),
        (
            "shortest paths from 1 on Calls weight kind",
            "kind",
            'edge property "kind" is of type string, not a number',
            "a number is duration, Cost",
        ),
        (
            "shortest paths from 1 on Calls weight id",
            "id",
            '"id" is the number of an edge, not a property',
            'did you mean "paid"?',
        ),
        (
            "path 'a' on Calls label paid",
            "paid",
            'edge property "paid" is of type bool, not a string',
            "a string is kind",
        ),
        (
            "path 'a b' from 1 on Calls",
            "'a b'",
            'edges of graph "Calls" have no property "label"',
            "say which one has the labels: label kind",
        ),
        (
            "path '''it''''s'' )' from 1 on Calls label kind",
            ")",
            'a label or a group cannot be read at ")"',
            "for example: 'knows likes* | (^wrote wrote)+'",
        ),
        (
            f"path '{'a ' * 70}' on Roads",
            None,
            "a pattern of 70 labels is too long",
            "use fewer than 64",
        ),
        ("pagerank(round = 1) on Calls", "round", 'pagerank has no parameter "round"', 'did you mean "rounds"?'),
        (
            "pagerank(rounds = 1.5) on Calls",
            "1.5",
            '"rounds" of pagerank is an int',
            "for example: pagerank(rounds = 10)",
        ),
        ("shortest from 1 on Calls", "from", 'expected "path" or "paths", found "from"', None),
        ("shortest path from 1 on Calls", "on", 'expected "to", found "on"', None),
        ("3 hop from on Calls", "on", 'expected an id, found "on"', None),
        ("shortest paths from 1 on Calls wieght w", "wieght", None, 'did you mean "weight"?'),
        ("shortst path from 1 to 2 on Calls", "shortst", None, 'did you mean "shortest"?'),
    ],
)
def test_a_question_that_fits_no_graph_is_pointed_at(
    rest: str, underlined: str | None, message: str | None, hint: str | None
) -> None:
    with pytest.raises(StatementError) as caught:
        bound(rest)
    first, shown, carets = caught.value.message.split("\n")
    found: Any = re.match(r"line 1, column \d+: (.*)", first)
    assert message is None or found[1] == message
    assert underlined is None or shown[carets.index("^") : len(carets)] == underlined
    assert caught.value.hint == hint
