"""The nodes of a plan: lists of inputs and of targets that grow, and which nodes push."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.kernels import nodes as kernels
from graphtide.ego.kernels.changes import push_order
from graphtide.ego.kernels.walks import Lists
from graphtide.ego.lines import HEADS, LISTS, grown, lined_up
from graphtide.ego.overlay import Overlay

__all__ = ["Nodes"]


class Nodes:
    """An overlay that can change. Node numbers are kept; those of nodes that are gone are given again.

    Invariant: all inputs of a node that pushes push; each node's targets are the nodes that push and have it as an
    input.
    """

    def __init__(self, overlay: Overlay, push: NDArray[np.bool_]) -> None:
        self.count = overlay.nodes
        self.plain = overlay.writers  # so many writers have their numbers as nodes
        self.heads = lined_up((overlay.nodes, kernels.HEAD), np.int32, HEADS)
        flags = self.heads[:, kernels.FLAGS]
        flags[push] = kernels.PUSH
        flags[: overlay.writers] |= kernels.WRITER
        flags[overlay.writers : overlay.writers + overlay.readers] |= kernels.READER
        self.heads[: overlay.writers, kernels.IN] = np.arange(overlay.writers)
        self.inputs = lined_up((overlay.edges + overlay.edges // 8 + 16,), np.int32, LISTS)
        pushed = int(np.diff(overlay.starts)[push].sum())
        self.targets = lined_up((pushed + pushed // 8 + 16,), np.int32, LISTS)
        arrays = overlay.starts, overlay.inputs, overlay.signs
        ends = kernels.build(*arrays, push, self.heads, self.inputs, self.targets)
        self.ends = np.array([*ends, overlay.edges], np.int64)
        # Where a walk goes on after what it went into. Nodes change in ways that make no path longer, but that a reader
        # may stand on any partial aggregate.
        deepest = int(overlay.levels().max(initial=0)) + 1
        self.stack = np.zeros(kernels.FRAME * (deepest + 1), np.int64)
        self.free: list[int] = []

    @property
    def lists(self) -> Lists:
        """The arrays that walks go along."""
        return Lists(self.heads, self.inputs, self.targets, self.stack)

    @property
    def push(self) -> NDArray[np.bool_]:
        """Which nodes push."""
        return (self.heads[: self.count, kernels.FLAGS] & kernels.PUSH) != 0

    @property
    def is_free(self) -> NDArray[np.bool_]:
        """Which numbers stand for no node."""
        return (self.heads[: self.count, kernels.FLAGS] & kernels.FREE) != 0

    @property
    def edges(self) -> int:
        """How many inputs all nodes have."""
        return int(self.ends[kernels.EDGES])

    @property
    def nbytes(self) -> int:
        """Bytes of all lists."""
        arrays = self.heads, self.inputs, self.targets, self.stack, self.ends
        return sum(array.nbytes for array in arrays) + sys.getsizeof(self.free)

    def add(self, flags: int) -> int:
        """Another node without inputs; its number."""
        if self.free:
            node = self.free.pop()
        else:
            node = self.count
            self.count += 1
            if self.count > len(self.heads):
                self.heads = grown(self.heads, max(self.count, len(self.heads) * 3 // 2))
        self.heads[node] = 0
        self.heads[node, kernels.FLAGS] = flags
        return node

    def pushes(self, node: int) -> bool:
        """Whether a node pushes."""
        return bool(self.heads[node, kernels.FLAGS] & kernels.PUSH)

    def writer_number(self, node: int) -> int:
        """The number of a writer."""
        return int(self.heads[node, kernels.IN])

    def count_read(self, node: int) -> None:
        """Note that a reader was read."""
        self.heads[node, kernels.USERS] += 1

    def inputs_of(self, node: int) -> list[tuple[int, int]]:
        """The inputs of a node, each with its sign."""
        head = self.heads[node]
        if head[kernels.FLAGS] & kernels.WRITER:
            return []
        return _as_pairs(self.inputs[head[kernels.IN] :][: head[kernels.IN + kernels.SIZE]])

    def targets_of(self, node: int) -> list[tuple[int, int]]:
        """The nodes that push and have this one as an input, each with its sign."""
        head = self.heads[node]
        return _as_pairs(self.targets[head[kernels.OUT] :][: head[kernels.OUT + kernels.SIZE]])

    def all_inputs(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int8]]:
        """How many inputs nodes have, these one after the other, and their signs."""
        heads = self.heads[nodes]
        sizes = heads[:, kernels.IN + kernels.SIZE].astype(np.int64)
        first = np.repeat(heads[:, kernels.IN] - np.cumsum(sizes) + sizes, sizes)
        entries = self.inputs[first + np.arange(len(first))]
        return sizes, entries >> 2, np.where(entries & kernels.NEGATIVE, -1, 1).astype(np.int8)

    def order(self) -> NDArray[np.int64]:
        """The nodes that push and are no writers, inputs before what stands on them."""
        return push_order(self.heads, self.targets, self.count)

    def attach(self, node: int) -> None:
        """Let a node push, all inputs of which do."""
        self.targets = kernels.attach(self.heads, self.inputs, self.targets, self.ends, node)

    def detach(self, node: int) -> None:
        """Let a node pull that has no targets."""
        kernels.detach(self.heads, self.inputs, self.targets, node)

    def mark_kept(self) -> None:
        """Let lists of inputs say again which of them push, after some were attached or detached."""
        kernels.mark_kept(self.heads, self.inputs, self.count)

    def readers_behind(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The readers that push and stand on some of the nodes."""
        return kernels.downstream(self.heads, self.targets, nodes)

    def behind(self, nodes: list[int]) -> NDArray[np.int64]:
        """All nodes that push and stand on some of the nodes, inputs before what stands on them."""
        found: dict[int, bool] = {}  # those that were gone into, and whether all behind them are known
        order: list[int] = []
        waiting = list(nodes)
        while waiting:
            node = waiting[-1]
            if node not in found:
                found[node] = False
                waiting += [each for each, _ in self.targets_of(node) if each not in found]
                continue
            waiting.pop()
            if not found[node]:
                found[node] = True
                order.append(node)
        return np.setdiff1d(order[::-1], nodes, assume_unique=True).astype(np.int64)

    def _kept_inputs_of(self, node: int) -> set[int]:
        head = self.heads[node]
        entries = self.inputs[head[kernels.IN] :][: head[kernels.IN + kernels.SIZE]]
        return set((entries[(entries & kernels.KEPT) != 0] >> 2).tolist())

    def check_invariants(self) -> None:
        """Assert what the class promises."""
        push, wanted = self.push, {}
        users = np.zeros(self.count, np.int64)
        for node in range(self.count):
            inputs = self.inputs_of(node)
            kept = self._kept_inputs_of(node) if inputs else set()
            assert len({each for each, _ in inputs}) == len(inputs), f"node {node} has an input twice"
            for each, sign in inputs:
                users[each] += 1
                assert not self.is_free[each]
                assert (each in kept) == push[each], f"node {node} has its input {each} marked wrongly"
                if push[node]:
                    assert push[each], f"node {node} pushes and its input {each} does not"
                    wanted.setdefault(each, set()).add((node, sign))
        assert users.sum() == self.edges
        for node in range(self.count):
            targets = self.targets_of(node)
            assert len(targets) == len(set(targets))
            assert set(targets) == wanted.get(node, set()), f"node {node} has other targets"
            if not self.heads[node, kernels.FLAGS] & (kernels.READER | kernels.FREE):
                assert self.heads[node, kernels.USERS] == users[node]


def _as_pairs(entries: NDArray[np.int32]) -> list[tuple[int, int]]:
    return [(entry >> 2, -1 if entry & kernels.NEGATIVE else 1) for entry in entries.tolist()]
