"""Ints of users' compiled functions are right, or it is said that they were too long."""

from __future__ import annotations

from types import ModuleType

import numba
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share

from graphtide.functions import compile_checked, overflowed

FUNCTIONS = {
    "sum": lambda one, other: one + other,
    "difference": lambda one, other: one - other,
    "product": lambda one, other: one * other,
    "power": lambda one, other: one ** (other & 127),
    "shift": lambda one, other: one << (other & 31),
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
    overflowed()
    found = COMPILED[name](one, other)
    wanted = FUNCTIONS[name](one, other)
    steps = (one * other, other * other, other * other + 1) if name == "on its way" else ()
    assert overflowed() == (not fits(wanted, *steps))
    assert not fits(wanted, *steps) or found == wanted


def test_floats_are_as_they_were():
    assert COMPILED["sum"](2**62, 0.5) == 2.0**62
    assert COMPILED["product"](1e300, 1e300) == float("inf")
    assert not overflowed()


@pytest.mark.parametrize("name", CALLS)
@share(100)
@given(one=INTS, other=INTS)
def test_what_it_calls_is_checked_too(name, one, other):
    function, exact = CALLS[name]
    overflowed()
    found = compile_checked(function)(one, other)
    assert overflowed() == (not fits(exact(one, other)))
    assert not fits(exact(one, other)) or found == exact(one, other)
