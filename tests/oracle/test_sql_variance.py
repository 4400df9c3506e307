"""Variances and standard deviations: equal to exact ones of the rows that are there, after every commit."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share

import graphtide as gt

NAMES = ("variance", "var_pop", "stddev", "stddev_pop")
QUERY = f"select k, {', '.join(f'{name}(x) as {name}' for name in NAMES)} from t group by k"
# Far from zero and near to each other, which is where sums of squares cancel.
VALUES = {
    int: st.sampled_from([1, 2, 3, 10**9 + 1, 10**9 + 2, 2**62, 2**62 + 1, 1 - 2**63, 2**63 - 1, -5]) | st.none(),
    float: st.sampled_from([0.1, 1e9 + 1, 1e9 + 2, 1e15, 1e15 + 1, -1e15, 1e-3, 1e100, 1e-140]) | st.none(),
    "decimal(18, 2)": st.sampled_from(list(map(Decimal, ("0.01", "9999999999999999.99", "9999999999999999.98", "-3")))),
}


def exactly(numbers, missing) -> float | None:
    """The variance by its definition, in fractions."""
    if len(numbers) <= missing:
        return None
    numbers = list(map(Fraction, numbers))
    mean = sum(numbers, Fraction(0)) / len(numbers)
    return float(sum((x - mean) ** 2 for x in numbers) / (len(numbers) - missing))


def near(ours, theirs) -> bool:
    return ours is theirs if theirs is None or ours is None else math.isclose(ours, theirs, rel_tol=1e-14)


@share(50)
@given(st.data(), st.sampled_from(list(VALUES)))
def test_a_variance_is_exact_after_every_commit(data, of) -> None:
    db = gt.Database()
    db.table("t", k=int, x=of if isinstance(of, str) else of | None)
    view = db.view(QUERY)
    held: list[tuple] = []
    for _ in range(3):
        new = data.draw(st.lists(st.tuples(st.integers(0, 1), VALUES[of]), max_size=5))
        gone = held[: data.draw(st.integers(0, len(held)))]
        db.delete("t", gone)
        db.insert("t", new)
        held = held[len(gone) :] + new
        db.commit()
        told = {k: rest for k, *rest in view.rows()}
        assert set(told) == {k for k, _ in held}
        for k, ours in told.items():
            numbers = [x for key, x in held if key == k and x is not None]
            sample, whole = exactly(numbers, 1), exactly(numbers, 0)
            roots = [None if each is None else math.sqrt(each) for each in (sample, whole)]
            assert all(map(near, ours, [sample, whole, *roots])), (ours, numbers)


@pytest.mark.parametrize("of", [int, float])
def test_what_is_far_from_zero_does_not_cancel(of) -> None:
    db = gt.Database()
    db.table("t", x=of)
    view = db.view("select variance(x), stddev_pop(x) from t")
    db.insert("t", [(of(10**9 + i),) for i in (1, 2, 3)])
    db.commit()
    assert view.rows() == [(1.0, math.sqrt(2 / 3))]


def test_numbers_without_a_variance() -> None:
    db = gt.Database()
    db.table("t", k=int, x=float)
    view = db.view("select k, variance(x) from t group by k order by k")
    db.insert("t", [(1, math.nan), (1, 1.0), (2, math.inf), (2, 1.0), (3, 1e200), (3, 1.0)])
    db.commit()
    assert [repr(x) for _, x in view.rows()] == ["nan", "nan", "nan"]
    db.delete("t", [(1, math.nan), (2, math.inf), (3, 1e200)])
    db.insert("t", [(k, 3.0) for k in (1, 2, 3)])
    db.commit()
    assert [x for _, x in view.rows()] == [2.0, 2.0, 2.0]
