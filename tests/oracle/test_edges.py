"""The edges of a live graph are those of a plain list after every batch, whatever of it was refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.frontier_naive import NaiveProgram, answer

import graphtide as gt
from graphtide.errors import CatalogueError, GraphtideError, SchemaError

COLUMNS = ("weight", "length")
NAMES = ("src", "dst", *COLUMNS)
IDS = st.sampled_from([3, 5, 70, 900, -1])
GOOD = st.integers(0, 4)
BAD = st.integers(-1, 1)
LENGTH = st.sampled_from([0.0, -0.0, 1.5])
GIVEN = st.sampled_from([(), ("weight",), ("length",), COLUMNS])

Edge = tuple[int, int, int, float]


@dataclass
class Batch:
    insert: list[Edge]
    delete: list[dict[str, Any]] = field(default_factory=list)
    update: list[dict[str, Any]] = field(default_factory=list)


@st.composite
def batches(draw: st.DrawFn, edges: list[Edge]) -> Batch:
    """Few or many insertions, and rows of which most name edges that there are; few batches have bad weights."""
    weight = draw(st.sampled_from([GOOD, GOOD, GOOD, BAD]))
    edge = st.tuples(IDS, IDS, weight, LENGTH)

    def rows(given: tuple[str, ...], *, is_new: bool) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for _ in range(draw(st.sampled_from([0, 0, 1, 1, 3]))):
            meant = draw(st.sampled_from(edges) if edges and draw(st.integers(0, 7)) else edge)
            src, dst, weight, length = (*meant[:2], *draw(edge)[2:]) if is_new else meant
            zero = draw(st.sampled_from([0.0, -0.0]))
            row = dict(zip(NAMES, (src, dst, weight, length or zero), strict=True))
            found.append({name: row[name] for name in ("src", "dst", *given)})
        return found

    count = draw(st.sampled_from([0, 1, 4, 100]))
    insert = draw(st.lists(edge, min_size=count // 2, max_size=count))
    return Batch(insert, rows(draw(GIVEN), is_new=False), rows(draw(GIVEN.filter(bool)), is_new=True))


def is_like(edge: Edge, row: dict[str, Any], names: tuple[str, ...]) -> bool:
    known = dict(zip(NAMES, edge, strict=True))
    return all(known[name] == row[name] for name in ("src", "dst", *(each for each in names if each in row)))


def claim(free: list[Edge], row: dict[str, Any], names: tuple[str, ...]) -> Edge:
    """Take the edge that a row means out of a list."""
    fitting = [edge for edge in free if is_like(edge, row, names)]
    if len(set(fitting)) != 1:
        raise CatalogueError("none, or more than one")
    free.remove(fitting[0])
    return fitting[0]


def applied(edges: list[Edge], batch: Batch, *, is_limited: bool) -> list[Edge]:
    """The edges after a batch."""
    weights = [edge[2] for edge in batch.insert] + [row["weight"] for row in batch.update if "weight" in row]
    if is_limited and any(weight < 0 for weight in weights):
        raise SchemaError("a query takes no negative weight")
    free = list(edges)
    for row in batch.delete:
        claim(free, row, COLUMNS)
    renewed: list[Edge] = []
    for row in batch.update:
        src, dst, weight, length = claim(free, row, ())
        renewed.append((src, dst, row.get("weight", weight), row.get("length", length)))
    return free + renewed + batch.insert


def plain(rows: list[dict[str, Any]]) -> list[Any]:
    """As tuples where these name all that the rows do: they are read in another way."""
    is_plain = all(len(row) in {2, 4} for row in rows)
    return [tuple(row[name] for name in NAMES if name in row) for row in rows] if is_plain else rows


def written(edges: list[Edge]) -> list[str]:
    """In any order, with the signs of zeros."""
    return sorted(map(repr, edges))


@given(is_limited=st.booleans(), begin=st.booleans(), data=st.data())
def test_edges_after_every_batch(is_limited: bool, begin: bool, data: st.DataObject) -> None:
    live = gt.LiveGraph(weight=int, length=float)
    edges: list[Edge] = []
    if begin:
        edges = [(3, 5, 1, 1.5), (3, 5, 1, 1.5), (5, 70, 2, 0.0), (900, 3, 0, 1.5)]
        live.apply(insert=edges)
    query = live.sssp(3, weight="weight") if is_limited else None
    for _ in range(data.draw(st.integers(1, 6))):
        batch = data.draw(batches(edges))
        expected: type[GraphtideError] | None = None
        before = live.vertices, live.batches
        try:
            edges = applied(edges, batch, is_limited=is_limited)
        except GraphtideError as error:
            expected = type(error)
        raised = None
        try:
            live.apply(insert=batch.insert, delete=plain(batch.delete), update=plain(batch.update))
        except GraphtideError as error:
            raised = type(error)
        assert raised == expected
        assert raised is None or (live.vertices, live.batches) == before
        known = [(src, dst, weight, length + 0.0) for src, dst, weight, length in edges]
        assert written([tuple(row.values()) for row in live.table().to_pylist()]) == written(known)
        live._edges.adjacency.check_invariants()
        if query is not None:
            ends = [(src, dst, weight) for src, dst, weight, _ in edges]
            naive = NaiveProgram(lambda state, weight: state + weight, min, {3: 0})
            told = {row["vertex"]: row["distance"] for row in query.result().to_pylist()}
            assert told == answer(naive, {3, 5, 70, 900, -1}, ends)
