"""Types over a schema, and the errors of what does not fit."""

from datetime import date, datetime, timedelta

import pytest

from graphtide.dataflow.expressions import (
    Expression,
    call,
    coalesce,
    col,
    concat,
    greatest,
    hash_of,
    least,
    lit,
    tuple_,
    type_of,
    when,
)
from graphtide.errors import ExpressionError, GraphtideError, SchemaError
from graphtide.rows import Schema, Type

SCHEMA = Schema(
    {
        "i": int,
        "n": int | None,
        "f": float,
        "p": bool,
        "q": bool | None,
        "s": str,
        "z": str | None,
        "b": bytes,
        "d": date,
        "t": datetime,
        "e": datetime | None,
        "pair": tuple[int, str | None],
        "many": tuple[float, ...],
        "year": int,
    }
)
i, n, f, p, q, s, z, b, d, t, e = map(col, ["i", "n", "f", "p", "q", "s", "z", "b", "d", "t", "e"])
pair, many = col("pair"), col("many")


@pytest.mark.parametrize(
    ("expression", "annotation"),
    [
        (i + i, int),
        (i + n, int | None),
        (i * f, float),
        (i / 2, float),
        (i / i, float | None),
        (i // 2, int),
        (i // 0, int | None),
        (f % i, float | None),
        (i**2, float),
        (-f, float),
        (abs(n), int | None),
        (round(f, 2), float),
        (i.floor(), int),
        (i.sqrt(), float),
        (i + None, int | None),
        (s + s, str),
        (s + z, str | None),
        (b + b, bytes),
        (d + 3, date),
        (3 + d, date),
        (d - 3, date),
        (d + timedelta(days=3), date),
        (d - d, int),
        (t - t, int),
        (t - d, int),
        (t + timedelta(hours=1), datetime),
        (t - e, int | None),
        (i == f, bool),
        (i < n, bool | None),
        (i == None, bool | None),  # noqa: E711
        (t >= date(2020, 1, 1), bool),
        (s <= "a", bool),
        (pair == (1, "a"), bool),
        (p & q, bool | None),
        (p | True, bool),
        (~q, bool | None),
        (n.is_null(), bool),
        (n.is_not_null(), bool),
        (n.is_in([1, 2]), bool | None),
        (i.is_in([1.5]), bool),
        (when(p, i).otherwise(f), float),
        (when(q, i).otherwise(None), int | None),
        (when(p, s).when(q, z).otherwise("x"), str | None),
        (coalesce(n, 0), int),
        (coalesce(n, None), int | None),
        (least(n, i), int),
        (greatest(n, n), int | None),
        (hash_of(n, s), int),
        (f.cast(int), int),
        (n.cast(float), float | None),
        (s.cast(date), date),
        (d.cast(datetime), datetime),
        (lit(None).cast(int), int | None),
        (pair.cast(tuple[int, str]), tuple[int, str | None]),
        (s.upper(), str),
        (z.length(), int | None),
        (many.length(), int),
        (b.length(), int),
        (s.contains("a"), bool),
        (s.split_part(",", 0), str | None),
        (s.extract("a", 0), str | None),
        (concat(s, z), str | None),
        (d.year(), int),
        (e.hour(), int | None),
        (t.date_trunc("hour"), datetime),
        (d.date_trunc("week"), date),
        (t.to_date(), date),
        (pair[0], int),
        (pair[-1], str | None),
        (many[0], float | None),
        (tuple_(i, z), tuple[int, str | None]),
        (lit((1, "a")), tuple[int, str]),
        (lit(timedelta(seconds=1)), int),
        (lit(None, str), str | None),
        (call(max, i, f, returns=float), float),
        (call(max, i, n, returns=int), int | None),
    ],
)
def test_types(expression: Expression, annotation: object) -> None:
    assert type_of(expression, SCHEMA) == Type.of(annotation)


@pytest.mark.parametrize(
    ("expression", "message", "hint"),
    [
        (s + 1, "cannot add str and int in s + 1", ".cast(str) to join text"),
        (p * 2, "cannot multiply bool and int in p * 2", ".cast(int)"),
        (d + d, "cannot add date and date in d + d", ".cast"),
        (1 - d, "cannot subtract int and date in 1 - d", ".cast"),
        (d + timedelta(hours=1), "is not a whole number of days", ".cast(datetime)"),
        (s == 1, "cannot compare str with int in s == 1", ".cast(int)"),
        (i < "5", "cannot compare int with str in i < '5'", ".cast(int)"),
        (d < "2020-01-01", "cannot compare date with str", "write date(2020, 12, 31)"),
        (i > 1 & p, "1 is an int, where & needs a bool, in 1 & p", "(x > 1) & (y > 2)"),
        ((i > 1) & n, "n is an int, where & needs a bool, in (i > 1) & n", "(x > 1) & (y > 2)"),
        (~i, "i is an int, where ~ needs a bool, in ~i", ""),
        (when(i, 1).otherwise(2), "i is an int, where when needs a bool", "comparison"),
        (when(p, 1).otherwise("a"), "no type holds all of int, str in when(p, 1)", ".cast"),
        (coalesce(s, i), "no type holds all of int, str in coalesce(s, i)", ".cast"),
        (i.is_in([1, None]), "None is never found in i.is_in([1, None])", "is_null"),
        (i.is_in([1, n]), "n is not a value", "(x == a) | (x == b)"),
        (i.upper(), "upper needs a str, and i is an int, in i.upper()", ".cast(str)"),
        (s.substr("a"), "substr needs an int, and 'a' is a str, in s.substr('a')", ".cast(int)"),
        (s.sqrt(), "sqrt needs an int or a float, and s is a str", ".cast(int)"),
        (i.length(), "length needs a str or a bytes or a tuple, and i is an int", ".cast(str)"),
        (s.year(), "year needs a date or a timestamp, and s is a str", ".cast(date)"),
        (d.hour(), "hour needs a timestamp, and d is a date", ".cast(datetime)"),
        (d.date_trunc("hour"), "'hour' is not a unit of date", "year, quarter, month, week, day"),
        (t.date_trunc("decade"), "'decade' is not a unit of timestamp", "second"),
        (round(i, -2), "i.round(-2) would round an int", "x // 100 * 100"),
        (s.matches("("), "'(' is not a regular expression in s.matches('(')", ""),
        (s.extract("a", 1), "'a' has 0 groups", "group 0"),
        (s.extract(z, 0), "z is not a fixed value", "needs a literal"),
        (i[0], "i is an int, not a tuple, in i[0]", ".substr"),
        (pair[2], "pair[2] does not exist: tuple[int, str | None] has 2 elements", "count from 0"),
        (pair["a"], "the index in pair['a'] is not an int", "x[0]"),
        (b.cast(int), "cannot cast bytes to int in b.cast(int)", "a bytes can become str"),
        (pair.cast(tuple[int, int]), "cannot cast tuple[int, str | None] to tuple[int, int]", "x[0]"),
        (pair.cast(str), "cannot cast tuple[int, str | None] to str", "x[0]"),
        (lit(None), "the type of None is unknown", "lit(None, int)"),
        (lit(None) + None, "the type of None + None is unknown", "lit(None, int)"),
        (lit(None).upper(), "the type of None is unknown in None.upper()", "lit(None, str)"),
        (tuple_(None, i), "the type of None is unknown", "lit(None, int)"),
        (lit(()), "the type of () is unknown", "lit(value, type)"),
    ],
)
def test_what_does_not_fit_is_quoted(expression: Expression, message: str, hint: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        type_of(expression, SCHEMA)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_an_unknown_column_is_quoted_with_the_name_that_was_meant() -> None:
    with pytest.raises(SchemaError) as caught:
        type_of((col("yaer") + 1) <= 2010, SCHEMA)
    assert caught.value.message.startswith('column "yaer" does not exist in (i: int')
    assert caught.value.message.endswith(", used in (yaer + 1) <= 2010")
    assert caught.value.hint == 'did you mean "year"?'


def test_a_bottomless_expression_is_refused() -> None:
    deep = i
    for _ in range(100_000):
        deep = deep + 1
    with pytest.raises(GraphtideError, match="nested too deeply"):
        type_of(deep, SCHEMA)


def test_shared_parts_are_looked_at_once() -> None:
    deep = i
    for _ in range(100):
        deep = when(deep > 0, deep).otherwise(-deep)
    assert type_of(deep, SCHEMA) == Type.of(int)
