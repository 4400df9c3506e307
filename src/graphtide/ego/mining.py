"""Overlays by mining bicliques: the VNM family (EAGr, sections 3.2.1 to 3.2.4).

All of them order the lists of readers, and of the partial aggregates there are already, by their shingles, mine one
chunk of them after the other, and do so again on what comes out. They differ in how chunks are cut, and in what counts
as a biclique.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.dissolved import dissolved
from graphtide.ego.kernels.mining import BICLIQUES, mine, rebuilt
from graphtide.ego.kernels.shingles import shingles
from graphtide.ego.overlay import Overlay
from graphtide.ego.parameters import check_chunk, check_seed, check_share, check_whole

__all__ = ["AdaptiveMining", "Exact", "FixedMining", "NegativeMining", "OverlappingMining", "Step"]

FIRST_CHUNK: Final = 100
SHARE: Final = 0.9
FEWEST: Final = 2


@dataclass(frozen=True, slots=True)
class Step:
    """The overlay after an iteration, how many bicliques it took or nodes it covered anew, and its chunk."""

    overlay: Overlay
    restructured: int
    chunk: int


class Exact:
    """A method whose overlays have one path from a writer to a reader, and subtract nothing."""

    __slots__ = ()

    @property
    def subtracts(self) -> bool:
        """Whether there are neighbourhoods whose overlay has negative edges."""
        return False

    @property
    def overlaps(self) -> bool:
        """Whether its overlays may count a writer more than once."""
        return False


@dataclass(frozen=True, slots=True)
class FixedMining(Exact):
    """VNM: chunks of one size."""

    chunk: int = FIRST_CHUNK
    seed: int = 0

    def __post_init__(self) -> None:
        check_chunk(self.chunk)
        check_seed(self.seed)

    def steps(self, overlay: Overlay) -> Iterator[Step]:
        """Overlays that share more and more."""
        seed = self.seed
        while True:
            overlay, bicliques, _ = _mined(overlay, seed, self.chunk)
            yield Step(overlay, bicliques, self.chunk)
            seed += 1


@dataclass(frozen=True, slots=True)
class AdaptiveMining(Exact):
    """VNM_A: chunks become smaller, to what nine tenths of the last iteration's savings needed."""

    chunk: int = FIRST_CHUNK
    seed: int = 0

    def __post_init__(self) -> None:
        check_chunk(self.chunk)
        check_seed(self.seed)

    def steps(self, overlay: Overlay) -> Iterator[Step]:
        """Overlays that share more and more."""
        return _adaptive(overlay, self.seed, self.chunk)


@dataclass(frozen=True, slots=True)
class NegativeMining:
    """VNM_N: readers may lack up to `negatives` writers of a biclique, which are subtracted again.

    Each list is entered along up to `paths` paths of the FP-tree.
    """

    paths: int = 2
    negatives: int = 5
    chunk: int = FIRST_CHUNK
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("paths", self.paths, 1)
        check_whole("negatives", self.negatives, 0)
        check_chunk(self.chunk)
        check_seed(self.seed)

    @property
    def subtracts(self) -> bool:
        """Whether readers may lack any writer at all."""
        return self.negatives > 0

    @property
    def overlaps(self) -> bool:
        """Whether its overlays may count a writer more than once."""
        return False

    def steps(self, overlay: Overlay) -> Iterator[Step]:
        """Overlays that share more and more."""
        return _adaptive(overlay, self.seed, self.chunk, paths=self.paths, negatives=self.negatives)


@dataclass(frozen=True, slots=True)
class OverlappingMining:
    """VNM_D: consecutive chunks have a share of their lists in common, and edges that were mined may be used again.

    The overlay is an overlapping one: for aggregates that are duplicate-insensitive.
    """

    overlap: float = 0.2
    chunk: int = FIRST_CHUNK
    seed: int = 0

    def __post_init__(self) -> None:
        check_share("overlap", self.overlap)
        check_chunk(self.chunk)
        check_seed(self.seed)

    @property
    def subtracts(self) -> bool:
        """Whether there are neighbourhoods whose overlay has negative edges."""
        return False

    @property
    def overlaps(self) -> bool:
        """Whether chunks have any list in common."""
        return self.overlap > 0

    def steps(self, overlay: Overlay) -> Iterator[Step]:
        """Overlays that share more and more."""
        return _adaptive(overlay, self.seed, self.chunk, overlap=self.overlap)


def _adaptive(
    overlay: Overlay, seed: int, chunk: int, *, overlap: float = 0, paths: int = 1, negatives: int = 0
) -> Iterator[Step]:
    """Iterations whose chunks follow from the one before (EAGr, section 3.2.2)."""
    while True:
        overlay, bicliques, saved = _mined(overlay, seed, chunk, overlap=overlap, paths=paths, negatives=negatives)
        yield Step(overlay, bicliques, chunk)
        enough = np.cumsum(saved) > SHARE * saved.sum()
        chunk = max(FEWEST, int(np.argmax(enough))) if saved.any() else chunk
        seed += 1


def _mined(
    overlay: Overlay, seed: int, chunk: int, *, overlap: float = 0, paths: int = 1, negatives: int = 0
) -> tuple[Overlay, int, NDArray[np.int64]]:
    """The overlay after one iteration, how many bicliques it took, and what those of so many lists saved."""
    lists = overlay.starts, overlay.inputs, overlay.signs
    keys = shingles(overlay.starts, overlay.inputs, seed)
    order = np.argsort(keys, kind="stable")[np.count_nonzero(keys < 0) :]
    step = max(1, round(chunk * (1 - overlap)))
    last_reader = overlay.writers + overlay.readers
    edits = mine(*lists, order, chunk, step, last_reader, overlap > 0, paths, negatives)
    after = Overlay(overlay.writers, overlay.readers, *rebuilt(*lists, edits), overlay.overlapping or overlap > 0)
    return dissolved(after), int(edits.counts[BICLIQUES]), edits.saved
