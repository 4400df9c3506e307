"""K-hop neighbourhoods and shortest paths through batches of changes."""

from __future__ import annotations

import graphtide as gt

HOPS = "0-10 10-11 11-12 12-13 13-12 10-13 10-14 13-14 12-15 15-16 16-17 10-20 20-30 30-40 40-50 50-60 60-70 70-11"
ROADS = (
    "10-20:20 20-30:5 30-40:10 10-40:520 40-50:10 50-60:1 60-70:1 70-80:1 80-90:1 90-100:1 20-40:50 10-30:500 30-50:30"
)


def edges(text: str) -> list[tuple[int, ...]]:
    return [tuple(map(int, edge.replace(":", "-").split("-"))) for edge in text.split()]


def test_neighbourhoods_of_one_to_seven_hops() -> None:
    live = gt.LiveGraph()
    live.apply(insert=edges(HOPS))
    queries = [live.k_hop(0, k) for k in range(1, 8)]

    def sizes() -> list[int]:
        return [query.result().num_rows for query in queries]

    assert sizes() == [2, 6, 8, 10, 12, 14, 15]
    live.apply(delete=[(0, 10)])
    assert sizes() == [1] * 7
    live.apply(delete=[(10, 13)], insert=[(0, 10)])
    assert sizes() == [2, 5, 7, 10, 12, 14, 15]
    live.apply(delete=[(10, 11)])
    assert sizes() == [2, 4, 5, 6, 7, 8, 9]


def test_a_shortest_path_through_four_batches() -> None:
    live = gt.LiveGraph(length=int)
    live.apply(insert=edges(ROADS))
    query = live.shortest_path(10, 70, weight="length")
    assert query.result().to_pylist() == [{"vertex": 70, "distance": 47}]
    assert query.path() == [10, 20, 30, 40, 50, 60, 70]
    live.apply(delete=[(60, 70)])
    assert query.result().to_pylist() == []
    assert query.path() == []
    assert query.changes().to_pylist() == [{"vertex": 70, "distance": 47, "diff": -1}]
    live.apply(insert=[(60, 70, 1)], update=[(10, 30, 10)])
    assert query.result().to_pylist() == [{"vertex": 70, "distance": 32}]
    live.apply(update=[(50, 60, 10)])
    assert query.result().to_pylist() == [{"vertex": 70, "distance": 41}]
