"""Compiling all kernels ahead of time: a small dataflow that uses every one of them."""

from __future__ import annotations

import time

import numpy as np

from graphtide.dataflow.expressions.functions import col
from graphtide.dataflow.flow import Dataflow
from graphtide.errors import NotConvergedError

__all__ = ["warm"]


def warm() -> float:
    """Compile what is not compiled yet, into the cache on disk; the seconds that it took."""
    start = time.perf_counter()
    flow = Dataflow("warm")
    edges = flow.input("edges", src=int, dst=int)
    index = edges.arrange("src", keep=2)
    nodes = edges.select(node="src", label="src").distinct()
    labels = nodes.iterate_prioritized(
        lambda x, arriving: (
            x.join(edges, on={"node": "src"})
            .select(node="dst", label="label")
            .concat(arriving)
            .group_by("node")
            .min("label")
        ),
        priority=col("label") * 0,
    )
    outputs = [labels.output("labels"), edges.group_by("src").sum("dst").output("sums", on_negative="error")]
    edges.insert([(n, n + 1) for n in range(20)])
    edges.change([(1, 2)], [2])
    flow.commit()
    # Late operators, functions of the user, several epochs in one run, and a run that is undone.
    outputs.append(edges.group_by("src").collect("dst").output("collected"))
    outputs.append(edges.flat_map(lambda src, dst: [(src + dst,)], n=int).consolidate().output("flat"))
    flow.seal()
    edges.remove([(3, 4)])
    flow.commit()
    endless = edges.iterate(lambda x: x.select(src="src", dst=col("dst") + 1), max_rounds=2).output("endless")
    try:
        flow.commit()
    except NotConvergedError:
        flow.rollback()
    endless.close()
    for output in outputs:
        output.changes()
        output.rows()
        output.find(output.change_codes()[:1, :1])
        output.close()
    index.find(np.array([[2, 3]]))
    index.close()
    flow.memory()
    return time.perf_counter() - start
