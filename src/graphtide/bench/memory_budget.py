"""A budget against every probability that could have been picked by hand, in steps of a tenth: bytes and updates."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.core_graphs import Ints
from graphtide.frontier import Budget, Degree, JoinOnDemand, LiveGraph, ProbabilisticDrop, Query, Random, Scratch
from graphtide.frontier.maintenance import Maintenance

__all__ = ["within_budgets"]

_SOURCES: Final = 8
_CHANGES: Final = 100
# Of what all differences take: little is to be dropped, much, nearly all.
_SHARES: Final = (0.95, 0.9, 0.83)
_BAR: Final = 1 / 1.3
# The best ones by a first measurement are measured again by turns with ours, and the fastest round of each counts.
_RIVALS: Final = 2
_ROUNDS: Final = 5


@dataclass(frozen=True, slots=True)
class _Course:
    """Of one policy."""

    bytes: int  # the most after any batch
    seconds: float  # of the processor for an update, on average
    answers: list[pa.Table]


def within_budgets(rows: Ints, progress: Progress) -> Iterator[Comparison]:
    """For each budget: the most bytes it ever kept, and an update against the best choice that fits."""
    whole = _course(rows, JoinOnDemand())
    fresh = _course(rows, Scratch(), changes_are_timed=False).answers
    choices = {str(choice(tenths / 10)): choice(tenths / 10) for tenths in range(11) for choice in (Random, Degree)}
    picked: dict[str, _Course] = {}
    for name, choice in choices.items():
        progress(f"hand-picked: {name}")
        picked[name] = _course(rows, ProbabilisticDrop(choice))
    for share in _SHARES:
        size = int(share * whole.bytes)
        name = f"budget of {share:.0%} of all differences, {_SOURCES} queries"
        fitting = {each: course for each, course in picked.items() if course.bytes <= size}
        rivals = sorted(fitting, key=lambda each: fitting[each].seconds)[:_RIVALS]
        progress(f"budget of {size:,} bytes")
        ours: list[_Course] = []
        theirs: dict[str, float] = dict.fromkeys(rivals, np.inf)
        for _ in range(_ROUNDS):
            ours.append(_course(rows, Budget(size)))
            for each in rivals:
                theirs[each] = min(theirs[each], _course(rows, ProbabilisticDrop(choices[each])).seconds)
        agree = all(mine.equals(other) for mine, other in zip(ours[0].answers, fresh, strict=True))
        most = max(course.bytes for course in ours)
        yield Comparison(f"{name}: most bytes", most, size, "limit", "bytes", agree=agree, bar=1.0)
        if not theirs:
            continue
        picked_by_hand = min(theirs, key=lambda each: theirs[each])
        yield Comparison(
            f"{name}: mean update",
            min(course.seconds for course in ours),
            theirs[picked_by_hand],
            "best hand-picked",
            "s",
            agree=agree,
            bar=_BAR,
            note=f"{picked_by_hand}, the best of {len(fitting)} choices that fit",
        )


def _course(rows: Ints, policy: Maintenance, *, changes_are_timed: bool = True) -> _Course:
    loaded = int(0.9 * len(rows))
    live = LiveGraph(weight=int)
    live.apply(insert=rows[:loaded])
    sources = np.argsort(-np.bincount(rows[:loaded, 0]))[:_SOURCES].tolist()
    queries: list[Query] = []
    if changes_are_timed:
        queries = [live.sssp(source, weight="weight", maintain=policy) for source in sources]
    most = sum(query.nbytes for query in queries)
    seconds = 0.0
    for k in range(_CHANGES):
        change = {"delete": [tuple(rows[k].tolist())]} if k % 2 else {"insert": [tuple(rows[loaded + k].tolist())]}
        clock = time.process_time()
        live.apply(**change)
        seconds += time.process_time() - clock
        most = max(most, sum(query.nbytes for query in queries))
    if not changes_are_timed:
        queries = [live.sssp(source, weight="weight", maintain=policy) for source in sources]
    return _Course(most, seconds / _CHANGES, [query.result().sort_by("vertex") for query in queries])
