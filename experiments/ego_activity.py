"""Who did what when, as it was recorded: operations on ego aggregates in the order in which people acted."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide import datasets
from graphtide.bench.ego_graphs import editors_of
from graphtide.ego import Neighbourhoods

EPA: Final = "epa-http-partial/epa-http-first12h.log.gz"
_REQUEST: Final = re.compile(r'(\S+) \[\d+:(\d+):(\d+):(\d+)\] "(?:[A-Z]+ )?(\S+)')


@dataclass(frozen=True, eq=False)
class Activity:
    """Events in the order of time: who acts, when (in seconds), what it is about, and how much it is."""

    asked: Neighbourhoods
    who: NDArray[np.int64]
    when: NDArray[np.int64]
    topics: NDArray[np.int64]
    amounts: NDArray[np.int64]


def mentions(events: int | None = None) -> Activity:
    """Twitter in the week of the Higgs boson: who retweets, mentions or answers someone, which it is about.

    A vertex reads those that it ever refers to.
    """
    table = datasets.load("higgs-twitter").slice(0, events)
    ids, numbers = np.unique(np.concatenate([table[end].to_numpy() for end in ("src", "dst")]), return_inverse=True)
    who, about = numbers.reshape(2, -1)
    asked = Neighbourhoods.from_pairs(about, who, len(ids), len(ids))
    return Activity(asked, who, _seconds(table), about, np.ones(len(who), np.int64))


def edits(events: int | None = None) -> Activity:
    """A day of Wikipedia: who edits which page, and by how many bytes.

    A vertex reads all who edit in a language in which it edits.
    """
    table = datasets.load("wikipedia-edits").slice(0, events)
    asked, who = editors_of(table)
    _, topics = _numbered(table["dst"].to_pylist())
    return Activity(asked, who, _seconds(table), topics, table["bytes"].to_numpy())


def requests(file: Path, asked: Neighbourhoods, events: int | None = None) -> Activity:
    """Requests for pages of the EPA, as the paper takes them: what a host asks for is dealt out to some vertices.

    Each vertex belongs to a host, drawn at random; a request of a host is by one of its vertices.
    """
    rng = np.random.default_rng(1)
    with gzip.open(file, "rt", errors="replace") as stream:
        found = [match.groups() for match in map(_REQUEST.match, stream) if match][:events]
    hosts, host = _numbered([each[0] for each in found])
    _, topics = _numbered([each[4] for each in found])
    when = np.array([3600 * int(each[1]) + 60 * int(each[2]) + int(each[3]) for each in found])
    dealt = np.argsort(rng.permutation(np.arange(asked.writer_count) % hosts), kind="stable")
    sizes = np.bincount(np.arange(asked.writer_count) % hosts, minlength=hosts)
    first = np.cumsum(sizes) - sizes
    who = dealt[first[host] + (rng.random(len(host)) * sizes[host]).astype(np.int64)]
    return Activity(asked, who, when, topics, np.ones(len(who), np.int64))


def _seconds(table: pa.Table) -> NDArray[np.int64]:
    """The times of a table's rows, which are sorted by them."""
    return table["time"].cast(pa.timestamp("s", "UTC"), safe=False).cast(pa.int64()).to_numpy()


def _numbered(names: list[str]) -> tuple[int, NDArray[np.int64]]:
    """How many different ones there are, and the number of each."""
    different, numbers = np.unique(np.array(names, object).astype(str), return_inverse=True)
    return len(different), numbers.astype(np.int64)
