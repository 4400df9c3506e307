"""How each statement of GVDL is read."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from graphtide.graph.schema import PropertyType
from graphtide.gvdl import is_complete, parse, parse_predicate, show
from graphtide.gvdl.syntax import (
    And,
    Argument,
    Arithmetic,
    Between,
    Comparison,
    CreateCollection,
    CreateView,
    Describe,
    Dimension,
    Drop,
    Explain,
    Expression,
    In,
    IsNull,
    Like,
    ListValue,
    Literal,
    LoadGraph,
    Loop,
    Name,
    Negative,
    Not,
    Or,
    Property,
    Run,
    Show,
    Statement,
    Step,
    TupleValue,
    Variable,
    ViewDefinition,
    Views,
)


def number(value: int) -> Literal:
    return Literal(value, PropertyType.INT)


def text(value: str) -> Literal:
    return Literal(value, PropertyType.STRING)


def day(value: date) -> Literal:
    return Literal(value, PropertyType.DATE)


def at_most(name: str, value: Expression) -> Comparison:
    return Comparison("<=", Property(name), value)


PRODUCT = """create view collection c on P dimension period [p1: year <= 1] dimension size \
for d in date '2010-01-01'..date '2012-01-01' step 1 month [$d: day <= $d]"""


@pytest.mark.parametrize(
    ("source", "statement"),
    [
        ("load graph Calls edges 'e.csv'", LoadGraph(Name("Calls"), (), ("e.csv",))),
        (
            "load graph Calls nodes 'n', 'm' edges 'e', 'f' with (separator = '|', header = false, use = [a, 'b'])",
            LoadGraph(
                Name("Calls"),
                ("n", "m"),
                ("e", "f"),
                (
                    Argument(Name("separator"), text("|")),
                    Argument(Name("header"), Literal(value=False, type=PropertyType.BOOL)),
                    Argument(Name("use"), ListValue((Name("a"), text("b")))),
                ),
            ),
        ),
        (
            "create view Late on Calls edges where year <= 3",
            CreateView(Name("Late"), Name("Calls"), at_most("year", number(3))),
        ),
        (
            "create view collection c on Calls [a: year <= 1], [b: year <= 2] order given",
            CreateCollection(
                Name("c"),
                Name("Calls"),
                Views(
                    (
                        ViewDefinition(Name("a"), at_most("year", number(1))),
                        ViewDefinition(Name("b"), at_most("year", number(2))),
                    )
                ),
                order="given",
            ),
        ),
        (
            "create view collection c on Calls for y in -2..10 step 2 [calls_$y: year <= $y] order auto",
            CreateCollection(
                Name("c"),
                Name("Calls"),
                Views(
                    (ViewDefinition(Name("calls_$y"), at_most("year", Variable("y"))),),
                    Loop(Name("y"), number(-2), number(10), Step(2)),
                ),
                order="auto",
            ),
        ),
        (
            PRODUCT,
            CreateCollection(
                Name("c"),
                Name("P"),
                None,
                (
                    Dimension(Name("period"), Views((ViewDefinition(Name("p1"), at_most("year", number(1))),))),
                    Dimension(
                        Name("size"),
                        Views(
                            (ViewDefinition(Name("$d"), at_most("day", Variable("d"))),),
                            Loop(Name("d"), day(date(2010, 1, 1)), day(date(2012, 1, 1)), Step(1, "month")),
                        ),
                    ),
                ),
            ),
        ),
        ("run wcc on c", Run(Name("wcc"), (), Name("c"))),
        ("run wcc() on c", Run(Name("wcc"), (), Name("c"))),
        (
            "run mpsp(pairs = [(1, 2), (3, -4)], weight = duration) on c scratch order lattice save to 'out'",
            Run(
                Name("mpsp"),
                (
                    Argument(
                        Name("pairs"),
                        ListValue((TupleValue((number(1), number(2))), TupleValue((number(3), number(-4))))),
                    ),
                    Argument(Name("weight"), Name("duration")),
                ),
                Name("c"),
                "scratch",
                "lattice",
                "out",
            ),
        ),
        ("show graphs", Show("graphs")),
        ("show views", Show("views")),
        ("show view collections", Show("view collections")),
        ("show computations", Show("computations")),
        ("describe Calls", Describe(Name("Calls"))),
        ("drop graph Calls", Drop("graph", Name("Calls"))),
        ("drop view v", Drop("view", Name("v"))),
        ("drop view collection c", Drop("view collection", Name("c"))),
        ("explain drop view v", Explain(Drop("view", Name("v")))),
    ],
)
def test_every_statement_is_read(source: str, statement: Statement) -> None:
    assert parse(source) == (statement,)
    assert show(statement) == source.replace("()", "")


A, B, C = Property("a"), Property("b"), Property("c")


@pytest.mark.parametrize(
    ("source", "expression"),
    [
        ("a or b and c", Or((A, And((B, C))))),
        ("(a or b) and c", And((Or((A, B)), C))),
        ("a and b and c", And((A, B, C))),
        ("a and (b and c)", And((A, And((B, C))))),
        ("not a and b", And((Not(A), B))),
        ("not a = b", Not(Comparison("=", A, B))),
        ("a + b * c", Arithmetic("+", A, Arithmetic("*", B, C))),
        ("a - b - c", Arithmetic("-", Arithmetic("-", A, B), C)),
        ("a % b / c", Arithmetic("/", Arithmetic("%", A, B), C)),
        ("-a * b", Arithmetic("*", Negative(A), B)),
        ("-5 % a", Arithmetic("%", number(-5), A)),
        ("-(5)", Negative(number(5))),
        ("a -5", Arithmetic("-", A, number(5))),
        ("a + b < c", Comparison("<", Arithmetic("+", A, B), C)),
        ("a != b", Comparison("<>", A, B)),
        ("a == b", Comparison("=", A, B)),
        ("a in (1, b)", In(A, (number(1), B))),
        ("a not in (1)", Not(In(A, (number(1),)))),
        ("a between 1 and b and c", And((Between(A, number(1), B), C))),
        ("a not between b and c", Not(Between(A, B, C))),
        (r"a like 'x\_%'", Like(A, r"x\_%")),
        ("a not like ''", Not(Like(A, ""))),
        ("a is null", IsNull(A)),
        ("a is not null", Not(IsNull(A))),
        ("src.state = 'it''s'", Comparison("=", Property("state", Name("src")), text("it's"))),
        ('"two words" = "say ""x"""', Comparison("=", Property("two words"), Property('say "x"'))),
        ("$y", Variable("y")),
        ("${y}", Variable("y")),
        (
            "true = FALSE",
            Comparison("=", Literal(value=True, type=PropertyType.BOOL), Literal(value=False, type=PropertyType.BOOL)),
        ),
        ("-9223372036854775808", number(-(2**63))),
        (".5", Literal(0.5, PropertyType.FLOAT)),
        ("-1.5e-3", Literal(-0.0015, PropertyType.FLOAT)),
        ("date '2019-01-31'", day(date(2019, 1, 31))),
        ("timestamp '2019-01-31'", Literal(datetime(2019, 1, 31, tzinfo=UTC), PropertyType.TIMESTAMP)),
        (
            "timestamp '2019-01-31T12:00:00+02:00'",
            Literal(datetime(2019, 1, 31, 10, tzinfo=UTC), PropertyType.TIMESTAMP),
        ),
    ],
)
def test_operators_bind_as_in_sql(source: str, expression: Expression) -> None:
    assert parse_predicate(source) == expression


