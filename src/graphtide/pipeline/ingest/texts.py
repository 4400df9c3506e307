"""Text to values of a type, whole columns at a time.

A wanted type is generous: it takes blanks around a value, a plus, leading zeros, and more words for true and
false than those. Timestamps without a zone are in UTC.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from graphtide.graph.schema import PropertyType
from graphtide.pipeline.ingest.arrow import pc

__all__ = ["DATE_TEXT", "GLANCE", "READERS", "TIMESTAMP_TEXT", "Reader", "convert", "narrowed"]

GLANCE: Final = 64
_ZONE: Final = r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
DATE_TEXT: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
TIMESTAMP_TEXT: Final = (
    rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}([ T][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(\.[0-9]{{1,6}})?)?{_ZONE}?)?$"
)


@dataclass(frozen=True, slots=True)
class Reader:
    """What values of a type look like as text, and how to read text that looks so.

    `read` raises `ArrowInvalid` if one is no value all the same: the 30th of February, an int of twenty digits.
    """

    pattern: str
    read: Callable[[pa.Array], pa.Array]
    is_strict: bool  # `read` takes nothing that does not look so


def convert(texts: pa.Array, wanted: PropertyType) -> pa.Array:
    """The values of texts in a type, missing where a text does not fit.

    >>> convert(pa.array(["7", " +08", "x", None]), PropertyType.INT).to_pylist()
    [7, 8, None, None]
    """
    if wanted is PropertyType.STRING:
        return texts
    if wanted is PropertyType.INT and (ints := narrowed(texts)) is not None:
        return ints
    reader = READERS[wanted]
    if reader.is_strict and not _misfits(texts[:GLANCE], reader.read):
        with suppress(pa.ArrowInvalid):
            return reader.read(texts)
    trimmed = pc.ascii_trim_whitespace(texts)
    readable = _only(trimmed, pc.match_substring_regex(trimmed, reader.pattern))
    try:
        return reader.read(readable)
    except pa.ArrowInvalid:
        fits = np.ones(len(texts), np.bool_)
        fits[_misfits(readable, reader.read)] = False
        return reader.read(_only(readable, pa.array(fits)))


def narrowed(texts: pa.Array) -> pa.Array | None:
    """The ints that these texts are the usual writing of, None unless all are.

    >>> narrowed(pa.array(["1", "-20", None])).to_pylist(), narrowed(pa.array(["01"]))
    ([1, -20, None], None)
    """
    # Arrow makes an error of every value before it raises one, so the first few are asked alone.
    if len(texts) > GLANCE and narrowed(texts[:GLANCE]) is None:
        return None
    try:
        ints = texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    return ints if ints.cast(pa.string()).equals(texts) else None


def _only(texts: pa.Array, wanted: pa.Array) -> pa.Array:
    """The texts where `wanted` is true, missing elsewhere."""
    return pc.if_else(wanted, texts, pa.scalar(None, pa.string()))


def _misfits(texts: pa.Array, read: Callable[[pa.Array], pa.Array], start: int = 0) -> list[int]:
    """Where texts are that cannot be read, found by halving: few reads if there are few."""
    try:
        read(texts)
    except pa.ArrowInvalid:
        half = len(texts) // 2
        if not half:
            return [start]
        return _misfits(texts[:half], read, start) + _misfits(texts[half:], read, start + half)
    return []


def _read_ints(texts: pa.Array) -> pa.Array:
    return pc.utf8_ltrim(texts, "+").cast(pa.int64())


def _read_floats(texts: pa.Array) -> pa.Array:
    return texts.cast(pa.float64())


def _read_bools(texts: pa.Array) -> pa.Array:
    is_true = pc.match_substring_regex(texts, "^[tTyY1]")
    return pc.if_else(texts.is_valid(), is_true, pa.scalar(None, pa.bool_()))


def _read_dates(texts: pa.Array) -> pa.Array:
    return texts.cast(pa.date32())


def _read_timestamps(texts: pa.Array) -> pa.Array:
    # Arrow reads texts with a zone or texts without one, not both at once.
    has_zone = pc.match_substring_regex(texts, f":[0-9.]+{_ZONE}$")
    zoned = _only(texts, has_zone).cast(PropertyType.TIMESTAMP.arrow)
    plain = _only(texts, pc.invert(has_zone)).cast(pa.timestamp("us")).cast(PropertyType.TIMESTAMP.arrow)
    return pc.coalesce(zoned, plain)


READERS: Final = {
    PropertyType.INT: Reader(r"^[+-]?[0-9]+$", _read_ints, is_strict=False),
    PropertyType.FLOAT: Reader(
        r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^[+-]?(?i:inf|infinity|nan)$",
        _read_floats,
        is_strict=True,
    ),
    PropertyType.BOOL: Reader("^(?i:true|false|t|f|yes|no|y|n|1|0)$", _read_bools, is_strict=False),
    PropertyType.DATE: Reader(DATE_TEXT, _read_dates, is_strict=True),
    PropertyType.TIMESTAMP: Reader(TIMESTAMP_TEXT, _read_timestamps, is_strict=False),
}
