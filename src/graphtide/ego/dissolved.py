"""Overlays without partial aggregates that save nothing."""

from __future__ import annotations

from graphtide.ego.kernels.dissolving import dissolve
from graphtide.ego.overlay import Overlay

__all__ = ["dissolved"]


def dissolved(overlay: Overlay) -> Overlay:
    """The overlay in which every partial aggregate has two inputs and serves two nodes, as far as signs allow."""
    lists = overlay.starts, overlay.inputs, overlay.signs
    before = -1
    while before != len(lists[1]):
        before = len(lists[1])
        lists = dissolve(*lists, overlay.writers + overlay.readers, overlay.overlapping)
    return Overlay(overlay.writers, overlay.readers, *lists, overlay.overlapping)
