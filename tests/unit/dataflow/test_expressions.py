"""The language: what can be written, how it reads, and what cannot work."""

from datetime import date

import numpy as np
import pytest

from graphtide.dataflow.expressions import (
    Expression,
    as_expression,
    as_operand,
    call,
    coalesce,
    col,
    concat,
    func,
    greatest,
    hash_of,
    least,
    lit,
    tuple_,
    when,
)
from graphtide.errors import ExpressionError, GraphtideError

x, y, name = col("x"), col("y"), col("name")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ((x + 1) > y, "(x + 1) > y"),
        (1 + x * 2, "1 + (x * 2)"),
        (3 - x, "3 - x"),
        (2 * x / 3 // 4 % 5, "(((2 * x) / 3) // 4) % 5"),
        (1 / x, "1 / x"),
        (1 // x, "1 // x"),
        (1 % x, "1 % x"),
        (2**x, "2 ** x"),
        (x**2, "x ** 2"),
        (-x, "-x"),
        (-(x + 1), "-(x + 1)"),
        (~(x > 1), "~(x > 1)"),
        ((x > 1) & (y <= 2) | (x != 3), "((x > 1) & (y <= 2)) | (x != 3)"),
        (True & (x == 1), "True & (x == 1)"),
        (False | (x >= 1), "False | (x >= 1)"),
        (x.between(1, 5), "(x >= 1) & (x <= 5)"),
        (x.is_in([1, 2]), "x.is_in([1, 2])"),
        ((x + 1).is_null(), "(x + 1).is_null()"),
        (x.is_not_null(), "x.is_not_null()"),
        (x.cast(float), "x.cast(float)"),
        (abs(x), "x.abs()"),
        (round(x, 2), "x.round(2)"),
        (x.pow(2), "x ** 2"),
        (x[0], "x[0]"),
        (col("two words"), 'col("two words")'),
        (lit("a"), "'a'"),
        (lit(None, int), "lit(None, int)"),
        (name.upper().startswith("A"), "name.upper().startswith('A')"),
        (name.substr(0), "name.substr(0)"),
        (name.strip("-"), "name.strip('-')"),
        (
            when(x > 0, "a").when(x < 0, "b").otherwise("c"),
            "when(x > 0, 'a').when(x < 0, 'b').otherwise('c')",
        ),
        (coalesce("x", "y", 0), "coalesce(x, y, 0)"),
        (least("x", y), "least(x, y)"),
        (greatest("x", y), "greatest(x, y)"),
        (concat("name", lit("!")), "concat(name, '!')"),
        (hash_of("x", "y"), "hash_of(x, y)"),
        (x.hash(), "hash_of(x)"),
        (tuple_("x", "y"), "tuple_(x, y)"),
        (call(max, "x", 3, returns=int), "max(x, 3)"),
        (x == date(2020, 1, 2), "x == datetime.date(2020, 1, 2)"),
        (np.int64(1) + x, "1 + x"),
        (np.float64(1.5) < x, "x > 1.5"),
    ],
)
def test_an_expression_reads_as_it_is_written(expression: Expression, text: str) -> None:
    assert repr(expression) == text


def test_expressions_are_compared_by_structure() -> None:
    assert (x + 1).equals(x + 1)
    assert not (x + 1).equals(x + 1.0)
    assert not lit(1).equals(lit(True))
    assert lit(float("nan")).equals(lit(float("nan")))
    assert not x.cast(int).equals(x.cast(float))
    assert len({e.key for e in (x, x + 1, x + 1, call(max, x, returns=int), call(min, x, returns=int))}) == 4


def test_an_expression_cannot_be_hashed() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        {x}  # noqa: B018


def test_columns_and_substitution() -> None:
    made = when(x > 0, y.cast(str)).otherwise(call(str, name, returns=str))
    assert made.columns() == {"x", "y", "name"}
    assert repr(made.substitute({"x": y + 1, "name": lit("n")})) == "when((y + 1) > 0, y.cast(str)).otherwise(str('n'))"


def test_a_shared_part_is_substituted_once() -> None:
    deep = x
    for _ in range(60):
        deep = deep + deep
    assert deep.substitute({"x": y}).columns() == {"y"}


def test_a_str_names_a_column_or_is_text() -> None:
    assert as_expression("x").equals(x)
    assert as_operand("x").equals(lit("x"))
    assert as_expression(3).equals(lit(3))
    assert as_expression(x) is x


@pytest.mark.parametrize(
    ("attempt", "message", "hint"),
    [
        (lambda: bool(x > 1), "x > 1 has no truth value of its own", "write & for and"),
        (lambda: (x > 1) and (y > 1), "x > 1 has no truth value", "(x > 1) & (y > 2)"),
        (lambda: 1 < x < 5, "x > 1 has no truth value", "between for a < x < b"),
        (lambda: not x, "x has no truth value", "~ for not"),
        (lambda: "a" in name, "'a' in name cannot be an expression", "x.contains(...)"),
        (lambda: list(x), "x cannot be looped over", "x[0]"),
        (lambda: x - [1], "[1] is not an expression", "is_in"),
        (lambda: x + max, "is not an expression", "call(f"),
        (lambda: x == when(x > 1, 2), "is not an expression", ".otherwise"),
        (lambda: x + object(), "is not an expression", "use col(...)"),
        (lambda: x.is_in("abc"), "is_in needs a list of values, not 'abc'", "is_in([...])"),
        (lambda: col(3), "a column's name is a string, not 3", "lit(...)"),  # pyright: ignore[reportArgumentType]
        (coalesce, "coalesce() needs at least one value", 'coalesce("x", "y")'),
        (lambda: call(3, x, returns=int), "3 is not a function", "call(f"),  # pyright: ignore[reportArgumentType]
        (lambda: call(max, returns=int), "max() depends on no column", "lit(max())"),
        (lambda: call(lambda v: v, x), "<lambda> does not say what type it returns", "returns=int"),
        (lambda: call(max, x, returns=list), "max returns what no column can hold: list is not", "use int"),
        (lambda: x.cast(list), "list is not the type of a column", "use int"),
    ],
)
def test_what_cannot_work_says_why(attempt, message: str, hint: str) -> None:
    with pytest.raises(GraphtideError) as caught:
        attempt()
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_a_function_knows_its_type_from_its_annotation() -> None:
    @func
    def double(value: int) -> int:
        return 2 * value

    @func(returns=float)
    def half(value):
        return value / 2

    assert repr(double("x") + half(y)) == "double(x) + half(y)"
    assert double.function(4) == 8


def test_a_choice_without_its_end_is_no_expression() -> None:
    with pytest.raises(ExpressionError, match="otherwise"):
        as_expression(when(x > 1, 2))  # pyright: ignore[reportArgumentType]
