"""Laws of GVDL: what is shown parses to the same, and no text, however broken, is worse than a `StatementError`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import UTC, date, timedelta
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide.errors import StatementError
from graphtide.graph.schema import GraphSchema, Property, PropertyType
from graphtide.gvdl import (
    BoundCollection,
    BoundView,
    bind,
    is_complete,
    parse,
    parse_predicate,
    show,
    syntax,
)
from graphtide.gvdl.predicate import EdgeProperty, names_used
from graphtide.views.questions import bind_query

GRAMMAR = files("graphtide.gvdl").joinpath("grammar.lark").read_text()
KEYWORDS = re.findall(r"^_?[A-Z]+\.2: /([a-z]+?)(?:s\?)?(?:\\b|\()", GRAMMAR, re.MULTILINE)

# ---------------------------------------------------------------------------------------------------- syntax

words = st.sampled_from(["a", "Calls", "year", "état", "_x1", "two words", 'say "x"', "1st", "src", "it's", "$y"])
texts = words | st.sampled_from(KEYWORDS) | st.text(min_size=1, max_size=5)
names = st.builds(syntax.Name, texts)
strings = st.sampled_from(["", "n.csv", "it's", "--", "/*", ";", "$y"]) | st.text(max_size=5)
variables = st.sampled_from(["y", "month_of", "and", "état"])
instants = st.datetimes(timezones=st.just(UTC))

LITERALS = {
    PropertyType.INT: st.integers(-(2**63), 2**63 - 1),
    PropertyType.FLOAT: st.floats(allow_nan=False, allow_infinity=False),
    PropertyType.STRING: strings,
    PropertyType.BOOL: st.booleans(),
    PropertyType.DATE: st.dates(),
    PropertyType.TIMESTAMP: instants,
}
literals = st.one_of(*(st.builds(syntax.Literal, values, st.just(kind)) for kind, values in LITERALS.items()))
ints = st.builds(syntax.Literal, LITERALS[PropertyType.INT], st.just(PropertyType.INT))
dates = st.builds(syntax.Literal, LITERALS[PropertyType.DATE], st.just(PropertyType.DATE))


def several(parts: st.SearchStrategy[Any], least: int, most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(parts, min_size=least, max_size=most).map(tuple)


def larger(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(syntax.Negative, parts),
        st.builds(syntax.Arithmetic, st.sampled_from("+-*/%"), parts, parts),
        st.builds(syntax.Comparison, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), parts, parts),
        st.builds(syntax.In, parts, several(parts, 1)),
        st.builds(syntax.Between, parts, parts, parts),
        st.builds(syntax.Like, parts, strings),
        st.builds(syntax.IsNull, parts),
        st.builds(syntax.Not, parts),
        st.builds(syntax.And, several(parts, 2)),
        st.builds(syntax.Or, several(parts, 2)),
    )


properties = st.builds(syntax.Property, texts, st.none() | names)
expressions = st.recursive(literals | properties | st.builds(syntax.Variable, variables), larger, max_leaves=12)

values = st.recursive(
    literals | names,
    lambda parts: st.builds(syntax.ListValue, several(parts, 0)) | st.builds(syntax.TupleValue, several(parts, 2)),
    max_leaves=6,
)
arguments = st.lists(st.builds(syntax.Argument, names, values), max_size=3, unique_by=lambda each: each.name).map(tuple)

counts = st.integers(1, 2**63 - 1) | st.integers(-(2**63), -1)
steps = st.builds(syntax.Step, counts, st.sampled_from([None, "day", "week", "month", "year"]))
loops = st.builds(syntax.Loop, names, ints | dates, ints | dates, st.none() | steps)
definitions = st.builds(syntax.ViewDefinition, names, expressions)
views = st.builds(syntax.Views, several(definitions, 1), st.none() | loops)
dimensions = st.builds(syntax.Dimension, names, views)
given_or_auto = st.sampled_from([None, "given", "auto"])

vertices = st.one_of(ints, st.builds(syntax.Literal, strings, st.just(PropertyType.STRING)))
questions = st.one_of(
    st.builds(syntax.ShortestPath, vertices, vertices, st.none() | names),
    st.builds(syntax.ShortestPaths, vertices, st.none() | names),
    st.builds(syntax.KHop, st.builds(syntax.Literal, st.integers(0, 2**63 - 1), st.just(PropertyType.INT)), vertices),
    st.builds(
        syntax.PathPattern,
        st.builds(syntax.Literal, strings, st.just(PropertyType.STRING)),
        several(vertices, 0),
        st.none() | names,
    ),
    st.builds(syntax.Components),
    st.builds(syntax.PageRank, arguments),
)

plain_statements = st.one_of(
    st.builds(syntax.LoadGraph, names, several(strings, 0), several(strings, 1), arguments),
    st.builds(syntax.CreateView, names, names, expressions),
    st.builds(syntax.CreateCollection, names, names, views, order=given_or_auto),
    st.builds(syntax.CreateCollection, names, names, st.none(), several(dimensions, 1, 4), given_or_auto),
    st.builds(
        syntax.Run,
        names,
        arguments,
        names,
        st.sampled_from([None, "adaptive", "differential", "scratch"]),
        st.sampled_from([None, "given", "chain", "lattice", "auto"]),
        st.none() | strings,
    ),
    st.builds(syntax.Show, st.sampled_from(["graphs", "views", "view collections", "computations", "queries"])),
    st.builds(syntax.RegisterQuery, names, questions, names),
    st.builds(syntax.Describe, names),
    st.builds(syntax.Drop, st.sampled_from(["graph", "view", "view collection", "query"]), names),
)
statements = plain_statements | st.builds(syntax.Explain, plain_statements)

# Pieces of a shown text: space between any two of them makes no difference.
PIECES = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*"
      | \d+(?:\.\d+)?(?:e[+-]?\d+)?(?!\w) | (?:\w|\$\{\w*\}|\$)+
      | <= | >= | <> | \.\. | \S""",
    re.VERBOSE,
)
BLANKS = [" ", "\t", "\r\n", ' -- it\'s; a "comment"\n', "/* don't;\n--*/", "/**/ "]


