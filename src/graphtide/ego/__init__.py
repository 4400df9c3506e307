"""Continuous aggregates over what the neighbours of every vertex wrote, by overlays that share them (EAGr)."""

from graphtide.ego.neighbourhoods import Neighbourhoods
from graphtide.ego.overlay import Overlay

__all__ = ["Neighbourhoods", "Overlay"]
