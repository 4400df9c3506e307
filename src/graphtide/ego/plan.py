"""An overlay that runs: windows at its writers, partial aggregates at the nodes that push, answers at its readers.

Invariant: between two operations each partial aggregate is that of its inputs, so a read sees all writes
before it and none after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.ego.aggregates import Aggregate, Function
from graphtide.ego.contents import WindowContents
from graphtide.ego.covering import CoverIndex
from graphtide.ego.extremum import Extremum
from graphtide.ego.histogram import Histogram
from graphtide.ego.kernels import changes
from graphtide.ego.kernels.covering import partial_sets
from graphtide.ego.kernels.nodes import FLAGS, IN, PUSH, READER, USERS, WRITER
from graphtide.ego.kernels.operations import place
from graphtide.ego.linear import Linear
from graphtide.ego.neighbourhoods import Neighbourhoods
from graphtide.ego.nodes import Nodes
from graphtide.ego.overlay import Overlay
from graphtide.ego.own import OwnObjects
from graphtide.ego.own_compiled import OwnWords, compile_aggregate
from graphtide.ego.partials import READ, TICK, WRITE, Batch, Frame, Partials
from graphtide.ego.soundness import check_sound
from graphtide.errors import UserFunctionError
from graphtide.rows import Dictionary, Type, decode_values
from graphtide.rows.codes import Codes

__all__ = ["Plan"]

_NOTHING = np.zeros(0, np.int64)


class Plan:
    """Writers and readers by number, what was written, and what is kept of it.

    `pairs` is how many writers all readers have. If it `may_be_wrong`, a user's compiled functions
    may do other than Python's: nobody looks at what is read.
    """

    def __init__(
        self,
        overlay: Overlay,
        push: NDArray[np.bool_],
        function: Function,
        contents: WindowContents,
        *,
        dictionary: Dictionary | None = None,
        value_type: Type | None = None,
        pairs: int | None = None,
        may_be_wrong: bool = False,
    ) -> None:
        assert function.duplicate_insensitive or not overlay.overlapping
        assert function.subtracts or not overlay.has_negatives
        assert push[: overlay.writers].all(), "writers push"
        self.function = function
        self._may_be_wrong = may_be_wrong
        self.is_overlapping = overlay.overlapping
        self.writers, self.readers = overlay.writers, overlay.readers
        nodes = Nodes(overlay, push)
        node_of = np.arange(overlay.writers)
        self.frame = Frame(nodes, contents, node_of, dictionary or Dictionary(), value_type, overlay.overlapping)
        self.reader_node = overlay.writers + np.arange(overlay.readers)
        self._plain_readers = overlay.readers
        self.pairs = overlay.edges if pairs is None else pairs
        self.built_index = self.sharing_index
        self._index: CoverIndex | None = None  # made when a reader changes
        self.partials: Partials = _partials(function, self.frame)
        if contents.most_values:
            self._fill()

    # -- running

    def run(self, kinds: NDArray[np.int8], who: Codes, values: Codes, expiries: Codes, times: Codes) -> Any:
        """Do operations in their order; what the reads among them found, for `values` or `column`.

        Of each: what it does, the number of the writer or reader, the code of the value, and with windows of time when
        that expires and when it happens. With other windows both are empty.
        """
        batch = Batch(self._nodes_of(kinds, who), values, expiries, times, kinds)
        self.frame.contents.reserve(batch.writes)
        self.partials.admit(batch)
        return self._run_own(batch, self.partials) if isinstance(self.partials, OwnWords) else self.partials.run(batch)

    def _run_own(self, batch: Batch, compiled: OwnWords) -> Any:
        """Do what a batch says by compiled functions, or by Python's if these would do otherwise."""
        undo = self.frame.undo_of(batch)
        found = compiled.run(batch)
        if self._may_be_wrong or not compiled.in_doubt():
            return found
        self.frame.contents.take_back(undo, batch.writes)
        self._take_objects(compiled)
        try:
            return self.partials.run(batch)
        except UserFunctionError:
            # What made Python necessary is gone again.
            compiled.fill(self.frame.nodes.order())
            if not compiled.in_doubt():
                self.partials = compiled
            raise

    def _take_objects(self, compiled: OwnWords) -> None:
        """Let states be Python objects from now on."""
        objects = OwnObjects(compiled.compiled.function, self.frame)
        objects.fill(self.frame.nodes.order())
        self.partials = objects

    def _look_for_doubt(self) -> None:
        """Let states be Python objects if compiled functions did other than Python's."""
        if isinstance(self.partials, OwnWords) and self.partials.in_doubt() and not self._may_be_wrong:
            self._take_objects(self.partials)

    def read(self, readers: Codes) -> Any:
        """What readers have now."""
        count = len(readers)
        times = np.full(count, self.frame.contents.clock)
        return self.run(np.full(count, READ, np.int8), readers, np.zeros(count, np.int64), times, times)

    def advance(self, time: int) -> None:
        """Let the clock be there: what has expired is gone."""
        moment = np.array([time])
        self.run(np.array([TICK], np.int8), np.zeros(1, np.int64), moment, moment, moment)

    def values(self, found: Any) -> list[Any]:
        """What reads found, as Python values."""
        return self.partials.values(found)

    def column(self, found: Any) -> pa.Array:
        """What reads found, as a column."""
        return self.partials.column(found)

    def check(self, codes: Codes, value_type: Type) -> None:
        """Raise an error if values of this type cannot be aggregated; they may be the first."""
        self.partials.check(codes, value_type)
        if isinstance(self.function, Aggregate) and self.frame.type is None:
            check_sound(self.function, decode_values(value_type, self.frame.dictionary, codes), value_type)

    def set_type(self, value_type: Type | None) -> None:
        """Know the type of values, before the first is written; None if it is not known after all."""
        self.frame.type = value_type
        if isinstance(self.function, Aggregate):
            self.partials = _partials(self.function, self.frame)

    def _nodes_of(self, kinds: NDArray[np.int8], who: Codes) -> Codes:
        plain = self.frame.nodes.plain
        nodes = np.empty(len(who), np.int64)
        place(kinds, who, self.frame.node_of, plain, self.reader_node, plain, self._plain_readers, nodes)
        return nodes

    def readers_behind(self, writers: Codes) -> Codes:
        """The readers that push and have some of these writers, by number."""
        nodes = self.frame.nodes.readers_behind(self.frame.node_of[writers])
        by_node = np.argsort(self.reader_node)
        return np.sort(by_node[np.searchsorted(self.reader_node, nodes, sorter=by_node)])

    # -- decisions

    @property
    def push(self) -> NDArray[np.bool_]:
        """Which nodes push, by their numbers in this plan."""
        return self.frame.nodes.push

    def decide(self, push: NDArray[np.bool_]) -> int:
        """Let other nodes push; how many were flipped. All inputs of a node that pushes must push."""
        nodes = self.frame.nodes
        now = nodes.push
        wanted = push & ~nodes.is_free
        if (now == wanted).all():
            return 0
        order = np.argsort(changes.levels(nodes.heads, nodes.inputs, nodes.count), kind="stable")
        to_pull = order[(now & ~wanted)[order]][::-1]
        to_push = order[(wanted & ~now)[order]]
        for node in to_pull.tolist():
            nodes.detach(node)
        for node in to_push.tolist():
            nodes.attach(node)
        nodes.mark_kept()
        self.partials.clear(to_pull)
        self.partials.compute(to_push)
        self._look_for_doubt()
        return len(to_pull) + len(to_push)

    def observed(self) -> tuple[Codes, Codes]:
        """How often each writer wrote, ever, and how often each reader was read since this was last asked."""
        heads = self.frame.nodes.heads
        reads = heads[self.reader_node, USERS].astype(np.int64)
        heads[self.reader_node, USERS] = 0
        return self.frame.contents.written().copy(), reads

    # -- change

    @property
    def sharing_index(self) -> float:
        """The share of pairs of a writer and a reader that the overlay has fewer edges."""
        return 1 - self.frame.nodes.edges / self.pairs if self.pairs else 0.0

    def add_writers(self, count: int) -> None:
        """Let there be so many writers; new ones are in no neighbourhood."""
        nodes = self.frame.nodes
        new: list[int] = []
        for number in range(self.writers, count):
            node = nodes.add(PUSH | WRITER)
            nodes.heads[node, IN] = number
            new.append(node)
        if new:
            self.frame.node_of = np.concatenate([self.frame.node_of, np.array(new, np.int64)])
            self.frame.contents.add_writers(count)
            self.writers = count
            self.partials.grow()
            self.partials.clear(np.array(new, np.int64))

    def add_readers(self, count: int, *, push: bool) -> None:
        """Let there be so many readers; new ones have no writers, and are kept if they are to push."""
        nodes = self.frame.nodes
        new = [nodes.add(READER | (PUSH if push else 0)) for _ in range(self.readers, count)]
        if new:
            self.reader_node = np.concatenate([self.reader_node, np.array(new, np.int64)])
            self.readers = count
            self.partials.grow()
            self.partials.clear(np.array(new, np.int64))

    def forget(self, writers: Codes) -> None:
        """Let writers have written nothing."""
        frame = self.frame
        frame.contents.forget(writers)
        nodes = frame.node_of[writers]
        self.partials.clear(nodes)
        # Readers that have none of them any more may still stand on a partial aggregate of them, and subtract them.
        self.partials.compute(frame.nodes.behind(nodes.tolist()))
        self._look_for_doubt()

    def follow(self, readers: Codes, starts: Codes, writers: Codes) -> Codes:
        """Let readers have other writers, those of reader k from `starts[k]` on.

        The readers for which that is a change.
        """
        nodes = self.frame.nodes
        touched = self.reader_node[readers]
        lists = nodes.heads, nodes.inputs, self.frame.node_of, nodes.count
        rows = changes.differences(touched, starts, writers, *lists)
        self._change(rows)
        return readers[np.isin(touched, rows[:, 0])]

    def change(self, readers: Codes, writers: Codes, signs: Codes) -> None:
        """Let a reader gain the writer beside it, or lose it, each a change: what others they have is not looked at."""
        self._change(np.column_stack([self.reader_node[readers], self.frame.node_of[writers], signs]))

    def _change(self, rows: Codes) -> None:
        """Let readers gain and lose writers: rows of both, by node, and 1 or -1."""
        if len(rows) == 0:
            return
        nodes = self.frame.nodes
        subtracts = self.function.subtracts and not self.is_overlapping
        nodes.inputs, nodes.targets, gone = changes.change_inputs(
            rows, subtracts, self.is_overlapping, nodes.heads, nodes.inputs, nodes.targets, nodes.ends
        )
        self.pairs += int(rows[:, 2].sum())
        self._release(gone)
        changed = np.unique(rows[:, 0])
        self._cover_anew(changed)
        self.partials.compute(changed[(nodes.heads[changed, FLAGS] & PUSH) != 0])
        self._look_for_doubt()

    def _cover_anew(self, readers: Codes) -> None:
        """Let readers, by node, have partial aggregates as inputs where these make them up with fewer inputs."""
        nodes, node_of = self.frame.nodes, self.frame.node_of
        index = self._covers()
        if index.is_empty:
            return
        starts, writers = changes.writers_of(readers, nodes.heads, nodes.inputs, nodes.count)
        of_node = node_of[writers].astype(np.int32)
        covered, ends, inputs = index.cover_readers(readers, starts, of_node, nodes.heads, nodes.inputs)
        if len(covered):
            lists = nodes.heads, nodes.inputs, nodes.targets, nodes.ends
            nodes.inputs, nodes.targets, gone = changes.cover_inputs(covered, ends, inputs, *lists)
            self._release(gone)

    def _covers(self) -> CoverIndex:
        """The writers of each partial aggregate, all by node. They stay as they are: only readers change."""
        if self._index is None:
            overlay, known = self.overlay()
            first = overlay.writers + overlay.readers
            lists = overlay.starts, overlay.inputs, overlay.signs
            starts, sets = partial_sets(*lists, overlay.writers, first, overlay.overlapping)
            self._index = CoverIndex(self.frame.nodes.count, overlapping=overlay.overlapping)
            partials = known[first:]
            if len(partials):
                # Numbers in between are of nodes that are no partial aggregates, or were released.
                sizes = np.zeros(int(partials[-1]) - int(partials[0]) + 1, np.int64)
                sizes[partials - partials[0]] = np.diff(starts)
                of_node = self.frame.node_of[sets].astype(np.int32)
                self._index.add_all(int(partials[0]), np.concatenate([[0], np.cumsum(sizes)]), of_node)
        return self._index

    def _release(self, gone: Codes) -> None:
        """Let nodes be used again for others."""
        self.frame.nodes.free += gone.tolist()
        self.partials.clear(gone)
        if self._index is not None:
            for node in gone.tolist():
                self._index.remove(node)

    # -- what it is now

    def neighbourhoods(self) -> Neighbourhoods:
        """The writers of each reader."""
        nodes = self.frame.nodes
        starts, writers = changes.writers_of(self.reader_node, nodes.heads, nodes.inputs, nodes.count)
        return Neighbourhoods(starts, writers.astype(np.int32), self.writers)

    def overlay(self) -> tuple[Overlay, Codes]:
        """The overlay as it is now, and by its nodes their numbers in this plan."""
        nodes = self.frame.nodes
        flags = nodes.heads[: nodes.count, FLAGS]
        partials = np.flatnonzero((flags & (WRITER | READER)) + nodes.is_free == 0)
        known = np.concatenate([self.frame.node_of, self.reader_node, partials])
        number = np.full(nodes.count, -1, np.int64)
        number[known] = np.arange(len(known))
        sizes, inputs, signs = nodes.all_inputs(known)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        found = number[inputs].astype(np.int32)
        return Overlay(self.writers, self.readers, starts, found, signs, self.is_overlapping), known

    @property
    def nbytes(self) -> int:
        """Bytes of all parts."""
        return sum(self.memory().values())

    def memory(self) -> dict[str, int]:
        """Bytes by part: values are what codes stand for, such as strings."""
        frame = self.frame
        covers = 0 if self._index is None else self._index.nbytes
        return {
            "overlay": frame.nodes.nbytes + frame.node_of.nbytes + self.reader_node.nbytes + covers,
            "windows": frame.contents.nbytes,
            "partial aggregates": self.partials.nbytes,
            "values": frame.dictionary.nbytes,
        }

    def _fill(self) -> None:
        """Take over what is in the windows."""
        contents = self.frame.contents
        codes = contents.codes()
        self.partials.admit(Batch(_NOTHING, codes, _NOTHING, _NOTHING, np.full(len(codes), WRITE, np.int8)))
        self.partials.fill(self.frame.nodes.order())
        self._look_for_doubt()

    def check_invariants(self, neighbourhoods: Neighbourhoods | None = None) -> None:
        """Assert what the module promises, and that readers have these writers."""
        self.frame.nodes.check_invariants()
        overlay, known = self.overlay()
        overlay.check_invariants(neighbourhoods or self.neighbourhoods())
        push = self.push[known]
        is_fed = ~np.repeat(push, np.diff(overlay.starts)) | push[overlay.inputs]
        assert is_fed.all(), "a node that is kept has an input that is pulled"
        self.partials.check_invariants()


def _partials(function: Function, frame: Frame) -> Partials:
    if isinstance(function, Aggregate):
        compiled = None if frame.type is None else compile_aggregate(function, frame.type)
        return OwnObjects(function, frame) if compiled is None else OwnWords(compiled, frame)
    if function.name in {"count", "sum", "avg"}:
        return Linear(function, frame)
    return Extremum(function, frame) if function.name in {"min", "max"} else Histogram(function, frame)
