"""Programs of iterative frontier expansion by the letter of their definition: all states, round after round.

An edge is (source, target, weight). A trace is, for each vertex, the rounds at which its state became another one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Edge = tuple[int, int, Any]


@dataclass(frozen=True)
class NaiveProgram:
    message: Callable[[Any, Any], Any]  # None: the edge carries nothing
    better: Callable[[Any, Any], Any]  # the better of two states
    initial: Mapping[int, Any] | None  # None: every vertex begins with its own id
    along: str = "out"
    rounds: int | None = None


def states_by_round(program: NaiveProgram, vertices: Iterable[int], edges: Iterable[Edge]) -> list[dict[int, Any]]:
    """D(0), D(1), ... until nothing changes or the rounds are over; a vertex without a state is left out."""
    ways = [(u, v, w) for u, v, w in edges if program.along in {"out", "both"}]
    ways += [(v, u, w) for u, v, w in edges if program.along in {"in", "both"}]
    first = {v: v for v in vertices} if program.initial is None else dict(program.initial)
    rounds = [first]
    while program.rounds is None or len(rounds) <= program.rounds:
        now = rounds[-1]
        then = dict(first)
        for u, v, w in ways:
            if u in now:
                offer = program.message(now[u], w)
                if offer is None:
                    continue
                then[v] = program.better(then[v], offer) if v in then else offer
        if then == now:
            return rounds
        rounds.append(then)
        assert len(rounds) < 10_000, "the program does not settle"
    return rounds


def answer(program: NaiveProgram, vertices: Iterable[int], edges: Iterable[Edge]) -> dict[int, Any]:
    return states_by_round(program, vertices, edges)[-1]


def trace(program: NaiveProgram, vertices: Iterable[int], edges: Iterable[Edge]) -> dict[int, list[tuple[int, Any]]]:
    """The differences with all versions merged and negative ones left out; own ids of round 0 are not told."""
    steps: dict[int, list[tuple[int, Any]]] = {}
    before: dict[int, Any] = {} if program.initial is not None else {v: v for v in vertices}
    for r, states in enumerate(states_by_round(program, vertices, edges)):
        for v, state in states.items():
            if v not in before or before[v] != state:
                steps.setdefault(v, []).append((r, state))
        before = states
    return steps


@dataclass(frozen=True)
class NaiveSum:
    message: Callable[[Any, Any, int], Any]  # None: the edge carries nothing
    finish: Callable[[Any, Any], Any]
    initial: Any  # of every vertex, or of some, and 0 of the others
    rounds: int
    along: str = "out"


def sums_by_round(program: NaiveSum, vertices: Iterable[int], edges: Iterable[Edge]) -> list[dict[int, Any]]:
    """D(0), D(1), ... of all rounds; sums of floats are exact and rounded once."""
    ways = [(u, v, w) for u, v, w in edges if program.along in {"out", "both"}]
    ways += [(v, u, w) for u, v, w in edges if program.along in {"in", "both"}]
    given = program.initial if isinstance(program.initial, Mapping) else {}
    rest = 0 if isinstance(program.initial, Mapping) else program.initial
    degree = Counter(u for u, _, _ in ways)
    first = {v: given.get(v, rest) for v in vertices}
    rounds = [first]
    for _ in range(program.rounds):
        now = rounds[-1]
        offers: dict[int, list[Any]] = {v: [] for v in first}
        for u, v, w in ways:
            offer = program.message(now[u], w, degree[u])
            if offer is not None:
                offers[v].append(offer)
        sums = {
            v: math.fsum(each) if any(isinstance(o, float) for o in each) else sum(each) for v, each in offers.items()
        }
        rounds.append({v: program.finish(first[v], total) for v, total in sums.items()})
    return rounds


def sum_trace(program: NaiveSum, vertices: Iterable[int], edges: Iterable[Edge]) -> dict[int, list[tuple[int, Any]]]:
    """The rounds at which a state is another one than the round before, and the states that are given at round 0."""
    rounds = sums_by_round(program, vertices, edges)
    given = program.initial if isinstance(program.initial, Mapping) else {}
    steps: dict[int, list[tuple[int, Any]]] = {v: [(0, state)] for v, state in given.items()}
    for r in range(1, len(rounds)):
        for v, state in rounds[r].items():
            if state != rounds[r - 1][v]:
                steps.setdefault(v, []).append((r, state))
    return steps
