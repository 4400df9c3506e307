"""Append-only dictionaries from values to codes and back.

A value's code is the number of values that were interned before it: equal values have equal codes
for ever, and a code can be decoded by anyone who has received it. Values are looked up in a Python
dict, the bulk paths once per distinct value.

Invariant: code c is the c-th key of the dict and the c-th item of the list. Every change happens
under the lock; decoding needs none, because what it reads is never changed.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import islice
from threading import Lock
from typing import Any, Final, Generic, TypeVar

import numpy as np
import pyarrow as pa

from graphtide.rows.codes import Codes
from graphtide.rows.misfit import Misfit
from graphtide.rows.ranking import Ranking

__all__ = ["BytesInterner", "Interner", "ScalarInterner", "StrInterner", "is_text"]

V = TypeVar("V", str, bytes)

# A value's object without its characters, and the object of its code in the dict.
_OVERHEAD: Final = sys.getsizeof("") + sys.getsizeof(2**31)


class Interner(ABC, Generic[V]):
    """Values of one kind, numbered by first appearance; safe to share between threads."""

    def __init__(self) -> None:
        self._codes: defaultdict[V, int] = defaultdict()
        # Looking up an unknown value gives it the next code, without leaving C.
        self._codes.default_factory = self._codes.__len__
        self._values: list[V] = []
        self._lock = Lock()
        self._ranking = Ranking()
        self._payload = 0

    def __len__(self) -> int:
        return len(self._values)

    @property
    def nbytes(self) -> int:
        """About the bytes held: the values, both directions of the mapping, and the ranks."""
        mapping = sys.getsizeof(self._codes) + sys.getsizeof(self._values)
        return mapping + self._payload + len(self) * _OVERHEAD + self._ranking.nbytes

    def intern(self, values: Sequence[V]) -> Codes:
        """The codes of the values, of which unknown ones are added.

        >>> StrInterner().intern(["b", "a", "b"]).tolist()
        [0, 1, 0]
        """
        with self._lock:
            codes = np.fromiter(map(self._codes.__getitem__, values), np.int64, len(values))
            grown = len(self._codes) - len(self._values)
            if grown:
                added = [*islice(reversed(self._codes), grown)]
                added.reverse()
                try:
                    self._check(added)
                except Misfit as misfit:
                    for _ in range(grown):
                        self._codes.popitem()
                    raise misfit.at(values.index(misfit.value)) from None
                self._values.extend(added)
                self._payload += sum(map(len, added))
        return codes

    def values(self, codes: Codes) -> list[V]:
        """The values behind codes, none of which may be NULL."""
        return list(map(self._values.__getitem__, codes.tolist()))

    def ranks(self) -> Codes:
        """For each code so far, the rank of its value; a later call may return other numbers.

        >>> words = StrInterner()
        >>> codes = words.intern(["pear", "apple", "fig"])
        >>> words.ranks()[codes].tolist()
        [2, 0, 1]
        """
        with self._lock:
            return self._ranking.extend(len(self._values), self._key())

    def check_invariants(self) -> None:
        """Fail if the two directions of the mapping disagree."""
        assert list(self._codes) == self._values
        assert list(self._codes.values()) == list(range(len(self._values)))

    def _check(self, added: list[V]) -> None:
        """Raise a `Misfit` for the first value that cannot be held."""

    @abstractmethod
    def _key(self) -> Callable[[int], Any]:
        """A function from codes to something that compares as the values do."""


class ScalarInterner(Interner[V]):
    """Strings or bytes, which come and go as Arrow arrays too."""

    arrow: pa.DataType

    def __init__(self) -> None:
        super().__init__()
        self._snapshot = pa.nulls(0, self.arrow)  # pa.array would import pandas

    @property
    def nbytes(self) -> int:
        """Bytes held, the Arrow copy for decoding included."""
        return super().nbytes + self._snapshot.nbytes

    def intern_arrow(self, array: pa.Array) -> Codes:
        """The codes of an array without nulls, looked up once per distinct value in it."""
        if not isinstance(array, pa.DictionaryArray):
            encoded = array.dictionary_encode()
            return self.intern(encoded.dictionary.to_pylist())[encoded.indices.to_numpy()]
        # A dictionary may list far more values than the array holds: only these are interned.
        indices = array.indices.to_numpy()
        is_used = np.zeros(len(array.dictionary), np.bool)
        is_used[indices] = True
        codes = np.empty(len(is_used), np.int64)
        used = array.dictionary.filter(pa.array(is_used))
        codes[is_used] = self.intern(used.to_pylist())
        return codes[indices]

    def take(self, codes: pa.Array) -> pa.Array:
        """The values behind codes as a large Arrow array; a null code gives a null."""
        size = len(self._values)
        if len(self._snapshot) < size:
            # Copying all values for a few codes would make small reads cost the whole dictionary.
            if len(codes) * 8 < size:
                known = self._values
                values = [None if code is None else known[code] for code in codes.to_pylist()]
                return pa.array(values, self.arrow)
            with self._lock:
                fresh = pa.array(self._values[len(self._snapshot) :], self.arrow)
                self._snapshot = pa.concat_arrays([self._snapshot, fresh])
        return self._snapshot.take(codes)

    def _key(self) -> Callable[[int], V]:
        return self._values.__getitem__


class StrInterner(ScalarInterner[str]):
    """Strings, ordered by code points. The empty string is a string like any other."""

    arrow = pa.large_string()

    def _check(self, added: list[str]) -> None:
        try:
            "".join(added).encode()
        except UnicodeEncodeError:
            raise _not_text(next(value for value in added if not is_text(value))) from None


class BytesInterner(ScalarInterner[bytes]):
    """Byte strings, ordered byte by byte."""

    arrow = pa.large_binary()


def is_text(value: str) -> bool:
    """Whether a string can be written in UTF-8: it holds no half of a surrogate pair.

    >>> is_text("é"), is_text(chr(0xD800))
    (True, False)
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _not_text(value: str) -> Misfit:
    return Misfit(
        value,
        "holds half of a surrogate pair, which is no text",
        'repair it, for example with value.encode("utf-8", "replace").decode()',
    )
