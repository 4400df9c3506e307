"""How plans are made and kept good: the overlay, the decisions, and when either is made anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.aggregates import Aggregate, Function
from graphtide.ego.building import Built, Method, build, check_method, suited_to
from graphtide.ego.calibration import calibrate
from graphtide.ego.contents import WindowContents
from graphtide.ego.costs import Costs
from graphtide.ego.decisions import (
    Decided,
    Decider,
    Decisions,
    MinCut,
    check_decider,
    decide,
    expenses,
    frequencies,
    priced,
)
from graphtide.ego.flattening import flattened
from graphtide.ego.kernels.adaptation import flip_frontier
from graphtide.ego.neighbourhoods import Neighbourhoods
from graphtide.ego.origin import By, Origin, Taken
from graphtide.ego.overlay import Overlay
from graphtide.ego.plan import Plan
from graphtide.ego.policies import AllPull, AllPush, Direct
from graphtide.ego.splitting import split
from graphtide.ego.trial import Candidate, Conditions, fastest
from graphtide.ego.windows import Last, Window
from graphtide.errors import UsageError
from graphtide.rows import INT, Dictionary, Type
from graphtide.rows.codes import Codes
from graphtide.rows.misfit import shown

__all__ = ["Planning", "Rates"]

# An overlay is made anew when it has lost this much of its sharing index.
DECAY: Final = 0.1
# Decisions are looked at after as many operations as the overlay has edges, and no fewer than these.
FEWEST_OPERATIONS: Final = 100_000
# What a flip must be expected to save of a node's cost: rates are only observed.
WORTH_A_FLIP: Final = 0.2


# Plans for as many pairs of a writer and a reader are tried.
WORTH_A_TRIAL: Final = 10_000
# Decisions are also tried as if pushes cost so many times what was measured. Which nodes are read and written often
# decides what stays in a cache, so that what is cold costs more than the average, on either side.
CHEAPER_PUSHES: Final = 0.4
DEARER_PUSHES: Final = 2.5


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """How often each writer writes and each reader is read, in any unit."""

    writes: NDArray[np.float64]
    reads: NDArray[np.float64]

    def extended(self, writers: int, readers: int) -> Rates:
        """The same for more writers and readers: new ones are like the average."""
        return Rates(_extended(self.writes, writers), _extended(self.reads, readers))


class _Way(NamedTuple):
    """A plan to be tried: its overlay with decisions, what that shares, and how much dearer pushes were taken to be."""

    candidate: Candidate
    taken: Taken
    dearer_pushes: float


class Planning:
    """The policies of one query, and what is known of its rates.

    With a decider of its own (AllPush, AllPull) decisions stay as they are.
    """

    def __init__(
        self,
        function: Function,
        window: Window,
        *,
        method: Method | None = None,
        decider: Decider | None = None,
        costs: Costs | None = None,
        rates: Rates,
    ) -> None:
        self._function, self._window = function, window
        self._method = suited_to(function) if method is None else method
        check_method(self._method, function)
        if decider is not None:
            check_decider(decider)
        if costs is not None and not isinstance(costs, Costs):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(
                f"costs={shown(costs)} are no costs", hint="give Costs(push=..., pull=...) of graphtide.ego"
            )
        self._decider: Decider = MinCut() if decider is None else decider
        self._is_adaptive = decider is None
        self._costs = costs
        self._rates = rates
        self._dearer_pushes = 1.0  # than they were measured, by trial
        self._seen: NDArray[np.float64] = np.zeros(0)  # writes by writer that are in the rates
        self._since = 0
        self.origin: Origin | None = None  # of the last plan that was made
        self.flips = 0
        self.rebuilds = 0

    def plan(self, neighbourhoods: Neighbourhoods, contents: WindowContents, value_type: Type | None = None) -> Plan:
        """The first plan."""
        return self._planned(neighbourhoods, contents, Dictionary(), value_type)

    def replan(self, plan: Plan, neighbourhoods: Neighbourhoods) -> Plan:
        """A plan for the same windows, made anew by the rates that were observed."""
        self._observe(plan)
        self.rebuilds += 1
        frame = plan.frame
        return self._planned(neighbourhoods, frame.contents, frame.dictionary, frame.type)

    def replan_for_others(self, plan: Plan, neighbourhoods: Neighbourhoods) -> Plan:
        """As `replan`, for other readers, of which nothing is known: each is like the average of those before."""
        self._observe(plan)
        reads = self._rates.reads
        average = float(reads.mean()) if len(reads) else 1.0
        self._rates = Rates(self._rates.writes, np.full(neighbourhoods.readers, average))
        self.rebuilds += 1
        frame = plan.frame
        return self._planned(neighbourhoods, frame.contents, frame.dictionary, frame.type)

    @property
    def nbytes(self) -> int:
        """Bytes of what is known of rates."""
        return self._rates.writes.nbytes + self._rates.reads.nbytes + self._seen.nbytes

    def keep_all(self, plan: Plan) -> None:
        """Let all nodes push, from now on."""
        self._decider, self._is_adaptive = AllPush(), False
        plan.decide(np.ones(plan.frame.nodes.count, np.bool_))

    def ran(self, plan: Plan, operations: int) -> None:
        """Know of operations.

        After many of them, flip nodes at the frontier that would cost less by what was observed.
        """
        self._since += operations
        if self._is_adaptive and self._since >= max(FEWEST_OPERATIONS, plan.frame.nodes.edges):
            self.adapt(plan)

    def forget(self, writers: Codes) -> None:
        """Know that writers have written nothing: they are others now."""
        self._seen[writers[writers < len(self._seen)]] = 0

    def adapt(self, plan: Plan) -> int:
        """Flip nodes at the push/pull frontier that would cost less; how many. Decisions that were given stay."""
        self._since = 0
        if not self._is_adaptive:
            return 0
        self._observe(plan)
        overlay, known = plan.overlay()
        pushed, pulled = self._expenses(overlay, plan.frame.type)
        outputs = overlay.outputs()
        push = plan.push[known]
        order = np.argsort(overlay.levels(), kind="stable")
        flips = flip_frontier(
            overlay.starts, overlay.inputs, outputs.starts, outputs.nodes, overlay.writers, order, pushed, pulled,
            WORTH_A_FLIP, push,
        )  # fmt: skip
        if flips:
            wanted = plan.push
            wanted[known] = push
            self.flips += plan.decide(wanted)
        return int(flips)

    def has_decayed(self, plan: Plan) -> bool:
        """Whether graph changes have undone so much sharing that a new overlay is worth its making."""
        return plan.built_index - plan.sharing_index > DECAY

    def decisions(self, plan: Plan) -> tuple[Overlay, Decisions]:
        """The overlay as it is, its decisions, and what they are expected to cost by the rates that are known."""
        self._observe(plan)
        overlay, known = plan.overlay()
        pushed, pulled = self._expenses(overlay, plan.frame.type)
        return overlay, priced(overlay, Decided(plan.push[known], np.zeros(0, np.int64), 0), pushed, pulled)

    def _planned(
        self,
        neighbourhoods: Neighbourhoods,
        contents: WindowContents,
        dictionary: Dictionary,
        value_type: Type | None,
    ) -> Plan:
        overlay, decisions = self._cheapest(neighbourhoods, contents, value_type)
        return Plan(
            overlay,
            decisions.push,
            self._function,
            contents,
            dictionary=dictionary,
            value_type=value_type,
            pairs=len(neighbourhoods),
        )

    def _cheapest(self, neighbourhoods: Neighbourhoods, contents: WindowContents, value_type: Type | None) -> Candidate:
        """The overlay of the method with decisions, or one that shares nothing, or no decisions: what costs least.

        If there is much to gain, all of them are tried, unless costs were given.
        """
        self._rates = self._rates.extended(neighbourhoods.writer_count, neighbourhoods.readers)
        built = build(neighbourhoods, self._method)
        shared = built.overlay
        if not self._is_adaptive:
            self._note(built, "shared", "decisions")
            return shared, self._decided(shared, value_type, self._decider)
        self._dearer_pushes = 1.0
        is_shared = shared.partials > 0 and not isinstance(self._method, Direct)
        direct = Overlay.direct(neighbourhoods) if is_shared else shared
        is_large = len(neighbourhoods) >= WORTH_A_TRIAL and not isinstance(self._function, Aggregate)
        # Costs that are given are to decide, not what a trial measures.
        is_tried = is_large and self._costs is None
        if is_tried and self._rates.writes.any() and self._rates.reads.any():
            best = self._fastest(shared if is_shared else None, direct, contents, value_type)
            self._note(built, best.taken, "trial")
            # Later decisions are made by what the fastest one says of the costs.
            self._dearer_pushes = best.dearer_pushes
            return best.candidate
        overlays = [shared, direct] if is_shared else [shared]
        split = [self._split(each, value_type) for each in overlays]
        cheapest = min(range(len(split)), key=lambda at: split[at][1].cost)
        self._note(built, "shared" if overlays[cheapest] is shared else "direct", "costs")
        return split[cheapest]

    def _fastest(
        self, shared: Overlay | None, direct: Overlay, contents: WindowContents, value_type: Type | None
    ) -> _Way:
        """The fastest plan of all that are tried, with what is shared, if that is anything, and without."""
        ways = [
            _Way((direct, self._decided(direct, value_type, by)), "direct", factor)
            for by, factor in ((AllPush(), CHEAPER_PUSHES), (AllPull(), DEARER_PUSHES))
        ]
        for factor in (1.0, CHEAPER_PUSHES, DEARER_PUSHES):
            if shared is not None:
                flat = self._flattened(shared, value_type, factor)
                ways.append(_Way(flat, "flat" if flat[0].partials else "direct", factor))
            ways.append(_Way(self._split(direct, value_type, factor), "direct", factor))
        rates = self._rates
        conditions = Conditions(self._function, self._window, rates.writes, rates.reads, contents.has_values())
        return ways[fastest([way.candidate for way in ways], conditions)]

    def _note(self, built: Built, taken: Taken, by: By) -> None:
        indices = tuple(iteration.sharing_index for iteration in built.iterations)
        self.origin = Origin(repr(self._method), indices, taken, by)

    @property
    def _counts_values(self) -> bool:
        """Whether what is kept is a histogram: one of many inputs takes nearly as long to merge as they do."""
        return self._function.name in {"top", "distinct"}

    def _flattened(self, overlay: Overlay, value_type: Type | None, dearer_pushes: float) -> Candidate:
        """An overlay of the partial aggregates that are worth keeping."""
        rates, costs = self._rates, self._costs_for(value_type).with_dearer_pushes(dearer_pushes)
        return flattened(overlay, rates.writes, rates.reads, costs, writer_window=self._window_size)

    def _split(self, overlay: Overlay, value_type: Type | None, dearer_pushes: float = 1) -> Candidate:
        """An overlay with decisions, and with nodes that are split if that is expected to cost less."""
        costs = self._costs_for(value_type).with_dearer_pushes(dearer_pushes)
        rates, more = self._rates, {"writer_window": self._window_size}
        decisions = decide(overlay, rates.writes, rates.reads, costs, by=self._decider, **more)
        if self._counts_values:
            return overlay, decisions
        return split(overlay, decisions, rates.writes, rates.reads, costs, **more)

    def _decided(self, overlay: Overlay, value_type: Type | None, by: Decider) -> Decisions:
        rates, costs = self._rates, self._costs_for(value_type)
        return decide(overlay, rates.writes, rates.reads, costs, by=by, writer_window=self._window_size)

    @property
    def _window_size(self) -> float:
        return self._window.count if isinstance(self._window, Last) else 1

    def _costs_for(self, value_type: Type | None) -> Costs:
        writers = len(self._rates.writes)
        return self._costs or calibrate(self._function, self._window, value_type or INT, writers)

    def _expenses(self, overlay: Overlay, value_type: Type | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rates = self._rates
        often = frequencies(overlay, rates.writes, rates.reads)
        costs = self._costs_for(value_type).with_dearer_pushes(self._dearer_pushes)
        return expenses(overlay, often, costs, self._window_size)

    def _observe(self, plan: Plan) -> None:
        """Let what was written and read since the last look count as much as all that was known before."""
        written, reads = plan.observed()
        rates = self._rates.extended(plan.writers, plan.readers)
        seen = np.concatenate([self._seen, np.zeros(plan.writers - len(self._seen))])
        writes = written - seen
        if writes.sum() + reads.sum() > 0:
            known = rates.writes.sum() + rates.reads.sum()
            share = (writes.sum() + reads.sum()) / known if known else 0.0
            rates = Rates((rates.writes * share + writes) / 2, (rates.reads * share + reads) / 2)
        self._rates, self._seen = rates, written.astype(np.float64)


def _extended(rates: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    if len(rates) >= count:
        return rates
    mean = float(rates.mean()) if len(rates) else 1.0
    return np.concatenate([rates, np.full(count - len(rates), mean)])
