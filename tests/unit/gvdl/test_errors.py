"""Every mistake in a GVDL text has its error, which points at the place, quotes the facts and says what to do."""

from __future__ import annotations

import re
from typing import Any

import pytest

from graphtide.errors import StatementError
from graphtide.graph.schema import GraphSchema, Property, PropertyType
from graphtide.gvdl import BoundView, bind, parse, parse_predicate
from graphtide.gvdl.predicate import ALL

INT, FLOAT, STRING = PropertyType.INT, PropertyType.FLOAT, PropertyType.STRING


class Catalogue:
    """A graph of calls, a view of all of them and a view collection."""

    def graphs(self) -> list[str]:
        return ["Calls"]

    def views(self) -> list[str]:
        return ["Everything"]

    def collections(self) -> list[str]:
        return ["by_year"]

    def schema(self, graph: str) -> GraphSchema:
        assert graph == "Calls"
        edges = {"year": INT, "duration": FLOAT, "kind": STRING, "paid": PropertyType.BOOL, "day": PropertyType.DATE}
        edges |= {"at": PropertyType.TIMESTAMP, "Zone": INT, "zone": INT}
        nodes = (Property("state", STRING), Property("born", INT))
        return GraphSchema(INT, nodes, tuple(Property(*each) for each in edges.items()))

    def view(self, name: str) -> BoundView:
        return BoundView(name, "Calls", ALL)


def error_of(text: str) -> StatementError:
    """The error of the last statement of a text, in parsing or in binding."""

    def read() -> None:
        statement: Any = parse(text)[-1]
        bind(statement, Catalogue(), text)

    with pytest.raises(StatementError) as caught:
        read()
    return caught.value


def check(text: str, underlined: str, message: str, hint: str | None) -> None:
    """The first line of the error without its place, its hint, and the piece of the text above the carets."""
    error = error_of(text)
    first, shown, carets = error.message.split("\n")
    assert re.sub(r"^line \d+, column \d+: ", "", first) == message
    assert shown[carets.index("^") : len(carets)] == underlined
    assert error.hint == hint


def test_an_error_shows_its_line_and_underlines_the_place() -> None:
    text = "show graphs;\ncreate view V on Calls\n\tedges where yaer <= 2010;"
    assert str(error_of(text)) == (
        'line 3, column 14: edge property "yaer" does not exist in graph "Calls"\n'
        "  edges where yaer <= 2010;\n"
        "              ^^^^\n"
        'hint: did you mean "year"?'
    )


def test_a_long_line_is_cut_around_the_place() -> None:
    condition = " and ".join(["year <= 2010"] * 50)
    error = error_of(f"create view V on Calls edges where {condition} adn {condition}")
    _, shown, carets = error.message.split("\n")
    assert shown[carets.index("^") : len(carets)] == "adn"
    assert shown.startswith("  ...")
    assert shown.endswith("...")
    assert len(shown) < 120


def test_an_error_at_the_end_points_behind_the_last_word() -> None:
    error = error_of("describe  -- what?\n\n")
    assert (
        error.message
        == "line 1, column 9: expected a name, found the end of the text\n  describe  -- what?\n          ^"
    )


def test_a_comment_at_the_end_is_not_taken_for_an_open_one() -> None:
    assert "found the end of the text" in error_of("describe/* what? */").message


# ---------------------------------------------------------------------------------------------------- syntax

CONNECTIVES = '"and", "or", an operator or ";"'


