"""Distances from vertex 6, and components, after each of Graphsurge's batches."""

from __future__ import annotations

import re

import pytest
from examples.breadth_first import breadth_first
from examples.connected_components import connected_components, connected_components_prioritized

import graphtide as gt

GRAPH = "+6-4 +4-5 +4-2 +5-2 +2-3 +5-9 +3-9 +9-8"
BFS = [
    (GRAPH, {6: 0, 4: 1, 2: 2, 5: 2, 3: 3, 9: 3, 8: 4}),
    ("+2-9 -4-5", {6: 0, 4: 1, 2: 2, 3: 3, 9: 3, 8: 4}),
    ("+9-3 +6-5 -5-9 -2-3", {6: 0, 4: 1, 5: 1, 2: 2, 9: 3, 3: 4, 8: 4}),
    ("+4-5 +2-3 -2-9 -9-3", {6: 0, 4: 1, 5: 1, 2: 2, 3: 3, 9: 4, 8: 5}),
]
# Cells (0, 0), (0, 1) and (1, 0), (1, 1): each changes what the cells before it, in both ways, come to.
PRODUCT = [(GRAPH, "+6-5 -5-9"), ("+2-9 -4-5", "+9-3 -2-3")]
WCC = [
    (GRAPH, {2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 8: 2, 9: 2}),
    ("-5-9 -2-3", {2: 2, 4: 2, 5: 2, 6: 2, 3: 3, 8: 3, 9: 3}),
    ("-4-2 -4-5 +3-8", {2: 2, 5: 2, 4: 4, 6: 4, 3: 3, 8: 3, 9: 3}),
    ("+5-9 +2-3 -3-8", {2: 2, 5: 2, 3: 2, 8: 2, 9: 2, 4: 4, 6: 4}),
]


def changes(batch: str) -> tuple[list[tuple[int, int]], list[int]]:
    found = re.findall(r"([+-])(\d)-(\d)", batch)
    return [(int(src), int(dst)) for _, src, dst in found], [1 if sign == "+" else -1 for sign, _, _ in found]


@pytest.mark.parametrize("at_once", [False, True])
def test_breadth_first(at_once: bool) -> None:
    flow = gt.Dataflow()
    roots, edges = flow.input("roots", node=int), flow.input("edges", src=int, dst=int)
    distances = breadth_first(roots, edges).output("distances", keep=None)
    roots.insert([(6,)])
    follow(flow, edges, distances, BFS, at_once=at_once)


@pytest.mark.parametrize("program", [connected_components, connected_components_prioritized])
@pytest.mark.parametrize("at_once", [False, True])
def test_components(program, at_once: bool) -> None:
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    labels = program(edges).output("labels", keep=None)
    follow(flow, edges, labels, WCC, at_once=at_once)


def test_breadth_first_on_a_product_of_views() -> None:
    flow = gt.Dataflow()
    roots = flow.input("roots", node=int)
    edges = flow.input("edges", src=int, dst=int, column=int)
    with flow.dimension("column") as column:
        inside = column.enter(edges, at=gt.col("column")).select("src", "dst")
        distances = column.leave(breadth_first(roots, inside), at="column").output("distances")
    roots.insert([(6,)])
    found = {}
    for row in PRODUCT:
        for c, batch in enumerate(row):
            moved, diffs = changes(batch)
            edges.change([(src, dst, c) for src, dst in moved], diffs)
        epoch = flow.commit()
        for node, distance, c, _, diff in (line.values() for line in distances.changes().to_pylist()):
            found[epoch, c, node, distance] = diff
    corner = {(node, distance): diff for (e, c, node, distance), diff in found.items() if (e, c) == (1, 1)}
    assert corner == {(8, 4): 1, (8, 5): -1, (3, 3): -1, (3, 4): 1, (9, 4): -1, (9, 3): 1, (5, 2): 1}


def follow(flow: gt.Dataflow, edges: gt.Input, result: gt.Output, batches: list, *, at_once: bool) -> None:
    for batch, _ in batches:
        edges.change(*changes(batch))
        flow.seal()
        if not at_once:
            flow.run()
    flow.run()
    for epoch, (_, wanted) in enumerate(batches):
        assert dict(zip(*result.at(epoch).to_pydict().values(), strict=True)) == wanted, f"epoch {epoch}"
