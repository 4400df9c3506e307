"""Times of writes: their codes, and when what is written then expires."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final, NamedTuple

import numpy as np

from graphtide.ego.values import type_of
from graphtide.ego.windows import Within
from graphtide.errors import SchemaError
from graphtide.rows import Dictionary, Kind, Type, codes_of_floats, decode_value, encode_column, floats_of_codes
from graphtide.rows.codes import Codes

__all__ = ["Clock", "Moments"]

_LAST: Final = 2**63 - 1
_DAY: Final = timedelta(days=1)
_MICROSECOND: Final = timedelta(microseconds=1)


class Moments(NamedTuple):
    """Times of one batch."""

    type: Type
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
        kind = type_of(times) if self.type is None else self.type
        span = self._span(kind)
        codes = encode_column(kind, self._dictionary, times, "at")
        if kind.kind is Kind.FLOAT:
            floats = floats_of_codes(codes)
            if np.isnan(floats).any():
                raise SchemaError(f"row {int(np.isnan(floats).argmax())}: nan is not a time")
            return Moments(kind, codes, codes_of_floats(floats + span))
        if len(codes) and codes.max() > _LAST - span:
            raise SchemaError(f"{self.shown(int(codes.max()), kind)} is too late: its window ends after all times")
        return Moments(kind, codes, codes + span)

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
