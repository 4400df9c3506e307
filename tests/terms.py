"""Random typed expressions, each with its plain meaning: a function from a row to its value.

The functions know nothing of codes, chunks, registers or guards; `Stop` is what must stop the run.
"""

import math
import operator
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any

from hypothesis import strategies as st
from tests.term_meanings import (
    LARGEST,
    Row,
    Term,
    both,
    chosen,
    compared,
    days,
    divided,
    either,
    extreme,
    first_of,
    fits,
    ieee,
    microseconds,
    midnight,
    mixed,
    months_later,
    moved,
    of_all,
    rank,
    rounded,
    truncated,
)

from graphtide.dataflow.expressions import (
    coalesce,
    col,
    concat,
    greatest,
    hash_of,
    least,
    lit,
    tuple_,
    when,
)
from graphtide.rows import Schema

# ------------------------------------------------------------------------------------ random terms

# Timestamps have no zone, so none of them is the second of two equal ones.
CLOCKS = st.datetimes().map(lambda m: m.replace(fold=0))
COLUMNS = {
    "a": (int, st.integers(-3, 3)),
    "i": (int | None, st.none() | st.integers(-LARGEST, LARGEST) | st.integers(-(2**32), 2**32)),
    "f": (
        float | None,
        st.none() | st.floats(allow_nan=True) | st.sampled_from([0.0, -0.0, math.nan, 2.5, -3.5, 1e300]),
    ),
    "g": (float, st.floats(-100, 100) | st.floats()),
    "p": (bool, st.booleans()),
    "q": (bool | None, st.none() | st.booleans()),
    "s": (str | None, st.none() | st.text("aAbß\0🌊", max_size=4)),
    "t": (str, st.sampled_from(["", "a", "ab", "B", "🌊", "\uffff"])),
    "d": (date | None, st.none() | st.dates()),
    "m": (datetime, CLOCKS),
}
SCHEMA = Schema({name: annotation for name, (annotation, _) in COLUMNS.items()})


def rows() -> st.SearchStrategy[list[tuple[Any, ...]]]:
    return st.lists(st.tuples(*(values for _, values in COLUMNS.values())), min_size=1, max_size=6)


@cache
def read(*names: str) -> st.SearchStrategy[Term]:
    return st.sampled_from([Term(col(name), lambda row, name=name: row[name]) for name in names])


@cache
def literal(values: st.SearchStrategy[Any], annotation: Any) -> st.SearchStrategy[Term]:
    def term(v: Any) -> Term:
        return Term(lit(v) if v is not None else lit(None, annotation), lambda _: v)

    return (values | st.none()).map(term)


@cache
@st.composite
def ints(draw: st.DrawFn, depth: int) -> Term:
    if depth == 0:
        small = st.integers(-7, 7) | st.sampled_from([LARGEST, -LARGEST, 2**31, 3037000500, -(2**62)])
        return draw(read("a", "a", "i") | literal(small, int))
    below = ints(depth - 1)
    kind = draw(
        st.sampled_from(
            [
                "add",
                "sub",
                "mul",
                "div",
                "mod",
                "neg",
                "abs",
                "bits",
                "cast",
                "bool",
                "hash",
                "length",
                "days",
                "parts",
                "choice",
            ]
        )
    )
    if kind in {"add", "sub", "mul", "div", "mod"}:
        a, b = draw(below), draw(below)
        plain = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
        if kind in plain:
            return Term(plain[kind](a.expression, b.expression), of_all(lambda x, y: fits(plain[kind](x, y)), a, b))
        symbol = operator.floordiv if kind == "div" else operator.mod
        return Term(symbol(a.expression, b.expression), of_all(divided(symbol), a, b))
    if kind in {"neg", "abs"}:
        a = draw(below)
        symbol = operator.neg if kind == "neg" else abs
        return Term(symbol(a.expression), of_all(symbol, a))
    if kind == "bits":
        a = draw(below)
        return Term(a.expression.bit_length(), of_all(int.bit_length, a))
    if kind == "cast":
        x = draw(floats(depth - 1))
        return Term(x.expression.cast(int), of_all(truncated, x))
    if kind == "bool":
        x = draw(bools(depth - 1))
        return Term(x.expression.cast(int), of_all(int, x))
    if kind == "hash":
        a, b = draw(below), draw(below)

        def hashed(row: Row) -> int:
            codes = [-(2**63) if v is None else v for v in (a.value(row), b.value(row))]
            return mixed(codes)

        return Term(hash_of(a.expression, b.expression), hashed)
    if kind == "length":
        s = draw(texts(depth - 1))
        return Term(s.expression.length(), of_all(len, s))
    if kind == "days":
        a, b = draw(dates(depth - 1)), draw(dates(depth - 1))
        return Term(a.expression - b.expression, of_all(lambda x, y: (x - y).days, a, b))
    if kind == "parts":
        part = draw(st.sampled_from(["year", "month", "day", "hour", "minute", "second", "weekday"]))
        m = draw(moments(depth - 1))
        take = (lambda x: x.weekday()) if part == "weekday" else operator.attrgetter(part)
        return Term(getattr(m.expression, part)(), of_all(take, m))
    return draw(choices(below, depth))