@pytest.mark.parametrize(
    "word", ["date", "timestamp", "year", "day", "order", "view", "graph", "for", "id", "step", "on"]
)
def test_a_word_of_the_language_may_name_a_property(word: str) -> None:
    assert parse_predicate(f"{word} = 1 and src.{word} = {word}") == And(
        (
            Comparison("=", Property(word), number(1)),
            Comparison("=", Property(word, Name("src")), Property(word)),
        )
    )


def test_a_property_may_have_the_name_of_a_literal_s_type() -> None:
    expected = Comparison("=", Property("date"), day(date(2019, 1, 31)))
    assert parse_predicate("date = date '2019-01-31'") == expected
    assert parse_predicate("date /* a */ = /* b */ date /* c */ -- d\n '2019-01-31'") == expected
    assert parse_predicate("date /* a */ in /* b */ ('x')") == In(Property("date"), (text("x"),))
    assert parse_predicate("date /* a */ like /* b */ 'x'") == Like(Property("date"), "x")


def test_semicolons_part_statements_and_the_last_may_be_left_out() -> None:
    graphs, views = Show("graphs"), Show("views")
    assert parse("") == parse(" ;; -- nothing\n;") == ()
    assert parse("show graphs") == parse(";show graphs;;") == (graphs,)
    assert parse("show graphs;\nshow views /* all */ ;") == (graphs, views)


def test_a_text_may_start_with_a_byte_order_mark() -> None:
    assert parse("\ufeffshow graphs") == (Show("graphs"),)


def test_many_views_and_long_conditions_are_read() -> None:
    terms = 20_000
    assert parse_predicate(" or ".join(["a"] * terms)) == Or((A,) * terms)
    assert parse_predicate(f"a in ({', '.join(['b'] * terms)})") == In(A, (B,) * terms)


@pytest.mark.parametrize(
    ("source", "complete"),
    [
        ("", True),
        ("  \n", True),
        ("-- a comment; no more", True),
        ("show graphs", False),
        ("show graphs;", True),
        ("show graphs; -- done", True),
        ("show graphs; /* still", False),
        ("show graphs; /* still */", True),
        ("describe 'a;", False),
        ("describe 'a;';", True),
        ("describe 'it''s;", False),
        ('describe "a;', False),
        ('describe "a;";', True),
        ("show graphs; show", False),
        ("no such statement @;", True),
    ],
)
def test_a_shell_waits_for_the_end_of_a_statement(source: str, complete: bool) -> None:
    assert is_complete(source) == complete
