"""What a statement means for a graph: a view is a predicate, a view collection a sequence or a product of views.

A registered query is a question that fits the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import Protocol

from graphtide.graph.schema import EDGE, ID, GraphSchema
from graphtide.gvdl.predicate import Predicate, names_used
from graphtide.gvdl.syntax import Question

__all__ = ["BoundCollection", "BoundDimension", "BoundQuery", "BoundView", "Catalogue"]


@dataclass(frozen=True, slots=True)
class BoundView:
    """The edges of a graph for which a predicate holds."""

    name: str
    graph: str
    predicate: Predicate

    def __repr__(self) -> str:
        # Ids are called so by users, whatever the columns of a stored graph are called.
        edge, src, dst = (["id" if n in {ID, EDGE} else n for n in sorted(of)] for of in names_used(self.predicate))
        used = [*edge, *(f"src.{name}" for name in src), *(f"dst.{name}" for name in dst)]
        return f"<{self.name}: view of {self.graph}" + (f" by {', '.join(used)}>" if used else ">")


@dataclass(frozen=True, slots=True)
class BoundDimension:
    """One side of a product."""

    name: str
    views: tuple[BoundView, ...]


@dataclass(frozen=True, slots=True)
class BoundCollection:
    """Views of one graph under names of their own.

    Of a product, `views` are the cells, the last dimension changing fastest; a cell is the conjunction of one view per
    dimension and has their names, joined by underscores.
    """

    name: str
    graph: str
    views: tuple[BoundView, ...]
    dimensions: tuple[BoundDimension, ...]
    order: OneOf["given", "auto"]


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A question about a graph, to be kept answered; properties have their exact names."""

    name: str
    graph: str
    question: Question


class Catalogue(Protocol):
    """What there is to build views on."""

    def graphs(self) -> Sequence[str]:
        """The names of the graphs."""
        ...

    def views(self) -> Sequence[str]:
        """The names of the views."""
        ...

    def collections(self) -> Sequence[str]:
        """The names of the view collections."""
        ...

    def schema(self, graph: str) -> GraphSchema:
        """What the nodes and edges of a graph carry."""
        ...

    def view(self, name: str) -> BoundView:
        """A view."""
        ...
