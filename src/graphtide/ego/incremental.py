"""Overlays built one reader at a time, each covered by what is there already (IOB: EAGr, section 3.2.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from graphtide.ego.dissolved import dissolved
from graphtide.ego.kernels.incremental import cover_nodes, expanded_sets, grown, new_growing
from graphtide.ego.kernels.shingles import shingles
from graphtide.ego.mining import Exact, Step
from graphtide.ego.overlay import Overlay
from graphtide.ego.parameters import check_seed, check_whole

__all__ = ["Incremental"]

ROOM: Final = 4


@dataclass(frozen=True, slots=True)
class Incremental(Exact):
    """IOB: the whole overlay is searched for what covers most of a reader, of each writer the newest `look` nodes."""

    look: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("look", self.look, 1)
        check_seed(self.seed)

    def steps(self, overlay: Overlay) -> Iterator[Step]:
        """Overlays that share more and more: first readers are added one by one, then each node is covered anew."""
        last_reader = overlay.writers + overlay.readers
        seed = self.seed
        while True:
            order = np.argsort(overlay.levels(), kind="stable")
            sets = expanded_sets(overlay.starts, overlay.inputs, overlay.writers, order)
            keys = shingles(*sets, seed)
            order = np.argsort(keys, kind="stable")[np.count_nonzero(keys < 0) :]
            growing = new_growing(overlay.writers, overlay.starts, overlay.inputs, *sets, ROOM)
            better = cover_nodes(growing, order, last_reader, self.look)
            overlay = dissolved(Overlay(overlay.writers, overlay.readers, *grown(growing)))
            yield Step(overlay, better, 1)
            seed += 1
