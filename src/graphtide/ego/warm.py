"""Compiling the kernels of ego aggregates ahead of time: a few neighbourhoods that use every one of them."""

from __future__ import annotations

from graphtide.ego.building import build
from graphtide.ego.covering import CoverIndex, cover
from graphtide.ego.decisions import Greedy, decide
from graphtide.ego.incremental import Incremental
from graphtide.ego.mining import AdaptiveMining, NegativeMining, OverlappingMining
from graphtide.ego.neighbourhoods import Neighbourhoods
from graphtide.ego.splitting import split

__all__ = ["warm"]


def warm() -> None:
    """Compile what is not compiled yet, into the cache on disk."""
    asked = Neighbourhoods.from_sets([{*range(8)} - {reader} for reader in range(8)] * 2, writer_count=8)
    for method in (AdaptiveMining(), NegativeMining(), OverlappingMining(), Incremental()):
        overlay = build(asked, method).overlay
        overlay.check_invariants(asked)
        cover([0, 1, 2], CoverIndex.of(overlay))
        # Who writes rarely is pushed, the others are not: something is left for the cut.
        workload = [1.0, 1.0, 1.0, 20.0] * 2, [3.0] * 16
        decide(overlay, *workload, by=Greedy())
        split(overlay, decide(overlay, *workload), *workload)
