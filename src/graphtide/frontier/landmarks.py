"""Landmarks: a few vertices whose distances from and to all others are kept, so that they bound every other distance.

They are ordinary queries of a weight's family, two for each landmark, which come and go together: a bound is only as
true as all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.errors import CatalogueError, UsageError
from graphtide.frontier.admission import range_of
from graphtide.frontier.arguments import check_count, ids_of
from graphtide.frontier.query import ProgramQuery, Query
from graphtide.frontier.steps import no_state
from graphtide.rows.codes import Codes

if TYPE_CHECKING:
    from graphtide.frontier.edges import Edges
    from graphtide.frontier.family import StateChanges
    from graphtide.frontier.live import LiveGraph
    from graphtide.frontier.pairs import Pairs

__all__ = ["GREATEST_WEIGHT", "Landmarks", "known_vertices", "most_connected", "weights_taken"]

# So much times all edges of a graph is still a float: a distance that is infinite means that there is no path.
GREATEST_WEIGHT: Final = 1e290
_WAYS: Final = ("from", "to")


class Landmarks(Query):
    """An index of distances on one weight, maintained with every batch."""

    kind = "landmarks"

    def __init__(
        self, live: LiveGraph, edges: Edges, name: str, pairs: Pairs, *, at: list[int], parts: list[ProgramQuery]
    ) -> None:
        super().__init__(live, edges, name, "distance")
        self.pairs = pairs
        self.maintain = parts[0].maintain
        self.parts = parts  # from the first landmark, to it, from the second ...
        self._at = at

    def __repr__(self) -> str:
        state = "dropped" if self._live is None else str(self.report)
        on = "" if self.weight is None else f" on {self.weight}"
        return f"<Landmarks {self.name}: {len(self._at)}{on}, {state}>"

    @property
    def weight(self) -> str | None:
        """The property of edges that distances add up; None for numbers of edges."""
        return self.pairs.weight

    @property
    def at(self) -> list[Any]:
        """The landmarks' ids."""
        return self._edges.ids_of(np.array(self._at, np.int64)).to_pylist()

    @property
    def differences(self) -> int:
        """How many differences all of their queries keep."""
        return sum(part.differences for part in self.parts)

    @property
    def nbytes(self) -> int:
        """Bytes of these queries, and of the table of distances."""
        return sum(part.nbytes for part in self.parts) + self.pairs.near.nbytes

    @property
    def dropped(self) -> int:
        """Of all of them."""
        return sum(part.dropped for part in self.parts)

    @property
    def recomputed(self) -> int:
        """Of all of them."""
        return sum(part.recomputed for part in self.parts)

    @property
    def spurious(self) -> int:
        """Of all of them."""
        return sum(part.spurious for part in self.parts)

    def bounds(self, source: Any, target: Any) -> tuple[Any, Any]:
        """What the distance of a pair is at least and at most, without a search; None stands for no path.

        A pair with no path may have finite bounds below and none above.
        """
        self._check_alive()
        numbers = [self._edges.known(vertex) for vertex in (source, target)]
        for number, vertex in zip(numbers, (source, target), strict=True):
            if number is None:
                raise CatalogueError(
                    f"there is no vertex {vertex!r}", hint="a vertex is there once an edge was seen at it"
                )
        found = self.pairs.bounds(*[number for number in numbers if number is not None])
        nothing = no_state(self.pairs.dtype)
        least, most = (None if bound == nothing else bound for bound in found)
        return least, most

    def result(self) -> pa.Table:
        """The distance from every landmark to every vertex that it reaches, and to it from all that reach it."""
        self._check_alive()
        return pa.concat_tables(self._told(place, part.result()) for place, part in enumerate(self.parts))

    def changes(self) -> pa.Table:
        """What the last batch changed: distances that went (diff -1) and distances that came (diff 1)."""
        self._check_alive()
        return pa.concat_tables(self._told(place, part.changes()) for place, part in enumerate(self.parts))

    def to_networkx(self) -> Any:
        """The live graph as a NetworkX MultiDiGraph, with attributes of vertices such as "distance from 17"."""
        self._check_alive()
        assert self._live is not None, "an index that is there has its graph"
        graph = self._live.to_networkx()
        for row in self.result().to_pylist():
            graph.nodes[row["vertex"]][f"distance {row['way']} {row['landmark']}"] = row["distance"]
        return graph

    def ends(self) -> Codes:
        """The landmarks."""
        return np.array(self._at, np.int64)

    def _told(self, place: int, table: pa.Table) -> pa.Table:
        """Distances with the landmark and the way that they are of."""
        rows = table.num_rows
        landmark = self._edges.ids_of(np.full(rows, self._at[place // 2], np.int64))
        way = pa.array([_WAYS[place % 2]] * rows, pa.string())
        return table.add_column(0, "landmark", landmark).add_column(1, "way", way)

    def _states(self) -> NDArray[Any]:
        return self.pairs.near[: self._edges.adjacency.vertices]

    def _state_changes(self) -> StateChanges:
        vertices, before, after = zip(*(part.changes_by_number() for part in self.parts), strict=True)
        return np.concatenate(vertices), np.concatenate(before), np.concatenate(after)


def most_connected(edges: Edges, count: int) -> list[int]:
    """The vertices with the most edges; of equal ones those that came first."""
    vertices = edges.vertices
    check_count(count, "count")
    if count < 1 or vertices == 0:
        raise UsageError(
            f"{vertices:,} vertices have no {count} landmarks", hint="one landmark or more, once there are edges"
        )
    there = np.flatnonzero(edges.are_there())
    degrees = edges.adjacency.lists.size[: 2 * edges.adjacency.vertices].reshape(-1, 2).sum(axis=1)[there]
    return there[np.argsort(-degrees, kind="stable")[:count]].tolist()


def known_vertices(edges: Edges, ids: Iterable[Any]) -> list[int]:
    """The numbers of vertices that must be there, each once."""
    found: list[int] = []
    for vertex in dict.fromkeys(ids_of(ids, "at")):
        number = edges.known(vertex)
        if number is None:
            raise CatalogueError(f"there is no vertex {vertex!r} to be a landmark", hint="add_vertices adds some")
        found.append(number)
    if not found:
        raise UsageError("no vertices are given to be landmarks", hint="give one or more, or leave out at=")
    return found


def weights_taken(edges: Edges, queries: Iterable[Query]) -> dict[str, tuple[float, float]]:
    """By weight: the least and the greatest that all queries on it take, landmarks among them."""
    limits: dict[str, tuple[float, float]] = {}
    for query in queries:
        part, most = (query.parts[0], GREATEST_WEIGHT) if isinstance(query, Landmarks) else (query, np.inf)
        if isinstance(part, ProgramQuery) and part.program.weight is not None:
            weight = part.program.weight
            least, greatest = range_of(edges, part.program)
            lower, upper = limits.get(weight, (least, greatest))
            limits[weight] = max(least, lower), min(greatest, upper, most)
    return limits
