"""Which writers each reader aggregates: the bipartite graph A_G that overlays are made from (EAGr, section 3.1).

Invariant: the writers of a reader are a set, in rising order. Numbers of writers are dense, and so are those of
readers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphtide.ego.kernels.lists import group_pairs

__all__ = ["Neighbourhoods"]


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhoods:
    """The writers of reader r are `writers[starts[r]:starts[r + 1]]`."""

    starts: NDArray[np.int64]
    writers: NDArray[np.int32]
    writer_count: int

    @classmethod
    def from_pairs(cls, writers: ArrayLike, readers: ArrayLike, writer_count: int, reader_count: int) -> Neighbourhoods:
        """Pairs of a writer and a reader, in any order; a pair counts once.

        >>> Neighbourhoods.from_pairs([2, 0, 2], [1, 1, 1], writer_count=3, reader_count=2).of(1)
        array([0, 2], dtype=int32)
        """
        starts, grouped = group_pairs(
            np.ascontiguousarray(readers, np.int32), np.ascontiguousarray(writers, np.int32), reader_count, writer_count
        )
        return cls(starts, grouped, writer_count)

    @classmethod
    def from_sets(cls, sets: Iterable[Iterable[int]], writer_count: int) -> Neighbourhoods:
        """The writers of reader 0, of reader 1, and so on.

        >>> Neighbourhoods.from_sets([{0, 2}, set(), {2, 1}], writer_count=3)
        Neighbourhoods(4 pairs of 3 writers and 3 readers)
        """
        all_sets = list(sets)
        pairs = [(writer, reader) for reader, writers in enumerate(all_sets) for writer in writers]
        table = np.array(pairs, np.int32).reshape(-1, 2)
        return cls.from_pairs(table[:, 0], table[:, 1], writer_count, len(all_sets))

    def __repr__(self) -> str:
        return f"Neighbourhoods({len(self)} pairs of {self.writer_count} writers and {self.readers} readers)"

    def __len__(self) -> int:
        return len(self.writers)

    @property
    def readers(self) -> int:
        """How many readers there are, those without writers included."""
        return len(self.starts) - 1

    def of(self, reader: int) -> NDArray[np.int32]:
        """The writers of a reader, in rising order."""
        return self.writers[self.starts[reader] : self.starts[reader + 1]]

    def check_invariants(self) -> None:
        """Assert what the module promises."""
        assert self.starts[0] == 0
        assert self.starts[-1] == len(self.writers)
        assert (np.diff(self.starts) >= 0).all()
        assert ((self.writers >= 0) & (self.writers < self.writer_count)).all()
        rises = np.diff(self.writers) > 0
        begins = self.starts[1:-1]
        rises[begins[(begins > 0) & (begins < len(self.writers))] - 1] = True
        assert rises.all()
