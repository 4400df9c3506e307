"""An aggregate over what the neighbours of each vertex wrote lately, on a live graph (EAGr).

Invariant: an answer is that of the neighbourhood as the graph is, over all writes before the read and none after it. A
batch of writes and reads is checked whole before anything of it is applied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.ego.aggregates import Function
from graphtide.ego.building import Method
from graphtide.ego.contents import WindowContents
from graphtide.ego.decisions import Decider
from graphtide.ego.explained import Explained, draw
from graphtide.ego.neighbourhoods import Neighbourhoods
from graphtide.ego.operations import Intake, as_column
from graphtide.ego.partials import READ, WRITE
from graphtide.ego.plan import Plan
from graphtide.ego.planning import Planning, Rates
from graphtide.ego.windows import Window
from graphtide.errors import GraphtideError, UsageError
from graphtide.frontier.delta import Delta
from graphtide.frontier.edges import Edges
from graphtide.frontier.ego_watch import Watch, Watches
from graphtide.frontier.surroundings import Choice, Surroundings
from graphtide.rows import Type
from graphtide.rows.codes import Codes
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
        self._reader_of = self._numbered()
        contents = WindowContents(window, edges.adjacency.vertices)
        self._planning = Planning(
            function,
            window,
            method=policies.overlay,
            decider=policies.decide,
            rates=self._rates(*policies.rates),
        )
        self._plan = self._planning.plan(self._neighbourhoods(), contents)
        self._intake = Intake(self._plan, value_type)
        self._watches = Watches()

    def __repr__(self) -> str:
        if self._live is None:
            return f"<Ego {self.name}: dropped>"
        counts = f"{self._plan.writers:,} writers, {self._plan.readers:,} readers, {self._plan.pairs:,} pairs"
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
        return self._plan.values(self._run(READ, [vertex], (), None))[0]

    def read_many(self, vertices: Any) -> pa.Array:
        """The aggregates at vertices, in their order."""
        return self._plan.column(self._run(READ, vertices, (), None))

    def run(self, vertices: Any, values: Any, is_read: Any, times: Any = None) -> pa.Array:
        """Writes and reads in their order, which see what was written before them; the answers of the reads.

        What stands among the values of a read is not looked at.
        """
        kinds = np.where(np.asarray(is_read, np.bool_), READ, WRITE).astype(np.int8)
        found = self._run(kinds, vertices, as_column(values, kinds == WRITE), times)
        try:
            return self._plan.column(found)
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
        return self._answers(np.arange(self._plan.readers))

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
        self._intake.commit(batch)
        found: list[Any] = []

        def run() -> None:
            found.append(self._plan.run(kinds, who, batch.values, batch.expiries, batch.times))

        touched = who[kinds == WRITE]
        if self._watches and len(batch.times):
            touched = np.concatenate([touched, self._plan.frame.contents.due(int(batch.times.max()))])
        self._watched(touched, run)
        self._planning.ran(self._plan, len(kinds))
        return found[0]

    def _answers(self, readers: Codes) -> pa.Table:
        ids = self._edges.ids_of(self._vertex_of[readers])
        return pa.table({"vertex": ids, "value": self._plan.column(self._plan.read(readers))})

    # -- continuous

    def on_change(self, callback: Callable[[pa.Table], Any]) -> Watch:
        """Call back with (vertex, before, after) after each call that changes aggregates, until the watch is dropped.

        From now on all aggregates are kept up to date with every write.
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
        self._tell(self._plan.readers_behind(np.unique(writers)), action)

    def _tell(self, readers: Codes, action: Callable[[], Any]) -> None:
        before = self._plan.column(self._plan.read(readers))
        action()
        after = self._plan.column(self._plan.read(readers))
        self._watches.tell(self._edges.ids_of(self._vertex_of[readers]), before, after)

    # -- the graph changes

    def follow(self, delta: Delta, known: int) -> None:
        """Bring the overlay up to date with the graph, of which `known` vertices were there before."""
        vertices = self._edges.adjacency.vertices
        if vertices > known:
            self._plan.add_writers(vertices)
            fresh = known + np.flatnonzero(self._readers.mask()[known:])
            self._vertex_of = np.concatenate([self._vertex_of, fresh])
            self._reader_of = self._numbered()
            self._plan.add_readers(len(self._vertex_of), push=bool(self._watches))
        changes = self._surroundings.changes(delta, known)
        if changes is None:
            self._see_again(self._surroundings.affected(delta, known))
        else:
            self._change(*changes)

    def follow_properties(self, vertices: Codes) -> None:
        """Bring the overlay up to date with vertices that have other properties."""
        affected = self._surroundings.affected_by(vertices)
        if self._readers.look_again(vertices):
            self._vertex_of = self._readers.numbers()
            self._reader_of = self._numbered()
            self._run_by(self._planning.replan_for_others(self._plan, self._neighbourhoods()))
        else:
            self._see_again(affected)

    def _see_again(self, affected: Codes) -> None:
        """Let readers among these vertices have the neighbourhoods that they have on the graph."""
        affected = affected[self._reader_of[affected] != _NO_READER]
        if len(affected) == 0:
            return
        starts, writers = self._surroundings.of(affected)
        readers = self._reader_of[affected]
        self._rearranged(readers, lambda: self._plan.follow(readers, starts, writers))

    def _change(self, egos: Codes, others: Codes, signs: Codes) -> None:
        """Let vertices gain neighbours and lose some."""
        can_read = self._reader_of[egos] != _NO_READER
        readers, others, signs = self._reader_of[egos[can_read]], others[can_read], signs[can_read]
        if len(readers):
            self._rearranged(np.unique(readers), lambda: self._plan.change(readers, others, signs))

    def _rearranged(self, readers: Codes, change: Callable[[], Any]) -> None:
        """Do what changes the neighbourhoods of readers, tell who watches, and look whether enough is still shared."""
        if self._watches:
            self._tell(readers, change)
        else:
            change()
        if self._planning.has_decayed(self._plan):
            self.rebuild()

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
        starts, writers = self._surroundings.of(self._vertex_of)
        return Neighbourhoods(starts, writers.astype(np.int32), self._edges.adjacency.vertices)

    def _rates(self, writes: Rate, reads: Rate) -> Rates:
        """Rates by writer and reader."""
        return Rates(self._by_vertex(writes), self._by_vertex(reads)[self._vertex_of])

    def _by_vertex(self, rate: Rate) -> NDArray[np.float64]:
        vertices = self._edges.adjacency.vertices
        if not isinstance(rate, Mapping):
            return np.full(vertices, float(rate))
        found = np.zeros(vertices)
        found[self._edges.known_numbers(list(rate), "know a rate of")] = list(rate.values())
        return found

    def _numbered(self) -> Codes:
        """By number of a vertex: its number as a reader."""
        numbers = np.full(self._edges.adjacency.vertices, _NO_READER)
        numbers[self._vertex_of] = np.arange(len(self._vertex_of))
        return numbers

    # -- what it is

    def explain(self) -> Explained:
        """The overlay in counts: nodes, levels, sharing, decisions, and the cost that these are expected to have."""
        self._check_alive()
        overlay, decisions = self._planning.decisions(self._plan)
        counts = {"flips": self._planning.flips, "rebuilds": self._planning.rebuilds}
        return Explained.of(overlay, decisions, pairs=self._plan.pairs, **counts)

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
        return self._plan

    @property
    def nbytes(self) -> int:
        """Bytes of the overlay, of windows and of partial aggregates."""
        return self._plan.nbytes + self._vertex_of.nbytes + self._reader_of.nbytes

    def memory(self) -> pa.Table:
        """Bytes by part."""
        frame = self._plan.frame
        parts = {
            "overlay": frame.nodes.nbytes,
            "windows": frame.contents.nbytes,
            "partial aggregates": self._plan.partials.nbytes,
            "readers": self._vertex_of.nbytes + self._reader_of.nbytes,
        }
        return pa.table({"part": list(parts), "bytes": pa.array(list(parts.values()), pa.int64())})

    def drop(self) -> None:
        """Keep it no longer; what it held is freed."""
        self._check_alive()
        if self._live is not None:
            self._live.forget_ego(self)
        self._live = None

    def _check_alive(self) -> None:
        if self._live is None:
            raise UsageError(f'"{self.name}" was dropped', hint="register it again")
