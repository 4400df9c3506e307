"""Every analytic equals another algorithm on every view of a collection, whichever way a run takes to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import isclose
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share
from tests.oracle import analytics_naive as naive
from tests.oracle.analytics_naive import Graph, Row

from graphtide.analytics import find
from graphtide.rows import Dictionary, decode_rows
from graphtide.views.execution import EdgeColumns, Execution, Ints
from graphtide.views.following import Step, follow_chain, follow_lattice
from graphtide.views.results import Lines, Results
from graphtide.views.splitting import Splitter

COMPUTATIONS: dict[str, dict[str, Any]] = {
    "wcc": {},
    "scc": {},
    "bfs": {"source": 0},
    "sssp": {"source": 0, "weight": "weight"},
    "mpsp": {"pairs": [(0, 1), (2, 4), (0, 5)], "weight": "weight"},
    "degrees": {},
    "triangles": {},
    "clustering": {},
    "k_core": {"k": 2},
    "pagerank": {"iterations": 3, "damping": 0.5},
    "label_propagation": {"rounds": 3},
}
NODES = st.integers(0, 6)
EDGES = st.lists(st.tuples(NODES, NODES, st.integers(0, 9)), min_size=1, max_size=18)


@dataclass(frozen=True)
class MaskChain:
    """Views as the sets of their edges."""

    masks: list[Ints]
    order: tuple[int, ...]

    @property
    def sizes(self) -> list[int]:
        return [int(self.masks[v].sum()) for v in self.order]

    @property
    def counts(self) -> list[int]:
        return [len(self.differences(p)[0]) for p in range(len(self.order))]

    def differences(self, position: int) -> tuple[Ints, Ints]:
        now = self.masks[self.order[position]]
        before = self.masks[self.order[position - 1]] if position else np.zeros_like(now)
        edges = np.flatnonzero(now != before)
        return edges, (now - before)[edges]


@dataclass(frozen=True)
class MaskGrid:
    """Cells as the sets that are in a view of each dimension."""

    sides: list[list[Ints]]
    orders: list[list[int]]

    def size(self, cell: tuple[int, ...]) -> int:
        return int(
            np.prod([side[order[p]] for side, order, p in zip(self.sides, self.orders, cell, strict=True)], 0).sum()
        )

    def count(self, cell: tuple[int, ...]) -> int:
        return len(self.differences(cell)[0])

    def differences(self, cell: tuple[int, ...]) -> tuple[Ints, Ints]:
        change = np.ones_like(self.sides[0][0])
        for side, order, p in zip(self.sides, self.orders, cell, strict=True):
            change = change * (side[order[p]] - (side[order[p - 1]] if p else 0))
        edges = np.flatnonzero(change)
        return edges, change[edges]


class Case:
    """A graph and a computation on it."""

    def __init__(self, edges: list[tuple[int, int, int]], computation: str) -> None:
        self.edges = edges
        src, dst, weight = np.array(edges).T
        self.bound = find(computation).bind(COMPUTATIONS[computation])
        asked = {name: pa.array(weight) for name in self.bound.edge_properties}
        self.columns = EdgeColumns(src, dst, asked)
        self.computation = computation
        self.dictionary = Dictionary()

    def begin(self, grows: bool = False, dimensions: Sequence[str] = ()) -> Execution:
        return Execution(self.bound, self.columns, lambda vertex: vertex, self.dictionary, dimensions, grows=grows)

    def check(self, results: Results, masks: list[Ints]) -> None:
        """Compare every view, read on its own and with all others."""
        seen = dict(results.all_whole())
        assert sorted(seen) == list(range(len(masks)))
        for view, mask in enumerate(masks):
            for lines in (seen[view], results.whole(view)):
                self._agree(lines, mask)

    def check_changes(self, results: Results, order: tuple[int, ...]) -> None:
        """The changes from view to view lead from one to the next."""
        width = len(self.begin().schema)
        so_far = Lines.summed(width, [])
        for view in order:
            so_far = Lines.summed(width, [so_far, results.changes(view)])
            assert so_far.codes.tolist() == results.whole(view).codes.tolist()

    def _agree(self, lines: Lines, mask: Ints) -> None:
        there = tuple(edge for edge, is_in in zip(self.edges, mask.tolist(), strict=True) if is_in)
        graph = Graph(frozenset(end for s, d, _ in there for end in (s, d)), there)
        wanted = dict(_keyed(getattr(naive, self.computation)(graph, **COMPUTATIONS[self.computation])))
        assert (lines.diffs == 1).all()
        found = dict(_keyed(decode_rows(self.begin().schema, self.dictionary, np.ascontiguousarray(lines.codes))))
        assert found.keys() == wanted.keys()
        for key, value in wanted.items():
            assert isclose(found[key], value, rel_tol=1e-12), key


def _keyed(rows: list[Row]) -> Iterator[tuple[Row, Any]]:
    return ((row[:-1], row[-1]) for row in rows)


def masks(edges: int, most: int) -> st.SearchStrategy[list[Ints]]:
    """Views that have any edges, or in which each has those of the one before."""
    mask = st.lists(st.integers(0, 1), min_size=edges, max_size=edges).map(np.array)
    views = st.lists(mask, min_size=1, max_size=most)
    return views | views.map(lambda each: list(np.maximum.accumulate(each)))


@pytest.mark.parametrize("strategy", ["differential", "scratch", "adaptive"])
@pytest.mark.parametrize("computation", COMPUTATIONS)
@share(10)
@given(data=st.data(), edges=EDGES)
def test_views_of_a_chain(computation: str, strategy: Any, data: st.DataObject, edges: list[Any]) -> None:
    case = Case(edges, computation)
    views = data.draw(masks(len(edges), 6), label="views")
    given_order = st.just(range(len(views)))  # growing views stay so
    order = tuple(data.draw(given_order | st.permutations(range(len(views))), label="order"))
    at_once = data.draw(st.integers(1, 4), label="views decided at once")
    told: list[Step] = []
    # Times decide where to split; here chance does, so that every way to split is taken.
    with patch.object(Splitter, "decide", lambda *_: data.draw(st.sampled_from(["scratch", "differential"]))):
        steps, results = follow_chain(
            MaskChain(views, order),
            len(edges),
            case.begin,
            strategy=strategy,
            decide_at_once=at_once,
            told=told.append,
        )
    assert told == steps
    assert [step.view for step in steps] == list(order)
    assert steps[0].way == "scratch"
    if strategy != "adaptive":
        assert {step.way for step in steps[1:]} <= {strategy}
    case.check(results, views)
    case.check_changes(results, order)


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("computation", COMPUTATIONS)
@share(5)
@given(data=st.data(), edges=EDGES)
def test_cells_of_a_lattice(computation: str, dimensions: int, data: st.DataObject, edges: list[Any]) -> None:
    case = Case(edges, computation)
    sides = [data.draw(masks(len(edges), 3), label=f"dimension {d}") for d in range(dimensions)]
    orders = [data.draw(st.just(range(len(side))) | st.permutations(range(len(side))), label="order") for side in sides]
    steps, results = follow_lattice(
        MaskGrid(sides, orders), lambda inside, grows: case.begin(grows, ["abc"[axis] for axis in inside])
    )
    cells = [np.prod(chosen, 0) for chosen in product(*sides)]
    assert sorted(step.view for step in steps) == list(range(len(cells)))
    for step in steps:
        assert step.edges == cells[step.view].sum()
    case.check(results, cells)


def test_an_edge_without_the_weight_is_not_there_for_a_computation_that_needs_it() -> None:
    bound = find("sssp").bind({"source": 0, "weight": "weight"})
    columns = EdgeColumns(np.array([0, 1, 0]), np.array([1, 2, 2]), {"weight": pa.array([1, None, 5])})
    execution = Execution(bound, columns, lambda vertex: vertex, Dictionary())
    outcome = execution.feed(np.arange(3), 1).run_epoch()
    assert sorted(zip(*outcome.codes.tolist(), strict=True)) == [(0, 0), (1, 1), (2, 5)]
