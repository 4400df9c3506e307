"""Regular path queries equal an evaluation by derivatives of the pattern; PageRank equals its definition."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide.frontier import LiveGraph

_VERTICES = 6
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


vertex = st.integers(0, _VERTICES - 1)
batches = st.lists(
    st.tuples(st.lists(st.tuples(vertex, vertex, st.sampled_from(LABELS)), max_size=8), st.integers(0, 6)), max_size=4
)


def seeded() -> tuple[LiveGraph, list[Edge]]:
    """A graph in which all vertices and labels were seen."""
    live = LiveGraph(label=str)
    edges = [(v, (v + 1) % _VERTICES, LABELS[v % len(LABELS)]) for v in range(_VERTICES)]
    live.apply(insert=edges)
    return live, edges


@given(pattern=patterns, batches=batches, anywhere=st.booleans(), data=st.data())
def test_a_path_query_is_maintained(
    pattern: Pattern, batches: list[tuple[list[Edge], int]], anywhere: bool, data: st.DataObject
) -> None:
    live, edges = seeded()
    sources = list(range(_VERTICES)) if anywhere else [0, 3]
    query = live.regular_path(written(pattern), None if anywhere else sources)
    before = lengths(pattern, edges, sources)
    for inserted, gone in batches:
        deleted = data.draw(st.permutations(edges))[:gone]
        relabelled = [(u, v, "c") for u, v, _ in edges if (u, v) not in {(s, t) for s, t, _ in deleted}]
        pairs = Counter((u, v) for u, v, _ in edges)
        relabelled = [row for row in relabelled if pairs[row[:2]] == 1][:1]
        live.apply(insert=inserted, delete=deleted, update=relabelled)
        for row in deleted:
            edges.remove(row)
        edges = [(u, v, next((w for s, t, w in relabelled if (s, t) == (u, v)), label)) for u, v, label in edges]
        edges += inserted
        expected = lengths(pattern, edges, sources)
        assert {row["vertex"]: row["length"] for row in query.result().to_pylist()} == expected
        changes = Counter(expected.items())
        changes.subtract(before.items())
        rows = query.changes().to_pylist()
        assert {(row["vertex"], row["length"]): row["diff"] for row in rows} == {k: d for k, d in changes.items() if d}
        before = expected


def ranks(edges: list[Edge], vertices: int, rounds: int, damping: float) -> list[float]:
    out = Counter(u for u, _, _ in edges)
    now = [1.0] * vertices
    for _ in range(rounds):
        then = [1 - damping] * vertices
        for u, v, _ in edges:
            then[v] += damping * now[u] / out[u]
        now = then
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
        assert answer == pytest.approx(dict(enumerate(expected)), rel=1e-12)
        rows = query.changes().to_pylist()
        followed = dict(before)
        for row in sorted(rows, key=lambda row: row["diff"]):
            if row["diff"] < 0:
                assert followed.pop(row["vertex"]) == row["rank"]
            else:
                followed[row["vertex"]] = row["rank"]
        assert followed == answer
        before = answer
