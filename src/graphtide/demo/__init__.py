"""The demonstration: components of a mention graph in a window that slides over real messages.

It is the one of CIDR13 (appendix), without its screen: strongly connected components, a loop around
two loops, kept up to date while messages come and go, next to recomputing them for every window.
"""

from graphtide.demo.maintained import Maintained, Step
from graphtide.demo.picture import draw
from graphtide.demo.recomputed import Recomputed, recompute
from graphtide.demo.window import STREAMS, Slide, Stream, slides

__all__ = ["STREAMS", "Maintained", "Recomputed", "Slide", "Step", "Stream", "draw", "recompute", "slides"]
