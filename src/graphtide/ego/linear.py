"""Counts, sums and averages of a plan's nodes, exact and rounded once."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa

from graphtide.ego.aggregates import BuiltIn
from graphtide.ego.kernels import linear as kernels
from graphtide.ego.lines import STATES, grown, lined_up
from graphtide.ego.partials import Batch, Frame, Partials
from graphtide.errors import CapacityError, SchemaError
from graphtide.rows import Kind, Type, decode_value, floats_of_codes
from graphtide.rows.codes import Codes

__all__ = ["Linear"]

# One word holds sums of fewer bits.
_WORD: Final = 62
_LEAST_FLOAT: Final = -1074


class Linear(Partials):
    """Amounts by node: see `kernels.linear`.

    Invariant: no value that was admitted has a binary digit outside of the scale, and no sum of as many as there can
    be.
    """

    def __init__(self, function: BuiltIn, frame: Frame) -> None:
        super().__init__(frame)
        self.function = function
        self._sums = function.name != "count"
        self._low = self._high = 0  # where digits of values that were seen begin and end
        self.scale = np.zeros(kernels.SCALE, np.int64)
        self.scale[kernels.COUNTS] = function.name != "sum"
        self.scale[kernels.DIGITS] = self._sums
        self.states = lined_up((self.width * len(frame.nodes.heads),), np.int64, STATES)
        self._rescale(frame.contents.most_values)

    @property
    def width(self) -> int:
        """Words of an amount."""
        return int(self.scale[kernels.COUNTS] + self.scale[kernels.DIGITS])

    @property
    def nbytes(self) -> int:
        """Bytes of all amounts."""
        return self.states.nbytes

    def check(self, codes: Codes, value_type: Type) -> None:
        """Only numbers add up, and only if they are finite."""
        if not self._sums:
            return
        word = "average" if self.function.name == "avg" else "add up"
        if value_type.kind not in {Kind.INT, Kind.FLOAT}:
            shown = decode_value(value_type, self.frame.dictionary, int(codes[0])) if len(codes) else value_type
            raise SchemaError(f"cannot {word} {shown!r}: it is {value_type.described}, not a number")
        if value_type.kind is Kind.FLOAT and len(codes):
            bad = ~np.isfinite(floats_of_codes(codes))
            if bad.any():
                raise SchemaError(f"cannot {word} {floats_of_codes(codes)[bad][0]}: it is not finite")

    def admit(self, batch: Batch) -> None:
        """Make the scale finer or wider if it must be."""
        writes = batch.writes if self._sums else 0
        if writes == 0:
            return
        is_float = self.frame.type is not None and self.frame.type.kind is Kind.FLOAT
        low, high = kernels.bits_of(batch.values, batch.kinds, is_float)
        if high > low:
            empty = self._high == self._low
            self._low = low if empty else min(low, self._low)
            self._high = max(high, self._high)
        most = self.frame.contents.most_values + writes
        if is_float != self.scale[kernels.IS_FLOAT] or not self._fits(most):
            self.scale[kernels.IS_FLOAT] = is_float
            self._rescale(2 * most)
            self.states = lined_up((self.width * len(self.frame.nodes.heads),), np.int64, STATES)
            self.fill(self.frame.nodes.order())

    def _fits(self, most: int) -> bool:
        base, digits = self.scale[kernels.BASE], self.scale[kernels.DIGITS]
        bits = int(2 * most).bit_length() if digits == 1 else 0
        end = base + (_WORD - bits if digits == 1 else 32 * digits)
        return base <= self._low and self._high <= end

    def _rescale(self, most: int) -> None:
        """Choose how many digits there are, and what the least one weighs."""
        if not self._sums:
            return
        is_float = self.scale[kernels.IS_FLOAT]
        spare = _WORD - int(2 * most).bit_length() - (self._high - self._low if is_float else self._high)
        if spare >= 0:
            self.scale[kernels.DIGITS] = 1
            # Room for values that are finer, and for those that are greater.
            self.scale[kernels.BASE] = max(self._low - spare // 2, 0) if is_float else 0
        else:
            base = self._low // 32 * 32 if is_float else 0
            self.scale[kernels.BASE] = base
            self.scale[kernels.DIGITS] = max(2, -(-(self._high - base) // 32))

    def run(self, batch: Batch) -> Codes:
        """Amounts, a row for each read."""
        frame, nodes = self.frame, self.frame.nodes
        found = np.zeros((batch.reads, self.width), np.int64)
        arrays = nodes.lists, frame.contents.arrays, frame.node_of
        amount = np.zeros(self.width, np.int64)
        kernels.run(batch, *arrays, self.states, self.scale, amount, found.reshape(-1))
        return found

    def fill(self, order: Codes) -> None:
        """All amounts, from the windows."""
        frame = self.frame
        kernels.fill_writers(frame.contents.arrays, frame.node_of, self.states, self.scale)
        self.compute(order)

    def compute(self, nodes: Codes) -> None:
        """The amounts of nodes, from their inputs."""
        own = self.frame.nodes
        kernels.compute(nodes, own.heads, own.inputs, own.stack, self.states, self.scale)

    def clear(self, nodes: Codes) -> None:
        """All words are 0."""
        self.states.reshape(-1, self.width)[nodes] = 0

    def grow(self) -> None:
        """New nodes have nothing."""
        size = self.width * len(self.frame.nodes.heads)
        if size > len(self.states):
            self.states = grown(self.states, size)

    def column(self, found: Codes) -> pa.Array:
        """Counts and sums of ints as ints, else floats; the average of nothing is null."""
        if not self._sums:
            return pa.array(found[:, 0])
        sums = self._sums_of(found)
        if self.function.name == "sum":
            return pa.array(sums)
        counts = found[:, 0]
        averages = sums / np.maximum(counts, 1)
        for row in np.flatnonzero(np.isinf(averages)):
            averages[row] = self._exact_average(found[row])
        return pa.array(averages, mask=counts == 0)

    def values(self, found: Codes) -> list[Any]:
        """The same in Python."""
        return self.column(found).to_pylist()

    def check_invariants(self) -> None:
        """Amounts are what they would be if they were made anew."""
        push = np.flatnonzero(self.frame.nodes.push)
        kept = self.states.reshape(-1, self.width)[push].copy()
        self.fill(self.frame.nodes.order())
        assert (self.states.reshape(-1, self.width)[push] == kept).all()

    def _sums_of(self, found: Codes) -> Any:
        digits = int(self.scale[kernels.DIGITS])
        words = found[:, int(self.scale[kernels.COUNTS]) :]
        if not self.scale[kernels.IS_FLOAT]:
            return words[:, 0] if digits == 1 else _long_sums(words, as_float=self.function.name == "avg")
        if digits == 1:
            # The word is rounded, if it is long; the power of two is exact. A sum may be too great for a float.
            with np.errstate(over="ignore"):
                return np.ldexp(words[:, 0].astype(np.float64), int(self.scale[kernels.BASE]) + _LEAST_FLOAT)
        codes = np.empty(len(found), np.int64)
        kernels.round_digits(found, self.scale, codes)
        return floats_of_codes(codes)

    def _exact_average(self, words: Codes) -> float:
        """The average of floats whose sum is too great for one, which it is not itself."""
        count, *digits = words.tolist()
        total = sum(digit << (32 * place) for place, digit in enumerate(digits))
        # The least digit weighs 2 ** (BASE - 1074); Python rounds a ratio of ints once.
        return (total << int(self.scale[kernels.BASE])) / (count << -_LEAST_FLOAT)


def _long_sums(words: Codes, *, as_float: bool) -> Any:
    """Sums of ints in two digits, which may be longer than an int of 64 bits."""
    totals = [(high << 32) + low for low, high in words.tolist()]
    if as_float:
        return np.array([float(total) for total in totals])
    for total in totals:
        if not -(2**63) < total < 2**63:
            raise CapacityError(f"a sum is {total:,}, which no int of 64 bits holds", hint="write floats instead")
    return np.array(totals, np.int64)
