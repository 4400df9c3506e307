"""A priority and a round in one coordinate, ordered first by priority.

A prioritized loop introduces its input in order of priority and settles each before the next
(differential-dataflow-cidr13, sections 3.3 and 4.2). Its time is the pair (priority, round) in
lexicographic order, which is a chain: one int64 with the priority in the high bits holds it, so
that the loop needs one coordinate and every order stays coordinatewise.

Invariant: packed values are not negative, so they order as integers just as the pairs do. The
last priority is left free, for a bound that lies after every packed value.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphtide.errors import CapacityError

__all__ = [
    "PRIORITY_LIMIT",
    "ROUND_BITS",
    "ROUND_LIMIT",
    "pack",
    "pack_array",
    "unpack",
    "unpack_array",
]

ROUND_BITS: Final = 32
ROUND_LIMIT: Final = 1 << ROUND_BITS
PRIORITY_LIMIT: Final = (1 << (63 - ROUND_BITS)) - 1

_ROUND_MASK: Final = ROUND_LIMIT - 1


def pack(priority: int, round: int) -> int:  # noqa: A002 - the papers' word wins over the builtin
    """The coordinate of `round` among the rounds of `priority`.

    >>> pack(0, 7), pack(1, 0) > pack(0, 4_000_000_000)
    (7, True)
    """
    if not 0 <= priority < PRIORITY_LIMIT:
        raise _priority_error(priority)
    if not 0 <= round < ROUND_LIMIT:
        raise _round_error(round)
    return priority << ROUND_BITS | round


def unpack(coordinate: int) -> tuple[int, int]:
    """The (priority, round) that `pack` put into one coordinate.

    >>> unpack(pack(3, 9))
    (3, 9)
    """
    return coordinate >> ROUND_BITS, coordinate & _ROUND_MASK


def pack_array(priorities: NDArray[np.int64], round: int) -> NDArray[np.int64]:  # noqa: A002
    """The coordinates of one round for many priorities.

    >>> unpack_array(pack_array(np.array([2, 5]), 1))[0].tolist()
    [2, 5]
    """
    outside = (priorities < 0) | (priorities >= PRIORITY_LIMIT)
    if outside.any():
        raise _priority_error(int(priorities[outside.argmax()]))
    if not 0 <= round < ROUND_LIMIT:
        raise _round_error(round)
    return priorities.astype(np.int64) << ROUND_BITS | round


def unpack_array(
    coordinates: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The priorities and the rounds of many coordinates."""
    return coordinates >> ROUND_BITS, coordinates & _ROUND_MASK


def _priority_error(priority: int) -> CapacityError:
    return CapacityError(
        f"priority {priority} is outside 0..{PRIORITY_LIMIT - 1}",
        hint="scale or clip the priorities, for example with priority // 1000",
    )


def _round_error(round: int) -> CapacityError:  # noqa: A002
    return CapacityError(
        f"round {round} is outside 0..{ROUND_LIMIT - 1}",
        hint="a loop that needs this many rounds does not settle: set max_rounds",
    )
