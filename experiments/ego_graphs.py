"""Neighbourhoods that overlays are made of in experiments, and how often their nodes write and are read."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as tables

from graphtide import datasets
from graphtide.bench.ego_graphs import recommended
from graphtide.ego import Neighbourhoods

COLOURS: Final = {
    "FixedMining": "#8c8c8c",
    "AdaptiveMining": "#4c72b0",
    "NegativeMining": "#c44e52",
    "OverlappingMining": "#55a868",
    "Incremental": "#dd8452",
}
# What the paper calls them.
PAPER_NAMES: Final = {
    "FixedMining": "VNM",
    "AdaptiveMining": "VNM_A",
    "NegativeMining": "VNM_N",
    "OverlappingMining": "VNM_D",
    "Incremental": "IOB",
}
RECOMMENDED: Final = "debian's recommendations, two hops either way"
SHIPPED: Final = ("ego-Twitter", "soc-Slashdot0902", "debian", "debian, two hops", "copying model")
# Graphs that do not come with the package: their files, whether these begin with the names of columns.
BY_PATH: Final = {
    "linux-kernel-callgraph": ("edges-6.1.170.tsv.gz", True),
    "moby-thesaurus": ("edges.tsv.zst", False),
}


def neighbourhoods(name: str, folder: Path | None = None) -> Neighbourhoods | None:
    """The neighbourhoods of a graph; none if it does not come with the package and is not in the folder.

    On Twitter and Slashdot a vertex reads those that it follows or tagged, in Debian a package what it refers to
    (with two hops, also what these refer to; by recommendations, those with the like ones, too), in the kernel a
    function what it uses, in the thesaurus a word its synonyms, and in the copying model of the web a page what it
    links to.
    """
    if name == "copying model":
        edges = datasets.copying_model(200_000, out_degree=10, copy_probability=0.95, seed=1)
        return _numbered(edges["dst"].to_numpy(), edges["src"].to_numpy())
    if name == RECOMMENDED:
        return recommended(quick=False)
    if name in BY_PATH:
        file, has_names = BY_PATH[name]
        file = folder / name / file if folder else None
        if file is None or not file.exists():
            return None
        rows = 1 if has_names else 0
        how = tables.ReadOptions(autogenerate_column_names=True, skip_rows=rows), tables.ParseOptions(delimiter="\t")
        with pa.input_stream(str(file), compression="detect") as stream:
            ends = tables.read_csv(stream, *how)
        return _numbered(ends[1].to_numpy(), ends[0].to_numpy())
    edges = datasets.load(name.partition(",")[0])
    found = _numbered(edges["dst"].to_numpy(), edges["src"].to_numpy())
    return two_hops(found) if name.endswith("two hops") else found


def _numbered(writers: NDArray[Any], readers: NDArray[Any]) -> Neighbourhoods:
    ids, numbers = np.unique(np.concatenate((writers, readers)), return_inverse=True)
    return Neighbourhoods.from_pairs(numbers[: len(writers)], numbers[len(writers) :], len(ids), len(ids))


def two_hops(near: Neighbourhoods) -> Neighbourhoods:
    """The writers of each reader, and the writers of these."""
    readers = np.repeat(np.arange(near.readers), np.diff(near.starts))
    sizes = np.diff(near.starts)[near.writers]
    first = near.starts[near.writers]
    places = np.repeat(first - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    far_readers, far_writers = np.repeat(readers, sizes), near.writers[places]
    writers = np.concatenate((near.writers, far_writers))
    return Neighbourhoods.from_pairs(writers, np.concatenate((readers, far_readers)), near.writer_count, near.readers)


def zipf(count: int, seed: int, exponent: float = 1.0) -> NDArray[np.float64]:
    """How often each of so many does something: 1 on average, by Zipf's law, in random order."""
    often = np.arange(1, count + 1) ** -exponent
    return np.random.default_rng(seed).permutation(often * (count / often.sum()))


def write(file: Path, rows: Sequence[Any]) -> None:
    """Record rows, dataclasses of one type."""
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(asdict(rows[0])), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _short(value) for name, value in asdict(row).items()} for row in rows)


def _short(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
