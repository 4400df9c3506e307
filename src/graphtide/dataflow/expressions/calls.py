"""What kernels cannot compute: columns that Python adds to a batch before a program runs.

A call maps int64 columns to one int64 column. Functions of ours are pure, so each distinct
argument is computed once: a table by code where the argument is interned, a dict of
combinations elsewhere. Tables grow with the dictionary, which never forgets a code either.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphtide.dataflow.expressions.evaluation import evaluate
from graphtide.dataflow.expressions.expression import Expression
from graphtide.errors import ExpressionError, GraphtideError
from graphtide.rows import NULL, Dictionary, TupleType, Type, decode_values, encode_column

__all__ = [
    "Call",
    "Codes",
    "Compute",
    "ElementOf",
    "Evaluated",
    "Guarded",
    "MemoByCode",
    "MemoByRow",
    "TupleOf",
    "ValueFunction",
]

Codes: TypeAlias = NDArray[np.int64]
Compute: TypeAlias = Callable[..., Codes]

# A result that happens to be this one is computed anew each time, and still right.
_UNKNOWN: Final = NULL + 1
_MOST_COMBINATIONS: Final = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One column that Python computes from others, and appends to the data columns of a batch.

    `columns` are those of the batch so far: the input's, then those of earlier calls. `compute` takes
    them as arrays of equal length and gives an array of that length.
    """

    expression: Expression
    columns: tuple[int, ...]
    compute: Compute

    @property
    def nbytes(self) -> int:
        """Bytes of the results that it remembers."""
        return getattr(self.compute, "nbytes", 0)

    def __repr__(self) -> str:
        return f"Call({self.expression})"


class MemoByCode:
    """Results of a function of one interned argument, in a table by code."""

    def __init__(self, function: Compute) -> None:
        self._function = function
        self._table: Codes = np.empty(0, np.int64)

    def __call__(self, codes: Codes) -> Codes:
        """The result for each code; None for None."""
        nulls = codes == NULL
        if nulls.any():
            result = np.full(codes.shape, NULL)
            result[~nulls] = self(codes[~nulls])
            return result
        if not codes.size:
            return codes.copy()
        self._grow(int(codes.max()) + 1)
        result = self._table[codes]
        unknown = result == _UNKNOWN
        if unknown.any():
            fresh = np.unique(codes[unknown])
            self._table[fresh] = self._function(fresh)
            result = self._table[codes]
        return result

    @property
    def nbytes(self) -> int:
        """Bytes of the table."""
        return self._table.nbytes

    def _grow(self, size: int) -> None:
        if size > self._table.size:
            grown = np.full(max(size, 2 * self._table.size), _UNKNOWN)
            grown[: self._table.size] = self._table
            self._table = grown


class MemoByRow:
    """Results of a function of several arguments, or of one that is not interned."""

    def __init__(self, function: Compute) -> None:
        self._function = function
        self._known: dict[tuple[int, ...], int] = {}

    def __call__(self, *columns: Codes) -> Codes:
        """The result for each row; None where an argument is None."""
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        results = list(map(self._known.get, rows))
        if None in results:
            if len(self._known) > _MOST_COMBINATIONS:
                self._known.clear()
            self._learn([row for row in dict.fromkeys(rows) if row not in self._known])
            results = list(map(self._known.get, rows))
        return np.array(results, np.int64)

    def _learn(self, rows: list[tuple[int, ...]]) -> None:
        present = [row for row in rows if NULL not in row]
        if present:
            results = self._function(*np.array(present, np.int64).T.copy())
            self._known.update(zip(present, results.tolist(), strict=True))
        # Only now: a function that raised must have left nothing behind.
        self._known.update(dict.fromkeys(set(rows).difference(present), NULL))

    @property
    def nbytes(self) -> int:
        """Bytes of the dict and its keys, roughly: a tuple and its ints each."""
        return sys.getsizeof(self._known) + 160 * len(self._known)


@dataclass(frozen=True, slots=True, eq=False)
class ValueFunction:
    """A function of Python values, over columns of codes without None."""

    function: Callable[..., Any]
    types: Sequence[Type]
    returns: Type
    dictionary: Dictionary
    expression: Expression

    def __call__(self, *columns: Codes) -> Codes:
        """The codes of the results."""
        arguments = [decode_values(t.required, self.dictionary, c) for t, c in zip(self.types, columns, strict=True)]
        results = [self.of_values(*values) for values in zip(*arguments, strict=True)]
        return encode_column(self.returns.optional, self.dictionary, results, name=str(self.expression))

    def of_values(self, *values: Any) -> Any:
        """The result for one row, or an error that says for which."""
        try:
            return self.function(*values)
        except GraphtideError:
            raise
        except Exception as error:
            shown = ", ".join(map(repr, values))
            raise ExpressionError(f"{self.expression} has no value for {shown}: {error}", hint=_HINT) from error


_HINT: Final = "keep such rows out with where, or choose another value with when"


@dataclass(frozen=True, slots=True, eq=False)
class TupleOf:
    """Tuples of the given columns; a `None` among `fixed` is the place of the next column."""

    tuple_type: TupleType
    fixed: tuple[int | None, ...]
    dictionary: Dictionary

    def __call__(self, *columns: Codes) -> Codes:
        """The code of each row's tuple."""
        rows, arity = len(columns[0]), len(self.fixed)
        elements = np.empty((rows, arity), np.int64)
        rest = iter(columns)
        for i, code in enumerate(self.fixed):
            elements[:, i] = next(rest) if code is None else code
        offsets = np.arange(rows + 1) * arity
        return self.dictionary.tuples(self.tuple_type).intern_codes(elements.reshape(-1), offsets)


@dataclass(frozen=True, slots=True, eq=False)
class ElementOf:
    """One element of tuples, None if they are too short."""

    tuple_type: TupleType
    index: int
    dictionary: Dictionary

    def __call__(self, codes: Codes) -> Codes:
        """The code of each tuple's element."""
        elements, offsets = self.dictionary.tuples(self.tuple_type).element_codes(codes)
        starts, ends = offsets[:-1], offsets[1:]
        places = (starts if self.index >= 0 else ends) + self.index
        inside = (starts <= places) & (places < ends)
        result = np.full(codes.shape, NULL)
        result[inside] = elements[places[inside]]
        return result


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """A column that a program computes: the argument of another call."""

    program: NDArray[np.int64]
    failure: Callable[[int], GraphtideError]

    def __call__(self, *columns: Codes) -> Codes:
        """The only output of the program."""
        result, failed = evaluate(self.program, columns, len(columns[0]))
        if failed:
            raise self.failure(-1 - failed)
        return result[0]


@dataclass(frozen=True, slots=True, eq=False)
class Guarded:
    """A computation for the rows in which the first column is true, and None in the others."""

    compute: Compute

    @property
    def nbytes(self) -> int:
        """Bytes of what is guarded."""
        return getattr(self.compute, "nbytes", 0)

    def __call__(self, guard: Codes, *columns: Codes) -> Codes:
        """The results, computed from the rows that need one."""
        needed = guard == 1
        if needed.all():
            return self.compute(*columns)
        result = np.full(guard.shape, NULL)
        if needed.any():
            result[needed] = self.compute(*(column[needed] for column in columns))
        return result
