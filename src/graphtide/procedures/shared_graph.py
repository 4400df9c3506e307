"""A graph that is indexed once, whatever is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.flow import Dataflow
from graphtide.dataflow.memory import Memory
from graphtide.errors import CatalogueError, SchemaError, UsageError
from graphtide.procedures.procedure import Procedure
from graphtide.procedures.searches import is_reached, neighbours, shortest_within

__all__ = ["SharedGraph"]


class SharedGraph:
    """Nodes with properties, and directed edges, both indexed; procedures are installed on them at any time.

    Nodes and edges are multisets: an edge that was inserted twice is there until it was removed twice. Invariant: none
    is there fewer than zero times. A commit that would remove what is not there is refused as a whole, with
    the row; its changes stay staged until `rollback`, or until what is missing is inserted.

    >>> graph = SharedGraph(city=str)
    >>> graph.nodes.insert([(1, "Reno"), (2, "Elko")])
    >>> graph.edges.insert([(1, 2), (2, 3)])
    >>> routes = graph.shortest_path(most=4)
    >>> routes.ask([(1, 3), (3, 1)])
    >>> graph.commit()
    0
    >>> routes.answers().to_pylist()
    [{'src': 1, 'dst': 3, 'length': 2}]
    """

    def __init__(self, *, ids: type = int, flow: Dataflow | None = None, **properties: object) -> None:
        if "id" in properties:
            raise SchemaError('nodes have an "id" already', hint="say its type with ids=, and give the property a name")
        self.flow = Dataflow("shared graph") if flow is None else flow
        self._ids = ids
        self.nodes = self.flow.checked_input("nodes", id=ids, **properties)
        self.edges = self.flow.checked_input("edges", src=ids, dst=ids)
        # Kept for whoever comes: an index that nothing reads would be dropped, and the past with it.
        self.indexes = (
            self.nodes.arrange("id"),
            self.edges.arrange("src"),
            self.edges.arrange("dst"),
        )
        self._procedures: dict[str, Procedure] = {}

    def __repr__(self) -> str:
        return f"<SharedGraph: {len(self._procedures)} procedures, epoch {self.flow.epoch - 1}>"

    @property
    def procedures(self) -> Mapping[str, Procedure]:
        """The installed procedures by name."""
        return dict(self._procedures)

    def commit(self) -> int:
        """Let all changes of the graph and of arguments count; which epoch it was."""
        return self.flow.commit()

    def rollback(self) -> None:
        """Forget all changes of the graph and of arguments that are not committed."""
        self.flow.rollback()

    def memory(self) -> Memory:
        """What is kept, by operator, to the byte."""
        return self.flow.memory()

    # -- procedures

    def look_up(self, name: str | None = None) -> Procedure:
        """The properties of nodes by their ids."""
        return self.install("look_up", {"id": self._ids}, lambda asked: asked.join(self.nodes, on="id"), name=name)

    def one_hop(self, name: str | None = None) -> Procedure:
        """The vertices that edges from a source end at."""
        return self.install("one_hop", {"src": self._ids}, lambda asked: neighbours(asked, self.edges, 1), name=name)

    def two_hop(self, name: str | None = None) -> Procedure:
        """The vertices that two edges from a source end at."""
        return self.install("two_hop", {"src": self._ids}, lambda asked: neighbours(asked, self.edges, 2), name=name)

    def shortest_path(self, most: int = 4, name: str | None = None) -> Procedure:
        """The fewest edges from a source to a destination, if `most` are enough."""
        if not isinstance(most, int):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"a path has no length of {most!r} edges", hint="take a whole number, 1 or more")
        if most < 1:
            raise UsageError(f"a path of at most {most} edges goes nowhere", hint="take 1 or more")
        pair = {"src": self._ids, "dst": self._ids}
        return self.install("shortest_path", pair, lambda asked: shortest_within(asked, self.edges, most), name=name)

    def reaches(self, name: str | None = None) -> Procedure:
        """The pairs of a source and a destination for which there is a path, searched for from both ends."""
        pair = {"src": self._ids, "dst": self._ids}
        return self.install("reaches", pair, lambda asked: is_reached(asked, self.edges), name=name)

    def install(
        self,
        kind: str,
        arguments: Mapping[str, object],
        body: Callable[[Collection], Collection],
        *,
        name: str | None = None,
    ) -> Procedure:
        """A procedure of your own: what `body` makes of the collection of its arguments, `nodes` and `edges`."""
        given = kind if name is None else name
        if given in self._procedures:
            raise CatalogueError(f'there is a procedure "{given}" already', hint="drop it, or take another name")
        made = Procedure(self.flow.branch(given), arguments, body, lambda: self._procedures.pop(given))
        self._procedures[given] = made
        return made

    def drop(self, name: str) -> None:
        """Take a procedure out, and what was kept for it alone."""
        if name not in self._procedures:
            known = ", ".join(self._procedures) or "none so far"
            raise CatalogueError(f'there is no procedure "{name}"', hint=f"the procedures are: {known}")
        self._procedures[name].drop()
