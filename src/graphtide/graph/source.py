"""What a graph was loaded from, for people to read: nothing is ever read from there again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

__all__ = ["Source"]


@dataclass(frozen=True, slots=True)
class Source:
    """The paths as they were given, or the kind of table: one entry per path.

    >>> print(Source(edges=("calls/edges.csv",), nodes=("pandas DataFrame",)))
    edges from calls/edges.csv, nodes from pandas DataFrame
    """

    edges: tuple[str, ...]
    nodes: tuple[str, ...] = ()

    def __str__(self) -> str:
        edges = f"edges from {', '.join(self.edges)}"
        return f"{edges}, nodes from {', '.join(self.nodes)}" if self.nodes else edges

    def to_json(self) -> dict[str, list[str]]:
        """Plain values, as a manifest keeps them."""
        return {"edges": list(self.edges), "nodes": list(self.nodes)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """What `to_json` gave."""
        return cls(tuple(map(str, values["edges"])), tuple(map(str, values["nodes"])))
