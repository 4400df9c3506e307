"""Parquet files as tasks share them out and read them, the columns of a matrix, and how a task writes a file.

Invariant: the parts of a folder hold each of its row groups once, so that what tasks count in them adds up. A
file that a task writes depends on its part alone: a task that Spark runs again, or twice at once, does no harm.
"""

from __future__ import annotations

import uuid
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphtide.graph.schema import EDGE

__all__ = [
    "WORD",
    "Part",
    "matrix_schema",
    "read_columns",
    "read_masks",
    "row_group_parts",
    "words_of",
    "written_in_one_step",
]

WORD: Final = 64
_BATCH_BYTES: Final = 8 << 20


@dataclass(frozen=True, slots=True)
class Part:
    """What one task reads: row groups by file."""

    number: int
    groups: tuple[tuple[Path, tuple[int, ...]], ...]


def words_of(views: int) -> int:
    """How many words have a bit for each view."""
    return -(-views // WORD)


def matrix_schema(views: int) -> pa.Schema:
    """The columns of a matrix.

    >>> matrix_schema(65).names
    ['_edge', 'm0', 'm1']
    """
    names = [EDGE, *(f"m{w}" for w in range(words_of(views)))]
    return pa.schema([pa.field(name, pa.int64(), nullable=False) for name in names])


def row_group_parts(folder: Path, wanted: int) -> list[Part]:
    """The row groups in a folder in at most so many parts of about equal size, in the order of files and rows."""
    assert folder.is_dir(), f"{folder} is not there"
    found: list[tuple[Path, int]] = []
    rows: list[int] = []
    for file in sorted(folder.glob("[!.]*.parquet")):
        metadata = pq.read_metadata(file)
        for group in range(metadata.num_row_groups):
            if metadata.row_group(group).num_rows:
                found.append((file, group))
                rows.append(metadata.row_group(group).num_rows)
    # A row group belongs to the part in which its middle lies.
    middles = np.cumsum(rows) - np.array(rows) / 2
    owners = (middles * wanted / max(1, sum(rows))).astype(int).tolist()
    shares: dict[int, dict[Path, list[int]]] = {}
    for (file, group), owner in zip(found, owners, strict=True):
        shares.setdefault(owner, {}).setdefault(file, []).append(group)
    return [
        Part(number, tuple((file, tuple(groups)) for file, groups in share.items()))
        for number, share in enumerate(shares.values())
    ]


def read_columns(
    part: Part, names: Sequence[str], rows: int, dictionaries: Sequence[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Batches of at most so many rows, some columns with their values in dictionaries."""
    for file, groups in part.groups:
        with pq.ParquetFile(file, read_dictionary=dictionaries, coerce_int96_timestamp_unit="us") as opened:
            yield from opened.iter_batches(rows, row_groups=groups, columns=names, use_threads=False)


def read_masks(part: Part, views: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
    """Batches of a matrix: edges and their masks, a row of words to each edge."""
    names = matrix_schema(views).names
    for batch in read_columns(part, names, max(1, _BATCH_BYTES // (8 * len(names)))):
        edges, *words = (column.to_numpy() for column in batch.columns)
        yield edges, np.stack(words, axis=1).view(np.uint64)


@contextmanager
def written_in_one_step(file: Path) -> Generator[Path]:
    """A file to write instead, which takes the name of `file` when the block ends well."""
    temporary = file.with_name(f".{uuid.uuid4().hex}")
    try:
        yield temporary
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
