"""Conditions on edges at random, with an evaluator of their own in plain Python.

A term is made together with its text: what GVDL reads, and what Python says it is in a row. Dates are days
and timestamps microseconds since 1970, None is a missing value.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

import pyarrow as pa

from graphtide.graph.schema import GraphSchema, Property, PropertyType
from graphtide.gvdl import BoundView, bind, parse
from graphtide.gvdl.predicate import Predicate

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
