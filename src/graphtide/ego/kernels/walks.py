"""The parts that all walks along an overlay have in common: into a list, into what a node has, and back.

A walk is at place `k` of a list that ends at `end`. On its way it keeps, for each list that it will come back to, a
frame of the stack: where it was, and two words of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.kernels.nodes import FRAME, SIZE
from graphtide.jit import inlined

__all__ = ["Lists", "begin", "go_back", "go_into"]


class Lists(NamedTuple):
    """The nodes of a plan with their lists (`kernels.nodes`), and a stack for the deepest walk."""

    heads: NDArray[np.int32]
    inputs: NDArray[np.int32]
    targets: NDArray[np.int32]
    stack: NDArray[np.int64]


@inlined
def begin(heads, side, node):
    """Where a list of a node begins and ends."""
    k = np.int64(heads[node, side])
    return k, k + heads[node, side + SIZE]


@inlined
def go_into(heads, side, node, stack, top, k, end):
    """Leave a list for one of a node: where the stack ends, and where that list begins and ends.

    The words behind `stack[top + 1]` are the walk's own.
    """
    stack[top], stack[top + 1] = k, end
    start = np.int64(heads[node, side])
    return top + FRAME, start, start + heads[node, side + SIZE]


@inlined
def go_back(stack, top):
    """Go back to the list that was left last: where the stack ends, where the walk was and where that list ends."""
    return top - FRAME, stack[top - FRAME], stack[top - FRAME + 1]
