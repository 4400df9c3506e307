"""The minimum cut that decides between push and pull, by OR-tools (EAGr, section 4, theorem 4.1).

A node that is worth pulling hangs on the source by what that saves, one that is worth pushing on the sink. Edges of the
overlay cannot be cut: what follows a node that pulls pulls.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.overlay import Overlay

__all__ = ["cheapest_cut"]

# All that can flow is less than 2^60, the capacity of an edge that is not to be cut: no sum overflows.
BITS: Final = 60


def cheapest_cut(overlay: Overlay, nodes: NDArray[np.int64], worth: NDArray[np.float64]) -> NDArray[np.int64]:
    """Those of some nodes that pull in the cheapest decisions, if a push of each saves `worth` against a pull.

    Capacities are whole numbers: |worth| times a power of two by which they add up to between 2^58 and 2^59. Rounding
    loses half a unit for each node, so the cost found exceeds the least one by at most 2^-58 of the sum of all |worth|,
    times the number of nodes; and by nothing if worths are whole numbers.
    """
    from ortools.graph.python.max_flow import SimpleMaxFlow  # noqa: PLC0415 - pandas comes with it

    number = np.full(overlay.nodes, -1, np.int32)
    number[nodes] = np.arange(len(nodes))
    owners = np.repeat(np.arange(overlay.nodes), np.diff(overlay.starts))
    inside = (number[overlay.inputs] >= 0) & (number[owners] >= 0)
    before, after = number[overlay.inputs[inside]], number[owners[inside]]
    capacity = _whole(np.abs(worth[nodes]))
    pulls, pushes = np.flatnonzero(worth[nodes] < 0), np.flatnonzero(worth[nodes] > 0)
    source, sink = len(nodes), len(nodes) + 1
    flow: Any = SimpleMaxFlow()
    flow.add_arcs_with_capacity(
        np.concatenate((before, np.full(len(pulls), source), pushes)).astype(np.int32),
        np.concatenate((after, pulls, np.full(len(pushes), sink))).astype(np.int32),
        np.concatenate((np.full(len(before), 1 << BITS), capacity[pulls], capacity[pushes])),
    )
    status = flow.solve(source, sink)
    assert status == SimpleMaxFlow.OPTIMAL, f"the minimum cut was not found: {status}"
    reached = np.asarray(flow.get_source_side_min_cut(), np.int64)
    return nodes[reached[reached < len(nodes)]]


def _whole(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Values times the greatest power of two by which they add up to no more than 2^59."""
    total = float(values.sum())
    if total == 0:
        return np.zeros(len(values), np.int64)
    exponent = BITS - 1 - int(np.ceil(np.log2(total)))
    return np.rint(np.ldexp(values, exponent)).astype(np.int64)
