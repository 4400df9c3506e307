"""Users' compiled functions give what Python gives, in value and type, or it is noted that they do not."""

from __future__ import annotations

import math
import operator
from functools import cache

import numba
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share

from graphtide.errors import UsageError
from graphtide.functions import compile_faithful, doubted
from graphtide.functions.agreeing import NAMES, OPERATIONS
from graphtide.functions.compiled import compile_for

NUMBERS = {
    int: st.one_of(
        st.integers(-9, 9), st.sampled_from([2**53 + 1, 2**62, -(2**63), 2**63 - 1]), st.integers(-(2**63), 2**63 - 1)
    ),
    float: st.one_of(
        st.sampled_from([0.0, -0.0, 0.5, -1.0, 2.0**53, 2.0**63, 1e30, 1e308, float("inf"), float("-inf")]),
        st.floats(),
    ),
    bool: st.booleans(),
}
ONE = [abs, int, float, operator.neg, operator.pos, operator.invert, bool, operator.not_, math.floor, math.ceil]
ONE += [each for each in NAMES if getattr(each, "__module__", "") == "math" and each not in {*ONE, *OPERATIONS}]
TWO = [each for each in OPERATIONS if each not in ONE] + [pow, min, max]
TWO += [each for each in ONE if each in {math.pow, math.copysign, math.atan2}]
ONE = [each for each in ONE if each not in TWO]
REFUSED = "refused"


@cache
def compiled(function, kinds):
    def of_one(one):
        return function(one)

    each = compile_faithful(function if len(kinds) == 2 else of_one)
    try:
        compile_for(each, tuple(numba.typeof(kind(0)) for kind in kinds))
    except UsageError:
        return REFUSED
    return each


def in_python(function, numbers):
    try:
        return function(*numbers)
    except (ArithmeticError, ValueError, TypeError, IndexError, NameError) as error:
        return error


def agrees(function, numbers):
    """Whether both give the same, or compiled code says that it does not or is refused."""
    each = compiled(function, tuple(map(type, numbers)))
    if each is REFUSED:
        return True
    doubted()
    made = each(*numbers)
    if doubted():
        return True
    wanted = in_python(function, numbers)
    return type(made) is type(wanted) and repr(made) == repr(wanted)


def small(function, numbers):
    """Powers and shifts by much are too long for Python's patience, too."""
    if function in {operator.pow, operator.lshift, pow}:
        numbers[1] = type(numbers[1])(max(-70, min(70, numbers[1]))) if numbers[1] == numbers[1] else numbers[1]
    return numbers


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("function", ONE, ids=lambda each: each.__name__)
@share(40)
@given(data=st.data())
def test_functions_of_one_number_agree_with_python(function, kind, data):
    assert agrees(function, [data.draw(NUMBERS[kind])])


@pytest.mark.parametrize("other", NUMBERS)
@pytest.mark.parametrize("one", NUMBERS)
@pytest.mark.parametrize("function", TWO, ids=lambda each: each.__name__)
@share(40)
@given(data=st.data())
def test_functions_of_two_numbers_agree_with_python(function, one, other, data):
    assert agrees(function, small(function, [data.draw(NUMBERS[one]), data.draw(NUMBERS[other])]))


def total(one, other):
    made = one
    for each in range(other & 7):
        made += each
    return made


def unbound(one, other):
    if one > other:
        made = one
    return made


ROUNDING = round
SOURCES = {
    "either": lambda one, other: max(other, one),
    "or": lambda one, other: one or other,
    "and": lambda one, other: one and other,
    "a default": lambda one, other: one if other else 0,
    "chained": lambda one, other: 0 <= one < other,
    "identity": lambda one, other: one is True or other is False,
    "no identity": lambda one, other: one is other,
    "in a tuple": lambda one, other: (one, other)[1],
    "at an index": lambda one, _: (10, 20)[one],
    "membership": lambda one, other: one in (1, other),
    "a loop": total,
    "rounding": lambda one, _: ROUNDING(one),
    "three": lambda one, other: max(one, other, 3),
    "an attribute": lambda one, _: one.real,
    "unbound": unbound,
    "a remainder of a quotient": lambda one, other: (one // other) % 5 + one / 4,
    "a square": lambda one, other: one**2 + other**3,
}


@pytest.mark.parametrize("name", SOURCES)
@share(150)
@given(data=st.data())
def test_whole_functions_agree_with_python(name, data):
    function = SOURCES[name]
    one, other = (data.draw(NUMBERS[data.draw(st.sampled_from(list(NUMBERS)))]) for _ in range(2))
    if isinstance(in_python(function, [one, other]), UnboundLocalError):
        assert compiled(function, (type(one), type(other))) is REFUSED
    assert agrees(function, [one, other])


@pytest.mark.parametrize("function", [*ONE, *TWO, *SOURCES.values()], ids=lambda each: each.__name__)
def test_what_agrees_is_compiled_for_some_numbers(function):
    """Refusing all would agree with everything."""
    count = 1 if function in ONE else 2
    pairs = [(int, int), (float, float), (bool, bool)]
    refused = [compiled(function, pair[:count]) is REFUSED for pair in pairs]
    hopeless = {SOURCES[name] for name in ("at an index", "membership", "rounding", "an attribute", "unbound")}
    assert all(refused) == (function in hopeless)
