"""Users' compiled functions give what Python gives, or it is said that an int was too long or a divisor 0."""

from __future__ import annotations

from types import ModuleType

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share

from graphtide.functions import compile_checked, doubted

FUNCTIONS = {
    "sum": lambda one, other: one + other,
    "difference": lambda one, other: one - other,
    "product": lambda one, other: one * other,
    "power": lambda one, other: one ** (other & 127),
    "shift": lambda one, other: one << (other & 31),
    "quotient": lambda one, other: one // other,
    "remainder": lambda one, other: one % other,
    "on its way": lambda one, other: (one * other) // (other * other + 1),
}
shelf = ModuleType("shelf")
shelf.product = product = numba.njit(lambda one, other: one * other)


@numba.njit
def power(one, times):
    """The product of so many ones; if one on the way is too long, so is the last."""
    return 1 if times == 0 else one * power(one, times - 1)


def nested(one, other):
    def difference(of):
        return of - other

    return difference(one)


# What each calls, and what that is to give.
CALLS = {
    "a compiled function": (lambda one, other: product(other, one), lambda one, other: one * other),
    "one of a module": (lambda one, other: shelf.product(other, one), lambda one, other: one * other),
    "one inside of it": (nested, lambda one, other: one - other),
    "one that calls itself": (lambda one, other: power(one, other & 7), lambda one, other: one ** (other & 7)),
}
COMPILED = {name: compile_checked(function) for name, function in FUNCTIONS.items()}
INTS = st.one_of(st.integers(-3, 3), st.integers(-(2**32), 2**32), st.integers(-(2**63), 2**63 - 1))


def fits(*values):
    return all(-(2**63) <= value < 2**63 for value in values)


@pytest.mark.parametrize("name", FUNCTIONS)
@share(300)
@given(one=INTS, other=INTS)
def test_a_result_is_exact_or_said_to_have_overflowed(name, one, other):
    doubted()
    found = COMPILED[name](one, other)
    if other == 0 and name in {"quotient", "remainder"}:
        assert doubted()
        return
    wanted = FUNCTIONS[name](one, other)
    steps = (one * other, other * other, other * other + 1) if name == "on its way" else ()
    assert doubted() == (not fits(wanted, *steps))
    assert not fits(wanted, *steps) or found == wanted


def test_floats_are_as_they_were():
    assert COMPILED["sum"](2**62, 0.5) == 2.0**62
    assert COMPILED["product"](1e300, 1e300) == float("inf")
    assert not doubted()


@pytest.mark.parametrize("divide", [lambda one, other: one / other, FUNCTIONS["quotient"], FUNCTIONS["remainder"]])
@share(100)
@given(one=INTS | st.floats(allow_nan=False), other=st.floats(allow_nan=False))
def test_floats_are_divided_as_in_python_or_by_0(divide, one, other):
    doubted()
    found = compile_checked(divide)(one, other)
    assert doubted() == (other == 0)
    if other != 0:
        assert np.isclose(found, divide(one, other), rtol=1e-15, equal_nan=True)


@pytest.mark.parametrize("name", CALLS)
@share(100)
@given(one=INTS, other=INTS)
def test_what_it_calls_is_checked_too(name, one, other):
    function, exact = CALLS[name]
    doubted()
    found = compile_checked(function)(one, other)
    assert doubted() == (not fits(exact(one, other)))
    assert not fits(exact(one, other)) or found == exact(one, other)
