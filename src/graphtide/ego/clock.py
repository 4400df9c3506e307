"""Times of writes: their codes, and when what is written then expires."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphtide.ego.values import codes_of, lasting, type_of
from graphtide.ego.windows import Within
from graphtide.errors import SchemaError
from graphtide.rows import Dictionary, Kind, Type, codes_of_floats, decode_value, floats_of_codes
from graphtide.rows.codes import Codes

__all__ = ["Clock", "Moments"]

_NO_TIMES: Final = np.zeros(0, np.int64)
_LAST: Final = 2**63 - 1
_DAY: Final = timedelta(days=1)
_MICROSECOND: Final = timedelta(microseconds=1)


class Moments(NamedTuple):
    """Times of one batch; there is no type of none."""

    type: Type | None
    codes: Codes
    expiries: Codes


class Clock:
    """The type of times, which the first of them decides, and the length of the window in it."""

    def __init__(self, window: Within) -> None:
        self.window = window
        self.type: Type | None = None
        self._dictionary = Dictionary()  # times are not interned

    def encode(self, times: Any) -> Moments:
        """The codes of times, and of when what was written then expires."""
        times = lasting(times)
        kind = type_of(times, "give times of one type") if self.type is None else self.type
        if kind is None:
            return Moments(None, _NO_TIMES, _NO_TIMES)
        span = self._span(kind)
        codes = codes_of(kind, self._dictionary, times, "at", "let the first time be ")
        if kind.kind is Kind.FLOAT:
            floats = floats_of_codes(codes)
            ends = self._ends(floats, span)
            return Moments(kind, codes, codes_of_floats(ends))
        if len(codes) and codes.max() > _LAST - span:
            raise SchemaError(f"{self.shown(int(codes.max()), kind)} is too late: its window ends after all times")
        return Moments(kind, codes, codes + span)

    def _ends(self, times: NDArray[np.float64], span: float) -> NDArray[np.float64]:
        """When what was written at times expires: later than that, and not at the end of all times."""
        is_bad = ~np.isfinite(times)
        if is_bad.any():
            row = int(is_bad.argmax())
            hint = "give a finite number: after an infinite one no time could come"
            raise SchemaError(f"row {row}: {float(times[row])!r} is not a time", hint=hint)
        with np.errstate(over="ignore"):  # what it gives then is looked at
            ends = times + span
        is_bad = ~np.isfinite(ends) | (ends <= times)
        if is_bad.any():
            row = int(is_bad.argmax())
            raise SchemaError(
                f"row {row}: {self.window!r} does not end at a later float than {float(times[row])!r}",
                hint="count time from a nearer beginning, or take a longer window",
            )
        return ends

    def shown(self, code: int, kind: Type | None = None) -> Any:
        """The time behind a code."""
        kind = kind or self.type
        assert kind is not None, "a time was seen"
        return decode_value(kind, self._dictionary, code)

    def _span(self, kind: Type) -> Any:
        """The length of the window, as codes of that type count."""
        span = self.window.span
        if kind.kind in {Kind.DATE, Kind.TIMESTAMP}:
            unit = _DAY if kind.kind is Kind.DATE else _MICROSECOND
            if isinstance(span, timedelta) and span % unit == timedelta(0):
                return span // unit
        elif kind.kind is Kind.FLOAT and not isinstance(span, timedelta):
            return float(span)
        elif kind.kind is Kind.INT and not isinstance(span, timedelta) and span == int(span):
            return int(span)
        raise SchemaError(
            f"times are {kind}, and the window is {self.window!r}",
            hint="ints and floats take a number, dates whole days, timestamps a timedelta",
        )
