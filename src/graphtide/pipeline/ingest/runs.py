"""Rows from Spark, cut where one block of a file ends and the next begins.

Spark packs blocks into partitions as it likes, but the rows of one block come in order and without another's in
between, so a block's rows can be counted where they arrive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa

from graphtide.pipeline.ingest.arrow import pc
from graphtide.pipeline.ingest.part import PART_BYTES, PART_ROWS

__all__ = ["FILE", "START", "Piece", "pieces"]

# Columns of the rows that Spark sends: the file's address, and where in it the block starts.
FILE: Final = "_file"
START: Final = "_start"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some consecutive rows of one block, without the columns that say where they are from."""

    file: str
    start: int
    number: int
    table: pa.Table


def pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[Piece]:
    """The rows of all blocks, in pieces that are large enough to be worth a file and small enough to hold."""
    held: list[pa.RecordBatch] = []
    where: tuple[str, int] | None = None
    number = 0
    for batch in batches:
        for block, rows in _blocks(batch):
            if block != where:
                if where is not None and held:
                    yield _piece(where, number, held)
                where, number, held = block, 0, []
            held.append(rows)
            if sum(each.num_rows for each in held) >= PART_ROWS or sum(each.nbytes for each in held) >= PART_BYTES:
                yield _piece(block, number, held)
                number, held = number + 1, []
    if where is not None and held:
        yield _piece(where, number, held)


def _piece(block: tuple[str, int], number: int, held: list[pa.RecordBatch]) -> Piece:
    return Piece(*block, number, pa.Table.from_batches(held).combine_chunks())


def _blocks(batch: pa.RecordBatch) -> Iterator[tuple[tuple[str, int], pa.RecordBatch]]:
    if not batch.num_rows:
        return
    files, starts = batch.column(FILE), batch.column(START)
    rows = batch.drop_columns([FILE, START])
    is_new = pc.or_(pc.not_equal(files[1:], files[:-1]), pc.not_equal(starts[1:], starts[:-1]))
    cuts = [0, *(np.flatnonzero(is_new.to_numpy(zero_copy_only=False)) + 1).tolist(), batch.num_rows]
    for begin, end in pairwise(cuts):
        yield (files[begin].as_py(), starts[begin].as_py()), rows.slice(begin, end - begin)