@cache
@st.composite
def floats(draw: st.DrawFn, depth: int) -> Term:
    if depth == 0:
        return draw(read("f", "g") | literal(st.sampled_from([0.0, 1.5, -2.0, math.inf, math.nan, 1e308]), float))
    below = floats(depth - 1)
    kind = draw(
        st.sampled_from(
            [
                "add",
                "sub",
                "mul",
                "div",
                "floordiv",
                "mod",
                "neg",
                "abs",
                "round",
                "floor",
                "ceil",
                "sqrt",
                "int",
                "mix",
                "choice",
            ]
        )
    )
    pairs = {
        "add": (operator.add, ieee(operator.add)),
        "sub": (operator.sub, ieee(operator.sub)),
        "mul": (operator.mul, ieee(operator.mul)),
        "div": (operator.truediv, divided(ieee(operator.truediv))),
        "floordiv": (operator.floordiv, divided(operator.floordiv)),
        "mod": (operator.mod, divided(operator.mod)),
    }
    if kind in pairs:
        a, b = draw(below), draw(below)
        symbol, function = pairs[kind]
        return Term(symbol(a.expression, b.expression), of_all(function, a, b))
    if kind == "mix":
        a, b = draw(ints(depth - 1)), draw(below)
        return Term(a.expression + b.expression, of_all(lambda x, y: ieee(operator.add)(float(x), y), a, b))
    if kind == "int":
        a, b = draw(ints(depth - 1)), draw(ints(depth - 1))
        return Term(a.expression / b.expression, of_all(divided(lambda x, y: float(x) / float(y)), a, b))
    if kind == "choice":
        return draw(choices(below, depth))
    a = draw(below)
    single = {
        "neg": (operator.neg, operator.neg),
        "abs": (abs, abs),
        "round": (round, rounded),
        "floor": (lambda e: e.floor(), lambda x: float(math.floor(x)) if math.isfinite(x) else x),
        "ceil": (lambda e: e.ceil(), lambda x: float(math.ceil(x)) if math.isfinite(x) else x),
        "sqrt": (lambda e: e.sqrt(), lambda x: math.nan if x < 0 else math.sqrt(x)),
    }
    make, function = single[kind]
    return Term(make(a.expression), of_all(function, a))


