"""The partial aggregates of a plan's nodes: one class for each sort of them, all with the same methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.ego.contents import Undo, WindowContents
from graphtide.ego.kernels.nodes import IN
from graphtide.ego.kernels.operations import READ, TICK, WRITE
from graphtide.ego.nodes import Nodes
from graphtide.rows import Dictionary, Type
from graphtide.rows.codes import Codes

__all__ = ["READ", "TICK", "WRITE", "Batch", "Frame", "Partials"]


class Batch(NamedTuple):
    """Operations in their order."""

    nodes: Codes  # of writers and readers
    values: Codes  # what is written
    expiries: Codes  # with windows of time: when that expires
    times: Codes  # with windows of time: when it happens
    kinds: NDArray[np.int8]

    @property
    def reads(self) -> int:
        """How many answers there will be."""
        return int(np.count_nonzero(self.kinds == READ))

    @property
    def writes(self) -> int:
        """How many values are written."""
        return int(np.count_nonzero(self.kinds == WRITE))


@dataclass(slots=True)
class Frame:
    """What partial aggregates stand on."""

    nodes: Nodes
    contents: WindowContents
    node_of: Codes  # by number of a writer: its node
    dictionary: Dictionary
    type: Type | None = None  # of values; None before the first
    overlapping: bool = False  # whether a write may reach a node twice

    def undo_of(self, batch: Batch) -> Undo:
        """How to have the windows as they are, after a batch."""
        writes = batch.kinds == WRITE
        timed = self.contents.is_timed
        return self.contents.undo_of(
            self.nodes.heads[batch.nodes[writes], IN].astype(np.int64),
            batch.values[writes],
            batch.expiries[writes] if timed else batch.expiries,
            int(batch.times.max(initial=self.contents.clock)),
        )


class Partials(ABC):
    """What the nodes that push keep.

    Invariant: between two operations, what a node keeps is the aggregate of what its inputs keep, and what a writer
    keeps that of its window.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of all that is kept."""

    @abstractmethod
    def check(self, codes: Codes, value_type: Type) -> None:
        """Raise an error if values are not fit for the aggregate; they may be the first of that type."""

    def admit(self, batch: Batch) -> None:  # noqa: B027 - most are
        """Be ready for values that are about to be written, or that are in windows already."""

    @abstractmethod
    def run(self, batch: Batch) -> Any:
        """Do what a batch says; what its reads found."""

    @abstractmethod
    def fill(self, order: Codes) -> None:
        """Make everything anew from the windows; `order` are the nodes that push and are no writers, inputs first."""

    @abstractmethod
    def compute(self, nodes: Codes) -> None:
        """Make the partial aggregates of nodes whose inputs push, inputs first."""

    @abstractmethod
    def clear(self, nodes: Codes) -> None:
        """Let nodes have nothing: they are new, or push no more."""

    @abstractmethod
    def grow(self) -> None:
        """There are more nodes."""

    @abstractmethod
    def column(self, found: Any) -> pa.Array:
        """What reads found as a column of answers."""

    @abstractmethod
    def values(self, found: Any) -> list[Any]:
        """What reads found, as Python values."""

    @abstractmethod
    def check_invariants(self) -> None:
        """Assert what the class promises."""
