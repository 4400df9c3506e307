"""The copying model of the web: new pages copy links of older ones (Kumar et al., FOCS 2000)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from graphtide.datasets.generators.arguments import check_share, check_whole, seeded

__all__ = ["copying_model"]


def copying_model(nodes: int, out_degree: int = 8, copy_probability: float = 0.5, seed: int = 0) -> pa.Table:
    """Links (src, dst) in the order in which vertices 0, 1, 2, ... appear, `out_degree` from each.

    The first `out_degree` + 1 vertices link to each other. Each later one chooses an older vertex as its model; its
    k-th link goes where the model's k-th link goes with `copy_probability`, else to any older vertex. The more is
    copied, the heavier the tail of in-degrees; two links of a vertex may agree.

    >>> copying_model(nodes=1_000, out_degree=4).num_rows
    4000
    """
    check_whole("out_degree", out_degree, 1)
    check_whole("nodes", nodes, out_degree + 1)
    check_share("copy_probability", copy_probability)
    rng = seeded(seed)
    first = out_degree + 1
    src = np.repeat(np.arange(nodes), out_degree)
    dst = np.empty((nodes, out_degree), np.int64)
    others = np.arange(out_degree)
    # Vertex i of the first ones skips itself.
    dst[:first] = others + (others >= np.arange(first)[:, None])
    older = np.arange(first, nodes)[:, None]
    dst[first:] = rng.random((nodes - first, out_degree)) * older
    model = (rng.random((nodes - first, 1)) * older).astype(np.int64)
    is_copied = rng.random((nodes - first, out_degree)) < copy_probability
    # Each link points to the link that it copies, or to itself. Following pointers of pointers halves all chains at
    # once, and their length is logarithmic in the number of vertices.
    origin = np.arange(nodes * out_degree).reshape(nodes, out_degree)
    origin[first:] = np.where(is_copied, model * out_degree + others, origin[first:])
    origin = origin.ravel()
    while not np.array_equal(further := origin[origin], origin):
        origin = further
    return pa.table({"src": src, "dst": dst.ravel()[origin]})
