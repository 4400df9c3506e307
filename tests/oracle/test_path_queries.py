"""Regular path queries equal an evaluation by derivatives of the pattern; PageRank equals its definition."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.test_dropping import policies

from graphtide.frontier import Budget, JoinOnDemand, LiveGraph, Query, Scratch, Vanilla
from graphtide.frontier.query import KeptQuery

_VERTICES = 6
_LATER = 2  # vertices that only batches speak of
_SOURCES = 3  # vertices at which queries may begin: these are not removed
LABELS = ("a", "b", "c")

# A pattern is ("label", l, is_back), ("any",), ("cat", p, q), ("or", p, q), ("star", p), ("empty",) or ("never",).
Pattern = tuple[Any, ...]
EMPTY: Pattern = ("empty",)
NEVER: Pattern = ("never",)

Edge = tuple[int, int, str]

leaves = st.one_of(st.tuples(st.just("label"), st.sampled_from(LABELS), st.booleans()), st.just(("any",)))
patterns = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.just("cat"), inner, inner),
        st.tuples(st.just("or"), inner, inner),
        st.tuples(st.just("star"), inner),
        st.tuples(st.just("plus"), inner),
        st.tuples(st.just("maybe"), inner),
    ),
    max_leaves=5,
)


def written(pattern: Pattern) -> str:
    match pattern:
        case ("label", label, is_back):
            return f"^{label}" if is_back else label
        case ("any",):
            return "."
        case ("cat", p, q):
            return f"({written(p)}) ({written(q)})"
        case ("or", p, q):
            return f"({written(p)} | {written(q)})"
        case (kind, p):
            return f"({written(p)})" + {"star": "*", "plus": "+", "maybe": "?"}[kind]
        case _:
            raise AssertionError(pattern)


def plain(pattern: Pattern) -> Pattern:
    """Without `+` and `?`."""
    match pattern:
        case ("cat" | "or" as kind, p, q):
            return (kind, plain(p), plain(q))
        case ("star", p):
            return ("star", plain(p))
        case ("plus", p):
            return ("cat", plain(p), ("star", plain(p)))
        case ("maybe", p):
            return ("or", EMPTY, plain(p))
        case _:
            return pattern


def may_be_empty(pattern: Pattern) -> bool:
    match pattern:
        case ("empty",) | ("star", _):
            return True
        case ("cat", p, q):
            return may_be_empty(p) and may_be_empty(q)
        case ("or", p, q):
            return may_be_empty(p) or may_be_empty(q)
        case _:
            return False


def cat(p: Pattern, q: Pattern) -> Pattern:
    if NEVER in (p, q):
        return NEVER
    if p == EMPTY:
        return q
    return ("cat", p, q)


def either(p: Pattern, q: Pattern) -> Pattern:
    """Of alternatives as a sorted set, so that there are finitely many derivatives."""
    found: set[Pattern] = set()
    todo = [p, q]
    while todo:
        each = todo.pop()
        if each[0] == "or":
            todo += each[1:]
        elif each != NEVER:
            found.add(each)
    whole = NEVER
    for each in sorted(found, key=repr):
        whole = each if whole == NEVER else ("or", each, whole)
    return whole


def derivative(pattern: Pattern, label: str, is_back: bool) -> Pattern:
    match pattern:
        case ("label", own, back):
            return EMPTY if (own, back) == (label, is_back) else NEVER
        case ("any",):
            return NEVER if is_back else EMPTY
        case ("cat", p, q):
            first = cat(derivative(p, label, is_back), q)
            return either(first, derivative(q, label, is_back)) if may_be_empty(p) else first
        case ("or", p, q):
            return either(derivative(p, label, is_back), derivative(q, label, is_back))
        case ("star", p):
            return cat(derivative(p, label, is_back), pattern)
        case _:
            return NEVER


def lengths(pattern: Pattern, edges: list[Edge], sources: list[int]) -> dict[int, int]:
    """The vertices at the end of a fitting path, with the least number of edges."""
    now = {(source, plain(pattern)) for source in sources}
    seen = set(now)
    found: dict[int, int] = {}
    steps = 0
    while now:
        for v, rest in now:
            if may_be_empty(rest):
                found.setdefault(v, steps)
        after: set[tuple[int, Pattern]] = set()
        for v, rest in now:
            for s, t, label in edges:
                if s == v:
                    after.add((t, derivative(rest, label, False)))
                if t == v:
                    after.add((s, derivative(rest, label, True)))
        now = {pair for pair in after if pair[1] != NEVER} - seen
        seen |= now
        steps += 1
    return found


def fits(pattern: Pattern, path: list[int], edges: list[Edge]) -> bool:
    """Whether some choice of edges along a path has labels that fit."""
    rests = {plain(pattern)}
    for u, v in pairwise(path):
        forth = {label for s, t, label in edges if (s, t) == (u, v)}
        back = {label for s, t, label in edges if (t, s) == (u, v)}
        moves = {(label, False) for label in forth} | {(label, True) for label in back}
        rests = {derivative(rest, *move) for rest in rests for move in moves}
    return any(may_be_empty(rest) for rest in rests)


vertex = st.integers(0, _VERTICES - 1)
any_vertex = st.integers(0, _VERTICES + _LATER - 1)
label = st.sampled_from(LABELS)
batches = st.lists(st.tuples(st.lists(st.tuples(vertex, vertex, label), max_size=8), st.integers(0, 6)), max_size=4)


def seeded() -> tuple[LiveGraph, list[Edge]]:
    """A graph in which all vertices but the later ones and all labels were seen."""
    live = LiveGraph(label=str)
    edges = [(v, (v + 1) % _VERTICES, LABELS[v % len(LABELS)]) for v in range(_VERTICES)]
    live.apply(insert=edges)
    return live, edges


@dataclass
class Batch:
    insert: list[Edge] = field(default_factory=list)
    delete: list[Edge] = field(default_factory=list)
    update: list[Edge] = field(default_factory=list)
    remove: list[int] = field(default_factory=list)  # vertices, with all edges at them; then there is nothing else

    def apply(self, live: LiveGraph) -> None:
        if self.remove:
            live.remove_vertices(self.remove)
        else:
            live.apply(insert=self.insert, delete=self.delete, update=self.update)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[Batch, list[Edge]]]:
    """Batches, each with the edges that are there after it; of one edge, of a part of the graph, or of all.

    Some remove vertices, but for the first ones, which are sources.
    """
    _, edges = seeded()
    vertices = set(range(_VERTICES))
    history: list[tuple[Batch, list[Edge]]] = []
    for _ in range(draw(st.integers(1, 6))):
        batch = Batch()
        leaving = sorted(vertices - set(range(_SOURCES)))
        if leaving and draw(st.integers(0, 3)) == 0:
            batch.remove = draw(st.lists(st.sampled_from(leaving), min_size=1, unique=True))
            vertices -= set(batch.remove)
            edges = [edge for edge in edges if not {*edge[:2]} & set(batch.remove)]
            history.append((batch, list(edges)))
            continue
        share = draw(st.sampled_from([0, 1, len(edges) // 4, len(edges)]))
        places = st.lists(st.sampled_from(range(len(edges))), max_size=share, unique=True) if edges else st.just([])
        pairs = Counter((u, v) for u, v, _ in edges)
        for at in draw(places):
            u, v, _ = edges[at]
            if pairs[u, v] == 1 and draw(st.booleans()):
                batch.update.append((u, v, draw(label)))
            else:
                batch.delete.append(edges[at])
        batch.insert = draw(st.lists(st.tuples(any_vertex, any_vertex, label), max_size=8))
        for gone in batch.delete:
            edges.remove(gone)
        renewed = {(u, v): each for u, v, each in batch.update}
        edges = [(u, v, renewed.get((u, v), each)) for u, v, each in edges] + batch.insert
        vertices |= {end for u, v, _ in batch.insert for end in (u, v)}
        history.append((batch, list(edges)))
    return history


def traces(query: Query) -> dict[int, list[tuple[int, int]]]:
    """The differences that are kept, by number of the product."""
    assert isinstance(query, KeptQuery)
    found = {n: query.steps.trace(n) for n in range(query.ground.adjacency.vertices)}
    return {n: steps for n, steps in found.items() if steps}


def check(query: Query, pattern: Pattern, edges: list[Edge], sources: list[int], before: dict[int, int]) -> None:
    """Answer, changes and paths are those of the graph as it is."""
    expected = lengths(pattern, edges, sources)
    assert {row["vertex"]: row["length"] for row in query.result().to_pylist()} == expected
    changes = Counter(expected.items())
    changes.subtract(before.items())
    rows = query.changes().to_pylist()
    assert {(row["vertex"], row["length"]): row["diff"] for row in rows} == {k: d for k, d in changes.items() if d}
    for end in range(_VERTICES + _LATER):
        path = query.path(end)
        if end not in expected:
            assert path == []
            continue
        assert path[0] in sources
        assert path[-1] == end
        assert len(path) - 1 == expected[end]
        assert fits(pattern, path, edges)


def within(live: LiveGraph, pattern: str, sources: list[int] | None, dropping: Any) -> Query:
    """A path query under a policy that drops, or within a budget of so many bytes more than it has at first."""
    if not isinstance(dropping, int):
        return live.regular_path(pattern, sources, maintain=dropping)
    whole = live.regular_path(pattern, sources, maintain=Budget("1MB"))
    whole.drop()
    return live.regular_path(pattern, sources, maintain=Budget(whole.nbytes + dropping))


spare = st.sampled_from([0, 20, 60, 200, 10_000])


@given(pattern=patterns, history=histories(), anywhere=st.booleans(), dropping=policies | spare, data=st.data())
def test_a_path_query_is_maintained_under_every_policy(
    pattern: Pattern, history: list[tuple[Batch, list[Edge]]], anywhere: bool, dropping: Any, data: st.DataObject
) -> None:
    live, edges = seeded()
    seen = set(range(_VERTICES))
    given_sources = None if anywhere else data.draw(st.lists(st.integers(0, _SOURCES - 1), max_size=3))
    queries = [
        live.regular_path(written(pattern), given_sources, maintain=policy)
        for policy in (JoinOnDemand(), Scratch(), Vanilla())
    ]
    queries.append(within(live, written(pattern), given_sources, dropping))
    for batch, after in history:
        before = lengths(pattern, edges, sorted(seen) if given_sources is None else given_sources)
        batch.apply(live)
        edges = after
        seen -= set(batch.remove)
        seen |= {end for u, v, _ in batch.insert for end in (u, v)}
        for query in queries:
            check(query, pattern, edges, sorted(seen) if given_sources is None else given_sources, before)
        if isinstance(dropping, int):
            assert isinstance(queries[-1].maintain, Budget)
            assert queries[-1].nbytes <= queries[-1].maintain.bytes
        kept, some = traces(queries[0]), traces(queries[-1])
        for n, steps in some.items():
            assert set(steps) <= set(kept[n])
            assert steps[-1] == kept[n][-1]
    missing = {each for each in LABELS if each in written(pattern)} - {each for _, _, each in edges}
    if not missing:
        late = live.regular_path(written(pattern), given_sources, maintain=JoinOnDemand())
        assert late.changes().num_rows == 0
        assert traces(late) == traces(queries[0])
    for query in queries:
        query.drop()


def ranks(edges: list[Edge], vertices: int, rounds: int, damping: float) -> list[float]:
    out = Counter(u for u, _, _ in edges)
    now = [1.0] * vertices
    for _ in range(rounds):
        offers: list[list[float]] = [[] for _ in range(vertices)]
        for u, v, _ in edges:
            offers[v].append(now[u] / out[u])
        now = [1 - damping + damping * math.fsum(each) for each in offers]
    return now


@given(batches=batches, rounds=st.integers(1, 5), data=st.data())
def test_ranks_are_maintained(batches: list[tuple[list[Edge], int]], rounds: int, data: st.DataObject) -> None:
    live, edges = seeded()
    query = live.pagerank(rounds, 0.8)
    before = {row["vertex"]: row["rank"] for row in query.result().to_pylist()}
    for k, (inserted, gone) in enumerate(batches):
        deleted = data.draw(st.permutations(edges))[:gone]
        new = (k + _VERTICES, 0, "a")  # a vertex that was not there
        live.apply(insert=[*inserted, new], delete=deleted)
        for row in deleted:
            edges.remove(row)
        edges += [*inserted, new]
        answer = {row["vertex"]: row["rank"] for row in query.result().to_pylist()}
        expected = ranks(edges, _VERTICES + k + 1, rounds, 0.8)
        assert answer == dict(enumerate(expected))
        rows = query.changes().to_pylist()
        followed = dict(before)
        for row in sorted(rows, key=lambda row: row["diff"]):
            if row["diff"] < 0:
                assert followed.pop(row["vertex"]) == row["rank"]
            else:
                followed[row["vertex"]] = row["rank"]
        assert followed == answer
        before = answer
