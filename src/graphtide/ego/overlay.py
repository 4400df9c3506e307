"""Overlays: writers, readers, and the partial aggregates between them that readers share (EAGr, section 2.2.1).

Invariant: there is no cycle, and the paths from a writer to a reader, each counted with the product of its signs, add
up to 1 if the writer is in the reader's neighbourhood and to 0 if not. In an overlapping overlay, which has no negative
sign, they add up to at least 1 and to 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.kernels.lists import invert, levels
from graphtide.ego.kernels.paths import first_wrong_reader, signed_paths
from graphtide.ego.neighbourhoods import Neighbourhoods

__all__ = ["Outputs", "Overlay"]


class Outputs(NamedTuple):
    """The nodes that have node n as an input are `nodes[starts[n]:starts[n + 1]]`, in rising order."""

    starts: NDArray[np.int64]
    nodes: NDArray[np.int32]
    signs: NDArray[np.int8]


@dataclass(slots=True)
class _Known:
    """What was computed from an overlay: a plan is made in many steps that ask for the same."""

    outputs: Outputs | None = None
    levels: NDArray[np.int32] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Overlay:
    """Nodes are the writers 0, 1, ..., then the readers, then the partial aggregates.

    The inputs of node n are `inputs[starts[n]:starts[n + 1]]`, each once; `signs` says which of them are subtracted.
    """

    writers: int
    readers: int
    starts: NDArray[np.int64]
    inputs: NDArray[np.int32]
    signs: NDArray[np.int8]
    overlapping: bool = False
    _known: _Known = field(default_factory=_Known, init=False)

    @classmethod
    def direct(cls, neighbourhoods: Neighbourhoods) -> Overlay:
        """The overlay that shares nothing: each reader has its writers as inputs.

        >>> Overlay.direct(Neighbourhoods.from_sets([{0, 1}, {1}], writer_count=2))
        Overlay(3 edges of 2 writers, 2 readers and 0 partial aggregates)
        """
        starts = np.concatenate((np.zeros(neighbourhoods.writer_count, np.int64), neighbourhoods.starts))
        signs = np.ones(len(neighbourhoods), np.int8)
        return cls(neighbourhoods.writer_count, neighbourhoods.readers, starts, neighbourhoods.writers, signs)

    def __repr__(self) -> str:
        parts = f"{self.writers} writers, {self.readers} readers and {self.partials} partial aggregates"
        return f"Overlay({self.edges} edges of {parts})"

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.starts) - 1

    @property
    def edges(self) -> int:
        """How many inputs all nodes have."""
        return len(self.inputs)

    @property
    def partials(self) -> int:
        """How many partial aggregates there are."""
        return self.nodes - self.writers - self.readers

    @property
    def has_negatives(self) -> bool:
        """Whether some input is subtracted."""
        return bool((self.signs < 0).any())

    def sharing_index(self, neighbourhoods: Neighbourhoods) -> float:
        """The share of the neighbourhoods' pairs that the overlay has fewer edges.

        >>> pairs = Neighbourhoods.from_sets([{0, 1}, {1}], writer_count=2)
        >>> Overlay.direct(pairs).sharing_index(pairs)
        0.0
        """
        return 1 - self.edges / len(neighbourhoods) if len(neighbourhoods) else 0.0

    def inputs_of(self, node: int) -> NDArray[np.int32]:
        """The inputs of a node."""
        return self.inputs[self.starts[node] : self.starts[node + 1]]

    def outputs(self) -> Outputs:
        """The same edges by the node that they start from."""
        if self._known.outputs is None:
            starts, nodes, found_at = invert(self.starts, self.inputs, self.nodes)
            self._known.outputs = Outputs(starts, nodes, self.signs[found_at])
        return self._known.outputs

    def levels(self) -> NDArray[np.int32]:
        """The longest path to each node from one without inputs, in edges: inputs have lower levels."""
        if self._known.levels is None:
            outputs = self.outputs()
            self._known.levels = levels(self.starts, outputs.starts, outputs.nodes)
        return self._known.levels

    def contributions(self, reader: int) -> dict[int, int]:
        """What the paths from each writer to a reader add up to, of writers that have any."""
        counts = np.zeros(self.writers, np.int64)
        node = self.writers + reader
        found, met = signed_paths(
            self.starts, self.inputs, self.signs, self.writers, node, counts, np.empty(16, np.int64)
        )
        return {writer: int(counts[writer]) for writer in sorted(set(found[:met].tolist()))}

    def check_invariants(self, neighbourhoods: Neighbourhoods, *, overlapping: bool | None = None) -> None:
        """Assert what the module promises; `overlapping` instead of what the overlay says of itself."""
        overlapping = self.overlapping if overlapping is None else overlapping
        assert (self.writers, self.readers) == (neighbourhoods.writer_count, neighbourhoods.readers)
        assert self.starts[0] == 0
        assert self.starts[-1] == len(self.inputs) == len(self.signs)
        sizes = np.diff(self.starts)
        assert (sizes >= 0).all()
        assert (sizes[: self.writers] == 0).all()
        assert ((self.inputs >= 0) & (self.inputs < self.nodes)).all()
        assert (np.abs(self.signs) == 1).all()
        assert not (overlapping and self.has_negatives)
        owners = np.repeat(np.arange(self.nodes), sizes)
        assert len(np.unique(owners * self.nodes + self.inputs)) == self.edges, "an input is there twice"
        assert (self.levels() >= 0).all(), "there is a cycle"
        wanted = neighbourhoods.starts, neighbourhoods.writers
        wrong = first_wrong_reader(self.starts, self.inputs, self.signs, self.writers, *wanted, overlapping)
        assert wrong < 0, f"reader {wrong} gets {self.contributions(int(wrong))}"