@pytest.mark.parametrize(
    ("text", "underlined", "message", "hint"),
    [
        ("creat view V on Calls", "creat", 'expected a statement, found "creat"', 'did you mean "create"?'),
        ("create veiw V", "veiw", 'expected "view", found "veiw"', 'did you mean "view"?'),
        (
            "create view colection C on Calls [a: paid]",
            "C",
            'expected "on", found "C"',
            'did you mean "collection" instead of "colection"?',
        ),
        (
            "select * from Calls",
            "select",
            'expected a statement, found "select"',
            "statements start with create, describe, drop, explain, load, register, run or show",
        ),
        ("show graphs show views", "show", 'expected ";", found "show"', 'end the statement before it with ";"'),
        (
            "run wcc on by_year diferential",
            "diferential",
            'expected "adaptive", "differential", "order", "save", "scratch" or ";", found "diferential"',
            'did you mean "differential"?',
        ),
        ("run wcc(source = ) on by_year", ")", 'expected a value, found ")"', None),
        ("run wcc(a = 1, a = 2) on by_year", "a", '"a" is given twice', "leave one of them out"),
        ("load graph G with (a = 1)", "with", 'expected "edges" or "nodes", found "with"', None),
        ("create view V on Calls where paid", "where", 'expected "edges", found "where"', None),
        ("create view collection c on Calls [a paid]", "paid", 'expected ":", found "paid"', None),
        (
            "create view collection c on Calls for y in 1..x [a: paid]",
            "x",
            'expected "-", a date or an int, found "x"',
            None,
        ),
        (
            "create view collection c on Calls for y in 1..9 step 0 [a: paid]",
            "0",
            "a step of 0 leads nowhere",
            "step by 1 or more, or by -1 to count down",
        ),
    ],
)
def test_a_statement_that_does_not_parse(text: str, underlined: str, message: str, hint: str | None) -> None:
    check(text, underlined, message, hint)


@pytest.mark.parametrize(
    ("condition", "underlined", "message", "hint"),
    [
        ("", "", "expected a condition, found the end of the text", None),
        ("year = 1 adn paid", "adn", f'expected {CONNECTIVES}, found "adn"', 'did you mean "and"?'),
        ("paid or or paid", "or", 'expected a condition, found "or"', None),
        ("(paid", "", 'expected ")", "and", "or", a comparison or an operator, found the end of the text', None),
        (
            "year && paid",
            "&",
            'expected "and", "or", a comparison, an operator or ";", found "&"',
            "write and",
        ),
        ("year = null", "null", 'expected a value, found "null"', "write is null or is not null"),
        (
            "1 < year < 5",
            "<",
            f'expected {CONNECTIVES}, found "<"',
            "a comparison has two sides; write and between two comparisons",
        ),
        (
            "kind = 'it's'",
            "s",
            f'expected {CONNECTIVES}, found "s"',
            "a quote inside a string is written twice",
        ),
        (
            "kind = 'open",
            "'",
            "this string is not closed",
            "close it with a single quote; a quote inside a string is written twice",
        ),
        ('"kind = 1', '"', "this name is not closed", "close it with a double quote"),
        ("year /* = 5", "/*", "this comment is not closed", "close it with */"),
        ("year = 5 /*", "/*", "this comment is not closed", "close it with */"),
        ("day = date '2019-02-30'", "'2019-02-30'", "'2019-02-30' is not a date", "write it like date '2019-01-31'"),
        (
            "at = timestamp '2019-01-31 25:00'",
            "'2019-01-31 25:00'",
            "'2019-01-31 25:00' is not a timestamp",
            "write it like timestamp '2019-01-31 12:00:00'",
        ),
        (
            "year = 9223372036854775808",
            "9223372036854775808",
            "this number does not fit into 64 bits",
            "an int is at least -9223372036854775808 and at most 9223372036854775807",
        ),
        ("year = 1e999", "1e999", "this number is too large for a float", "floats end at about 1.8e308"),
    ],
)
def test_a_condition_that_does_not_parse(condition: str, underlined: str, message: str, hint: str | None) -> None:
    text = f"create view V on Calls edges where {condition}"
    if underlined:
        check(text, underlined, message, hint)
    else:
        assert f": {message}\n" in error_of(text).message


def test_what_is_nested_too_deep_is_refused() -> None:
    for nested in (
        "not " * 200 + "paid",
        "(" * 200 + "year" + " + 1)" * 200 + " = 1",
        "-" + "(-" * 200 + "year" + ")" * 200,
    ):
        with pytest.raises(StatementError, match="nested more than 40 levels deep"):
            parse_predicate(nested)
    with pytest.raises(StatementError, match="nested more than 40 levels deep"):
        parse("run wcc(a = " + "[" * 200 + "]" * 200 + ") on c")
    assert parse_predicate("(" * 1000 + "paid" + ")" * 1000) == parse_predicate("paid")


