"""The order of 252 views that each leave out five of the ten largest communities: what it saves, and what it takes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pyarrow as pa

from graphtide import datasets
from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.core_graphs import Ints
from graphtide.bench.ordering_views import comparisons, masks_without_communities, ordered
from graphtide.pipeline.progress import SilentProgress
from graphtide.pipeline.session import Session
from graphtide.views.stored import StoredCollection

__all__ = ["run"]

# Of com-DBLP's size; sizes of communities follow a power law. In the graphs that Graphsurge was measured on a few
# communities are far larger than the others, which is what an order can make use of: they are taken away once. Where
# all are alike the bound on any order says how little there is to gain.
_NODES = 317_000
_QUICK_NODES = 4_000
_LARGEST = 10
_REMOVED = 5
_QUICK_REMOVED = 2
_SHARE_BAR = 10.0


def run(quick: bool, progress: Progress) -> Iterator[Comparison]:  # noqa: FBT001
    """The order against others, and the time to find it against that of materialising the views in Spark."""
    size = _QUICK_NODES if quick else _NODES
    alike = datasets.communities(size, mean_degree=6.6, seed=1)
    unlike = datasets.communities(size, mean_degree=6.6, seed=1, size_exponent=1.5, largest_community=size // 4)
    removed, repeats = (_QUICK_REMOVED, 1) if quick else (_REMOVED, 5)
    yield from _order("communities alike", alike, removed, repeats, progress)
    yield from _order("communities of all sizes", unlike, removed, repeats, progress)


def _order(
    what: str, graph: tuple[pa.Table, pa.Table], removed: int, repeats: int, progress: Progress
) -> Iterator[Comparison]:
    nodes, edges = graph
    community = nodes.column("community").to_numpy()
    src, dst = (edges.column(name).to_numpy() for name in ("src", "dst"))
    places = np.argsort(nodes.column("id").to_numpy(), kind="stable")
    assert np.array_equal(places, np.arange(len(places))), "nodes are numbered from 0 on"
    progress(f"{what}: order")
    words, views = masks_without_communities(src, dst, community, largest=_LARGEST, removed=removed)
    found = ordered(words, views, repeats=repeats)
    yield from comparisons(what, found)
    progress(f"{what}: materialising in Spark")
    with tempfile.TemporaryDirectory() as home, Session(home, master="local[2]", progress=SilentProgress()) as session:
        session.load_graph("Graph", edges=edges, nodes=nodes)
        seconds, collection = _materialised(session, _conditions(community, removed))
    yield Comparison(
        f"order of {views} views, {what}: finding it",
        found.finding_seconds,
        seconds - found.finding_seconds,
        "the rest of creating the view collection",
        "s",
        agree=collection.costs["chain"] == found.order.differences and list(collection.sizes) == _sizes(words, views),
        bar=_SHARE_BAR,
        note="sizes of all views, and the differences of the order, compared with those of the masks",
    )


def _materialised(session: Session, conditions: dict[str, str]) -> tuple[float, StoredCollection]:
    """Seconds for a view collection, with Spark warm."""
    name, condition = next(iter(conditions.items()))
    session.create_view_collection("warm", on="Graph", views={name: condition})
    clock = time.perf_counter()
    made = session.create_view_collection("perturbed", on="Graph", views=conditions)
    return time.perf_counter() - clock, made


def _conditions(community: Ints, removed: int) -> dict[str, str]:
    """A view for each choice of communities, in the order of `masks_without_communities`."""
    names, sizes = np.unique(community[community >= 0], return_counts=True)
    chosen = names[np.argsort(-sizes, kind="stable")[:_LARGEST]].tolist()
    conditions: dict[str, str] = {}
    for choice in combinations(chosen, removed):
        listed = ", ".join(map(str, choice))
        conditions["without_" + "_".join(map(str, choice))] = (
            f"not src.community in ({listed}) and not dst.community in ({listed})"
        )
    return conditions


def _sizes(words: np.ndarray[tuple[int, int], np.dtype[np.uint64]], views: int) -> list[int]:
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    return bits[:, :views].sum(axis=0, dtype=np.int64).tolist()
