"""Graphs for the experiments with continuous queries: shipped ones, ones that are read from a folder, and a random one.

A graph has distinct edges without loops, in random order, and a weight or a label on each. The first nine tenths of
them are there from the beginning; the rest come later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

import graphtide as gt
from graphtide import datasets

LOADED: Final = 0.9
SKITTER: Final = 21  # the scale at which the random graph has Skitter's size
# An edge that comes or goes: its ends and its weight or label.
Row = tuple[int, int, int | float | str]


@dataclass(frozen=True)
class Evolving:
    """Edges in the order in which they come; the first `loaded` are there from the beginning."""

    name: str
    edges: pa.Table  # src, dst, and weight or label
    loaded: int
    given: tuple[tuple[bool, Row], ...] = ()  # changes that come with the graph: whether it is a deletion, and what

    @property
    def column(self) -> str:
        """What edges have."""
        return self.edges.column_names[2]

    @property
    def vertices(self) -> int:
        """How many ends there are."""
        return len(np.unique(self.ends))

    @property
    def ends(self) -> NDArray[np.int64]:
        """Rows (source, target)."""
        return np.column_stack([self.edges[name].to_numpy() for name in ("src", "dst")])

    def live(self) -> gt.LiveGraph:
        """The graph as it is at the beginning."""
        types = {pa.int64(): int, pa.float64(): float}
        live = gt.LiveGraph(**{self.column: types.get(self.edges.schema.field(2).type, str)})
        live.apply(insert=self.edges.slice(0, self.loaded))
        return live

    def rows(self, places: NDArray[np.int64]) -> list[Row]:
        """Some of the edges."""
        table = self.edges.take(places)
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def changes(self, count: int, share: float) -> list[tuple[bool, Row]]:
        """Changes of one edge each, a share of them deletions, with no edge twice: whether it is one, and what."""
        if self.given:
            return list(self.given[:count])
        rng = np.random.default_rng(round(100 * share))
        coming = self.rows(np.arange(self.loaded, min(self.loaded + count, len(self.edges))))
        leaving = self.rows(rng.permutation(self.loaded)[: len(coming)])
        deletes = np.arange(len(coming)) < round(share * len(coming))
        return [
            (deletion, leaving[k] if deletion else coming[k])
            for k, deletion in enumerate(rng.permutation(deletes).tolist())
        ]

    def starts(self, count: int, label: str | None = None) -> NDArray[np.int64]:
        """Vertices that edges lead away from, with a label if there is one, drawn at random; the same in every run."""
        edges = self.edges.slice(0, self.loaded)
        if label is not None:
            edges = edges.filter(pc.field("label") == label)
        return np.random.default_rng(2022).choice(np.unique(edges["src"].to_numpy()), count)

    def targets(self, count: int) -> NDArray[np.int64]:
        """Vertices that edges lead to, drawn at random."""
        return np.random.default_rng(2208).choice(np.unique(self.edges["dst"].to_numpy()), count)


def evolving(name: str, data: Path | None = None) -> Evolving | None:
    """A graph by its name; None if it has to be read from a folder and that is not given."""
    if name in _BY_PATH and data is None:
        print(f"{name}: left out, since it does not come with the package; see the README for --data")
        return None
    graph = _BY_PATH[name](data / name) if name in _BY_PATH and data is not None else _SHIPPED[name]()
    return graph if isinstance(graph, Evolving) else shuffled(name, graph)


def shuffled(name: str, edges: pa.Table) -> Evolving:
    """The distinct edges in random order, without loops, with random weights from 1 to 10 if they have nothing."""
    rng = np.random.default_rng(1)
    src, dst = (edges[end].to_numpy() for end in ("src", "dst"))
    keys = [src, dst]
    if "label" in edges.column_names:
        keys.append(edges["label"].combine_chunks().dictionary_encode().indices.to_numpy())
    order = np.lexsort(keys[::-1])
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    places = rng.permutation(order[is_new & (src != dst)[order]])
    edges = edges.take(places)
    if edges.num_columns == 2:
        edges = edges.append_column("weight", pa.array(rng.integers(1, 11, len(edges))))
    return Evolving(name, edges, int(LOADED * len(edges)))


def _both_ways(edges: pa.Table) -> pa.Table:
    ends = [edges["src"].to_numpy(), edges["dst"].to_numpy()]
    return pa.table({"src": np.concatenate(ends), "dst": np.concatenate(ends[::-1])})


def _roads() -> pa.Table:
    return datasets.load("road-malta-osm").select(["src", "dst", "length"]).rename_columns(["src", "dst", "weight"])


def _words() -> pa.Table:
    return datasets.load("wordnet30").select(["src", "dst", "relation"]).rename_columns(["src", "dst", "label"])


def _events() -> pa.Table:
    events = datasets.load("icews14")
    names = pa.concat_arrays([*events["src"].chunks, *events["dst"].chunks]).dictionary_encode().indices
    numbers = names.cast(pa.int64())
    count = len(events)
    return pa.table({"src": numbers[:count], "dst": numbers[count:], "label": events["event"]})


def _messages() -> pa.Table:
    return datasets.load("CollegeMsg").select(["src", "dst"])


def _random(scale: int) -> pa.Table:
    """R-MAT, less skewed than Graph500's so that most vertices have an edge, as Skitter's have."""
    return datasets.rmat(scale=scale, edge_factor=5, seed=1, a=0.45, b=0.22, c=0.22)


def _read(file: Path, separator: str, names: list[str] | None = None) -> pa.Table:
    with pa.input_stream(str(file), compression="detect") as stream:
        return csv.read_csv(
            stream,
            read_options=csv.ReadOptions(column_names=names),
            parse_options=csv.ParseOptions(delimiter=separator, quote_char=False),
        )


def _one(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise SystemExit(f"there is no {pattern} in {folder}; the README says what is expected there")
    return found[0]


def _followers(folder: Path) -> pa.Table:
    file = _one(folder, "*.txt*")
    with pa.input_stream(str(file), compression="detect") as stream:
        separator = "\t" if b"\t" in stream.read(200) else " "
    return _read(file, separator, ["src", "dst"])


# The relations that path queries speak of, and whether their ends are persons or messages.
_SOCIAL: Final = {
    "person_knows_person": ("knows", 0, 0),
    "person_likes_post": ("likes", 0, 1),
    "person_likes_comment": ("likes", 0, 1),
    "comment_replyOf_post": ("replyOf", 1, 1),
    "comment_replyOf_comment": ("replyOf", 1, 1),
    "post_hasCreator_person": ("hasCreator", 1, 0),
    "comment_hasCreator_person": ("hasCreator", 1, 0),
}


def _social(folder: Path, only: str | None = None) -> pa.Table:
    parts: list[pa.Table] = []
    for stem, (label, *kinds) in _SOCIAL.items():
        if only not in {None, label}:
            continue
        table = _read(_one(folder, f"{stem}*.csv*"), "|")
        # Persons and messages are numbered each for themselves.
        src, dst = (2 * table.column(end).to_numpy() + kind for end, kind in enumerate(kinds))
        if label == "knows":
            src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
        parts.append(pa.table({"src": src, "dst": dst, "label": pa.repeat(label, len(src))}))
    return pa.concat_tables(parts)


def _acquaintances(folder: Path) -> pa.Table:
    return _social(folder.with_name("ldbc-snb-sf0.1"), "knows").select(["src", "dst"])


def _kernel(folder: Path) -> Evolving:
    """One release whole, and the next ones as changes, those of each in random order."""
    rng = np.random.default_rng(1)
    edges = _read(_one(folder, "edges-*.tsv*"), "\t").select(["src", "dst", "kind"])
    changes: list[tuple[bool, Row]] = []
    for file in sorted(folder.glob("delta-to-*.tsv*")):
        delta = _read(file, "\t")
        delta = delta.take(rng.permutation(len(delta)))
        changes += [(op == "-", tuple(row)) for op, *row in zip(*delta.to_pydict().values(), strict=True)]
    whole = edges.rename_columns(["src", "dst", "label"])
    return Evolving("linux-kernel-callgraph", whole, len(whole), tuple(changes))


_SHIPPED: Final[dict[str, Callable[[], pa.Table | Evolving]]] = {
    "road-malta-osm": _roads,
    "as-caida": lambda: _both_ways(datasets.load("as-caida")),
    "soc-Slashdot0902": partial(datasets.load, "soc-Slashdot0902"),
    "wordnet30": _words,
    "icews14": _events,
    "CollegeMsg": _messages,
    "rmat": partial(_random, SKITTER),
    "rmat-eighth": partial(_random, SKITTER - 3),
    "rmat-small": partial(_random, 10),
}
_BY_PATH: Final[dict[str, Callable[[Path], pa.Table | Evolving]]] = {
    "ego-Twitter": _followers,
    "ldbc-snb-sf0.1": _social,
    "ldbc-knows": _acquaintances,
    "linux-kernel-callgraph": _kernel,
}