def test_numbers_of_thousands_of_digits_are_refused() -> None:
    with pytest.raises(StatementError, match="does not fit into 64 bits"):
        parse_predicate("year = " + "9" * 10_000)


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(StatementError, match="line 1, column 9: this is no character"):
        parse_predicate("kind = '\ud800'")


# ---------------------------------------------------------------------------------------------------- meaning

OTHER_TYPES = "numbers compare with numbers, dates and timestamps with each other, and other types with themselves"


@pytest.mark.parametrize(
    ("condition", "underlined", "message", "hint"),
    [
        ("yaer = 1", "yaer", 'edge property "yaer" does not exist in graph "Calls"', 'did you mean "year"?'),
        (
            "qqq = 1",
            "qqq",
            'edge property "qqq" does not exist in graph "Calls"',
            'the edge properties are "year", "duration", "kind", "paid", "day", "at", "Zone", "zone"',
        ),
        (
            "state = 'CA'",
            "state",
            'edge property "state" does not exist in graph "Calls"',
            "nodes have it: write src.state or dst.state",
        ),
        (
            'kind = "CA"',
            '"CA"',
            'edge property "CA" does not exist in graph "Calls"',
            "a name stands in double quotes, a string in single ones: 'CA'",
        ),
        (
            "src.stat = 'CA'",
            "src.stat",
            'node property "stat" does not exist in graph "Calls"',
            'did you mean "state"?',
        ),
        (
            "dst.year = 1",
            "dst.year",
            'node property "year" does not exist in graph "Calls"',
            "edges have it: write year",
        ),
        ("scr.state = 'CA'", "scr", '"scr" is not an end of an edge', "write src.state or dst.state"),
        ("ZONE = 1", "ZONE", 'edge property "ZONE" may mean "Zone" and "zone"', "write one of them exactly"),
        ("year = $y", "$y", 'there is no variable "y"', "variables come from a loop: for y in 1..10 [...]"),
        ("year = 'abc'", "'abc'", "cannot compare year (int) with 'abc' (string)", OTHER_TYPES),
        (
            "year = '2010'",
            "'2010'",
            "cannot compare year (int) with '2010' (string)",
            "write the number without quotes: 2010",
        ),
        ("kind < 5", "5", "cannot compare kind (string) with 5 (int)", "write the string in quotes: '5'"),
        ("paid = 1", "1", "cannot compare paid (bool) with 1 (int)", "write true or false"),
        ("year in (1, 2.5, kind)", "kind", "cannot compare year (int) with kind (string)", OTHER_TYPES),
        ("day between '2019-01-01' and 5", "5", "cannot compare day (date) with 5 (int)", OTHER_TYPES),
        ("day = 'soon'", "'soon'", "'soon' is not a date", "write it like '2019-01-31'"),
        ("at = 'soon'", "'soon'", "'soon' is not a timestamp", "write it like '2019-01-31 12:00:00'"),
        ("year", "year", "year (int) is not a condition", "compare it with something: year = ..."),
        ("paid and 5", "5", "5 (int) is not a condition", "compare it with something: 5 = ..."),
        ("not kind", "kind", "kind (string) is not a condition", "compare it with something: kind = ..."),
        ("year like '2%'", "year", "year (int) is not a string", "like takes strings alone"),
        (
            "kind + 1 = 2",
            "kind + 1",
            "kind (string) and 1 (int) do not go together with +",
            "arithmetic takes numbers; a date takes days as well: day + 7",
        ),
        (
            "day * 2 = day",
            "day * 2",
            "day (date) and 2 (int) do not go together with *",
            "arithmetic takes numbers; a date takes days as well: day + 7",
        ),
        ("-kind = kind", "-kind", "kind (string) has no negative", "a minus stands before numbers"),
    ],
)
def test_a_condition_that_does_not_fit_the_graph(condition: str, underlined: str, message: str, hint: str) -> None:
    check(f"create view V on Calls edges where {condition}", underlined, message, hint)


