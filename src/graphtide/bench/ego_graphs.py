"""The neighbourhoods that ego aggregates are measured on."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphtide import datasets
from graphtide.bench.core_graphs import Ints, power_law_graph
from graphtide.ego import Neighbourhoods

__all__ = ["editors", "editors_of", "of_dataset", "power_law", "recommended", "two_hops"]


def of_dataset(name: str, quick: bool) -> Neighbourhoods:  # noqa: FBT001
    """The vertices that each vertex points to, be it needs, cites or follows them: what they write, it aggregates."""
    return _numbered(datasets.load(name), quick)


def _numbered(table: pa.Table, quick: bool) -> Neighbourhoods:  # noqa: FBT001
    """The edges of a table, or those among the first vertices."""
    ids, numbers = np.unique(
        np.concatenate([table[end].to_numpy(zero_copy_only=False) for end in ("src", "dst")]), return_inverse=True
    )
    source, target = numbers.reshape(2, -1)
    count = len(ids) // 20 if quick else len(ids)
    some = (source < count) & (target < count)
    return Neighbourhoods.from_pairs(target[some], source[some], count, count)


def two_hops(pairs: Neighbourhoods) -> Neighbourhoods:
    """The same with the writers of writers; nobody is its own."""
    readers = np.repeat(np.arange(pairs.readers), np.diff(pairs.starts))
    sizes = np.diff(pairs.starts)[pairs.writers]
    first = np.repeat(pairs.starts[pairs.writers] - np.cumsum(sizes) + sizes, sizes)
    far = pairs.writers[first + np.arange(len(first))]
    writers = np.concatenate([pairs.writers, far])
    readers = np.concatenate([readers, np.repeat(readers, sizes)])
    others = writers != readers
    return Neighbourhoods.from_pairs(writers[others], readers[others], pairs.writer_count, pairs.readers)


def recommended(quick: bool) -> Neighbourhoods:  # noqa: FBT001
    """Packages of Debian read what is two hops away, either way, by recommendations: those with the like ones, too."""
    table = datasets.load("debian")
    pairs = _numbered(table.filter(pc.field("kind") == "recommends"), quick)
    readers = np.repeat(np.arange(pairs.readers), np.diff(pairs.starts))
    ends = np.concatenate([pairs.writers, readers]), np.concatenate([readers, pairs.writers])
    return two_hops(Neighbourhoods.from_pairs(*ends, pairs.writer_count, pairs.readers))


def power_law(edges: int) -> Neighbourhoods:
    """About ten edges to a vertex."""
    table = power_law_graph(edges)
    ids, numbers = np.unique(table, return_inverse=True)
    source, target = numbers.reshape(-1, 2).T
    return Neighbourhoods.from_pairs(source, target, len(ids), len(ids))


def editors(quick: bool) -> Neighbourhoods:  # noqa: FBT001
    """Those who edit Wikipedia read all who edit it in a language in which they do."""
    table = datasets.load("wikipedia-edits")
    return editors_of(table.slice(0, table.num_rows // 20) if quick else table)[0]


def editors_of(edits: pa.Table) -> tuple[Neighbourhoods, Ints]:
    """The neighbourhoods of users who edit in the same languages, and the number of the user of each edit."""
    users, who = np.unique(edits["src"].to_numpy(zero_copy_only=False).astype(str), return_inverse=True)
    _, languages = np.unique(edits["language"].to_numpy(zero_copy_only=False).astype(str), return_inverse=True)
    members = np.unique(np.column_stack([languages, who]), axis=0)
    groups = np.split(members[:, 1], np.flatnonzero(np.diff(members[:, 0])) + 1)
    writers = np.concatenate([np.tile(some, len(some)) for some in groups])
    readers = np.concatenate([np.repeat(some, len(some)) for some in groups])
    return Neighbourhoods.from_pairs(writers, readers, len(users), len(users)), who
