"""The values behind codes in a plan, and their order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from graphtide.ego.partials import Frame
from graphtide.rows import decode_column
from graphtide.rows.codes import Codes

__all__ = ["decoded", "ranks_of"]

_IN_ORDER = np.zeros(0, np.int64)


def ranks_of(frame: Frame) -> Codes:
    """By code what compares as the values do; nothing if codes do so themselves."""
    interner = None if frame.type is None else frame.dictionary.interner(frame.type)
    return _IN_ORDER if interner is None else interner.ranks()


def decoded(frame: Frame, codes: Codes) -> pa.Array:
    """The values behind codes; NULL is null."""
    if frame.type is None:
        return pa.nulls(len(codes))
    array = decode_column(frame.type.optional, frame.dictionary, np.ascontiguousarray(codes))
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
