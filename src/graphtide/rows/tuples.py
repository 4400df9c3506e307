"""Interned tuples: the codes of a tuple's elements, as bytes, are the value that is interned.

Elements are encoded before they come here, so nested tuples are numbers too, and one interner
serves all columns whose tuple types have the same encoding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from graphtide.rows.codes import NULL, Codes
from graphtide.rows.intern import Interner
from graphtide.rows.types import TupleType

__all__ = ["TupleInterner"]

_CODE = np.dtype(np.int64).itemsize


class TupleInterner(Interner[bytes]):
    """Tuples of one type, given and taken as the codes of their elements, one after the other.

    `parts` are the interners of the type's elements, None for those ordered by their code.
    """

    def __init__(self, tuple_type: TupleType, parts: Sequence[Interner[Any] | None]) -> None:
        super().__init__()
        self._type = tuple_type
        self._parts = parts

    def intern_codes(self, elements: Codes, offsets: Codes) -> Codes:
        """The codes of tuples, the i-th of which is `elements[offsets[i]:offsets[i + 1]]`.

        This is how `collect` makes tuples of the codes it has grouped.
        """
        packed = np.ascontiguousarray(elements).tobytes()
        places = (offsets * _CODE).tolist()
        return self.intern([packed[a:b] for a, b in pairwise(places)])

    def element_codes(self, codes: Codes) -> tuple[Codes, Codes]:
        """The elements' codes and offsets of tuples, none of which may be NULL."""
        packed = self.values(codes)
        offsets = np.zeros(len(packed) + 1, np.int64)
        np.cumsum([len(each) for each in packed], out=offsets[1:])
        return np.frombuffer(b"".join(packed), np.int64), offsets // _CODE

    def _key(self) -> Callable[[int], tuple[int, ...]]:
        ranks = [None if part is None else part.ranks() for part in self._parts]

        def key(code: int) -> tuple[int, ...]:
            codes = np.frombuffer(self._values[code], np.int64).tolist()
            per_element = ranks * len(codes) if self._type.variadic else ranks
            return tuple(
                each if rank is None or each == NULL else int(rank[each])
                for each, rank in zip(codes, per_element, strict=True)
            )

        return key
