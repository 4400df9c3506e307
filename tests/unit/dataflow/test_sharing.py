"""Indexes that are shared, kept, imported while the dataflow runs, and dropped when nobody reads them."""

from __future__ import annotations

import threading

import pytest

import graphtide as gt
from graphtide.dataflow.plan import Arrange, Reduce
from graphtide.errors import CompactedError, PlanError, UsageError


def test_a_second_use_by_the_same_key_shares_the_index() -> None:
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    back = edges.rename(src="end", dst="src")
    edges.join(back, on="src").output("a")
    edges.join(flow.input("x", src=int), on="src").output("b")
    edges.group_by("src").min("dst").output("c")
    edges.group_by("src").max("dst").output("d")
    flow.commit()
    indexes = [node for node in flow.assembly.operators if isinstance(node.operation, Arrange)]
    of_edges = [node for node in indexes if node.inputs[0] is edges.node]
    assert len(of_edges) == 1


def test_a_join_reads_the_output_of_a_reduction_as_its_index() -> None:
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    least = edges.group_by("src").min("dst")
    joined = least.join(edges.rename(dst="other"), on="src")
    joined.output("pairs")
    flow.commit()
    assert isinstance(joined.node.inputs[0].operation, Reduce)


def test_a_branch_starts_from_what_is_there_and_leaves_nothing_behind() -> None:
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    index = edges.arrange("src")
    edges.insert([(1, 2), (2, 3), (4, 5)])
    flow.commit()
    before = len(flow.assembly.operators), flow.machine.heap.nbytes
    with flow.branch("reach") as branch:
        asked = branch.input("asked", node=int)
        found = branch.output(
            "found",
            asked.iterate(lambda x: x.join(edges, on={"node": "src"}).select(node="dst").concat(asked).distinct()),
        )
        asked.insert([(1,)])
        flow.commit()
        assert found.rows() == [(1,), (2,), (3,)]
        edges.insert([(3, 4)])
        flow.commit()
        assert found.rows() == [(1,), (2,), (3,), (4,), (5,)]
    flow.commit()
    assert len(flow.assembly.operators) == before[0]
    assert index.rows() == [(1, 2), (2, 3), (3, 4), (4, 5)]
    flow.branch("reach").input("asked", node=int)


def test_an_index_that_nobody_reads_is_dropped() -> None:
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    index = edges.arrange("dst")
    counts = edges.group_by("src").count().output("counts")
    edges.insert([(n % 7, n) for n in range(1000)])
    flow.commit()
    full = flow.memory()
    index.close()
    rest = flow.memory()
    assert rest.differences < full.differences
    assert len(rest.operators) == len(full.operators) - 1
    assert counts.rows()[0] == (0, 143)
    with pytest.raises(UsageError, match="closed"):
        index.rows()


def test_late_operators_on_what_was_not_kept_are_refused() -> None:
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    edges.where(gt.col("src") > 0).group_by("src").count().output("counts")
    edges.insert([(1, 2)])
    flow.commit()
    edges.select("dst").output("late")
    with pytest.raises(PlanError, match=r"was not kept.*\n.*arrange"):
        flow.commit()


def test_readers_hold_the_epochs_that_they_ask_for() -> None:
    flow = gt.Dataflow()
    items = flow.input("items", n=int)
    everything = items.output("everything", keep=None)
    other = items.distinct()
    last_two = other.output("last two", keep=2)
    for n in range(5):
        items.insert([(n,)])
        flow.commit()
    assert [len(everything.at(epoch)) for epoch in range(5)] == [1, 2, 3, 4, 5]
    assert [len(last_two.at(epoch)) for epoch in (3, 4)] == [4, 5]
    assert last_two.since == 3
    with pytest.raises(CompactedError, match="before epoch 3 has been compacted"):
        last_two.at(2)


def test_an_arrangement_is_read_in_the_order_of_its_columns() -> None:
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int, weight=float)
    index = edges.arrange("dst")
    edges.insert([(2, 1, 0.5), (1, 9, 1.5)])
    flow.commit()
    assert index.rows() == [(2, 1, 0.5), (1, 9, 1.5)]
    assert repr(index) == "<Arrangement (src: int, dst: int, weight: float) by dst, src, weight>"


def test_a_probe_tells_how_far_the_collection_is() -> None:
    flow = gt.Dataflow()
    items = flow.input("items", n=int)
    probe = items.probe()
    assert not probe.is_done(0)
    assert not probe.wait(0, timeout=0.01)
    waiter = threading.Thread(target=probe.wait, args=(0,))
    waiter.start()
    flow.commit()
    waiter.join(timeout=30)
    assert not waiter.is_alive()
    assert probe.is_done(0)
    assert probe.frontier == 1


def test_memory_adds_up() -> None:
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    edges.group_by("src").count().output("counts")
    edges.insert([(n % 10, n) for n in range(1000)])
    flow.commit()
    memory = flow.memory()
    owned = sum(each.bytes for each in memory)
    assert memory.bytes == owned + memory.dictionary_bytes + memory.staged_bytes + memory.shared_bytes
    assert owned <= flow.machine.heap.nbytes
    assert memory.differences == sum(each.differences for each in memory)
    assert memory.table().column("bytes").to_pylist() == [each.bytes for each in memory]
    assert "count by src" in str(memory)


def test_a_plan_can_be_read_and_drawn(tmp_path: object) -> None:
    flow = gt.Dataflow("components")
    edges = flow.input("edges", src=int, dst=int)
    labels = edges.select(node="src", label="src").distinct()

    def least_label(x: gt.Collection) -> gt.Collection:
        told = x.join(edges, on={"node": "src"}).select(node="dst", label="label")
        return told.concat(labels).group_by("node").min("label")

    labels.iterate(least_label).output("components")
    plan = flow.explain()
    assert "loop least_label" in str(plan)
    assert "min label by node" in str(plan)
    file = plan.plot(f"{tmp_path}/plan.png")
    assert file.stat().st_size > 10_000
