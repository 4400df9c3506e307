"""What operators put out is let go of once all have read it, and is there for those who read it later in a run."""

from __future__ import annotations

import graphtide as gt
from graphtide import col
from graphtide.dataflow.kernels import layout


def held_ports(flow: gt.Dataflow) -> list[int]:
    """The operators without an index that still hold what they have put out."""
    operators = flow.machine.operators[: flow.machine.count]
    return [n for n, row in enumerate(operators) if row[layout.PORT] and not row[layout.SPINE]]


def test_only_indexes_keep_what_a_run_has_put_out() -> None:
    flow = gt.Dataflow()
    rows = flow.input("rows", a=int, b=int)
    doubled = rows.select(a="a", b=col("b") * 2).where(col("b") > 0)
    joined = doubled.join(rows.rename(b="c"), on="a").output("joined")
    sums = doubled.group_by("a").sum("b").output("sums")
    for _ in range(3):
        rows.insert([(1, 2), (2, 3)])
        flow.commit()
        assert held_ports(flow) == []
        assert joined.has_changes
        assert sums.has_changes


def test_a_loop_reads_what_was_put_out_before_it_in_every_round() -> None:
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    steps = edges.where(col("src") != col("dst"))
    onward = steps.rename(src="dst", dst="end")
    found = steps.iterate(
        lambda x: x.join(onward, on="dst").select(src="src", dst="end").concat(steps).distinct()
    ).output("reach")
    edges.insert([(i, i + 1) for i in range(20)])
    flow.commit()
    assert len(found) == 210
    edges.insert([(20, 0)])
    flow.commit()
    assert len(found) == 441
