"""What each function gives, value by value."""

# ruff: noqa: DTZ001, DTZ901 - timestamps have no zone

import math
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from graphtide.dataflow.expressions import (
    Expression,
    coalesce,
    col,
    compile_linear,
    concat,
    greatest,
    hash_of,
    least,
    lit,
    tuple_,
    when,
)
from graphtide.errors import ExpressionError
from graphtide.rows import Dictionary, Schema, decode_values, encode_rows

LARGEST = 2**63 - 1
NAN = math.nan
x, y = col("x"), col("y")


def values_of(expression: Expression, annotation: Any, *values: Any) -> list[Any]:
    """The expression in rows with x (and y, if the values are pairs within a list)."""
    pairs = [value if isinstance(value, list) else [value, None] for value in values]
    schema = Schema({"x": annotation, "y": annotation}) if isinstance(values[0], list) else Schema({"x": annotation})
    dictionary = Dictionary()
    plan = compile_linear(schema, dictionary, {"out": expression})
    codes = encode_rows(schema, dictionary, {name: [pair[i] for pair in pairs] for i, name in enumerate(schema)})
    return decode_values(plan.schema["out"], dictionary, plan.over(codes)[0])


def alike(found: list[Any], wanted: list[Any]) -> bool:
    """Equal in type and value, the last bits of floats aside; a NaN is like a NaN."""

    def is_like(a: Any, b: Any) -> bool:
        if isinstance(a, float) and isinstance(b, float):
            return math.isclose(a, b, rel_tol=1e-14) or (math.isnan(a) and math.isnan(b))
        return type(a) is type(b) and a == b

    return len(found) == len(wanted) and all(map(is_like, found, wanted))


OPTIONAL_INT, OPTIONAL_FLOAT, OPTIONAL_TEXT = int | None, float | None, str | None


