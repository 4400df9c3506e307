"""Writes and reads as users give them, checked and encoded before anything is applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.ego.clock import Clock
from graphtide.ego.partials import READ, WRITE
from graphtide.ego.plan import Plan
from graphtide.ego.values import codes_of, lasting, type_of
from graphtide.ego.windows import Within
from graphtide.errors import SchemaError, UsageError
from graphtide.rows import BOOL, Dictionary, Type, encode_column
from graphtide.rows.codes import Codes
from graphtide.rows.misfit import shown

__all__ = ["Intake", "Operations", "as_column", "as_kinds"]

_NOTHING = np.zeros(0, np.int64)


class Operations(NamedTuple):
    """What a plan is to run, but for who writes and reads."""

    kinds: NDArray[np.int8]
    values: Codes
    expiries: Codes
    times: Codes
    time_type: Type | None
    value_type: Type | None


class Intake:
    """The types of values and times that a plan takes; the first of them decide, unless it was said."""

    def __init__(self, plan: Plan, value_type: Type | None) -> None:
        self.plan = plan
        window = plan.frame.contents.window
        self.clock = Clock(window) if isinstance(window, Within) else None
        if value_type is not None:
            plan.check(_NOTHING, value_type)
            plan.set_type(value_type)

    def encode(self, kinds: NDArray[np.int8], values: Any, times: Any) -> Operations:
        """Operations with the values of all that write, and the times of all; nothing is changed yet."""
        writes = kinds == WRITE
        codes = np.zeros(len(kinds), np.int64)
        value_type = None
        if writes.any():
            values = lasting(values)
            value_type = self.plan.frame.type or type_of(values)
            if value_type is None:
                raise SchemaError(f"there are 0 values for {np.count_nonzero(writes)} writes")
            value_type = value_type.required
            dictionary = self.plan.frame.dictionary
            written = codes_of(value_type, dictionary, values, "value", "register it with values=")
            if len(written) != np.count_nonzero(writes):
                raise SchemaError(f"there are {len(written)} values for {np.count_nonzero(writes)} writes")
            self.plan.check(written, value_type)
            codes[writes] = written
        return Operations(kinds, codes, *self._times(kinds, times), value_type)

    def _times(self, kinds: NDArray[np.int8], times: Any) -> tuple[Codes, Codes, Type | None]:
        """When what is written expires, when all of it happens, and the type of that; none is written too late."""
        clock, contents = self.clock, self.plan.frame.contents
        if clock is None:
            if times is not None:
                hint = "leave times out, or use window=Within(...)"
                raise UsageError(f"{contents.window!r} does not look at times", hint=hint)
            return _NOTHING, _NOTHING, None
        if times is None:
            if (kinds == READ).all():
                now = np.full(len(kinds), contents.clock)
                return now, now, None
            raise UsageError(f"{contents.window!r} needs the time of each write", hint="give it by at= or times=")
        moments = clock.encode(times)
        if len(moments.codes) != len(kinds):
            raise SchemaError(f"there are {len(moments.codes)} times for {len(kinds)} operations")
        now = np.maximum.accumulate(np.maximum(moments.codes, contents.clock))
        before = np.concatenate([[contents.clock], now[:-1]])
        late = (kinds == WRITE) & (moments.expiries <= before)
        if late.any():
            row = int(late.argmax())
            at, present = (clock.shown(int(codes[row]), moments.type) for codes in (moments.codes, before))
            raise SchemaError(
                f"row {row}: a write at {at!r} comes too late: the clock is at {present!r}, and {contents.window!r} "
                "has forgotten that time",
                hint="write in the order of time, or take a longer window; nothing was applied",
            )
        return moments.expiries, moments.codes, moments.type

    def commit(self, operations: Operations) -> tuple[Type | None, Type | None]:
        """Know the types of what is about to be run; those of values and times that were known before."""
        before = self.plan.frame.type, None if self.clock is None else self.clock.type
        if operations.value_type is not None and self.plan.frame.type is None:
            self.plan.set_type(operations.value_type)
        if operations.time_type is not None and self.clock is not None:
            self.clock.type = operations.time_type
        return before

    def take_back(self, types: tuple[Type | None, Type | None]) -> None:
        """Know the types that were known before something failed, of which nothing is left."""
        value_type, time_type = types
        if value_type is None and self.plan.frame.type is not None:
            self.plan.set_type(None)
        if self.clock is not None:
            self.clock.type = time_type


def as_kinds(is_read: Any) -> NDArray[np.int8]:
    """Which operations are reads, by a column of bools."""
    codes = encode_column(BOOL, Dictionary(), is_read, "is_read")
    return np.where(codes != 0, READ, WRITE).astype(np.int8)


def as_column(values: Any, wanted: NDArray[np.bool_]) -> Any:
    """The values of a column at some places; it has one for each place."""
    values = lasting(values)
    if not isinstance(values, Sized) or isinstance(values, str | bytes | Mapping):
        raise SchemaError(
            f"{shown(values)} is not a column of values",
            hint="give one as long as that of vertices; what stands beside reads, such as None, is not looked at",
        )
    if len(values) != len(wanted):
        raise SchemaError(f"there are {len(values)} values for {len(wanted)} operations")
    if isinstance(values, np.ndarray):
        return values[wanted]
    if isinstance(values, Sequence):
        return [value for value, is_wanted in zip(values, wanted.tolist(), strict=True) if is_wanted]
    return pa.array(values).filter(pa.array(wanted))
