"""The loops of a plan inside one another, and the order in which what is in them runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from graphlib import TopologicalSorter

from graphtide.dataflow.plan import Node, Scope

__all__ = ["ScopeTree"]


class ScopeTree:
    """Which nodes run in which scope. Scopes are numbered in preorder: those inside one follow it without a gap."""

    def __init__(self, root: Scope, nodes: Iterable[Node]) -> None:
        self.root = root
        self._nodes: dict[Scope, list[Node]] = {root: []}
        self._children: dict[Scope, list[Scope]] = {root: []}
        for node in nodes:
            self._open(node.home)
            self._nodes[node.home].append(node)
        self.numbers: dict[Scope, int] = {scope: number for number, scope in enumerate(self._inward(root))}

    def _open(self, scope: Scope) -> None:
        if scope not in self._nodes:
            assert scope.parent is not None, "all scopes stand in the root"
            self._open(scope.parent)
            self._nodes[scope] = []
            self._children[scope] = []
            self._children[scope.parent].append(scope)

    def _inward(self, scope: Scope) -> Iterator[Scope]:
        """A scope and all inside it, in preorder."""
        yield scope
        for child in self._children[scope]:
            yield from self._inward(child)

    def inner_end(self, scope: Scope) -> int:
        """One past the number of the last scope inside."""
        return self.numbers[scope] + sum(1 for _ in self._inward(scope))

    def nodes_of(self, item: Node | Scope) -> Iterator[Node]:
        """A node itself, or all nodes of a scope and of those inside it."""
        if isinstance(item, Node):
            yield item
            return
        for scope in self._inward(item):
            yield from self._nodes[scope]

    def in_order(self, scope: Scope) -> Iterable[Node | Scope]:
        """The nodes and loops directly in a scope, each after all that it reads."""
        sorter: TopologicalSorter[Node | Scope] = TopologicalSorter()
        for node in self._nodes[scope]:
            sorter.add(node, *self._read_by(node, scope))
        for child in self._children[scope]:
            sorter.add(child)
            for inner in self._inward(child):
                for node in self._nodes[inner]:
                    sorter.add(child, *(item for item in self._read_by(node, scope) if item is not child))
        return sorter.static_order()

    def _read_by(self, node: Node, scope: Scope) -> Iterator[Node | Scope]:
        """What stands for a node's inputs in a scope: themselves, or the loops that they run in."""
        for each in node.inputs:
            inner: Scope | None = None
            for around in each.home.outward():
                if around is scope:
                    yield each if inner is None else inner
                    break
                inner = around
