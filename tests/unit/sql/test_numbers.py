"""Numbers, dates and their texts: as they are written, rounded, cast, and held to the digits of their type."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Context, Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphtide as gt
from graphtide.errors import SchemaError, SqlError


def answer(query: str, rows=(), **columns) -> list[tuple]:
    db = gt.Database()
    db.table("t", **(columns or {"a": int}))
    view = db.view(query)
    db.insert("t", list(rows))
    db.commit()
    view.table().validate(full=True)
    return view.rows()


WIDE = Context(prec=400)
LARGE = [(1234567890123456788,), (1234567890123456789,)]


@pytest.mark.parametrize(
    ("query", "rows", "told"),
    [
        ("select a from t where a = 1234567890123456789", LARGE, [LARGE[1]]),
        ("select a from t where a > 1234567890123456788", LARGE, [LARGE[1]]),
        ("select a from t where a in (1234567890123456789, 5)", LARGE, [LARGE[1]]),
        ("select 9223372036854775807 + 0", [], [(2**63 - 1,)]),
        ("select -9223372036854775807", [], [(1 - 2**63,)]),
        ("select a + 1000000000000000000 from t", [(5,)], [(10**18 + 5,)]),
        ("select 123456789012345678.9", [], [(Decimal("123456789012345678.9"),)]),
    ],
)
def test_ints_of_19_digits_are_exact(query, rows, told) -> None:
    assert answer(query, rows) == told


@pytest.mark.parametrize("number", ["9223372036854775808", "12345678901234567890.5", "0.1234567890123456789"])
def test_a_number_that_64_bits_do_not_hold_is_refused_unless_a_double_is_asked_for(number) -> None:
    with pytest.raises(SqlError, match=f"{number} does not fit into 64 bits"):
        answer(f"select {number}")
    assert answer(f"select {number}e0, {number}::double") == [(float(number), float(number))]


ROUNDED = {
    0.49999999999999994: 0,
    0.5: 1,
    2.5: 3,
    -2.5: -3,
    -0.49999999999999994: 0,
    4503599627370497.0: 4503599627370497,
}


@pytest.mark.parametrize("number", ROUNDED)
def test_round_is_half_away_from_zero(number) -> None:
    assert answer("select round(x) from t", [(number,)], x=float) == [(ROUNDED[number],)]


@given(st.floats() | st.integers(-(10**6), 10**6).map(lambda n: n / 2))
def test_round_is_exact_for_every_double(number) -> None:
    ((ours,),) = answer("select round(x) from t", [(number,)], x=float)
    if not math.isfinite(number):
        assert ours == number or (math.isnan(ours) and math.isnan(number))
    else:
        assert ours == float(Decimal(number).quantize(Decimal(1), "ROUND_HALF_UP", WIDE))


def test_round_to_digits_that_a_double_does_not_have_leaves_it() -> None:
    rows = [(0.1,), (1.5e308,), (math.inf,)]
    assert answer("select round(x, 400) from t", rows, x=float) == rows
    assert answer("select round(x, 3) from t", rows, x=float) == rows


TOO_WIDE = [
    ("cast(a as decimal(4, 2))", 100, "100"),
    ("cast(a * 10000 as decimal(4, 2))", 3, "30000"),
    ("a::decimal(18, 18)", 1, "1"),
    ("cast(d as decimal(4, 2))", 7, "12345.670"),
    ("cast(d - 12345.67 + 99.995 as decimal(4, 2))", 7, "99.995"),
    ("cast(f as decimal(4, 2))", 7, "123.5"),
    ("cast(n as decimal(4, 2))", 7, "nan"),
]


@pytest.mark.parametrize(("cast", "a", "value"), TOO_WIDE)
def test_a_cast_to_fewer_digits_than_a_value_has_stops_the_commit(cast, a, value) -> None:
    db = gt.Database()
    db.table("t", a=int | None, d="decimal(9, 3)", f=float | None, n=float | None)
    view = db.view(f"select {cast} as x from t")
    db.insert("t", [(None, None, None, None), (0, None, 0.0, None)])
    db.commit()
    before = view.rows()
    db.insert("t", [(a, Decimal("12345.67"), 123.5, math.nan)])
    with pytest.raises(SqlError, match=rf"^{value} does not fit into DECIMAL\((4, 2|18, 18)\).*CAST\("):
        db.commit()
    db.rollback()
    db.commit()
    assert view.rows() == before


@pytest.mark.parametrize("value", ["12345.67", "99.995", "1e30::double", "'123.4'", "-100"])
def test_a_cast_of_a_constant_is_refused_at_once(value) -> None:
    with pytest.raises(SqlError, match=r"does not fit into DECIMAL\(4, 2\)"):
        answer(f"select cast({value} as decimal(4, 2))")
    assert answer("select cast(99.994 as decimal(4, 2)), '-99.99'::decimal(4, 2)") == [
        (Decimal("99.99"), Decimal("-99.99"))
    ]


def test_a_row_with_more_digits_than_its_column_is_refused() -> None:
    db = gt.Database()
    db.table("t", d="decimal(4, 2)")
    arrow = pa.table({"d": pa.array([Decimal("1.00"), Decimal("-100.00")], pa.decimal128(9, 2))})
    for rows, value in [([(Decimal("12345.67"),)], "12345.67"), ({"d": [100]}, "100"), (arrow, "-100.00")]:
        with pytest.raises(SchemaError, match=rf'{value}.* in column "d" does not fit into DECIMAL\(4, 2\)'):
            db.insert("t", rows)
    with pytest.raises(SchemaError, match="digits after the point"):
        db.insert("t", [(Decimal("1.0000000000000000000000000000000001"),)])
    db.insert("t", [(Decimal("99.99"),), (Decimal("-99.99"),)])
    view = db.view("select d, 2 * d as twice, round(d, 1) as r, ceil(d) as c, d + d as s, d * d as q from t")
    db.commit()
    # Every type that comes out holds its values.
    view.table().validate(full=True)
    assert max(view.rows())[1:4] == (Decimal("199.98"), Decimal("100.0"), Decimal(100))


TEXTS = {
    "cast(2.000 as varchar)": "2.000",
    "2.50 || '!'": "2.50!",
    "cast(-0.50 as varchar)": "-0.50",
    "cast(5.10 + 1 as varchar)": "6.10",
    "cast(timestamp '1969-12-31 12:30:01.500' as varchar)": "1969-12-31 12:30:01.5",
    "timestamp '2020-01-01 10:00:00' || '!'": "2020-01-01 10:00:00!",
    "replace('abc', '', 'z')": "abc",
    "replace('abc', 'b', '')": "ac",
    "replace('abc', '', cast(null as varchar))": None,
    "'abc' like 'a%' escape null": None,
    "'abc' not like 'a%' escape null": None,
    "timestamp '2020-01-01 00:00:00+02:00'": datetime.fromisoformat("2020-01-01"),
    "timestamp '2020-01-01T10:00:00.5Z'": datetime.fromisoformat("2020-01-01 10:00:00.5"),
    "timestamp '2020-01-01 10:00'": datetime.fromisoformat("2020-01-01 10:00"),
    "date '2020-1-1'": date(2020, 1, 1),
    "date '2020-01-01 10:00:00'": date(2020, 1, 1),
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_read_and_written_as_in_duckdb(text) -> None:
    assert answer(f"select {text}") == [(TEXTS[text],)]


@pytest.mark.parametrize(
    "text", ["date '2020-W01-1'", "date '20200101'", "date '2020-13-01'", "timestamp '2020-01-01 10'", "date 'now'"]
)
def test_what_is_no_date_is_refused(text) -> None:
    with pytest.raises(SqlError, match="is not a"):
        answer(f"select {text}")