def nodes(tree: Any) -> Iterator[Any]:
    """All nodes of a tree, the outer ones first."""
    if isinstance(tree, tuple):
        for each in tree:
            yield from nodes(each)
    elif is_dataclass(tree) and hasattr(tree, "span"):
        yield tree
        for field in fields(tree):
            yield from nodes(getattr(tree, field.name))


def names_in(statement: syntax.Statement) -> set[str]:
    named = (syntax.Name, syntax.Property, syntax.Variable)
    return {getattr(each, "text", None) or each.name for each in nodes(statement) if isinstance(each, named)}


@given(st.lists(statements, max_size=3))
def test_what_is_shown_parses_to_the_same(program: list[syntax.Statement]) -> None:
    assert parse(";\n".join(map(show, program))) == tuple(program)


@given(expressions)
def test_a_predicate_that_is_shown_parses_to_the_same(expression: syntax.Expression) -> None:
    assert parse_predicate(show(expression)) == expression


@given(expressions)
def test_the_span_of_a_node_is_the_text_that_it_came_from(expression: syntax.Expression) -> None:
    text = show(expression)
    for node in nodes(parse_predicate(text)):
        if not isinstance(node, syntax.Name):
            # What `is not null` denies stands in the same words.
            assert parse_predicate(node.span.of(text)) in {node, syntax.Not(node)}


@given(statements, st.data())
def test_case_of_keywords_space_and_comments_mean_nothing(statement: syntax.Statement, data: st.DataObject) -> None:
    taken = {name.lower() for name in names_in(statement)}
    blanks = st.sampled_from(BLANKS)
    text = ""
    for piece in PIECES.findall(show(statement)):
        is_keyword = piece in KEYWORDS and piece not in taken
        text += (piece.upper() if is_keyword and data.draw(st.booleans()) else piece) + data.draw(blanks)
    assert parse(text) == (statement,)


@given(statements)
def test_a_statement_is_complete_at_its_semicolon_and_not_before(statement: syntax.Statement) -> None:
    text = f"{show(statement)};"
    assert is_complete(text)
    assert is_complete(f"{text} -- and no more")
    assert not is_complete(f"{text} /* more")
    for end in range(1, len(text)):
        assert not is_complete(text[:end]), text[:end]


# ------------------------------------------------------------------------------------------------- any text

SCHEMA = GraphSchema(
    PropertyType.STRING,
    tuple(Property(f"node_{kind}", kind) for kind in PropertyType),
    tuple(Property(str(kind), kind) for kind in PropertyType),
)


class OneGraph:
    """A catalogue of a graph `g`, a view `v` of it and a view collection `c`."""

    def graphs(self) -> list[str]:
        return ["g"]

    def views(self) -> list[str]:
        return ["v"]

    def collections(self) -> list[str]:
        return ["c"]

    def schema(self, graph: str) -> GraphSchema:
        assert graph == "g"
        return SCHEMA

    def view(self, name: str) -> BoundView:
        assert name == "v"
        return BoundView("v", "g", EdgeProperty("bool", PropertyType.BOOL))


