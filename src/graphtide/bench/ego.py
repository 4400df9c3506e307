"""Ego aggregates.

Overlays with decisions against all push and all pull without sharing, at many ratios of writes to reads.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.ego_graphs import editors, of_dataset, power_law, recommended, two_hops
from graphtide.ego import (
    AdaptiveMining,
    AllPull,
    AllPush,
    Direct,
    NegativeMining,
    Neighbourhoods,
    OverlappingMining,
    Overlay,
)
from graphtide.ego.aggregates import Function, TopK, aggregate_of
from graphtide.ego.building import Method, build, suited_to
from graphtide.ego.contents import WindowContents
from graphtide.ego.decisions import Decider
from graphtide.ego.mining import Step
from graphtide.ego.partials import READ, WRITE
from graphtide.ego.plan import Plan
from graphtide.ego.planning import Planning, Rates
from graphtide.ego.windows import Last
from graphtide.rows import INT

__all__ = ["run"]

_AGGREGATES: Final[tuple[Function, ...]] = (aggregate_of("sum"), aggregate_of("max"), TopK(3))
_RATIOS: Final = (0.05, 0.2, 1.0, 5.0, 20.0)
_NEVER_BELOW: Final = 0.95
_WITH_MUCH_TO_SHARE: Final = {"sum": 1.5, "max": 1.5, "top": 3.0}
_SHARED_ON_WEB: Final = 0.6
_SHARED_ON_SOCIAL: Final = 0.2
_EDGES_A_SECOND: Final = 2e6
_SEEDS: Final = (0, 1, 2, 3, 4)
_TOPICS: Final = 1_000
_OPERATIONS: Final = 400_000
_WARM_UP: Final = 2
_REPEATS: Final = 12
_NOTHING: Final = np.zeros(0, np.int64)
_NEEDS: Final = "debian"
_NEEDS_FAR: Final = "debian, two hops"
_RECOMMENDS: Final = "debian's recommendations, two hops either way"
_EDITORS: Final = "editors of Wikipedia"


class Prebuilt(NamedTuple):
    """An overlay that was made before: plans for many workloads on it need not make it again."""

    overlay: Overlay

    @property
    def subtracts(self) -> bool:
        """Whether it has negative edges."""
        return self.overlay.has_negatives

    @property
    def overlaps(self) -> bool:
        """Whether it counts writers more than once."""
        return self.overlay.overlapping

    def steps(self, overlay: Overlay) -> Iterator[Step]:
        """That overlay."""
        del overlay
        return iter([Step(self.overlay, 0, 0)])


class Asked(NamedTuple):
    """How rows are measured: over which windows, in which orders of vertices, against which bars."""

    window: Last
    seeds: tuple[int, ...]
    bars: dict[str, float]
    operations: int  # in a batch


class Task(NamedTuple):
    """What is asked, and how often vertices write and are read: as Zipf says, in an order drawn by a seed."""

    pairs: Neighbourhoods
    function: Function
    window: Last
    rates: Rates
    operations: int  # in a batch

    @classmethod
    def drawn(cls, pairs: Neighbourhoods, function: Function, ratio: float, asked: Asked, *, seed: int) -> Task:
        """A task with so many writes to a read: a vertex writes in proportion to how often it is read."""
        often = 1 / (1 + np.random.default_rng(seed).permutation(pairs.writer_count))
        often /= often.sum()
        return cls(pairs, function, asked.window, Rates(often * ratio, often), asked.operations)

    def batch(self, rng: np.random.Generator) -> tuple[NDArray[Any], ...]:
        """The next operations: what each does, to whom, and with which value."""
        reads, writes = self.rates.reads, self.rates.writes
        ends, ratio = np.cumsum(reads), writes.sum() / reads.sum()
        who = np.searchsorted(ends, rng.random(self.operations) * ends[-1]).clip(max=len(ends) - 1)
        kinds = np.where(rng.random(self.operations) < ratio / (1 + ratio), WRITE, READ).astype(np.int8)
        return kinds, who, np.minimum(rng.zipf(1.5, self.operations), _TOPICS), _NOTHING, _NOTHING

    def plan(self, method: Method | None, decider: Decider | None) -> Plan:
        """A plan whose windows are full, as they are after a while."""
        contents = WindowContents(self.window, self.pairs.writer_count)
        size = self.pairs.writer_count, self.window.count
        rings = contents.arrays.rings.reshape(size[0], size[1] + 1)
        rings[:, 0] = self.window.count
        rings[:, 1:] = np.random.default_rng(1).zipf(1.5, size).clip(max=_TOPICS)
        planning = Planning(self.function, self.window, method=method, decider=decider, rates=self.rates)
        return planning.plan(self.pairs, contents, INT)


def run(quick: bool, progress: Progress) -> Iterator[Comparison]:  # noqa: FBT001 - the shape of every bench
    """Rows for real graphs, with how much they share, and for power-law graphs up to the largest size.

    The bars for a dependency graph with much to share stand on what packages recommend, within two hops; others are
    held to the bar for all graphs. Which vertices are busy decides what all push and all pull cost where neighbourhoods
    are large, so several orders are drawn, and the median counts.
    """
    asked = Asked(Last(1), (0,), {}, 20_000 if quick else _OPERATIONS)
    drawn = asked._replace(seeds=_SEEDS[:1] if quick else _SEEDS)
    dependencies, citations = of_dataset("debian", quick), two_hops(of_dataset("cit-HepPh", quick))
    far, alike, colleagues = two_hops(dependencies), recommended(quick), editors(quick)
    progress("overlays of dependencies, editors and followers")
    yield from _overlays(dependencies, _NEEDS, least=None)
    yield from _overlays(far, _NEEDS_FAR, least=None if quick else _SHARED_ON_WEB)
    yield from _overlays(alike, _RECOMMENDS, least=None if quick else _SHARED_ON_WEB)
    yield from _overlays(colleagues, _EDITORS, least=None)
    yield from _overlays(of_dataset("ego-Twitter", quick), "ego-Twitter", least=None if quick else _SHARED_ON_SOCIAL)
    yield from _at_ratios(dependencies, _NEEDS, (1.0,), asked, progress)
    yield from _at_ratios(alike, _RECOMMENDS, (1.0,), drawn._replace(bars=_WITH_MUCH_TO_SHARE), progress)
    yield from _at_ratios(alike, _RECOMMENDS, (1.0,), drawn._replace(window=Last(10)), progress)
    for window in (Last(1), Last(10)):
        yield from _at_ratios(far, _NEEDS_FAR, (1.0,), drawn._replace(window=window), progress)
    yield from _at_ratios(citations, "cit-HepPh, two hops", (1.0,), drawn, progress)
    # All push tells some two thousand readers of a write there.
    few = asked._replace(operations=asked.operations // 20)
    yield from _at_ratios(colleagues, _EDITORS, (1.0,), few, progress)
    for edges in (20_000,) if quick else (1_000_000, 10_000_000):
        progress(f"a power-law graph of {edges:,} edges")
        name = f"power law of {edges:,} edges"
        yield from _at_ratios(power_law(edges), name, _RATIOS, asked, progress)


def _overlays(pairs: Neighbourhoods, name: str, *, least: float | None) -> Iterator[Comparison]:
    """How many edges each method needs, the best of which has a bar, and how many edges a second VNM_A mines."""
    methods: dict[str, Method] = {
        "VNM_A": AdaptiveMining(),
        "VNM_N": NegativeMining(),
        "VNM_D": OverlappingMining(),
    }
    built = {title: build(pairs, method) for title, method in methods.items()}
    best = min(built, key=lambda title: built[title].overlay.edges)
    for title, each in built.items():
        index, seconds = each.overlay.sharing_index(pairs), sum(one.seconds for one in each.iterations)
        yield Comparison(
            f"{name}: overlay by {title}",
            each.overlay.edges,
            len(pairs),
            "a pair is an edge",
            "edges",
            agree=True,
            bar=1 / (1 - least) if least is not None and title == best else None,
            note=f"sharing index {index:.3f}, {seconds:.2f} s in {len(each.iterations)} iterations",
        )
    iterations = built["VNM_A"].iterations
    saved = np.cumsum([0, *(each.benefit for each in iterations)])[: len(iterations)]
    mined = int((len(pairs) - saved).sum())
    rate = mined / sum(each.seconds for each in iterations)
    bar = None if least is None else 1.0
    yield Comparison(f"{name}: VNM_A, an iteration", rate, _EDGES_A_SECOND, "asked for", "edges/s", agree=True, bar=bar)


def _at_ratios(
    pairs: Neighbourhoods, name: str, ratios: tuple[float, ...], asked: Asked, progress: Progress
) -> Iterator[Comparison]:
    """A row for each aggregate and ratio: of several orders of vertices, the one with the median ratio of speeds."""
    overlays = {method: Prebuilt(build(pairs, method).overlay) for method in set(map(suited_to, _AGGREGATES))}
    for function in _AGGREGATES:
        shared = overlays[suited_to(function)]
        for ratio in ratios:
            title = f"{name}: {function!r} over {asked.window!r}, {ratio:g} writes to a read"
            progress(title)
            found: list[Comparison] = []
            for seed in asked.seeds:
                task = Task.drawn(pairs, function, ratio, asked, seed=seed)
                found.append(_compared(title, task, shared, asked.bars.get(function.name, _NEVER_BELOW)))
            found.sort(key=lambda each: each.ratio or 0)
            row = found[len(found) // 2]
            if len(found) > 1:
                each = ", ".join(f"{one.ratio or 0:.2f}" for one in found)
                row = replace(row, agree=all(one.agree for one in found), note=f"median of {each}; {row.note}")
            yield row


def _compared(name: str, task: Task, shared: Prebuilt, bar: float) -> Comparison:
    plans = {
        "ours": task.plan(shared, None),
        "all push": task.plan(Direct(), AllPush()),
        "all pull": task.plan(Direct(), AllPull()),
    }
    operations, rng = task.operations, np.random.default_rng(2)
    seconds: dict[str, list[float]] = {title: [] for title in plans}
    agree = True
    orders = list(permutations(plans))
    for repeat in range(_WARM_UP + _REPEATS):
        # Other operations each time: what is in the caches then is what is often asked for. What ran before leaves its
        # memory there, too: each comes after each other one as often.
        batch = task.batch(rng)
        answers: dict[str, Any] = {}
        for which in orders[repeat % len(orders)]:
            plan = plans[which]
            began = time.process_time()
            found = plan.run(*batch)
            seconds[which].append(time.process_time() - began)
            answers[which] = plan.column(found)
        agree = agree and all(answers["ours"].equals(other) for other in answers.values())
    speed = {title: operations / float(np.median(each[_WARM_UP:])) for title, each in seconds.items()}
    better = max(("all push", "all pull"), key=lambda title: speed[title])
    ours = plans["ours"]
    nodes, partials = ours.frame.nodes, ours.overlay()[0].partials
    note = (
        f"all push {speed['all push']:,.0f}, all pull {speed['all pull']:,.0f} operations/s; "
        f"{partials:,} partial aggregates, sharing index {ours.sharing_index:.1%}, "
        f"{int(nodes.push.sum()) - ours.writers:,} nodes push"
    )
    return Comparison(
        name,
        speed["ours"],
        speed[better],
        f"{better}, nothing shared",
        "operations/s",
        agree=agree,
        bar=bar,
        note=note,
    )