@cache
@st.composite
def bools(draw: st.DrawFn, depth: int) -> Term:
    if depth == 0:
        return draw(read("p", "q") | literal(st.booleans(), bool))
    below = bools(depth - 1)
    kind = draw(
        st.sampled_from(
            ["compare", "compare", "compare", "and", "or", "not", "null", "in", "cast", "contains", "choice"]
        )
    )
    if kind == "compare":
        names = st.sampled_from([operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
        symbol = draw(names)
        of = draw(st.sampled_from([ints, floats, bools, texts, dates, moments, pairs]))
        a, b = draw(of(depth - 1)), draw(of(depth - 1))
        return Term(symbol(a.expression, b.expression), of_all(compared(symbol), a, b))
    if kind == "and":
        a, b = draw(below), draw(below)
        return Term(a.expression & b.expression, both(a, b))
    if kind == "or":
        a, b = draw(below), draw(below)
        return Term(a.expression | b.expression, either(a, b))
    if kind == "not":
        a = draw(below)
        return Term(~a.expression, of_all(operator.not_, a))
    if kind == "null":
        a = draw(ints(depth - 1) | floats(depth - 1) | texts(depth - 1))
        return Term(a.expression.is_null(), lambda row: a.value(row) is None)
    if kind == "in":
        a = draw(floats(depth - 1))
        members = draw(st.lists(st.sampled_from([0.0, 1.5, math.nan, -2.0, 3]), max_size=3))
        ranks = [rank(float(member)) for member in members]
        return Term(a.expression.is_in(members), of_all(lambda x: rank(x) in ranks, a))
    if kind == "cast":
        a = draw(floats(depth - 1))
        return Term(a.expression.cast(bool), of_all(bool, a))
    if kind == "contains":
        a, b = draw(texts(depth - 1)), draw(texts(depth - 1))
        return Term(a.expression.contains(b.expression), of_all(operator.contains, a, b))
    return draw(choices(below, depth))


@cache
@st.composite
def texts(draw: st.DrawFn, depth: int) -> Term:
    if depth == 0:
        return draw(read("s", "t") | literal(st.sampled_from(["", "a", "xa", "ß"]), str))
    below = texts(depth - 1)
    kind = draw(st.sampled_from(["upper", "concat", "plus", "substr", "cast", "element", "choice"]))
    if kind == "upper":
        a = draw(below)
        return Term(a.expression.upper(), of_all(str.upper, a))
    if kind in {"concat", "plus"}:
        a, b = draw(below), draw(below)
        made = concat(a.expression, b.expression) if kind == "concat" else a.expression + b.expression
        return Term(made, of_all(operator.add, a, b))
    if kind == "substr":
        a, start, length = draw(below), draw(st.integers(0, 3)), draw(st.integers(0, 3))
        return Term(a.expression.substr(start, length), of_all(lambda x: x[start : start + length], a))
    if kind == "cast":
        a = draw(ints(depth - 1))
        return Term(a.expression.cast(str), of_all(str, a))
    if kind == "element":
        a = draw(pairs(depth - 1))
        return Term(a.expression[1], of_all(operator.itemgetter(1), a))
    return draw(choices(below, depth))


@cache
@st.composite
def pairs(draw: st.DrawFn, depth: int) -> Term:
    """Tuples whose elements are never None, which Python can order."""
    a, b = draw(read("a", "p")) if depth < 0 else draw(read("a")), draw(texts(max(depth - 1, 0)))
    text = Term(coalesce(b.expression, lit("?")), lambda row: "?" if (v := b.value(row)) is None else v)
    return Term(tuple_(a.expression, text.expression), lambda row: (a.value(row), text.value(row)))


@cache
@st.composite
def dates(draw: st.DrawFn, depth: int) -> Term:
    if depth == 0:
        return draw(read("d") | literal(st.dates(), date))
    kind = draw(st.sampled_from(["add", "months", "moment", "trunc", "choice"]))
    if kind == "months":
        a, months = draw(dates(depth - 1)), draw(st.integers(-30, 30))
        return Term(a.expression.add_months(months), of_all(lambda x: months_later(x, months), a))
    if kind == "add":
        a, n = draw(dates(depth - 1)), draw(ints(depth - 1))
        sign = draw(st.sampled_from([1, -1]))
        made = a.expression + n.expression if sign > 0 else a.expression - n.expression
        return Term(made, of_all(lambda x, y: moved(x, days(sign * y)), a, n))
    if kind == "moment":
        m = draw(moments(depth - 1))
        return Term(m.expression.to_date(), of_all(lambda x: x.date(), m))
    if kind == "trunc":
        d = draw(dates(depth - 1))
        starts = {
            "year": lambda x: x.replace(month=1, day=1),
            "quarter": lambda x: x.replace(month=(x.month - 1) // 3 * 3 + 1, day=1),
            "month": lambda x: x.replace(day=1),
            "week": lambda x: x - timedelta(days=x.weekday()),
        }
        unit = draw(st.sampled_from(sorted(starts)))
        return Term(d.expression.date_trunc(unit), of_all(starts[unit], d))
    return draw(choices(dates(depth - 1), depth))


@cache
@st.composite
def moments(draw: st.DrawFn, depth: int) -> Term:
    if depth == 0:
        return draw(read("m") | literal(CLOCKS, datetime))
    kind = draw(st.sampled_from(["date", "add", "trunc", "choice"]))
    if kind == "date":
        d = draw(dates(depth - 1))
        return Term(d.expression.cast(datetime), of_all(midnight, d))
    if kind == "add":
        m, n = draw(moments(depth - 1)), draw(ints(depth - 1))
        return Term(m.expression + n.expression, of_all(lambda x, y: moved(x, microseconds(y)), m, n))
    if kind == "trunc":
        m = draw(moments(depth - 1))
        starts = {
            "month": lambda x: x.replace(day=1, hour=0, minute=0, second=0, microsecond=0),
            "day": lambda x: x.replace(hour=0, minute=0, second=0, microsecond=0),
            "hour": lambda x: x.replace(minute=0, second=0, microsecond=0),
            "second": lambda x: x.replace(microsecond=0),
        }
        unit = draw(st.sampled_from(sorted(starts)))
        return Term(m.expression.date_trunc(unit), of_all(starts[unit], m))
    return draw(choices(moments(depth - 1), depth))


@cache
@st.composite
def choices(draw: st.DrawFn, of: st.SearchStrategy[Term], depth: int) -> Term:
    kind = draw(st.sampled_from(["when", "coalesce", "least", "greatest"]))
    if kind == "when":
        tests = draw(st.lists(bools(depth - 1), min_size=1, max_size=2))
        branches = [(test, draw(of)) for test in tests]
        rest = draw(of)
        made = when(branches[0][0].expression, branches[0][1].expression)
        for test, then in branches[1:]:
            made = made.when(test.expression, then.expression)
        return Term(made.otherwise(rest.expression), chosen(branches, rest))
    terms = draw(st.lists(of, min_size=1, max_size=3))
    inner = [term.expression for term in terms]
    if kind == "coalesce":
        return Term(coalesce(*inner), first_of(terms))
    make, pick = (least, min) if kind == "least" else (greatest, max)
    return Term(make(*inner), extreme(pick, terms))


@cache
def terms(depth: int) -> st.SearchStrategy[Term]:
    return st.one_of([of(depth) for of in (ints, floats, bools, texts, dates, moments, pairs)])
