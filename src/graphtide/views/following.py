"""Running an analytic over a view collection: along a chain of views, or on the lattice of a product.

The answer for a view never depends on the way it was reached; only the cost does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, Literal, Protocol

import numpy as np

from graphtide.views.execution import Execution, Ints, Outcome
from graphtide.views.growth import Sized, SizedGrid, grid_grows, growing_until
from graphtide.views.results import ChainResults, LatticeResults, Lines
from graphtide.views.splitting import DECIDED_AT_ONCE, Splitter, Way

__all__ = ["Chain", "Grid", "Step", "Strategy", "follow_chain", "follow_lattice"]

Strategy = Literal["adaptive", "differential", "scratch"]

# Views whose differences are fewer run together as one batch: what a run costs by itself is then most of it.
_FEW_DIFFERENCES: Final = 500
# Unless a view before them set off so much: where nearly everything changes, versions that run together meet each
# other in every join.
_LITTLE_WORK: Final = 20_000


class Chain(Sized, Protocol):
    """Views in the order in which they are run: sizes, and the differences from one to the next."""

    @property
    def order(self) -> Sequence[int]:
        """The user's number of the view at each position."""
        ...

    def differences(self, position: int) -> tuple[Ints, Ints]:
        """Numbers of edges and their diffs, +1 or -1."""
        ...


