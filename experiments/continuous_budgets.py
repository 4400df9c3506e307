"""How much has to be dropped so that queries fit into given bytes, found as the paper does: by trying."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import graphtide as gt
from experiments.continuous_runs import Ask, Course, Measured
from graphtide.frontier.maintenance import Dropping

PROBABILITIES: Final = tuple(k / 10 for k in range(11))
# A query's bytes are estimated from so many, before all of them are registered.
SAMPLE: Final = 5
Drop = Callable[[gt.Degree], Dropping]


def sizes(course: Course, ask: Ask, drop: Drop) -> dict[float, float]:
    """Bytes for each query by the probability with which differences are dropped."""
    some = ask.of(min(SAMPLE, len(ask.arguments)))
    return {p: course.footprint(some, drop(gt.Degree(p))) for p in PROBABILITIES}


def least_drop(
    course: Course, ask: Ask, drop: Drop, by_probability: dict[float, float], *, budget: float, batches: int
) -> Measured | None:
    """A run with as little dropped as fits, after the batches too; None if nothing does."""
    for p, size in by_probability.items():
        if size * len(ask.arguments) <= budget:
            for row in course.run(ask, drop(gt.Degree(p)), batches=batches):
                if row.bytes <= budget:
                    return row
    return None
