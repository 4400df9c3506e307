"""Overlays and decisions that are no choice at all: nothing is shared, all is pushed, all is pulled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.decisions import Decided
from graphtide.ego.mining import Exact, Step
from graphtide.ego.overlay import Overlay

__all__ = ["AllPull", "AllPush", "Direct"]

_NOTHING_LEFT = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Direct(Exact):
    """Each reader has its writers as inputs."""

    def steps(self, overlay: Overlay) -> Iterator[Step]:
        """None."""
        del overlay
        return iter(())


@dataclass(frozen=True, slots=True)
class AllPush:
    """All aggregates are kept up to date by every write."""

    def push(self, overlay: Overlay, worth: NDArray[np.float64]) -> Decided:
        """All nodes."""
        del worth
        return Decided(np.ones(overlay.nodes, np.bool_), _NOTHING_LEFT, 0)


@dataclass(frozen=True, slots=True)
class AllPull:
    """All aggregates are computed when they are read."""

    def push(self, overlay: Overlay, worth: NDArray[np.float64]) -> Decided:
        """No node but the writers."""
        del worth
        return Decided(np.arange(overlay.nodes) < overlay.writers, _NOTHING_LEFT, 0)
