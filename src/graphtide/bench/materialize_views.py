"""Edges with properties, and views of them, as the bench of materialisation takes them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.graph.schema import DST, EDGE, SRC, GraphSchema, Property, PropertyType
from graphtide.graph.source import Source
from graphtide.graph.stored import StoredGraph
from graphtide.gvdl.predicate import And, Comparison, EdgeProperty, Literal, Predicate

__all__ = ["AMOUNT", "AT", "KIND", "EdgeView", "stored_graph", "views_of_time"]

AT: Final = EdgeProperty("at", PropertyType.TIMESTAMP)
AMOUNT: Final = EdgeProperty("amount", PropertyType.INT)
KIND: Final = EdgeProperty("kind", PropertyType.STRING)

_KINDS: Final = ("call", "chat", "mail", "post")
_LARGEST_AMOUNT: Final = 1000
_FIRST: Final = datetime(2010, 1, 1, tzinfo=UTC)
_LENGTH: Final = timedelta(days=3652)
_MICROSECOND: Final = timedelta(microseconds=1)
_FILES: Final = 2
_ROW_GROUP: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class EdgeView:
    """Edges of a span of time with at least an amount, of one kind or of all."""

    start: datetime
    end: datetime
    least: int
    kind: str | None

    def predicate(self) -> Predicate:
        """The view as a statement of GVDL would bind it."""
        terms = [
            Comparison(">=", AT, Literal(self.start, AT.type)),
            Comparison("<", AT, Literal(self.end, AT.type)),
            Comparison(">=", AMOUNT, Literal(self.least, AMOUNT.type)),
        ]
        if self.kind is not None:
            terms.append(Comparison("=", KIND, Literal(self.kind, KIND.type)))
        return And(tuple(terms))


def views_of_time(count: int, seed: int) -> list[EdgeView]:
    """Growing and sliding spans in turn, cut by amount, every fifth of one kind; another seed moves their bounds."""
    rng = np.random.default_rng(seed)
    views: list[EdgeView] = []
    for j in range(count):
        end = _FIRST + _LENGTH * float((j + 1 + rng.random()) / (count + 1))
        start = _FIRST if j % 2 == 0 else end - _LENGTH / 8
        least = int(rng.integers(0, _LARGEST_AMOUNT // 4)) if j % 3 == 0 else 0
        views.append(EdgeView(start, end, least, _KINDS[j % len(_KINDS)] if j % 5 == 0 else None))
    return views


def stored_graph(folder: Path, count: int) -> StoredGraph:
    """Random edges as the store keeps them: by number, in a few files, in row groups that tasks can share."""
    rng = np.random.default_rng(1)
    vertices = count // 10 + 1
    moments = int(_FIRST.timestamp()) * 1_000_000 + rng.integers(0, _LENGTH // _MICROSECOND, count)
    table = pa.table(
        {
            EDGE: np.arange(count),
            SRC: rng.integers(0, vertices, count),
            DST: rng.integers(0, vertices, count),
            AT.name: pa.array(moments).cast(AT.type.arrow),
            AMOUNT.name: rng.integers(0, _LARGEST_AMOUNT, count),
            KIND.name: pa.array(_KINDS).take(pa.array(rng.integers(0, len(_KINDS), count))),
        }
    )
    properties = tuple(Property(each.name, each.type) for each in (AT, AMOUNT, KIND))
    schema = GraphSchema(PropertyType.INT, (), properties)
    graph = StoredGraph("Bench", folder, schema, vertices, count, 0, Source(("seed 1",)))
    graph.edges_folder.mkdir(parents=True)
    bounds = np.linspace(0, count, _FILES + 1, dtype=int).tolist()
    for number, (begin, end) in enumerate(pairwise(bounds)):
        file = graph.edges_folder / f"part-{number:05d}.parquet"
        pq.write_table(table.slice(begin, end - begin), file, row_group_size=_ROW_GROUP, compression="zstd")
    return graph
