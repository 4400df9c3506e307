"""Predicates as Spark evaluates them, against an evaluator that is written here in plain Python.

A term is made together with its text: what GVDL reads, and what Python says it is in a row. Dates are days
and timestamps microseconds since 1970, None is a missing value.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from graphtide.graph.schema import GraphSchema, Property, PropertyType
from graphtide.pipeline.predicates import column_of, edges_with_ends
from graphtide.views.gvdl import BoundView, bind, parse
from graphtide.views.predicate import Comparison, EdgeProperty, Literal, Predicate

INT, FLOAT, STRING = PropertyType.INT, PropertyType.FLOAT, PropertyType.STRING
BOOL, DATE, TIMESTAMP = PropertyType.BOOL, PropertyType.DATE, PropertyType.TIMESTAMP
LEAST, GREATEST = -(2**63), 2**63 - 1
DAY = 86_400_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Row = dict[str, Any]

ROWS = 12
CONDITIONS = 40

# ------------------------------------------------------------------------------------------------------ data

EDGES = {"i": INT, "j": INT, "x": FLOAT, "y": FLOAT, "s": STRING, "t": STRING, "b": BOOL, "c": BOOL}
EDGES |= {"d": DATE, "e": DATE, "m": TIMESTAMP, "n": TIMESTAMP}
NODES = {"i": INT, "weight": FLOAT, "city": STRING, "ok": BOOL, "since": DATE, "seen": TIMESTAMP}

DATES = [date.min, date.max, date(1582, 10, 10), date(1969, 12, 31), date(1970, 1, 1), date(2019, 1, 31)]
INSTANTS = [
    datetime.min.replace(tzinfo=UTC),
    datetime.max.replace(tzinfo=UTC),
    datetime(1500, 3, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2019, 1, 31, tzinfo=UTC),
    datetime(2019, 1, 31, 12, tzinfo=UTC),
]
VALUES: dict[PropertyType, list[Any]] = {
    INT: [LEAST, GREATEST, LEAST + 1, 2**53 + 1, 2**53, -7, -2, -1, 0, 1, 2, 3, 7, 2019],
    FLOAT: [math.nan, math.inf, -math.inf, 2.0**63, -(2.0**63), 2.0**53, -0.0, 0.0, 2.5, -2.5, 2.0, 1e308, 5e-324],
    STRING: ["", "a", "A", "ab", "a%b", "a_b", "a\\b", "a\nb", "é", "😀", "it's", "null"],
    BOOL: [True, False],
    DATE: DATES,
    TIMESTAMP: INSTANTS,
}


def any_value(rng: Random, kind: PropertyType) -> Any:
    """Mostly a value that others are equal or close to."""
    if kind is INT and rng.random() < 0.1:
        return rng.randint(LEAST, GREATEST)
    if kind is FLOAT and rng.random() < 0.1:
        return struct.unpack("=d", rng.randbytes(8))[0]
    return rng.choice(VALUES[kind])


def plain(value: Any) -> Any:
    """A value as the evaluator holds it."""
    if isinstance(value, datetime):
        return (value - EPOCH) // timedelta(microseconds=1)
    return (value - EPOCH.date()).days if isinstance(value, date) else value


@dataclass(frozen=True)
class Sample:
    """A graph with little in it but extremes."""

    schema: GraphSchema
    nodes: pa.Table
    edges: pa.Table

    def rows(self) -> list[Row]:
        nodes = self.nodes.to_pylist()
        rows: list[Row] = []
        for edge in self.edges.to_pylist():
            row = {name: plain(edge[name]) for name in EDGES} | {"id": edge["_edge"]}
            for side in ("src", "dst"):
                node = nodes[edge[f"_{side}"]]
                row |= {f"{side}.{name}": plain(node[name]) for name in NODES} | {f"{side}.id": node["_id"]}
            rows.append(row)
        return rows

    @contextmanager
    def stored(self, spark: SparkSession) -> Iterator[tuple[DataFrame, DataFrame]]:
        with TemporaryDirectory() as folder:
            for name, table in (("edges", self.edges), ("nodes", self.nodes)):
                (Path(folder) / name).mkdir()
                pq.write_table(table, Path(folder) / name / "0.parquet")
            yield spark.read.parquet(f"{folder}/edges"), spark.read.parquet(f"{folder}/nodes")


def any_sample(rng: Random) -> Sample:
    id_type = rng.choice([INT, STRING])
    ids = sorted(rng.sample(VALUES[id_type], rng.randint(1, 5)))

    def table(numbers: dict[str, pa.Array], properties: dict[str, PropertyType], size: int) -> pa.Table:
        columns = {
            name: pa.array([None if rng.random() < 0.2 else any_value(rng, kind) for _ in range(size)], kind.arrow)
            for name, kind in properties.items()
        }
        return pa.table(numbers | columns)

    nodes = {"_vertex": pa.array(range(len(ids)), pa.int64()), "_id": pa.array(ids, id_type.arrow)}
    edges = {"_edge": pa.array(range(ROWS), pa.int64())}
    edges |= {name: pa.array(rng.choices(range(len(ids)), k=ROWS), pa.int64()) for name in ("_src", "_dst")}
    properties = [tuple(Property(*each) for each in kinds.items()) for kinds in (NODES, EDGES)]
    return Sample(GraphSchema(id_type, *properties), table(nodes, NODES, len(ids)), table(edges, EDGES, ROWS))


# ----------------------------------------------------------------------------------------------------- terms


@dataclass(frozen=True)
class Term:
    """A piece of GVDL and what it is worth in a row."""

    text: str
    of: Callable[[Row], Any]

    def __repr__(self) -> str:
        return self.text


def properties_of(kind: PropertyType, id_type: PropertyType) -> list[Term]:
    names = [name for name, each in EDGES.items() if each is kind]
    names += [f"{side}.{name}" for side in ("src", "dst") for name, each in NODES.items() if each is kind]
    names += ["src.id", "dst.id"] if kind is id_type else []
    names += ["id"] if kind is INT else []
    return [Term(name, operator.itemgetter(name)) for name in names]


# Infinity, which has no literal.
OVERFLOWN = Term("(1e308 * 1e308)", lambda _row: math.inf)
PATTERN = "aAbé😀\n'%%__\\"


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def literal(value: Any) -> Term:
    known = plain(value)
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, str):
        text = quoted(value)
    elif isinstance(value, datetime):
        text = f"timestamp '{value.replace(tzinfo=None).isoformat(sep=' ')}'"
    elif isinstance(value, date):
        text = f"date '{value.isoformat()}'"
    else:
        text = repr(value)
    return Term(text, lambda _row: known)


def lifted(function: Callable[..., Any], bits: int = 64) -> Callable[..., Any]:
    """A function of values: None where one of them is, where it divides by zero, and for an int beyond the bits."""

    def apply(*arguments: Any) -> Any:
        if None in arguments:
            return None
        try:
            result = function(*arguments)
        except ZeroDivisionError:
            return None
        return None if isinstance(result, int) and not -(2 ** (bits - 1)) <= result < 2 ** (bits - 1) else result

    return apply


ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "%": operator.mod,
    "/": operator.truediv,
}


def combined(sign: str, left: Term, right: Term) -> Term:
    function = lifted(ARITHMETIC[sign])
    return Term(f"({left} {sign} {right})", lambda row: function(left.of(row), right.of(row)))


def combined_as_floats(sign: str, left: Term, right: Term) -> Term:
    function = lifted(lambda a, b: ARITHMETIC[sign](float(a), float(b)))
    return Term(f"({left} {sign} {right})", lambda row: function(left.of(row), right.of(row)))


def negated(term: Term) -> Term:
    function = lifted(operator.neg)
    return Term(f"-({term})", lambda row: function(term.of(row)))


def days_later(day: Term, sign: str, days: Term) -> Term:
    function = lifted(ARITHMETIC[sign], bits=32)
    return Term(f"({day} {sign} {days})", lambda row: function(day.of(row), days.of(row)))


def days_between(left: Term, right: Term) -> Term:
    function = lifted(operator.sub)
    return Term(f"({left} - {right})", lambda row: function(left.of(row), right.of(row)))


def midnight(day: Term) -> Term:
    """A date as it compares with timestamps."""
    function = lifted(lambda days: days * DAY)
    return Term(day.text, lambda row: function(day.of(row)))


class Terms:
    """Terms at random, over a graph whose ids are of one type."""

    def __init__(self, rng: Random, id_type: PropertyType) -> None:
        self._rng = rng
        self._properties = {kind: properties_of(kind, id_type) for kind in PropertyType}

    def value(self, kind: PropertyType, depth: int) -> Term:
        """What is worth a value of a type, or None."""
        rng = self._rng
        if depth == 0 or kind in {STRING, TIMESTAMP} or rng.random() < 0.4:
            if rng.random() < 0.6:
                return rng.choice(self._properties[kind])
            value = any_value(rng, kind)
            # What cannot be written is computed.
            return literal(value) if not isinstance(value, float) or math.isfinite(value) else OVERFLOWN
        if kind is BOOL:
            return self.condition(depth - 1)
        if kind is DATE:
            return days_later(self.value(DATE, depth - 1), rng.choice("+-"), self.value(INT, depth - 1))
        if rng.random() < 0.15:
            return negated(self.value(kind, depth - 1))
        if kind is INT and rng.random() < 0.15:
            return days_between(self.value(DATE, depth - 1), self.value(DATE, depth - 1))
        if kind is INT:
            return combined(rng.choice("+-*%"), self.value(INT, depth - 1), self.value(INT, depth - 1))
        kinds = rng.choice([(FLOAT, FLOAT), (FLOAT, INT), (INT, FLOAT), (INT, INT)])
        sign = "/" if FLOAT not in kinds else rng.choice("+-*%/")
        return combined_as_floats(sign, *(self.value(each, depth - 1) for each in kinds))

    def comparable(self, count: int, depth: int) -> list[Term]:
        """So many values of types that compare."""
        family = self._rng.choice([(INT,), (FLOAT,), (INT, FLOAT), (DATE,), (DATE, TIMESTAMP), (STRING,), (BOOL,)])
        kinds = self._rng.choices(family, k=count)
        terms = [(kind, self.value(kind, depth)) for kind in kinds]
        return [midnight(term) if kind is DATE and TIMESTAMP in kinds else term for kind, term in terms]

    def condition(self, depth: int) -> Term:
        """What may stand behind `where`; a truth value that is missing stands for false there."""
        rng = self._rng
        shape = rng.randrange(10 if depth else 7)
        if shape == 0:
            return rng.choice(self._properties[BOOL])
        if shape <= 2:
            return compared(rng.choice(sorted(SIGNS)), self.comparable(2, depth))
        if shape == 3:
            return between(self.comparable(3, depth))
        if shape == 4:
            # Spark has another way for lists of more than ten.
            return chosen(self.comparable(rng.choice([2, 4, 14]), min(depth, 1)))
        if shape == 5:
            return like(self.value(STRING, 0), "".join(rng.choices(PATTERN, k=rng.randint(0, 5))))
        if shape == 6:
            return missing(self.value(rng.choice(list(PropertyType)), depth))
        if shape == 7:
            return inverse(self.condition(depth - 1))
        terms = [self.condition(depth - 1) for _ in range(rng.randint(2, 3))]
        return all_of(terms) if shape == 8 else any_of(terms)


# ------------------------------------------------------------------------------------------------ conditions


SIGNS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(sign: str, left: Any, right: Any) -> bool:
    """A comparison; NaN equals itself and is the greatest."""
    if left is None or right is None:
        return False
    a, b = ((1, 0) if isinstance(each, float) and math.isnan(each) else (0, each) for each in (left, right))
    return SIGNS[sign](a, b)


def compared(sign: str, operands: list[Term]) -> Term:
    left, right = operands
    return Term(f"({left}) {sign} ({right})", lambda row: holds(sign, left.of(row), right.of(row)))


def chosen(operands: list[Term]) -> Term:
    value, *choices = operands
    text = f"({value}) in ({', '.join(f'({each})' for each in choices)})"
    return Term(text, lambda row: any(holds("=", value.of(row), each.of(row)) for each in choices))


def between(operands: list[Term]) -> Term:
    value, low, high = operands

    def of(row: Row) -> bool:
        return holds(">=", value.of(row), low.of(row)) and holds("<=", value.of(row), high.of(row))

    return Term(f"({value}) between ({low}) and ({high})", of)


def like(value: Term, pattern: str) -> Term:
    def of(row: Row) -> bool:
        text = value.of(row)
        return text is not None and is_like(text, pattern)

    return Term(f"({value}) like {quoted(pattern)}", of)


def is_like(text: str, pattern: str) -> bool:
    if not pattern:
        return not text
    first, rest = pattern[0], pattern[1:]
    if first == "%":
        return any(is_like(text[i:], rest) for i in range(len(text) + 1))
    if first == "_":
        return bool(text) and is_like(text[1:], rest)
    if first == "\\" and rest:
        first, rest = rest[0], rest[1:]
    return text.startswith(first) and is_like(text[1:], rest)


def missing(value: Term) -> Term:
    return Term(f"({value}) is null", lambda row: value.of(row) is None)


def inverse(term: Term) -> Term:
    return Term(f"not ({term})", lambda row: not term.of(row))


def all_of(terms: list[Term]) -> Term:
    return Term(" and ".join(f"({each})" for each in terms), lambda row: all(each.of(row) for each in terms))


def any_of(terms: list[Term]) -> Term:
    return Term(" or ".join(f"({each})" for each in terms), lambda row: any(each.of(row) for each in terms))


# ------------------------------------------------------------------------------------------------------ laws


@dataclass(frozen=True)
class OneGraph:
    """A catalogue of a graph called `g`."""

    of: GraphSchema

    def graphs(self) -> list[str]:
        return ["g"]

    def views(self) -> list[str]:
        return []

    def collections(self) -> list[str]:
        return []

    def schema(self, graph: str) -> GraphSchema:
        assert graph == "g"
        return self.of

    def view(self, name: str) -> BoundView:
        raise AssertionError(name)


def bound(condition: str, schema: GraphSchema) -> Predicate:
    text = f"create view v on g edges where {condition}"
    (statement,) = parse(text)
    return bind(statement, OneGraph(schema), text).predicate  # type: ignore[arg-type]


@contextmanager
def configured(spark: SparkSession, **settings: str) -> Iterator[None]:
    before = {name: spark.conf.get(f"spark.sql.{name}") for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(f"spark.sql.{name}", value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(f"spark.sql.{name}", value)


def answers(edges: DataFrame, nodes: DataFrame, predicates: Sequence[Predicate]) -> list[list[bool]]:
    """One list per predicate, by the number of the edge."""
    columns = [column_of(each).alias(f"p{i}") for i, each in enumerate(predicates)]
    frame = edges_with_ends(edges, nodes, predicates).select("_edge", *columns)
    assert not any(field.nullable for field in frame.schema if field.name != "_edge")
    table = frame.toArrow().sort_by("_edge")
    assert table["_edge"].to_pylist() == list(range(edges.count()))
    return [table[f"p{i}"].to_pylist() for i in range(len(predicates))]


@given(seed=st.integers(0, 2**64), zone=st.sampled_from(["UTC", "Asia/Kolkata"]), ansi=st.booleans())
@settings(max_examples=5)
def test_spark_finds_what_a_naive_evaluation_finds(spark: SparkSession, seed: int, zone: str, ansi: bool) -> None:
    # Examples of this size are beyond Hypothesis itself; the condition that fails is small enough to be read.
    rng = Random(seed)
    sample = any_sample(rng)
    terms = Terms(rng, sample.schema.id_type)
    conditions = [terms.condition(rng.randint(0, 2)) for _ in range(CONDITIONS)]
    predicates = [bound(each.text, sample.schema) for each in conditions]
    session = {"session.timeZone": zone, "ansi.enabled": str(ansi).lower()}
    with sample.stored(spark) as (edges, nodes), configured(spark, **session):
        found = answers(edges, nodes, predicates)
    for condition, truths in zip(conditions, found, strict=True):
        for row, truth in zip(sample.rows(), truths, strict=True):
            assert truth == bool(condition.of(row)), (condition.text, row)


# -------------------------------------------------------------------------------------------- by themselves


LITTLE = GraphSchema(
    INT,
    (Property("a.b", INT), Property("size", INT)),
    (Property("a.b", INT), Property("select `x`", FLOAT), Property("day", DATE)),
)


def little_graph(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    """Three edges along a path, and names that SQL would stumble over."""
    edges = {"_edge": [0, 1, 2], "_src": [0, 1, 2], "_dst": [1, 2, 3], "a.b": [1, 2, 3], "select `x`": [3.0, 2.0, 1.0]}
    edges["day"] = [date(2019, 1, 30), date(2019, 1, 31), None]
    nodes = {"_vertex": [0, 1, 2, 3], "_id": [10, 20, 30, 40], "a.b": [4, 5, 6, 7], "size": [None, 1, 2, 3]}
    return spark.createDataFrame(pa.table(edges)), spark.createDataFrame(pa.table(nodes))


def test_every_kind_of_condition_finds_its_edges(spark: SparkSession) -> None:
    expected = {
        "true": [0, 1, 2],
        "false": [],
        '"a.b" = 2': [1],
        '"a.b" in (2.0, 2.5, 9223372036854775807)': [1],
        '"a.b" in (9.5)': [],
        '"select `x`" in (3, 9007199254740993)': [0],
        '"select `x`" > 1': [0, 1],
        "day in (timestamp '2019-01-31', timestamp '2019-01-30 12:00:00')": [1],
        "day < '2019-01-30 00:00:01'": [0],
        "day + 1 = '2019-01-31' or 30 + day > '2019-03-01'": [0, 1],
        "day - date '2019-01-01' = 30": [1],
        'src."a.b" + 1 = dst."a.b" and dst."a.b" >= 6': [1, 2],
        "src.id = 10 or dst.id = 40": [0, 2],
        "id > 0 and src.size < dst.size": [1, 2],
        "src.size is null": [0],
        "not src.size < 2": [0, 2],
        "-7 % 3 = 2 and 7 % -3 = -2 and -7.5 % 2 = 0.5": [0, 1, 2],
        "9223372036854775807 + 1 is null and 1 / 0 is null and 1 % 0 is null": [0, 1, 2],
        "1e308 * 10 - 1e308 * 10 > 1e308 * 10": [0, 1, 2],
    }
    found = answers(*little_graph(spark), [bound(condition, LITTLE) for condition in expected])
    edges_found = [[i for i, is_there in enumerate(truths) if is_there] for truths in found]
    assert dict(zip(expected, edges_found, strict=True)) == expected


def test_only_the_ends_that_are_asked_for_are_joined(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    edges, nodes = little_graph(spark)
    alone = edges_with_ends(edges, nodes, [bound('"a.b" = 2 or id = 1', LITTLE)])
    alone.explain()
    assert "Join" not in capsys.readouterr().out
    assert alone.columns == edges.columns
    with_sources = edges_with_ends(edges, nodes, [bound("src.size = 2", LITTLE), bound("src.id = 2", LITTLE)])
    with_sources.explain()
    assert len(re.findall(r"^\W*\w*Join", capsys.readouterr().out, re.MULTILINE)) == 1
    assert with_sources.columns[: len(edges.columns)] == edges.columns
    assert len(with_sources.columns) == len(edges.columns) + 2


def test_names_that_differ_in_case_are_told_apart_where_spark_does(spark: SparkSession) -> None:
    schema = GraphSchema(INT, (), (Property("year", INT), Property("Year", INT)))
    with configured(spark, caseSensitive="true"):
        edges = spark.createDataFrame(pa.table({"_edge": [0, 1], "year": [1, 2], "Year": [2, 1]}))
        assert answers(edges, edges, [bound("year = 1", schema), bound("Year = 1", schema)]) == [
            [True, False],
            [False, True],
        ]


def test_literals_that_gvdl_cannot_write_are_values_too(spark: SparkSession) -> None:
    weight = EdgeProperty("select `x`", FLOAT)
    limits = [Literal(value, FLOAT) for value in (math.inf, -math.inf, math.nan)]
    found = answers(*little_graph(spark), [Comparison("<", weight, limit) for limit in limits])
    assert found == [[True] * 3, [False] * 3, [True] * 3]


def test_the_views_of_listing_3_hold_the_edges_of_figure_5(spark: SparkSession) -> None:
    """Graphsurge, section 3.2; the listing's 199 must read 200."""
    listing = """create view collection "call-analysis" on g
        [GV1: ID < 100], [GV2: ID >= 50 and ID < 200], [GV3: ID >= 10 and ID < 100], [GV4: ID >= 60 and ID < 200]"""
    (statement,) = parse(listing)
    schema = GraphSchema(INT, (), ())
    views = bind(statement, OneGraph(schema), listing).views  # type: ignore[call-overload]
    numbers = pa.array(range(200), pa.int64())
    edges = spark.createDataFrame(pa.table({"_edge": numbers, "_src": numbers, "_dst": numbers}))
    found = answers(edges, edges, [view.predicate for view in views])
    segments = [(10, {0}), (40, {0, 2}), (10, {0, 1, 2}), (40, {0, 1, 2, 3}), (100, {1, 3})]
    expected = [members for size, members in segments for _ in range(size)]
    assert [{j for j in range(4) if found[j][i]} for i in range(200)] == expected


def test_deep_and_long_conditions_run(spark: SparkSession) -> None:
    deep = "not " * 36 + '"a.b" = 2'
    sums = "(" * 36 + '"a.b"' + " % 7.5)" * 36 + " = 2"
    alternatives = " or ".join(f'"a.b" = {i}' for i in range(2, 500))
    choices = f'"a.b" in ({", ".join(map(str, range(2, 500)))})'
    found = answers(*little_graph(spark), [bound(each, LITTLE) for each in (deep, sums, alternatives, choices)])
    assert found == [[False, True, False], [False, True, False], [False, True, True], [False, True, True]]