@pytest.mark.parametrize(
    ("rest", "underlined", "message", "hint"),
    [
        ("Cals [a: paid]", "Cals", 'there is no graph or view "Cals"', 'did you mean "Calls"?'),
        ("X [a: paid]", "X", 'there is no graph or view "X"', 'the graphs and views are "Calls", "Everything"'),
        (
            "by_year [a: paid]",
            "by_year",
            '"by_year" is a view collection, not a graph or a view',
            "build on a graph, or on a view made with create view",
        ),
        (
            "Everything [a: yaer = 1]",
            "yaer",
            'edge property "yaer" does not exist in graph "Calls"',
            'did you mean "year"?',
        ),
        ("Calls [a: paid], [a: not paid]", "a", 'two views are called "a"', "rename one of them"),
        ("Calls for y in 1..3 [a: year = $y]", "a", 'two views are called "a"', "put $y into it"),
        ("Calls for y in 1..3 [a$x: paid]", "a$x", 'there is no variable "x"', "the variable here is $y"),
        ("Calls for y in 1..3 [a$y: year = $x]", "$x", 'there is no variable "x"', "the variable here is $y"),
        ("Calls for y in 1..3 [a$y_b: paid]", "a$y_b", 'there is no variable "y_b"', "write ${y}_b if you mean $y"),
        (
            "Calls [a$y: paid]",
            "a$y",
            'there is no variable "y"',
            "variables come from a loop: for y in 1..10 [...]",
        ),
        (
            "Calls for y in 3..1 [a$y: paid]",
            "3",
            "the loop has no values: its first end lies behind its last",
            "swap the ends, or count down with a negative step",
        ),
        (
            "Calls for y in 1..3 step -1 [a$y: paid]",
            "1",
            "the loop has no values: its first end lies behind its last",
            "swap the ends",
        ),
        (
            "Calls for y in 1..date '2019-01-31' [a$y: paid]",
            "date '2019-01-31'",
            "a loop cannot lead from int to date",
            "both ends are ints, or both are dates",
        ),
        (
            "Calls for y in 1..3 step 2 days [a$y: paid]",
            "2 days",
            "a loop over ints has no step in days",
            "write step 2",
        ),
        (
            "Calls for d in date '2019-01-01'..date '2019-01-31' step 2 [a$d: paid]",
            "2",
            "a step between dates needs a unit",
            "write step 2 day, week, month or year",
        ),
        (
            "Calls for y in 1..9000000000000000000 [a$y: paid]",
            "for y in 1..9000000000000000000",
            "these are more than 4096 views",
            "take longer steps, or split the view collection",
        ),
        (
            "Calls for y in 1..2049 [a$y: paid], [b$y: paid]",
            "for y in 1..2049",
            "these are more than 4096 views",
            "take longer steps, or split the view collection",
        ),
        (
            "Calls dimension p for y in 1..65 [a$y: paid] dimension q for y in 1..64 [b$y: paid]",
            "c",
            "65 x 64 views are more than 4096",
            "take longer steps, or split the view collection",
        ),
        (
            "Calls dimension p [a: paid]",
            "p",
            "a product has two or three dimensions, not 1",
            "views in a row need no dimension: leave the word out",
        ),
        (
            "Calls dimension p [a: paid] dimension q [a: paid] dimension r [a: paid] dimension s [a: paid]",
            "s",
            "a product has two or three dimensions, not 4",
            "views in a row need no dimension: leave the word out",
        ),
        (
            "Calls dimension p [a: paid] dimension p [b: paid]",
            "p",
            'two dimensions are called "p"',
            "rename one of them",
        ),
        (
            "Calls dimension p [a: paid], [a_b: paid] dimension q [b_c: paid], [c: paid]",
            "c",
            'two cells of the product are called "a_b_c"',
            "rename the views of a dimension",
        ),
    ],
)
def test_a_view_collection_that_cannot_be(rest: str, underlined: str, message: str, hint: str) -> None:
    check(f"create view collection c on {rest}", underlined, message, hint)


def test_more_views_in_a_row_than_allowed_are_refused() -> None:
    views = ", ".join(f"[v{i}: paid]" for i in range(4097))
    assert "these are more than 4096 views" in error_of(f"create view collection c on Calls {views}").message
