"""Continuous aggregates over what the neighbours of every vertex wrote, by overlays that share them (EAGr)."""

from graphtide.ego.building import Built, Iteration, build
from graphtide.ego.costs import Costs, Curve
from graphtide.ego.covering import CoverIndex, cover
from graphtide.ego.decisions import Decisions, Frequencies, Greedy, MinCut, decide, frequencies
from graphtide.ego.incremental import Incremental
from graphtide.ego.mining import AdaptiveMining, FixedMining, NegativeMining, OverlappingMining
from graphtide.ego.neighbourhoods import Neighbourhoods
from graphtide.ego.overlay import Overlay
from graphtide.ego.policies import AllPull, AllPush, Direct
from graphtide.ego.splitting import split

__all__ = [
    "AdaptiveMining",
    "AllPull",
    "AllPush",
    "Built",
    "Costs",
    "CoverIndex",
    "Curve",
    "Decisions",
    "Direct",
    "FixedMining",
    "Frequencies",
    "Greedy",
    "Incremental",
    "Iteration",
    "MinCut",
    "NegativeMining",
    "Neighbourhoods",
    "OverlappingMining",
    "Overlay",
    "build",
    "cover",
    "decide",
    "frequencies",
    "split",
]
