"""Users' own aggregates give what plain Python gives, in value and type; what raises in Python is refused whole."""

from __future__ import annotations

import math
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share
from tests.oracle.ego_naive import Writes

import graphtide as gt
from graphtide.ego import AllPull, AllPush, Direct, NegativeMining, OverlappingMining
from graphtide.errors import CapacityError, UserFunctionError
from graphtide.frontier import LiveGraph

# Sums of these are exact in any order, and so are those of their halves, quotients and logarithms. Roots are not.
VALUES = {
    int: [0, 1, 2, -4, 16, 64],
    float: [0.0, 0.5, 2.0, -4.0, 16.0, 2.0**40],
    bool: [False, True],
    "ints and floats": [0, 1, 2.0, -4, 0.25, 16],
}


def own(update, initialize=lambda: 0, **more):
    functions = {"merge": lambda one, other: one + other, "finalize": lambda state: state}
    return gt.Aggregate(initialize=initialize, update=update, **(functions | more))


def pairs(update, **more):
    return own(
        update,
        **{"initialize": lambda: (0, 0), "finalize": lambda state: state[1] - state[0]}
        | {"merge": lambda one, other: (one[0] + other[0], one[1] + other[1])}
        | more,
    )


def least_and_greatest(one, other):
    return min(one[0], other[0]), max(one[1], other[1])


