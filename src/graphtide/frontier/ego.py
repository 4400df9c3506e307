"""An aggregate over what the neighbours of each vertex wrote lately, on a live graph (EAGr).

Invariant: an answer is that of the neighbourhood as the graph is, over all writes before the read and none after it. A
batch of writes and reads is checked whole before anything of it is applied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.ego.aggregates import Function
from graphtide.ego.building import Method
from graphtide.ego.contents import WindowContents
from graphtide.ego.costs import Costs
from graphtide.ego.decisions import Decider
from graphtide.ego.explained import Explained, draw
from graphtide.ego.neighbourhoods import Neighbourhoods
from graphtide.ego.operations import Intake, as_column, as_kinds
from graphtide.ego.partials import READ, WRITE
from graphtide.ego.plan import Plan
from graphtide.ego.planning import Planning, Rates
from graphtide.ego.windows import Window
from graphtide.errors import GraphtideError, UsageError
from graphtide.frontier.delta import Delta
from graphtide.frontier.edges import Edges
from graphtide.frontier.ego_watch import Notice, Seen, Watch, Watches, seen
from graphtide.frontier.failures import raise_all
from graphtide.frontier.surroundings import Choice, Surroundings
from graphtide.frontier.turnover import NOBODY, Turnover
from graphtide.rows import Type
from graphtide.rows.codes import Codes
from graphtide.rows.misfit import shown
from graphtide.rows.tabular import Tabular, html_table

if TYPE_CHECKING:
    from graphtide.frontier.live import LiveGraph

__all__ = ["Ego", "Policies", "Rate"]

_NO_READER = -1

# How often vertices write or are read: all alike, or by id; those left out never do.
Rate = float | Mapping[Any, float]


class Policies(NamedTuple):
    """How an overlay and its decisions are made, and for which rates of writes and reads."""

    overlay: Method | None = None
    decide: Decider | None = None
    rates: tuple[Rate, Rate] = (1.0, 1.0)
    costs: Costs | None = None


class Ego(Tabular):
    """A registered ego aggregate; made by `LiveGraph.ego`.

    Any vertex of the graph may write; those that the query selects can be read.
    """

    def __init__(
        self,
        live: LiveGraph,
        edges: Edges,
        name: str,
        *,
        function: Function,
        window: Window,
        surroundings: Surroundings,
        readers: Choice,
        policies: Policies,
        value_type: Type | None,
    ) -> None:
        self.name = name
        self.function, self.window = function, window
        self._live: LiveGraph | None = live
        self._edges, self._surroundings, self._readers = edges, surroundings, readers
        self._vertex_of: Codes = readers.numbers()
        self._idle: dict[int, int] = {}  # by number of a vertex that was removed: its number as a reader
        self._reader_of = self._numbered()
        contents = WindowContents(window, edges.adjacency.vertices)
        self._planning = Planning(
            function,
            window,
            method=policies.overlay,
            decider=policies.decide,
            costs=policies.costs,
            rates=self._rates(policies.rates),
        )
        self._plan = self._planning.plan(self._neighbourhoods(), contents)
        self._intake = Intake(self._plan, value_type)
        self._watches = Watches()

    def __repr__(self) -> str:
        if self._live is None:
            return f"<Ego {self.name}: dropped>"
        readers = len(self._vertex_of) - len(self._idle)
        counts = f"{self._edges.vertices:,} writers, {readers:,} readers, {self._plan.pairs:,} pairs"
        return f"<Ego {self.name}: {self.function!r} over {self.window!r}, {counts}>"

    # -- writing and reading

    def write(self, vertex: Any, value: Any, at: Any = None) -> None:
        """Let a vertex write a value; with windows of time, `at` a time."""
        self.write_many([vertex], [value], None if at is None else [at])

    def write_many(self, vertices: Any, values: Any, times: Any = None) -> None:
        """Let vertices write values in their order: columns of equal length."""
        self._run(WRITE, vertices, values, times)

    def read(self, vertex: Any) -> Any:
        """The aggregate at a vertex."""
        return self.plan.values(self._run(READ, [vertex], (), None))[0]

    def read_many(self, vertices: Any) -> pa.Array:
        """The aggregates at vertices, in their order."""
        return self.plan.column(self._run(READ, vertices, (), None))

    def run(self, vertices: Any, values: Any, is_read: Any, times: Any = None) -> pa.Array:
        """Writes and reads in their order, which see what was written before them; the answers of the reads.

        What stands among the values of a read is not looked at. `is_read` is a column of bools.
        """
        kinds = as_kinds(is_read)
        found = self._run(kinds, vertices, as_column(values, kinds == WRITE), times)
        try:
            return self.plan.column(found)
        except GraphtideError as error:
            # The answers of the reads are not to be had, whatever was written.
            if (kinds == WRITE).any():
                error.add_hint("the writes of this call are applied")
            raise

    def advance(self, to: Any) -> None:
        """Let the clock be at a time at least: what has expired by then is gone."""
        self._check_alive()
        intake = self._intake
        if intake.clock is None:
            raise UsageError(f"{self.window!r} has no clock", hint="use window=Within(...)")
        moments = intake.clock.encode([to])
        intake.clock.type = moments.type
        moment = int(moments.codes[0])
        self._watched(self._plan.frame.contents.due(moment), lambda: self._plan.advance(moment))

    def table(self) -> pa.Table:
        """All vertices that can be read, and their aggregates now."""
        self._check_alive()
        return self._answers(np.flatnonzero(self._reader_of[self._vertex_of] != _NO_READER))

    def _as_table(self) -> pa.Table:
        return self.table()

    def _repr_html_(self) -> str:
        return html_table(self.table(), repr(self))

    def _run(self, kinds: Any, vertices: Any, values: Any, times: Any) -> Any:
        """Do operations, all of one kind or of many, after all of them were checked."""
        self._check_alive()
        if isinstance(kinds, int):
            word = "write at" if kinds == WRITE else "read at"
            numbers = self._edges.known_numbers(vertices, word)
            kinds = np.full(len(numbers), kinds, np.int8)
        else:
            numbers = self._edges.known_numbers(vertices, "write or read at")
        if len(numbers) != len(kinds):
            raise UsageError(f"there are {len(numbers)} vertices for {len(kinds)} operations")
        reads = kinds == READ
        who = numbers.copy()
        who[reads] = self._reader_of[numbers[reads]]
        if (who == _NO_READER).any():
            vertex = self._edges.ids_of(numbers[who == _NO_READER][:1]).to_pylist()[0]
            raise UsageError(f"cannot read at vertex {vertex!r}: readers= of {self.name} leaves it out")
        batch = self._intake.encode(kinds, values, times)
        types = self._intake.commit(batch)
        found: list[Any] = []

        def run() -> None:
            found.append(self._plan.run(kinds, who, batch.values, batch.expiries, batch.times))

        touched = who[kinds == WRITE]
        if self._watches and len(batch.times):
            touched = np.concatenate([touched, self._plan.frame.contents.due(int(batch.times.max()))])
        try:
            self._watched(touched, run)
        except GraphtideError:
            if not found:  # nothing was applied, and the next may be of other types
                self._intake.take_back(types)
            raise
        if self._live is not None:  # who was told may have dropped it
            self._planning.ran(self._plan, len(kinds))
        return found[0]

    def _answers(self, readers: Codes) -> pa.Table:
        ids = self._edges.ids_of(self._vertex_of[readers])
        return pa.table({"vertex": ids, "value": self._plan.column(self._plan.read(readers))})

    # -- continuous

    def on_change(self, callback: Callable[[pa.Table], Any]) -> Watch:
        """Call back with (vertex, before, after) after each call that changes aggregates, until the watch is dropped.

        From now on all aggregates are kept up to date with every write. Callbacks run when everything is up to date.
        What they raise comes out when all were called. An aggregate that cannot be told (a sum that no int of 64 bits
        holds, or one on which `finalize` fails) is null, and an error says so when it becomes that. A vertex that
        begins or ceases to be read has not changed.
        """
        return self._watch(Watch(self._watches, callback))

    def alert(self, predicate: Callable[[Any], bool], callback: Callable[[Any, Any], Any]) -> Watch:
        """Call back with a vertex and its aggregate when the predicate becomes true of that."""
        return self._watch(Watch(self._watches, callback, predicate))

    def _watch(self, watch: Watch) -> Watch:
        self._check_alive()
        self._planning.keep_all(self._plan)
        self._watches.add(watch)
        return watch

    def _watched(self, writers: Codes, action: Callable[[], None]) -> None:
        """Do what changes the windows of writers, and tell who watches."""
        if not self._watches:
            action()
            return
        vertices = self._vertex_of[self._plan.readers_behind(np.unique(writers))]
        before = self._seen(vertices)
        errors: list[Exception] = []
        try:
            action()
        except GraphtideError as error:
            # Of some errors windows are as before, and then nothing differs; of others they are not.
            errors.append(error)
        raise_all(errors + self._notice(vertices, before).tell())

    def _seen(self, vertices: Codes) -> Seen:
        """The aggregates at vertices that can be read."""
        readers = self._reader_of[vertices]
        return seen(len(readers), lambda some: self._plan.column(self._plan.read(readers[some])))

    def _notice(self, vertices: Codes, before: Seen) -> Notice:
        """What is to be told of aggregates that were others before."""
        return Notice.of(self.name, self._watches, self._edges.ids_of(vertices), before, self._seen(vertices))

    # -- the graph changes

    def follow(self, delta: Delta, turnover: Turnover) -> Notice | None:
        """Bring the overlay up to date with a batch of edges, and with the vertices that came and went with it.

        What those who watch are to be told of it, if there are any.
        """
        surroundings, went = self._surroundings, turnover.went
        self._welcome(turnover.came)
        # Who loses a neighbour that is removed knows it by having had it.
        changes = surroundings.changes(delta, turnover)
        surroundings.leave(went)
        untold = np.concatenate([turnover.came, went])
        if changes is None:
            notice = self._see_again(surroundings.affected(delta, turnover), untold)
        else:
            notice = self._change(*changes, untold)
        self._retire(went)
        return notice

    def _welcome(self, came: Codes) -> None:
        """Let new vertices write, and be read if they are chosen."""
        if len(came) == 0:
            return
        self._surroundings.come(came)
        self._readers.come(came)
        self._plan.add_writers(self._edges.adjacency.vertices)
        chosen = came[self._readers.mask()[came]].tolist()
        # One whose number was that of a reader is read in its place.
        fresh = np.array([vertex for vertex in chosen if self._idle.pop(vertex, None) is None], np.int64)
        self._vertex_of = np.concatenate([self._vertex_of, fresh])
        self._reader_of = self._numbered()
        self._plan.add_readers(len(self._vertex_of), push=bool(self._watches))

    def _retire(self, went: Codes) -> None:
        """Forget what removed vertices wrote, and let them be read no more; their places wait for others."""
        if len(went) == 0:
            return
        self._plan.forget(went)
        self._planning.forget(went)
        self._readers.leave(went)
        read = went[self._reader_of[went] != _NO_READER]
        self._idle |= dict(zip(read.tolist(), self._reader_of[read].tolist(), strict=True))
        self._reader_of[read] = _NO_READER

    def follow_properties(self, vertices: Codes) -> Notice | None:
        """Bring the overlay up to date with vertices that have other properties; what is to be told of it."""
        affected = self._surroundings.affected_by(vertices)
        if not self._readers.look_again(vertices):
            return self._see_again(affected)
        stay = affected[(self._reader_of[affected] != _NO_READER) & self._readers.mask()[affected]]
        before = self._seen(stay) if self._watches else None
        self._vertex_of, self._idle = self._readers.numbers(), {}
        self._reader_of = self._numbered()
        self._run_by(self._planning.replan_for_others(self._plan, self._neighbourhoods()))
        return None if before is None else self._notice(stay, before)

    def _see_again(self, affected: Codes, untold: Codes = NOBODY) -> Notice | None:
        """Let readers among these vertices have the neighbourhoods that they have on the graph."""
        affected = affected[self._reader_of[affected] != _NO_READER]
        if len(affected) == 0:
            return None
        starts, writers = self._surroundings.of(affected)
        readers = self._reader_of[affected]
        return self._rearranged(np.setdiff1d(affected, untold), lambda: self._plan.follow(readers, starts, writers))

    def _change(self, egos: Codes, others: Codes, signs: Codes, untold: Codes) -> Notice | None:
        """Let vertices gain neighbours and lose some."""
        can_read = self._reader_of[egos] != _NO_READER
        egos, others, signs = egos[can_read], others[can_read], signs[can_read]
        if len(egos) == 0:
            return None
        readers = self._reader_of[egos]
        return self._rearranged(np.setdiff1d(egos, untold), lambda: self._plan.change(readers, others, signs))

    def _rearranged(self, vertices: Codes, change: Callable[[], Any]) -> Notice | None:
        """Do what changes the neighbourhoods of vertices, and look whether enough is still shared."""
        before = self._seen(vertices) if self._watches else None
        change()
        if self._planning.has_decayed(self._plan):
            self.rebuild()
        return None if before is None else self._notice(vertices, before)

    def adapt(self) -> int:
        """Look at the decisions now, by what was written and read; how many were changed."""
        self._check_alive()
        return self._planning.adapt(self._plan)

    def rebuild(self) -> None:
        """Make the overlay and the decisions anew, for the graph as it is and the rates that were seen."""
        self._check_alive()
        self._run_by(self._planning.replan(self._plan, self._neighbourhoods()))

    def _run_by(self, plan: Plan) -> None:
        """Take another plan, for the same windows."""
        assert plan.frame.contents is self._plan.frame.contents
        self._plan = self._intake.plan = plan
        if self._watches:
            self._planning.keep_all(plan)

    def _neighbourhoods(self) -> Neighbourhoods:
        # A place that waits for another reader has nobody's.
        is_taken = self._reader_of[self._vertex_of] != _NO_READER
        starts, writers = self._surroundings.of(self._vertex_of[is_taken])
        sizes = np.zeros(len(self._vertex_of) + 1, np.int64)
        sizes[1:][is_taken] = np.diff(starts)
        return Neighbourhoods(np.cumsum(sizes), writers.astype(np.int32), self._edges.adjacency.vertices)

    def _rates(self, rates: Any) -> Rates:
        """Rates by writer and reader."""
        if not isinstance(rates, tuple | list) or len(rates) != len(Policies().rates):  # pyright: ignore[reportUnknownArgumentType]
            hint = "give two, of writes and of reads: numbers, or dicts of numbers by vertex"
            raise UsageError(f"rates={shown(rates)} are not two rates", hint=hint)  # pyright: ignore[reportUnknownArgumentType]
        writes, reads = rates  # pyright: ignore[reportUnknownVariableType]
        return Rates(self._by_vertex(writes, "writes"), self._by_vertex(reads, "reads")[self._vertex_of])

    def _by_vertex(self, rate: Any, word: str) -> NDArray[np.float64]:
        vertices = self._edges.adjacency.vertices
        if not isinstance(rate, Mapping):
            return np.full(vertices, _checked_rate(rate, f"the rate of {word}"))
        found = np.zeros(vertices)
        by_vertex = cast("Mapping[Any, Any]", rate)
        numbers = self._edges.known_numbers(list(by_vertex), "know a rate of")
        found[numbers] = [
            _checked_rate(often, f"the rate of {word} at vertex {vertex!r}") for vertex, often in by_vertex.items()
        ]
        return found

    def _numbered(self) -> Codes:
        """By number of a vertex: its number as a reader."""
        numbers = np.full(self._edges.adjacency.vertices, _NO_READER)
        numbers[self._vertex_of] = np.arange(len(self._vertex_of))
        numbers[list(self._idle)] = _NO_READER
        return numbers

    # -- what it is

    def explain(self) -> Explained:
        """The overlay in counts: nodes, levels, sharing, decisions, and the cost that these are expected to have.

        Its `origin` says which method looked for sharing, the sharing index after each of its iterations, and whether
        what it found is what runs: in a trial a plan without sharing may have been as fast.
        """
        self._check_alive()
        planning = self._planning
        overlay, decisions = planning.decisions(self._plan)
        counts = {"flips": planning.flips, "rebuilds": planning.rebuilds}
        return Explained.of(overlay, decisions, pairs=self._plan.pairs, **counts, origin=planning.origin)

    def plot(self, file: str | Path | None = None) -> Any:
        """A figure of the overlay, written to a file if one is named: blue nodes push."""
        self._check_alive()
        overlay, decisions = self._planning.decisions(self._plan)
        writers = [str(each) for each in self._edges.ids_of(np.arange(overlay.writers)).to_pylist()]
        readers = [str(each) for each in self._edges.ids_of(self._vertex_of).to_pylist()]
        return draw(overlay, decisions, [*writers, *readers], file)

    @property
    def plan(self) -> Plan:
        """The overlay that runs."""
        self._check_alive()
        return self._plan

    @property
    def nbytes(self) -> int:
        """Bytes of all parts."""
        return sum(self._parts().values())

    def memory(self) -> pa.Table:
        """Bytes by part."""
        parts = self._parts()
        return pa.table({"part": list(parts), "bytes": pa.array(list(parts.values()), pa.int64())})

    def _parts(self) -> dict[str, int]:
        self._check_alive()
        return {
            **self._plan.memory(),
            "readers": self._vertex_of.nbytes + self._reader_of.nbytes + self._readers.nbytes,
            "neighbourhoods": self._surroundings.nbytes,
            "rates": self._planning.nbytes,
        }

    def drop(self) -> None:
        """Keep it no longer; what it held is freed, and it answers no more."""
        self._check_alive()
        if self._live is not None:
            self._live.forget_ego(self)
        self._live = None
        self._watches.remove_all()
        del self._plan, self._intake, self._planning, self._surroundings, self._readers
        del self._vertex_of, self._reader_of

    def _check_alive(self) -> None:
        if self._live is None:
            raise UsageError(f'"{self.name}" was dropped', hint="register it again")


def _checked_rate(often: Any, what: str) -> float:
    if isinstance(often, bool | np.bool) or not isinstance(often, Real) or not 0 <= float(often) < np.inf:
        raise UsageError(f"{what} cannot be {shown(often)}", hint="give a finite number that is not below 0")
    return float(often)
