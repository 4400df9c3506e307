"""All interned values of a dataflow, or of several that exchange rows.

A code means something only together with its dictionary. Dataflows that share arrangements share
the dictionary; it only grows, and is safe to use from many threads.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from graphtide.rows.codes import NULL, Codes
from graphtide.rows.intern import BytesInterner, Interner, StrInterner
from graphtide.rows.tuples import TupleInterner
from graphtide.rows.types import Kind, TupleType, Type

__all__ = ["Dictionary"]


class Dictionary:
    """The interners: one of strings, one of bytes, and one per sort of tuple.

    >>> dictionary = Dictionary()
    >>> dictionary.strings.intern(["b", "a"]).tolist()
    [0, 1]
    >>> dictionary
    Dictionary(strings=2, bytes=0, tuples=0)
    """

    def __init__(self) -> None:
        self.strings = StrInterner()
        self.bytestrings = BytesInterner()
        self._tuples: dict[TupleType, TupleInterner] = {}
        self._lock = Lock()

    def tuples(self, tuple_type: TupleType) -> TupleInterner:
        """The interner of all tuples with this type's encoding."""
        bare = tuple_type.bare
        found = self._tuples.get(bare)
        if found is None:
            parts = tuple(self.interner(element) for element in bare.elements)
            with self._lock:
                found = self._tuples.setdefault(bare, TupleInterner(bare, parts))
        return found

    def interner(self, column_type: Type) -> Interner[Any] | None:
        """The interner of a type's values, None if their codes are the values themselves."""
        if isinstance(column_type, TupleType):
            return self.tuples(column_type)
        if column_type.kind is Kind.STR:
            return self.strings
        return self.bytestrings if column_type.kind is Kind.BYTES else None

    def order_keys(self, column_type: Type, codes: Codes) -> Codes:
        """Integers that compare as the values behind the codes do, None first.

        Those of different calls are not comparable for an interned type: it may have grown.

        >>> words = Dictionary()
        >>> codes = words.strings.intern(["pear", "apple"])
        >>> words.order_keys(Type.of(str), codes).tolist()
        [1, 0]
        """
        interner = self.interner(column_type)
        if interner is None:
            return codes
        ranks = interner.ranks()
        if not column_type.nullable:
            return ranks[codes]
        nulls = codes == NULL
        keys = np.full(codes.shape, NULL)
        keys[~nulls] = ranks[codes[~nulls]]
        return keys

    @property
    def nbytes(self) -> int:
        """Bytes held by all interners."""
        tuples = sum(interner.nbytes for interner in list(self._tuples.values()))
        return self.strings.nbytes + self.bytestrings.nbytes + tuples

    def __repr__(self) -> str:
        tuples = sum(map(len, list(self._tuples.values())))
        return f"Dictionary(strings={len(self.strings)}, bytes={len(self.bytestrings)}, tuples={tuples})"
