"""The demonstrations: views of a message graph next to recomputing each, and a window that slides over messages.

The latter is the one of CIDR13 (appendix), without its screen: strongly connected components, a loop around
two loops, kept up to date while messages come and go, next to recomputing them for every window.
"""

from graphtide.demo.maintained import Maintained, Step
from graphtide.demo.picture import draw
from graphtide.demo.recomputed import Recomputed, recompute
from graphtide.demo.recomputed_views import RecomputedViews, recompute_views
from graphtide.demo.window import STREAMS, Slide, Stream, slides

__all__ = [
    "STREAMS",
    "Maintained",
    "Recomputed",
    "RecomputedViews",
    "Slide",
    "Step",
    "Stream",
    "draw",
    "recompute",
    "recompute_views",
    "slides",
]