def check_place(error: StatementError, text: str) -> None:
    """The place that an error names is in the text, or right behind it, and is what is underlined."""
    message, shown, carets = error.message.rsplit("\n", 2)
    found = re.match(r"line (\d+), column (\d+): .", message)
    assert found is not None, error.message
    line, column = text.split("\n")[int(found[1]) - 1], int(found[2]) - 1
    assert re.fullmatch(r" *\^+", carets)
    assert column <= len(line)
    assert line[column:].replace("\t", " ").startswith(shown[carets.index("^") : len(carets)].rstrip())


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A program with a few characters replaced, added or lost."""
    text = ";\n".join(map(show, draw(st.lists(statements, min_size=1, max_size=2))))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        put = draw(st.sampled_from([*"'\"()[];:,.=-*/$\n\t", "--", "/*", *KEYWORDS]) | st.text(max_size=2))
        text = text[:at] + put + text[at + draw(st.integers(0, 3)) :]
    return text


@given(damaged() | st.text())
def test_any_text_parses_or_is_pointed_at(text: str) -> None:
    try:
        parse(text)
    except StatementError as error:
        check_place(error, text)


known = st.sampled_from([each.name for each in SCHEMA.edges])
known_at_ends = st.sampled_from(["id", *(each.name for each in SCHEMA.nodes)])
known_properties = st.builds(syntax.Property, known) | st.builds(
    syntax.Property, known_at_ends, st.sampled_from([syntax.Name("src"), syntax.Name("DST")])
)
conditions = st.recursive(literals | known_properties, larger, max_leaves=6)


@given(conditions, st.sampled_from("gv"))
def test_any_condition_binds_or_is_pointed_at(condition: syntax.Expression, base: str) -> None:
    text = show(syntax.CreateView(syntax.Name("w"), syntax.Name(base), condition))
    (statement,) = parse(text)
    assert isinstance(statement, syntax.CreateView)
    try:
        view = bind(statement, OneGraph(), text)
    except StatementError as error:
        check_place(error, text)
        return
    used = names_used(view.predicate)
    assert view.predicate.type is PropertyType.BOOL
    assert used.edge <= {each.name for each in SCHEMA.edges}
    assert used.src | used.dst <= {"_id", *(each.name for each in SCHEMA.nodes)}
    assert base == "g" or "bool" in used.edge


# ----------------------------------------------------------------------------------------------------- loops


def bound(text: str) -> BoundCollection:
    (statement,) = parse(text)
    assert isinstance(statement, syntax.CreateCollection)
    return bind(statement, OneGraph(), text)


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 9) | st.integers(-9, -1))
def test_a_loop_over_ints_is_its_views_written_one_by_one(first: int, last: int, step: int) -> None:
    text = f"create view collection c on g for y in {first}..{last} step {step} [v_$y: int <= $y + 1]"
    values = [
        each for each in range(-50, 51) if (each - first) % step == 0 and min(first, last) <= each <= max(first, last)
    ]
    if (last - first) * step < 0:
        with pytest.raises(StatementError, match="the loop has no values"):
            bound(text)
        return
    one_by_one = ", ".join(f'["v_{each}": int <= {each} + 1]' for each in sorted(values, reverse=step < 0))
    assert bound(text) == bound(f"create view collection c on g {one_by_one}")


def days_of_loop(first: date, last: date, count: int, unit: str) -> Iterator[date]:
    """The dates of a loop, by looking at every day."""
    day = first
    while day <= last:
        tomorrow = day + timedelta(days=1)
        months = (day.year - first.year) * 12 + day.month - first.month
        is_in_place = day.day == first.day or (day.day < first.day and tomorrow.month != day.month)
        if unit in {"day", "week"}:
            is_hit = (day - first).days % (count * (7 if unit == "week" else 1)) == 0
        else:
            is_hit = is_in_place and months % (count * (12 if unit == "year" else 1)) == 0
        if is_hit:
            yield day
        day = tomorrow


@given(
    st.dates(date(1999, 1, 1), date(2001, 12, 31)) | st.sampled_from([date(2000, 1, 31), date(2000, 2, 29)]),
    st.integers(0, 1500),
    st.integers(1, 5),
    st.sampled_from(["day", "week", "month", "year"]),
)
def test_a_loop_over_dates_is_its_views_written_one_by_one(first: date, span: int, count: int, unit: str) -> None:
    last = first + timedelta(days=span)
    text = f"create view collection c on v for d in date '{first}'..date '{last}' step {count} {unit} [v_$d: date < $d]"
    values = list(days_of_loop(first, last, count, unit))
    one_by_one = ", ".join(f"[v_{str(each).replace('-', '_')}: date < date '{each}']" for each in values)
    assert bound(text) == bound(f"create view collection c on v {one_by_one}")


known_names = st.builds(syntax.Name, known)
patterns = st.builds(
    syntax.Literal,
    st.sampled_from(["a*", "a ^b | 'it''s'+", "a (", "'it''s' )", "", "a " * 70]) | strings,
    st.just(PropertyType.STRING),
)
good_questions = st.one_of(
    questions,
    st.builds(syntax.ShortestPath, vertices, vertices, st.none() | known_names),
    st.builds(syntax.PathPattern, patterns, several(vertices, 0), st.none() | known_names),
)


@given(good_questions, st.sampled_from("gvcx"))
def test_any_question_binds_or_is_pointed_at(question: syntax.Question, base: str) -> None:
    text = show(syntax.RegisterQuery(syntax.Name("q"), question, syntax.Name(base)))
    (statement,) = parse(text)
    assert isinstance(statement, syntax.RegisterQuery)
    try:
        bound = bind_query(statement, OneGraph(), text)
    except StatementError as error:
        check_place(error, text)
    else:
        assert (bound.name, bound.graph, base) == ("q", "g", "g")