@pytest.mark.parametrize(
    ("expression", "annotation", "given", "expected"),
    [
        (x + 1, int, [1, -1], [2, 0]),
        (x - 1, OPTIONAL_INT, [1, None], [0, None]),
        (-x, int, [3, -LARGEST], [-3, LARGEST]),
        (x * x, int, [3037000499, -5, 2**31], [9223372030926249001, 25, 2**62]),
        (x / 2, int, [7, -7], [3.5, -3.5]),
        (x / 0, int, [7], [None]),
        (x // 2, int, [7, -7], [3, -4]),
        (x % 3, int, [7, -7], [1, 2]),
        (x // 0, int, [7], [None]),
        (x % 0, int, [7], [None]),
        (7 % x, int, [3, -3, 0], [1, -2, None]),
        (x // 2.0, float, [7.0, -7.0], [3.0, -4.0]),
        (x % 3.0, float, [7.5, -7.5], [1.5, 1.5]),
        (x / 0.0, float, [1.0], [None]),
        (x**2, int, [3], [9.0]),
        (x**0.5, float, [4.0, -1.0], [2.0, math.nan]),
        (abs(x), int, [-3, 3, -LARGEST], [3, 3, LARGEST]),
        (abs(x), OPTIONAL_FLOAT, [-1.5, None], [1.5, None]),
        (x.floor(), float, [1.5, -1.5, 1e300, math.inf], [1.0, -2.0, 1e300, math.inf]),
        (x.ceil(), float, [1.5, -1.5], [2.0, -1.0]),
        (x.floor(), int, [3], [3]),
        (round(x), float, [0.5, 1.5, 2.4], [0.0, 2.0, 2.0]),
        (round(x, 2), float, [1.234, -1.235, 1e308, math.nan], [1.23, -1.24, 1e308, math.nan]),
        (round(x, -2), float, [1234.0], [1200.0]),
        (x.sqrt(), float, [4.0, -1.0], [2.0, math.nan]),
        (x.exp(), float, [0.0, 1.0, 1e6], [1.0, math.e, math.inf]),
        (x.log(), float, [1.0, math.e, 0.0, -1.0], [0.0, 1.0, -math.inf, math.nan]),
        (x.sqrt(), int, [9], [3.0]),
        (x == 0.0, float, [-0.0, 0.0, math.nan], [True, True, False]),
        (x == NAN, OPTIONAL_FLOAT, [math.nan, 1.0, None], [True, False, None]),
        (x > math.inf, float, [math.nan, math.inf], [True, False]),
        (x == 1.0, int, [1, 2], [True, False]),
        (x == None, int, [1], [None]),  # noqa: E711
        (x.is_null(), OPTIONAL_INT, [1, None], [False, True]),
        (x.is_not_null(), OPTIONAL_INT, [1, None], [True, False]),
        (x.is_in([3, 1, 3]), OPTIONAL_INT, [1, 2, 3, None], [True, False, True, None]),
        (x.is_in([]), OPTIONAL_INT, [1, None], [False, None]),
        (x.is_in(["b", "a"]), str, ["a", "c"], [True, False]),
        (x.is_in([1, 2.5]), int, [1, 2], [True, False]),
        (x.between(2, 3), int, [1, 2, 3, 4], [False, True, True, False]),
    ],
)
def test_numbers_and_comparisons(
    expression: Expression, annotation: Any, given: list[Any], expected: list[Any]
) -> None:
    assert alike(values_of(expression, annotation, *given), expected)


@pytest.mark.parametrize(
    ("expression", "rows", "expected"),
    [
        (
            x & y,
            [[True, None], [False, None], [None, None], [None, False], [True, True]],
            [None, False, None, False, True],
        ),
        (
            x | y,
            [[True, None], [False, None], [None, None], [None, True], [False, False]],
            [True, None, None, True, False],
        ),
        (~x, [[True, None], [False, None], [None, None]], [False, True, None]),
    ],
)
def test_logic_is_kleenes(expression: Expression, rows: list[Any], expected: list[Any]) -> None:
    assert values_of(expression, bool | None, *rows) == expected


@pytest.mark.parametrize(
    ("expression", "given", "expected"),
    [
        (x.upper(), ["aß", None], ["ASS", None]),
        (x.lower(), ["AÉ"], ["aé"]),
        (x.length(), ["", "🌊a"], [0, 2]),
        (x.strip(), ["  a b\n"], ["a b"]),
        (x.lstrip("xy"), ["xyax"], ["ax"]),
        (x.rstrip("x"), ["xax"], ["xa"]),
        (x.substr(1), ["abc"], ["bc"]),
        (x.substr(1, 1), ["abc", ""], ["b", ""]),
        (x.substr(-2, 1), ["abc", "a"], ["b", "a"]),
        (x.substr(0, -1), ["abc"], [""]),
        (x.contains("b"), ["abc", "ac"], [True, False]),
        (x.startswith("a"), ["abc", "ba"], [True, False]),
        (x.endswith("c"), ["abc", "ca"], [True, False]),
        (x.replace("a", "--"), ["aba"], ["--b--"]),
        (x.split_part(",", 1), ["a,b", "a"], ["b", None]),
        (x.split_part(",", -1), ["a,b"], ["b"]),
        (x.like("a%_c"), ["abc", "ac", "a\nbc"], [True, False, True]),
        (x.like(r"100\%"), ["100%", "1000"], [True, False]),
        (x.like("a.c"), ["a.c", "abc"], [True, False]),
        (x.matches("^a+$"), ["aa", "aab"], [True, False]),
        (x.extract("[0-9]+"), ["a12b3", "x"], ["12", None]),
        (x.extract("(a)|(b)", 2), ["b", "a"], ["b", None]),
        (concat(x, lit("-"), x), ["a", None], ["a-a", None]),
        (x + "!", ["a"], ["a!"]),
        (x < "b", ["a", "b", "🌊", "\uffff"], [True, False, False, False]),
        (x > "\uffff", ["🌊"], [True]),
        (least(x, lit("m")), ["a", "z", None], ["a", "m", "m"]),
        (greatest(x, lit("m"), lit("b")), ["a", "z", None], ["m", "z", "m"]),
        (coalesce(x, lit("?")), ["a", None], ["a", "?"]),
        (when(x == "a", x.upper()).otherwise(x), ["a", "b", None], ["A", "b", None]),
        (lit("a").upper() + lit("b"), ["x"], ["Ab"]),
        (x.cast(int), [" 12 ", "-9223372036854775807"], [12, -LARGEST]),
        (x.cast(float), ["1.5", "nan"], [1.5, math.nan]),
        (x.cast(bool), ["true", "FALSE"], [True, False]),
        (x.cast(bytes), ["ä"], [b"\xc3\xa4"]),
        (x.cast(date), ["2020-02-29"], [date(2020, 2, 29)]),
        (x.to_date(), ["2020-02-29"], [date(2020, 2, 29)]),
        (
            x.cast(datetime),
            ["2020-02-29 12:30:00", "2020-01-01T00:00:00+01:00"],
            [datetime(2020, 2, 29, 12, 30), datetime(2019, 12, 31, 23)],
        ),
        (tuple_(x, 1)[0], ["a", None], ["a", None]),
    ],
)
def test_text(expression: Expression, given: list[Any], expected: list[Any]) -> None:
    assert alike(values_of(expression, OPTIONAL_TEXT, *given), expected)


@pytest.mark.parametrize(
    ("expression", "rows", "expected"),
    [
        (x + y, [["a", "b"], ["a", None], ["a", "b"]], ["ab", None, "ab"]),
        (x < y, [["a", "b"], ["b", "a"], [None, "a"]], [True, False, None]),
        (x >= y, [["a", "b"], ["b", "b"]], [False, True]),
        (x.contains(y), [["abc", "c"], ["abc", "d"]], [True, False]),
        (x.matches(y), [["abc", "c$"], ["abc", "^c"]], [True, False]),
        (x.like(y), [["abc", "a%"], ["abc", "b%"]], [True, False]),
        (least(x, y), [["b", "a"], [None, "z"], [None, None]], ["a", "z", None]),
    ],
)
def test_text_of_two_columns(expression: Expression, rows: list[Any], expected: list[Any]) -> None:
    assert values_of(expression, OPTIONAL_TEXT, *rows) == expected


MOMENT = datetime(2024, 2, 29, 13, 45, 59, 999999)
EARLY = datetime(1, 1, 1)


@pytest.mark.parametrize(
    ("expression", "given", "expected"),
    [
        (x.year(), [MOMENT, EARLY], [2024, 1]),
        (x.month(), [MOMENT, EARLY], [2, 1]),
        (x.day(), [MOMENT, EARLY], [29, 1]),
        (x.hour(), [MOMENT, datetime(1969, 12, 31, 23)], [13, 23]),
        (x.minute(), [MOMENT], [45]),
        (x.second(), [MOMENT], [59]),
        (x.weekday(), [MOMENT, EARLY], [3, 0]),
        (x.date_trunc("year"), [MOMENT], [datetime(2024, 1, 1)]),
        (x.date_trunc("quarter"), [MOMENT], [datetime(2024, 1, 1)]),
        (x.date_trunc("month"), [MOMENT], [datetime(2024, 2, 1)]),
        (x.date_trunc("week"), [MOMENT], [datetime(2024, 2, 26)]),
        (x.date_trunc("day"), [MOMENT], [datetime(2024, 2, 29)]),
        (x.date_trunc("hour"), [MOMENT], [datetime(2024, 2, 29, 13)]),
        (x.date_trunc("minute"), [MOMENT], [datetime(2024, 2, 29, 13, 45)]),
        (x.date_trunc("second"), [MOMENT], [datetime(2024, 2, 29, 13, 45, 59)]),
        (x.to_date(), [MOMENT, datetime(1969, 12, 31, 23)], [date(2024, 2, 29), date(1969, 12, 31)]),
        (x.cast(date), [MOMENT], [date(2024, 2, 29)]),
        (x.cast(int), [datetime(1970, 1, 1, 0, 0, 1)], [1_000_000]),
        (x.cast(str), [datetime(2020, 1, 2, 3)], ["2020-01-02 03:00:00"]),
        (x - datetime(2024, 2, 29), [MOMENT], [49_559_999_999]),
        (x - date(2024, 2, 29), [MOMENT], [49_559_999_999]),
        (x + timedelta(hours=1), [EARLY], [datetime(1, 1, 1, 1)]),
        (x - 1_000_000, [MOMENT], [datetime(2024, 2, 29, 13, 45, 58, 999999)]),
        (x > date(2024, 2, 29), [MOMENT], [True]),
        (x == date(1, 1, 1), [EARLY], [True]),
    ],
)
def test_timestamps(expression: Expression, given: list[Any], expected: list[Any]) -> None:
    assert values_of(expression, datetime, *given) == expected


@pytest.mark.parametrize(
    ("expression", "given", "expected"),
    [
        (x.year(), [date.min, date.max], [1, 9999]),
        (x.month(), [date(1900, 2, 28)], [2]),
        (x.weekday(), [date(1970, 1, 1)], [3]),
        (x + 1, [date(2023, 2, 28), date(2024, 2, 28)], [date(2023, 3, 1), date(2024, 2, 29)]),
        (x - timedelta(days=2), [date(2020, 1, 1)], [date(2019, 12, 30)]),
        (x - date(2020, 1, 1), [date(2020, 3, 1)], [60]),
        (
            x.date_trunc("quarter"),
            [date(2020, 12, 31), date(2020, 4, 1)],
            [date(2020, 10, 1), date(2020, 4, 1)],
        ),
        (x.date_trunc("year"), [date(4, 7, 1)], [date(4, 1, 1)]),
        (x.date_trunc("day"), [date(2020, 5, 5)], [date(2020, 5, 5)]),
        (x.cast(datetime), [date(2020, 5, 5)], [datetime(2020, 5, 5)]),
        (x.cast(int).cast(date), [date(2020, 5, 5)], [date(2020, 5, 5)]),
        (x.cast(str), [date(2020, 5, 5)], ["2020-05-05"]),
    ],
)
def test_dates(expression: Expression, given: list[Any], expected: list[Any]) -> None:
    assert values_of(expression, date, *given) == expected


@pytest.mark.parametrize(
    ("expression", "annotation", "given", "expected"),
    [
        (x.cast(int), float, [1.9, -1.9], [1, -1]),
        (x.cast(int), bool, [True, False], [1, 0]),
        (x.cast(float), bool, [True], [1.0]),
        (x.cast(bool), int, [0, 3], [False, True]),
        (x.cast(bool), float, [0.0, math.nan], [False, True]),
        (x.cast(str), float | None, [1.5, None], ["1.5", None]),
        (x.cast(str), bool, [True], ["true"]),
        (x.cast(str), bytes, ["ä".encode()], ["ä"]),
        (x.cast(datetime), int, [0], [datetime(1970, 1, 1)]),
        (x[1], tuple[int, str], [(1, "a"), (2, "b")], ["a", "b"]),
        (x[-1], tuple[int, ...], [(1, 2), (), (3,)], [2, None, 3]),
        (x.length(), tuple[int, ...], [(1, 2), ()], [2, 0]),
        (x < lit((1, None), tuple[int, int | None]), tuple[int, int | None], [(1, 5), (0, 3)], [False, True]),
        (x.length(), bytes, [b"abc"], [3]),
        (x + b"!", bytes, [b"a"], [b"a!"]),
        (tuple_(x, x.is_null(), lit("k")), int | None, [1, None], [(1, False, "k"), (None, True, "k")]),
        (lit((1, "a"))[1], int, [0], ["a"]),
        (lit(None, tuple[int, str])[1], int, [0], [None]),
        (tuple_(lit(1), lit("a")), int, [0], [(1, "a")]),
    ],
)
def test_casts_and_tuples(expression: Expression, annotation: Any, given: list[Any], expected: list[Any]) -> None:
    assert alike(values_of(expression, annotation, *given), expected)


def test_a_hash_is_the_same_in_every_run_and_looks_at_every_value() -> None:
    # The first numbers that splitmix64 gives for the seeds 0 and 1, without the last bit.
    assert values_of(x.hash(), int, 0, 1) == [0xE220A8397B1DCDAF >> 1, 0x910A2DEC89025CC1 >> 1]
    texts = values_of(x.hash(), str | None, "a", "b", None, "a")
    assert texts[0] == 4855413612999834510
    assert texts[0] == texts[3]
    assert len({*texts}) == 3
    assert min(texts) >= 0
    assert values_of(hash_of(x, y), str, ["a", "b"], ["b", "a"])[0] != values_of(hash_of(x, y), str, ["b", "a"])[0]


@pytest.mark.parametrize(
    ("expression", "annotation", "value", "message"),
    [
        (x + 1, int, LARGEST, "x + 1 does not fit into 64 bits"),
        (x - 2, int, -LARGEST + 1, "x - 2 does not fit into 64 bits"),
        (x * x, int, 3037000500, "x * x does not fit into 64 bits"),
        (x * -2, int, 2**62, "x * -2 does not fit into 64 bits"),
        (x.cast(int), float, math.nan, "x.cast(int) met a NaN"),
        (x.cast(int), float, -(2.0**63), "x.cast(int) met a NaN, an infinity or a number beyond 64 bits"),
        (x + 1, date, date.max, "x + 1 is outside the years 1 to 9999"),
        (x + 1, datetime, datetime.max, "x + 1 is outside the years 1 to 9999"),
        (x.cast(date), int, 10**9, "x.cast(date) is outside the years"),
        (x.cast(int), str, "abc", "x.cast(int) has no value for 'abc': invalid literal"),
        (x.cast(int), str, str(2**63), "it does not fit into 64 bits"),
        (x.cast(bool), str, "maybe", "x.cast(bool) has no value for 'maybe': it is neither true nor false"),
        (x.cast(str), bytes, b"\xff", "x.cast(str) has no value for b'\\xff'"),
        (x.split_part("", 0), str, "a", "x.split_part('', 0) has no value for 'a': empty separator"),
        (lit(LARGEST) + 1, int, 0, "9223372036854775807 + 1 does not fit into 64 bits"),
        (lit(2**63), int, 0, "9223372036854775808 does not fit into an int"),
    ],
)
def test_what_has_no_value_stops_the_run(expression: Expression, annotation: Any, value: Any, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        values_of(expression, annotation, value)
    assert message in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "expression",
    [
        when(x < 10, x * x).otherwise(0),
        when(x > 10, 0).otherwise(x * x),
        when(x > 10, 0).when(x * x == 9, 1).otherwise(2),
        (x < 10) & (x * x < 50),
        (x > 10) | (x * x < 50),
        coalesce(when(x > 10, 0).otherwise(None), x * x),
        when(x < 10, (x * x).cast(str).cast(int)).otherwise(0),
        when(x < 10, x * x).otherwise(0).is_null() | when(x < 10, x * x > 3).otherwise(True),
    ],
)
def test_only_what_is_needed_can_fail(expression: Expression) -> None:
    values_of(expression, int, 2**62, 3)


def test_a_constant_failure_counts_where_it_is_reached() -> None:
    expression = when(x > 10, lit(LARGEST) + 1).when(x > 5, lit("no").cast(int)).otherwise(0)
    assert values_of(expression, int, 1, 2) == [0, 0]
    with pytest.raises(ExpressionError, match="does not fit into 64 bits"):
        values_of(expression, int, 11)
    with pytest.raises(ExpressionError, match="has no value for 'no'"):
        values_of(expression, int, 7)
