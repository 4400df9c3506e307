"""The difference stream of a view collection on disk: by position, which edges come and go.

    <folder>/<position, six digits>/*.parquet    _edge: int64, diff: int8

Along a chain, a position counts views in their order and the sum of all positions up to one is the set of edges of
the view there (Graphsurge, section 3.2.1). On a lattice, positions count cells along the orders of the dimensions,
the last one fastest, and the sum is over all cells at or before one in every dimension.

Invariant: every position has a folder, those without differences an empty one, and no edge has two differences at
one position.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphtide.graph.schema import EDGE

__all__ = ["DIFF", "STREAM_SCHEMA", "DifferenceStream", "position_name"]

DIFF = "diff"
STREAM_SCHEMA = pa.schema([pa.field(EDGE, pa.int64(), nullable=False), pa.field(DIFF, pa.int8(), nullable=False)])


def position_name(position: int) -> str:
    """The folder of a position.

    >>> position_name(17)
    '000017'
    """
    return f"{position:06d}"


@dataclass(frozen=True, slots=True)
class DifferenceStream:
    """The differences in a folder; nothing is read before it is asked for."""

    folder: Path

    def __len__(self) -> int:
        """How many positions there are."""
        return sum(1 for _ in self.folder.glob("[0-9]*"))

    def read(self, position: int) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """The edges that differ at a position, ascending, and the diff of each."""
        tables = [pq.ParquetFile(file).read().cast(STREAM_SCHEMA) for file in self._files(position)]
        table = pa.concat_tables([STREAM_SCHEMA.empty_table(), *tables])
        edges, diffs = (table.column(name).to_numpy() for name in (EDGE, DIFF))
        # Files ascend, but one may begin before another ends.
        if (edges[1:] < edges[:-1]).any():
            order = np.argsort(edges, kind="stable")
            edges, diffs = edges[order], diffs[order]
        return edges, diffs

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many differences each position has, from the files' footers."""
        return tuple(
            sum(pq.read_metadata(file).num_rows for file in self._files(position)) for position in range(len(self))
        )

    def _files(self, position: int) -> list[Path]:
        folder = self.folder / position_name(position)
        assert folder.is_dir(), f"the stream has {len(self)} positions"
        return sorted(folder.glob("[!.]*.parquet"))
