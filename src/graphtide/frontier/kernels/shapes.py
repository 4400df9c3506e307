"""The arrays that kernels of continuous queries take together.

Those that a batch needs are handed over as a table of addresses and lengths, two words an array: an argument each would
cost more than most batches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.jit import leaf
from graphtide.memory import address_to_array, address_to_words

__all__ = [
    "CALL_FIELDS",
    "SCRATCH_FIELDS",
    "Changes",
    "Ints",
    "Kept",
    "Lists",
    "Scratch",
    "Small",
    "changes_of",
    "fill_table",
    "scratch_of",
]

Ints = NDArray[np.int64]
Small = NDArray[np.int32]
States = NDArray[Any]


# A call: the next one for its round, whom it is for, the edge to look at (its source and its slot, or none), and the
# next one for the same vertex.
CALL_FIELDS = 5


class Lists(NamedTuple):
    """The edges at both ends: see `adjacency`."""

    start: Ints
    size: Small
    other: Small


class Scratch(NamedTuple):
    """What the maintenance of a batch needs besides the queries; all queries share it."""

    due: Small  # by round: its first call
    calls: Small
    where: Small  # by vertex: its place in `touched`, if it is there
    touched: Small
    best: States  # of the messages to each that is touched
    doubted: Small
    stamp: Ints  # by vertex: the last batch and query that changed it
    changed: Small
    was: States  # of each that is changed: its last state before the batch
    rounds: Ints  # the steps of one vertex
    states: States
    stack: Ints  # of steps that are being computed again: four words each
    stack_states: States
    memo: Ints  # keys of states that were computed again, and these
    memo_states: States
    labels: Ints  # by vertex: what it begins with if every vertex begins with a state of its own


class Changes(NamedTuple):
    """Vertices whose last state is another one now, query after query."""

    vertices: Small
    before: States
    after: States
    ends: Ints  # by query: where its changes end


class Kept(NamedTuple):
    """What a query keeps: see `stairs` and `marks`."""

    head: Small
    states: States
    rounds: NDArray[Any]
    free: Ints
    marks: Ints


# In the table: the arrays of scratch memory but the labels, then those of the changes.
_CHANGES = 15
_ARRAYS = 19
SCRATCH_FIELDS = 2 * _ARRAYS


def fill_table(scratch: tuple[NDArray[Any], ...], changes: Changes) -> Ints:
    """The table of these arrays, which must be kept alive."""
    arrays = (*scratch, *changes)
    assert len(arrays) == _ARRAYS
    return np.array([(array.ctypes.data, len(array)) for array in arrays], np.int64).ravel()


@leaf
def scratch_of(table, labels, like):
    """Scratch memory behind a table; states are of the type that `like` has."""
    return Scratch(
        address_to_array(table[0], table[1], np.int32),
        address_to_array(table[2], (table[3], CALL_FIELDS), np.int32),
        address_to_array(table[4], table[5], np.int32),
        address_to_array(table[6], table[7], np.int32),
        address_to_array(table[8], table[9], like),
        address_to_array(table[10], table[11], np.int32),
        address_to_words(table[12], table[13]),
        address_to_array(table[14], table[15], np.int32),
        address_to_array(table[16], table[17], like),
        address_to_words(table[18], table[19]),
        address_to_array(table[20], table[21], like),
        address_to_words(table[22], table[23]),
        address_to_array(table[24], table[25], like),
        address_to_words(table[26], table[27]),
        address_to_array(table[28], table[29], like),
        labels,
    )


@leaf
def changes_of(table, like):
    """The changes behind a table."""
    at = 2 * _CHANGES
    return Changes(
        address_to_array(table[at], table[at + 1], np.int32),
        address_to_array(table[at + 2], table[at + 3], like),
        address_to_array(table[at + 4], table[at + 5], like),
        address_to_words(table[at + 6], table[at + 7]),
    )
