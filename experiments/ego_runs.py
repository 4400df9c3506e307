"""Plans of ego aggregates under load: vertices write and are read by Zipf's law, and answers are compared."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from experiments.ego_graphs import zipf
from graphtide.ego import Costs, Neighbourhoods, Overlay, decide, split
from graphtide.ego.aggregates import Function, TopK, aggregate_of
from graphtide.ego.calibration import calibrate
from graphtide.ego.contents import WindowContents
from graphtide.ego.decisions import Decider
from graphtide.ego.flattening import flattened
from graphtide.ego.partials import READ, WRITE
from graphtide.ego.plan import Plan
from graphtide.ego.planning import Rates
from graphtide.ego.windows import Last
from graphtide.rows import INT

AGGREGATES: Final[dict[str, Function]] = {"SUM": aggregate_of("sum"), "MAX": aggregate_of("max"), "TOP-K": TopK(3)}
WINDOW: Final = Last(1)
NOTHING: Final = np.zeros(0, np.int64)
TOPICS: Final = 1_000
TIMES: Final = 3
AGAIN: Final = 20  # reads of the same vertex in one call


@dataclass(frozen=True, eq=False)
class Workload:
    """Operations in their order, and how often each vertex writes and is read."""

    kinds: NDArray[np.int8]
    who: NDArray[np.int64]
    values: NDArray[np.int64]
    rates: Rates

    def __len__(self) -> int:
        return len(self.kinds)

    def run(self, plan: Plan) -> Any:
        """All operations, in one call; what the reads found."""
        return plan.run(self.kinds, self.who, self.values, NOTHING, NOTHING)


def workload(rates: Rates, operations: int, seed: int) -> Workload:
    """So many operations, drawn by how often vertices write and are read; values are few and some are frequent."""
    rng = np.random.default_rng(seed)
    weights = np.concatenate((rates.writes, rates.reads))
    drawn = np.searchsorted(np.cumsum(weights), rng.random(operations) * weights.sum(), side="right")
    drawn = drawn.clip(max=len(weights) - 1)
    writers = len(rates.writes)
    kinds = np.where(drawn < writers, WRITE, READ).astype(np.int8)
    values = np.minimum(rng.zipf(1.5, operations), TOPICS)
    return Workload(kinds, drawn % writers, values, rates)


def at_ratio(asked: Neighbourhoods, writes_per_read: float) -> Rates:
    """Who writes more is read more, and there are so many writes for each read."""
    often = zipf(asked.readers, seed=1)
    return Rates(writes_per_read * often, often)


def planned(
    overlay: Overlay,
    function: Function,
    rates: Rates,
    *,
    by: Decider | None = None,
    parts: bool = False,
    costs: Costs | None = None,
) -> Plan:
    """A plan on an overlay with decisions, the best ones unless others are asked for; with nodes split if so asked."""
    costs = costs or calibrate(function, WINDOW, INT)
    decisions = decide(overlay, rates.writes, rates.reads, costs, by=by)
    if parts:
        overlay, decisions = split(overlay, decisions, rates.writes, rates.reads, costs)
    return Plan(overlay, decisions.push, function, WindowContents(WINDOW, overlay.writers), value_type=INT)


def planned_flat(overlay: Overlay, function: Function, rates: Rates) -> Plan:
    """A plan on the partial aggregates of an overlay that are worth keeping, each on its writers."""
    flat, decisions = flattened(overlay, rates.writes, rates.reads, calibrate(function, WINDOW, INT))
    return Plan(flat, decisions.push, function, WindowContents(WINDOW, flat.writers), value_type=INT)


def throughputs(plans: Mapping[str, Plan], rates: Rates, operations: int) -> dict[str, float]:
    """Operations a processor second of each plan: the median of a few, by turns. Stop if answers differ.

    What comes first fills the windows, and is not counted.
    """
    seconds: dict[str, list[float]] = {name: [] for name in plans}
    for turn in range(TIMES + 1):
        work = workload(rates, operations, seed=turn)
        first: pa.Array | None = None
        for name, plan in plans.items():
            began = time.process_time()
            found = work.run(plan)
            seconds[name].append(time.process_time() - began)
            answers = plan.column(found)
            if first is not None and not answers.equals(first):
                raise SystemExit(f"{name} gives another answer")
            first = answers
    return {name: operations / float(np.median(each[1:])) for name, each in seconds.items()}


def read_time(plan: Plan, reader: int, when: int | None = None) -> float:
    """Seconds of a read: it is done a few times in one call, so that the call itself hardly counts.

    The least of three counts: between them another process may have had the core.
    """
    who = np.full(AGAIN, reader)
    kinds, values = np.full(AGAIN, READ, np.int8), np.zeros(AGAIN, np.int64)
    times = NOTHING if when is None else np.full(AGAIN, when)
    seconds: list[float] = []
    for _ in range(3):
        began = time.perf_counter()
        plan.run(kinds, who, values, times, times)
        seconds.append((time.perf_counter() - began) / AGAIN)
    return min(seconds)
