"""Users' functions, called row by row, and compiled where that gives the same.

A function is called with Python values and must be pure: the row that takes a result back computes
it again. That is why a compiled version is trusted only as far as it is checked: in every batch, the
rows with the least and the greatest arguments, where 64 bits would overflow first, are computed
in both ways, and a difference ends the compiled version for good.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from graphtide.dataflow.expressions.calls import Codes
from graphtide.dataflow.expressions.expression import Invoke
from graphtide.errors import GraphtideError, SchemaError, UserFunctionError
from graphtide.jit import looped
from graphtide.rows import (
    NULL,
    Dictionary,
    Kind,
    Type,
    codes_of_floats,
    decode_values,
    encode_column,
    encode_value,
    floats_of_codes,
)

__all__ = ["COMPILED_FROM", "Rowwise"]

# Rows that make a compilation of a second or so worth trying.
COMPILED_FROM: Final = 20_000

# The kinds that compiled code can hold.
_MACHINE_TYPES: Final = {Kind.INT: np.int64, Kind.FLOAT: np.float64, Kind.BOOL: np.bool}


class Rowwise:
    """A user's function over columns of codes; a code among `fixed` is an argument that never changes."""

    def __init__(
        self, invoke: Invoke, types: Sequence[Type], fixed: Sequence[int | None], dictionary: Dictionary
    ) -> None:
        self._invoke = invoke
        self._types = [each.required for each in types]
        self._fixed = fixed
        self._dictionary = dictionary
        self._compiled = _Compiled(invoke, self._types) if _is_numeric(types, invoke.returns) else None

    def __call__(self, *columns: Codes) -> Codes:
        """The result for each row; None where an argument is None."""
        rest = iter(columns)
        size = len(columns[0])
        arguments = [next(rest) if code is None else np.full(size, code) for code in self._fixed]
        present = np.logical_and.reduce([argument != NULL for argument in arguments])
        if present.all():
            return self._over(arguments)
        result = np.full(size, NULL)
        result[present] = self._over([argument[present] for argument in arguments])
        return result

    def _over(self, columns: Sequence[Codes]) -> Codes:
        """The results of rows without None."""
        if self._compiled is not None and len(columns[0]) >= COMPILED_FROM:
            result = self._compiled.over(columns)
            if result is not None and self._agrees(columns, result):
                return result
            self._compiled = None
        return self._in_python(columns)

    def _agrees(self, columns: Sequence[Codes], result: Codes) -> bool:
        rows = sorted({0} | {int(row) for c in columns for row in (c.argmin(), c.argmax())})
        try:
            return np.array_equal(self._in_python([column[rows] for column in columns]), result[rows])
        except UserFunctionError:
            return False

    def _in_python(self, columns: Sequence[Codes]) -> Codes:
        function = self._invoke.function
        arguments = [decode_values(t, self._dictionary, c) for t, c in zip(self._types, columns, strict=True)]
        results: list[Any] = []
        for values in zip(*arguments, strict=True):
            try:
                results.append(function(*values))
            except GraphtideError:
                raise
            except Exception as error:
                raise self._failure(values, f"raised {type(error).__name__}: {error}", None) from error
        try:
            return encode_column(self._invoke.returns, self._dictionary, results)
        except SchemaError:
            raise self._misfit(zip(*arguments, strict=True), results) from None

    def _misfit(self, rows: Any, results: list[Any]) -> UserFunctionError:
        """The error of the first result that its type refuses."""
        returns = self._invoke.returns
        for values, result in zip(rows, results, strict=True):
            try:
                encode_value(returns, self._dictionary, result)
            except SchemaError as error:
                hint = f"declare returns={returns} | None" if result is None else error.hint
                return self._failure(values, f"returned {error.message}", hint)
        raise AssertionError("one of the results was refused")

    def _failure(self, values: tuple[Any, ...], what: str, hint: str | None) -> UserFunctionError:
        name = getattr(self._invoke.function, "__name__", repr(self._invoke.function))
        shown = ", ".join(map(repr, values))
        return UserFunctionError(f"{name}({shown}) {what}, in {self._invoke}", hint)


def _is_numeric(types: Sequence[Type], returns: Type) -> bool:
    return not returns.nullable and all(each.kind in _MACHINE_TYPES for each in (*types, returns))


class _Compiled:
    """A function of numbers as machine code; compiled at its first use, if it can be."""

    def __init__(self, invoke: Invoke, types: Sequence[Type]) -> None:
        self._function = invoke.function
        self._kinds = [each.kind for each in types]
        self._returns = invoke.returns.kind
        self._loop: Callable[..., Any] | None = None

    def over(self, columns: Sequence[Codes]) -> Codes | None:
        """The results, or None if the function does not compile or raised."""
        numbers = tuple(_numbers_of(kind, column) for kind, column in zip(self._kinds, columns, strict=True))
        out: NDArray[Any] = np.empty(len(columns[0]), _MACHINE_TYPES[self._returns])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if self._loop is None:
                    takes = [_MACHINE_TYPES[kind] for kind in self._kinds]
                    self._loop = looped(self._function, takes, _MACHINE_TYPES[self._returns])
                if self._loop is None:
                    return None
                self._loop(out, numbers)
        except Exception:  # noqa: BLE001 - Python will say what is wrong with which row
            return None
        codes = codes_of_floats(out) if self._returns is Kind.FLOAT else out.astype(np.int64)
        return None if self._returns is Kind.INT and (codes == NULL).any() else codes


def _numbers_of(kind: Kind, codes: Codes) -> NDArray[Any]:
    if kind is Kind.FLOAT:
        return floats_of_codes(codes)
    return codes != 0 if kind is Kind.BOOL else codes