AGGREGATES = {
    "from an int": own(lambda state, value: state + value),
    "from a float": own(lambda state, value: state + value, lambda: 0.0),
    "halves": own(lambda state, value: state + value / 2),
    "halves, from a float": own(lambda state, value: state + value / 2, lambda: 0.0),
    "count and sum": pairs(lambda state, value: (state[0] + 1, state[1] + value)),
    "subtracting": pairs(
        lambda state, value: (state[0] + 1, state[1] + value),
        subtract=lambda whole, part: (whole[0] - part[0], whole[1] - part[1]),
    ),
    "any": own(
        lambda state, value: state or value > 1,
        lambda: False,
        merge=lambda one, other: one or other,
        duplicate_insensitive=True,
        finalize=lambda state: "yes" if state is True else "no",
    ),
    "any of several": own(
        lambda state, value: (state[0] or value > 1, state[1] or not value),
        lambda: (False, False),
        merge=lambda one, other: (one[0] or other[0], one[1] or other[1]),
        duplicate_insensitive=True,
        finalize=lambda state: state[0] is True and state[1] is True,
    ),
    "trues": own(lambda state, value: state + (value is True)),
    "either": own(lambda state, value: state + (value if value > 1 else 0.5)),
    "whole parts": own(lambda state, value: state + int(value * 2.0**60)),
    "too long": own(lambda state, value: state + value * 2**60),
    "greatest": own(max, lambda: -(10**30), merge=max, duplicate_insensitive=True),
    "least and greatest": own(
        lambda state, value: (min(state[0], value), max(state[1], value)),
        lambda: (math.inf, -math.inf),
        merge=least_and_greatest,
        duplicate_insensitive=True,
        finalize=list,
    ),
    # These raise on some values.
    "quotients": own(lambda state, value: state + 64 // value),
    "ratios": own(lambda state, value: state + 64 / value, lambda: 0.0),
    "rests": own(lambda state, value: state + 7 % value),
    "roots": own(lambda state, value: state + math.floor(4 * math.sqrt(value))),
    "logarithms": own(lambda state, value: state + math.log2(value), lambda: 0.0),
    "shifts": own(lambda state, value: state + (1 << value)),
    "indices": pairs(lambda state, value: (state[0] + 1, state[1] + (10, 20, 30)[value])),
    "powers": own(lambda state, value: state + value**-1, lambda: 0.0),
    "roots by powers": own(lambda state, value: state + int(abs(value**0.5) * 2.0)),
    "infinite": own(lambda state, value: state + int(1 / value)),
}
# What is left after subtracting a float is a float, even if it is nothing.
TYPES_MAY_DIFFER = {"subtracting"}


class Machine:
    """Writers 1 to 4, readers 11 to 13, and the same in Python."""

    def __init__(self, random, name, kind):
        self.random, self.name, self.function = random, name, AGGREGATES[name]
        self.values, self.as_written = VALUES[kind], float if isinstance(kind, str) else (lambda value: value)
        self.edges = {(random.randint(1, 4), random.randint(11, 13)) for _ in range(random.randint(1, 9))}
        self.live = LiveGraph()
        self.live.apply(insert=[*sorted(self.edges), *((w, 20) for w in range(1, 5)), *((0, r) for r in (11, 12, 13))])
        self.timed = random.random() < 0.4
        self.naive = Writes(within=4) if self.timed else Writes(last=2)
        methods = [None, Direct()]
        methods += [NegativeMining()] if self.function.subtracts else []
        methods += [OverlappingMining()] if self.function.duplicate_insensitive else []
        self.ego = self.live.ego(
            self.function,
            window=gt.Within(4) if self.timed else gt.Last(2),
            values=float if isinstance(kind, str) else random.choice([None, kind]),
            overlay=random.choice(methods),
            decide=random.choice([AllPush(), AllPull()]),
        )
        self.clock = count(1) if random.random() < 0.5 else count(1, 2)

    def state(self, vertices):
        function, state = self.function, self.function.initialize()
        for vertex in sorted(vertices):
            own_state = function.initialize()
            for value in self.naive.window(vertex):
                own_state = function.update(own_state, value)
            state = function.merge(state, own_state)
        return state

    def expected(self, reader):
        near = {writer for writer, target in self.edges if target == reader}
        return self.function.finalize(self.state(near))

    def batch(self):
        rows = [(self.random.randint(1, 4), self.random.choice(self.values)) for _ in range(self.random.randint(1, 4))]
        reader = self.random.randint(11, 13)
        times = [next(self.clock) for _ in range(len(rows) + 1)] if self.timed else None
        log, clock = {vertex: list(entries) for vertex, entries in self.naive.log.items()}, self.naive.clock
        vertices, values = [vertex for vertex, _ in rows], [value for _, value in rows]
        call = [*vertices, reader], [*values, values[0]], [*[False] * len(rows), True], times
        try:
            for at, (vertex, value) in enumerate(rows):
                self.naive.write(vertex, self.as_written(value), times[at] if times else None)
                self.state([vertex])
            if times:
                self.naive.advance(times[-1])
        except (ArithmeticError, ValueError, LookupError, TypeError):
            self.naive.log, self.naive.clock = log, clock
            with pytest.raises(UserFunctionError, match=r"update .* failed on") as raised:
                self.ego.run(*call)
            assert "nothing of the call was applied" in raised.value.hint
            return
        wanted = self.expected(reader)
        if type(wanted) is int and not -(2**63) <= wanted < 2**63:
            with pytest.raises(CapacityError, match="64 bits do not hold"):
                self.ego.run(*call)
        else:
            assert self.ego.run(*call).to_pylist() == [wanted]

    def step(self):
        if self.random.random() < 0.8:
            self.batch()
        else:
            edge = (self.random.randint(1, 4), self.random.randint(11, 13))
            self.live.apply(**{"delete" if edge in self.edges else "insert": [edge]})
            self.edges ^= {edge}
        self.check()

    def check(self):
        for reader in (11, 12, 13):
            found, wanted = self.ego.read(reader), self.expected(reader)
            assert found == wanted if self.name in TYPES_MAY_DIFFER else repr(found) == repr(wanted)
        self.ego.plan.check_invariants()


@pytest.mark.parametrize("kind", VALUES, ids=str)
@pytest.mark.parametrize("name", AGGREGATES)
@share(12)
@given(random=st.randoms(use_true_random=False))
def test_users_aggregates_equal_plain_python(name, kind, random):
    machine = Machine(random, name, kind)
    for _ in range(random.randint(1, 7)):
        machine.step()
