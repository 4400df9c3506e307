"""The parts of the core bench on tiny data: all rows must agree, and wrong answers must be noticed."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

import networkx as nx
import numpy as np
import pytest

from graphtide import bench
from graphtide.bench import Comparison, run_bench
from graphtide.bench.core_counts import CountingPeer, KeyStream, PeerCounts, counts, key_stream
from graphtide.bench.core_epochs import epochs
from graphtide.bench.core_fixpoints import Course, Peer, fixpoints
from graphtide.bench.core_graphs import ChangingGraph, least_labels, levels, power_law_graph, random_graph
from graphtide.bench.core_joins import joins
from graphtide.bench.core_power_law import power_law
from graphtide.bench.core_start import starts
from graphtide.errors import UsageError

GRAPH = random_graph(60, 90, 14, seed=3)


def quiet(_: str) -> None:
    pass


def agreeing(rows: Iterator[Comparison]) -> list[Comparison]:
    found = list(rows)
    assert [row.name for row in found if not row.agree] == []
    assert len({(row.name, row.peer_name) for row in found}) == len(found)
    return found


def recomputed(graph: ChangingGraph, *, of_components: bool, spoiled: bool = False) -> Course:
    edges = graph.edges, graph.edges_at_last
    first, last = (least_labels(each) if of_components else levels(each, graph.root) for each in edges)
    seconds = np.full(len(graph.changes), 0.5)
    return Course(1.0, seconds, first, last[: len(last) - spoiled])


def peer(*, spoiled: bool = False) -> Peer:
    return Peer(
        "numpy",
        lambda graph: recomputed(graph, of_components=True, spoiled=spoiled),
        lambda graph: recomputed(graph, of_components=False),
    )


def test_random_graphs_have_distinct_edges_and_end_as_their_changes_say() -> None:
    edges = {(src, dst) for src, dst in GRAPH.edges.tolist() if src != dst}
    assert len(edges) == 90
    for src, dst, diff in GRAPH.changes.tolist():
        assert ((src, dst) in edges) == (diff < 0)
        edges ^= {(src, dst)}
    assert edges == set(map(tuple, GRAPH.edges_at_last.tolist()))
    assert GRAPH.changes[:, 2].sum() == 0


def test_power_law_graphs_are_seeded_and_uneven() -> None:
    graph = power_law_graph(5_000)
    assert np.array_equal(graph, power_law_graph(5_000))
    assert len(np.unique(graph, axis=0)) == len(graph) > 2_500
    degrees = np.bincount(graph[:, 0])
    assert degrees.max() > 5 * degrees.mean()


def test_answers_by_numpy_are_those_of_networkx() -> None:
    graph = nx.DiGraph(GRAPH.edges.tolist())
    distances = nx.single_source_shortest_path_length(graph, GRAPH.root)
    assert dict(levels(GRAPH.edges, GRAPH.root).tolist()) == dict(distances)
    labels = {node: min(part) for part in nx.weakly_connected_components(graph) for node in part}
    assert dict(least_labels(GRAPH.edges).tolist()) == labels


def test_fixpoints_agree_with_recomputation() -> None:
    agreeing(fixpoints(GRAPH, None, quiet))
    rows = agreeing(fixpoints(GRAPH, peer(), quiet))
    assert [row.bar for row in rows if row.bar] == [40.0, 5.0, 40.0, 5.0]


def test_a_wrong_answer_of_a_peer_is_noticed() -> None:
    rows = list(fixpoints(GRAPH, peer(spoiled=True), quiet))
    assert {row.name for row in rows if not row.agree} == {
        "components: median update",
        "components, plain loop: median update",
    }


@pytest.mark.parametrize(("size", "inserted", "removed"), [(20, 10, 10), (1, 1, 1)])
def test_key_streams_count_as_their_batches_say(size: int, inserted: int, removed: int) -> None:
    stream = key_stream(100, size, 9)
    rows = Counter(range(100))
    assert dict(stream.counts_after(0).tolist()) == rows
    for b, batch in enumerate(stream.batches):
        assert len(batch) == size
        assert len(batch.inserted) in {0, inserted}
        assert len(batch.removed) in {0, removed}
        rows.update(batch.inserted.tolist())
        rows.subtract(batch.removed.tolist())
        assert dict(stream.counts_after(b + 1).tolist()) == +rows


@pytest.mark.parametrize("size", [20, 1])
def test_counts_agree_with_grouping_again(size: int) -> None:
    agreeing(counts(300, size, 12, None, quiet))


def test_counts_of_a_peer_are_asked_for_as_many_batches_as_it_can_bear() -> None:
    given: list[int] = []

    def lie(stream: KeyStream, batches: int) -> PeerCounts:
        given.append(batches)
        assert len(stream.batches) == 12
        return PeerCounts(np.ones(batches), 1.0, is_right=False)

    rows = list(counts(300, 20, 12, CountingPeer("liar", lie, most_batches=5), quiet))
    assert given == [5]
    assert [row.peer_name for row in rows if not row.agree] == ["liar"]


def test_joins_find_what_was_asked_for() -> None:
    rows = agreeing(joins(400, (1, 50), 60, 2, quiet))
    assert [row.unit for row in rows] == ["s"] * 4


def test_epochs_run_together_differ_as_they_do_one_by_one() -> None:
    assert [row.bar for row in agreeing(epochs(40, 31, quiet))] == [20.0, None] * 2


def test_power_law_answers_agree_with_numpy() -> None:
    rows = agreeing(power_law(2_000, quiet))
    assert [row.name.partition(" ")[0] for row in rows] == ["index", "reach", "sssp", "wcc"]


def test_a_fresh_process_gives_the_answer() -> None:
    (row,) = agreeing(starts(quiet, cold=False))
    assert row.peer == 3.0


def test_a_missing_peer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("core", "core_pathway"):
        monkeypatch.delitem(sys.modules, f"graphtide.bench.{module}", raising=False)
        monkeypatch.delattr(bench, module, raising=False)
    monkeypatch.setitem(sys.modules, "pathway", None)
    with pytest.raises(UsageError, match='package "pathway", which is not installed') as caught:
        run_bench("core", quick=True, progress=quiet)
    assert "graphtide[bench]" in str(caught.value.hint)