class Grid(SizedGrid, Protocol):
    """Cells of a product, along an order of each dimension."""

    def differences(self, cell: tuple[int, ...]) -> tuple[Ints, Ints]:
        """Numbers of edges and their diffs at a cell."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """What happened to one view."""

    view: int
    way: Literal["scratch", "differential", "lattice"]
    edges: int
    differences_in: int
    differences_out: int
    work: int
    seconds: float
    estimate: float | None = None  # of its seconds, where one was made


@dataclass(frozen=True, slots=True)
class _Planned:
    """How a view is to be run, and the seconds that it is expected to take."""

    position: int
    way: Way
    estimate: float | None
    grows: bool = False  # whether a run that begins there is only ever fed more edges


@dataclass(slots=True)
class _Course:
    """A run along a chain as it goes on."""

    chain: Chain
    begin: Callable[[bool], Execution]
    told: Callable[[Step], None]
    present: np.ndarray[tuple[int], np.dtype[np.bool_]]
    execution: Execution | None = None
    steps: list[Step] = field(default_factory=list[Step])
    parts: list[Lines] = field(default_factory=list[Lines])
    width: int = 0
    last_work: float = float("inf")  # of a view that ran by its differences; until there was one, no telling
    building: float = 0.0  # seconds that it took to build the last dataflow

    def from_scratch(self, views: Sequence[_Planned]) -> Iterator[Step]:
        """Run each view alone."""
        for view in views:
            clock = time.perf_counter()
            self._move_to(view.position)
            self.execution = None  # its memory is free before the next one asks for it
            building = time.perf_counter()
            self.execution = self.begin(view.grows)
            self.building = time.perf_counter() - building
            edges = np.flatnonzero(self.present)
            outcome = self.execution.feed(edges, 1).run_epoch()
            seconds = time.perf_counter() - clock
            yield self._note(view, outcome, seconds)

    def by_differences(self, views: Sequence[_Planned]) -> Iterator[Step]:
        """Run views one after the other on top of the last one."""
        left = list(views)
        while left:
            count = _few(self.chain, left) if self.last_work <= _LITTLE_WORK else 1
            batch, left = left[:count], left[count:]
            yield from self._in_one_batch(batch)

    def _in_one_batch(self, views: Sequence[_Planned]) -> Iterator[Step]:
        assert self.execution is not None, "the first view runs from scratch"
        clock = time.perf_counter()
        for view in views:
            edges, diffs = self._move_to(view.position)
            self.execution.feed(edges, diffs).seal()
        outcomes = self.execution.run_epochs(len(views))
        seconds = time.perf_counter() - clock
        self.last_work = sum(outcome.work for outcome in outcomes) / len(outcomes)
        # What a batch took is shared out by the differences, with one more for what a view costs by itself.
        weights = np.array([self.chain.counts[view.position] + 1 for view in views], float)
        shares = seconds * weights / weights.sum()
        for view, outcome, share in zip(views, outcomes, shares.tolist(), strict=True):
            yield self._note(view, outcome, share)

    def _move_to(self, position: int) -> tuple[Ints, Ints]:
        edges, diffs = self.chain.differences(position)
        self.present[edges] = diffs > 0
        return edges, diffs

    def _note(self, view: _Planned, outcome: Outcome, seconds: float) -> Step:
        chain, position, way = self.chain, view.position, view.way
        self.width = outcome.codes.shape[0]
        self.parts.append(Lines(outcome.codes, outcome.diffs))
        step = Step(
            chain.order[position],
            way,
            chain.sizes[position],
            chain.sizes[position] if way == "scratch" else chain.counts[position],
            outcome.codes.shape[1],
            outcome.work,
            seconds,
            view.estimate,
        )
        self.steps.append(step)
        self.told(step)
        return step


def follow_chain(
    chain: Chain,
    edges: int,
    begin: Callable[[bool], Execution],
    *,
    strategy: Strategy = "adaptive",
    decide_at_once: int = DECIDED_AT_ONCE,
    told: Callable[[Step], None] = lambda _step: None,
) -> tuple[list[Step], ChainResults]:
    """Run all views of a chain; `edges` counts those of the graph.

    `begin` makes a dataflow that has seen nothing, and is told whether it will only be fed more edges.
    """
    course = _Course(chain, begin, told, np.zeros(edges, np.bool_))
    splitter = Splitter()
    count = len(chain.order)
    position, grown_at = 0, count
    while position < count:
        # The first two views are decided alone, since nothing was observed before them.
        upper = position + 1 if position < 2 else min(count, position + decide_at_once)
        decided: list[_Planned] = []
        for p in range(position, upper):
            view, grown_at = _decide(splitter, chain, strategy, p, grown_at)
            decided.append(view)
        for way, group in groupby(decided, key=lambda view: view.way):
            views = list(group)
            for step in course.from_scratch(views) if way == "scratch" else course.by_differences(views):
                if step.way == "scratch":
                    splitter.observe("scratch", step.edges, step.seconds, course.building)
                else:
                    splitter.observe("differential", step.differences_in, step.seconds)
        position = upper
    results = ChainResults(
        course.width,
        tuple(chain.order),
        tuple(course.parts),
        tuple(step.way == "scratch" for step in course.steps),
    )
    return course.steps, results


def _decide(splitter: Splitter, chain: Chain, strategy: Strategy, position: int, grown_at: int) -> tuple[_Planned, int]:
    """How to run a view, if the dataflow that is there can be fed up to a position; up to where it can afterwards."""
    if position in {0, grown_at} or strategy == "scratch":
        way: Way = "scratch"
    elif strategy == "differential":
        way = "differential"
    else:
        way = splitter.decide(chain.sizes[position], chain.counts[position])
    estimate = None
    if position > 0 and strategy == "adaptive":
        estimate = splitter.estimate(way, chain.sizes[position] if way == "scratch" else chain.counts[position])
    if way == "differential":
        return _Planned(position, way, estimate), grown_at
    end = growing_until(chain, position)
    # A view alone gains nothing by it.
    grows = strategy != "scratch" and end > position + 1 and _ends_anew(chain, strategy, end)
    return _Planned(position, way, estimate, grows), end if grows else len(chain.order)


def _ends_anew(chain: Chain, strategy: Strategy, end: int) -> bool:
    """Whether a run can do without the view at a position, as there is none, or it has more differences than edges."""
    return end == len(chain.order) or (strategy == "adaptive" and chain.counts[end] >= chain.sizes[end])


def _few(chain: Chain, views: Sequence[_Planned]) -> int:
    """How many of the next views have few differences together; at least one."""
    held = 0
    for count, view in enumerate(views):
        held += chain.counts[view.position]
        if held > _FEW_DIFFERENCES:
            return max(1, count)
    return len(views)


def follow_lattice(
    grid: Grid,
    begin: Callable[[Sequence[int], bool], Execution],
    told: Callable[[Step], None] = lambda _step: None,
) -> tuple[list[Step], LatticeResults]:
    """Run all cells of a product, one row after the other.

    `begin` makes a dataflow with some dimensions inside, and is told whether it will only be fed more edges.

    Epochs go along the longest dimension. What is past is compacted there, while of the others each coordinate is
    kept apart for good: the fewer these are, the shorter are the histories of keys.
    """
    shape = tuple(len(order) for order in grid.orders)
    along, *inside = sorted(range(len(shape)), key=lambda axis: -shape[axis])
    execution = begin(inside, grid_grows(grid))
    inner_shape = tuple(shape[axis] for axis in inside)
    parts: dict[tuple[int, ...], Lines] = {}
    steps: list[Step] = []
    width = len(execution.schema)
    for row in range(shape[along]):
        cells = {inner: _cell(along, row, inside, inner) for inner in np.ndindex(*inner_shape)}
        clock = time.perf_counter()
        for inner, cell in cells.items():
            edges, diffs = grid.differences(cell)
            execution.feed(edges, diffs, *(np.full(len(edges), c) for c in inner))
        outcome = execution.run_epoch()
        seconds = time.perf_counter() - clock
        by_cell = _by_cell(outcome, width, inner_shape)
        weights = np.array([grid.count(cell) + 1 for cell in cells.values()], float)
        shares = seconds * weights / weights.sum()
        for (inner, cell), share in zip(cells.items(), shares.tolist(), strict=True):
            if inner in by_cell:
                parts[cell] = by_cell[inner]
            given = tuple(order[p] for order, p in zip(grid.orders, cell, strict=True))
            view = int(np.ravel_multi_index(given, shape))
            out = len(parts[cell]) if cell in parts else 0
            work = round(outcome.work * share / seconds) if seconds else 0
            step = Step(view, "lattice", grid.size(cell), grid.count(cell), out, work, share)
            steps.append(step)
            told(step)
    return steps, LatticeResults(width, tuple(tuple(order) for order in grid.orders), parts)


def _cell(along: int, row: int, inside: Sequence[int], inner: tuple[int, ...]) -> tuple[int, ...]:
    """The cell with a coordinate along one dimension, and others in the dimensions inside."""
    coordinates = {along: row, **dict(zip(inside, inner, strict=True))}
    return tuple(coordinates[axis] for axis in range(len(coordinates)))


def _by_cell(outcome: Outcome, width: int, shape: tuple[int, ...]) -> dict[tuple[int, ...], Lines]:
    """The rows of a run by their coordinates, which come innermost first behind the columns of the result."""
    if not len(outcome.diffs):
        return {}
    coordinates = outcome.codes[width:][::-1]
    flat = np.atleast_1d(np.ravel_multi_index(tuple(coordinates), shape))
    order = np.argsort(flat, kind="stable")
    cells, begins = np.unique(flat[order], return_index=True)
    ends = np.append(begins[1:], len(order))
    found: dict[tuple[int, ...], Lines] = {}
    for cell, begin, end in zip(cells.tolist(), begins.tolist(), ends.tolist(), strict=True):
        rows = order[begin:end]
        at = tuple(int(c) for c in np.array(np.unravel_index(cell, shape)).tolist())
        found[at] = Lines(outcome.codes[:width, rows], outcome.diffs[rows])
    return found
