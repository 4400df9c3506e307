"""Overlays that Spark makes: readers are grouped by shingle, and each group is mined in a task (EAGr, section 3.2.1).

Invariant: a reader is in one group, and a partial aggregate serves one group alone, so what holds for the overlay of
each group holds for all of them together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from graphtide.ego import AdaptiveMining, Neighbourhoods, Overlay, build
from graphtide.ego.building import Method
from graphtide.ego.kernels.shingles import shingles
from graphtide.ego.mining import Step
from graphtide.errors import UsageError
from graphtide.pipeline.ingest.tasks import run_on_rows
from graphtide.rows.misfit import shown

__all__ = ["SparkMining"]

# Larger groups share more, and smaller ones need less memory and time in one place.
_PAIRS_OF_A_GROUP: Final = 2_000_000
_KEY, _READER, _WRITERS = "key", "reader", "writers"


@dataclass(frozen=True, slots=True)
class SparkMining:
    """Groups of readers with the like shingles, each mined by `method`; nothing is shared between groups.

    A group has about two million pairs of a writer and a reader unless it is said how many groups there are.
    """

    spark: SparkSession
    method: Method = field(default_factory=AdaptiveMining)
    groups: int | None = None

    def __post_init__(self) -> None:
        if self.groups is not None and (type(self.groups) is not int or self.groups < 1):
            raise UsageError(f"cannot mine {shown(self.groups)} groups", hint="take a whole number of 1 or more")
        if isinstance(self.method, type) or not isinstance(self.method, Method):  # pyright: ignore[reportUnnecessaryIsInstance]
            hint = "give a method of graphtide.ego, such as AdaptiveMining()"
            raise UsageError(f"{shown(self.method)} does not say how groups are mined", hint=hint)

    @property
    def subtracts(self) -> bool:
        """Whether overlays of groups may have negative edges."""
        return self.method.subtracts

    @property
    def overlaps(self) -> bool:
        """Whether overlays of groups may count a writer more than once."""
        return self.method.overlaps

    def __repr__(self) -> str:
        return f"SparkMining({self.method!r})"

    def steps(self, overlay: Overlay) -> Iterator[Step]:
        """One overlay, of all groups: each task goes on until it saves nothing."""
        assert overlay.partials == 0, "what is shared already has no group"
        groups = self.groups or -(-overlay.edges // _PAIRS_OF_A_GROUP)
        method = self.method

        def mined(batches: Iterable[pa.RecordBatch]) -> Iterator[_Group]:
            table = pa.Table.from_batches(batches, _SCHEMA)
            if len(table):
                yield _mined(table, method)

        rows = self.spark.createDataFrame(_lists(overlay)).mapInArrow(_with_keys, _DDL)
        found = run_on_rows(rows.repartitionByRange(groups, _KEY), mined) if overlay.edges else []
        found.sort(key=lambda group: int(group.readers[0]))
        yield Step(_together(overlay, found), sum(group.restructured for group in found), 0)


_SCHEMA: Final = pa.schema({_KEY: pa.int64(), _READER: pa.int32(), _WRITERS: pa.list_(pa.int32())})
_DDL: Final = f"{_KEY} bigint, {_READER} int, {_WRITERS} array<int>"


class _Group(NamedTuple):
    """What was made of a group: the inputs of its readers, then those of its partial aggregates.

    An input is a writer, or the complement of the number of a partial aggregate in this group.
    """

    readers: NDArray[np.int64]
    sizes: NDArray[np.int64]
    inputs: NDArray[np.int64]
    signs: NDArray[np.int8]
    is_overlapping: bool
    restructured: int


def _lists(overlay: Overlay) -> pa.Table:
    """The readers with two writers or more; the others have nothing to share."""
    starts = overlay.starts[overlay.writers :]
    lists = pa.LargeListArray.from_arrays(pa.array(starts), pa.array(overlay.inputs))
    wanted = np.flatnonzero(np.diff(starts) > 1)
    chosen = lists.take(pa.array(wanted)).cast(_SCHEMA.field(_WRITERS).type)
    return pa.table({_READER: wanted.astype(np.int32), _WRITERS: chosen})


def _with_keys(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The shingles of each list beside it."""
    for batch in batches:
        starts, items = _flat(batch.column(_WRITERS))
        keys = shingles(starts, items, 0)
        yield pa.RecordBatch.from_arrays([pa.array(keys), *batch.columns], schema=_SCHEMA)


def _flat(lists: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Where each list starts among all items, and these."""
    sizes = lists.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    return starts, lists.flatten().to_numpy(zero_copy_only=False).astype(np.int32)


def _mined(table: pa.Table, method: Method) -> _Group:
    """The overlay of one group, in the numbers of all."""
    # Rows come in any order, and the same rows are to give the same overlay.
    table = table.sort_by(_READER).combine_chunks()
    starts, items = _flat(table.column(_WRITERS).chunk(0))
    writers, numbers = np.unique(items, return_inverse=True)
    asked = Neighbourhoods(starts, numbers.astype(np.int32), len(writers))
    built = build(asked, method)
    made = built.overlay
    known = np.concatenate((writers.astype(np.int64), np.zeros(made.readers, np.int64), ~np.arange(made.partials)))
    return _Group(
        table.column(_READER).to_numpy().astype(np.int64),
        np.diff(made.starts)[made.writers :],
        known[made.inputs],
        made.signs,
        made.overlapping,
        sum(each.restructured for each in built.iterations),
    )


def _together(overlay: Overlay, groups: Sequence[_Group]) -> Overlay:
    """One overlay of what was made of all groups, and of the readers that are in none."""
    sizes = np.diff(overlay.starts)
    is_left = np.ones(overlay.nodes, np.bool_)
    nodes = overlay.nodes
    owners: list[NDArray[np.int64]] = []
    inputs: list[NDArray[np.int64]] = []
    for group in groups:
        readers = overlay.writers + group.readers
        is_left[readers] = False
        partials = np.arange(nodes, nodes + len(group.sizes) - len(readers))
        owners.append(np.repeat(np.concatenate((readers, partials)), group.sizes))
        inputs.append(np.where(group.inputs < 0, nodes + ~group.inputs, group.inputs))
        nodes += len(partials)
    alone = np.repeat(np.arange(overlay.nodes), sizes)
    left = is_left[alone]
    owner = np.concatenate((*owners, alone[left]))
    order = np.argsort(owner, kind="stable")
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(owner, minlength=nodes))))
    found = np.concatenate((*inputs, overlay.inputs[left])).astype(np.int32)
    signs = np.concatenate((*(group.signs for group in groups), overlay.signs[left]))
    overlapping = overlay.overlapping or any(group.is_overlapping for group in groups)
    return Overlay(overlay.writers, overlay.readers, starts, found[order], signs[order], overlapping)
