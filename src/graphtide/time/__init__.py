"""Partially ordered times, frontiers of them, and the representatives that compaction keeps.

A time is a tuple of integers: the epoch (the version of the input), then one coordinate per
enclosing loop. Every coordinate is a chain, also the packed one of a prioritized loop, so the
whole order is coordinatewise and a lattice at any depth of nesting.
"""

from graphtide.time.antichain import Antichain
from graphtide.time.order import Time, join, leq, less, meet
from graphtide.time.priority import (
    PRIORITY_LIMIT,
    ROUND_BITS,
    ROUND_LIMIT,
    pack,
    pack_array,
    unpack,
    unpack_array,
)
from graphtide.time.representative import representative

__all__ = [
    "PRIORITY_LIMIT",
    "ROUND_BITS",
    "ROUND_LIMIT",
    "Antichain",
    "Time",
    "join",
    "leq",
    "less",
    "meet",
    "pack",
    "pack_array",
    "representative",
    "unpack",
    "unpack_array",
]
