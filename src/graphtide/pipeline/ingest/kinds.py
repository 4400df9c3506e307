"""Which types a column of text could have, found from all of it.

Invariant: what is found for a column does not depend on how it is cut into pieces, since a type is possible for the
whole exactly if it is possible for every piece.

An int is written without a plus, without leading zeros, and fits 64 bits; so `007`, `+49123` and twenty digits,
which are identifiers more often than amounts, stay text unless their column is declared to be something else. A
number that is written with a point or an exponent is a float, and where those are, ints are floats too.
"""

from __future__ import annotations

from enum import IntFlag
from functools import reduce
from operator import and_
from typing import Final

import pyarrow as pa

from graphtide.graph.schema import PropertyType
from graphtide.pipeline.ingest.arrow import pc
from graphtide.pipeline.ingest.texts import DATE_TEXT, GLANCE, READERS, TIMESTAMP_TEXT, narrowed

__all__ = ["Kinds", "kinds_of", "settled"]


class Kinds(IntFlag):
    """Types that all values of a column could have; text they could always be."""

    INT = 1
    FLOAT = 2
    BOOL = 4
    DATE = 8
    TIMESTAMP = 16


_FLOAT_TEXT: Final = r"^-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$|^-?(inf|Infinity|NaN|nan)$"
_LONG_INT_TEXT: Final = r"^-?[0-9]{19,}$"
# In the order in which they are taken if several are possible.
_TESTS: Final = (
    (Kinds.BOOL, PropertyType.BOOL, "^(true|false|True|False|TRUE|FALSE)$"),
    (Kinds.INT, PropertyType.INT, r"^(0|-?[1-9][0-9]*)$"),
    (Kinds.FLOAT, PropertyType.FLOAT, _FLOAT_TEXT),
    (Kinds.DATE, PropertyType.DATE, DATE_TEXT),
    (Kinds.TIMESTAMP, PropertyType.TIMESTAMP, TIMESTAMP_TEXT),
)
_ALL: Final = Kinds.INT | Kinds.FLOAT | Kinds.BOOL | Kinds.DATE | Kinds.TIMESTAMP


def kinds_of(texts: pa.Array) -> Kinds | None:
    """The types that every one of these texts could have; None if all are missing.

    >>> kinds_of(pa.array(["1", None, "20"])) == Kinds.INT | Kinds.FLOAT
    True
    >>> kinds_of(pa.array(["007", "1"])) == Kinds(0)
    True
    """
    values = texts.drop_null() if texts.null_count else texts
    if not len(values):
        return None
    if narrowed(values) is not None:
        return Kinds.INT | Kinds.FLOAT
    # A glance at the first few spares most columns of text a look at the rest.
    possible = _kinds(values[:GLANCE], _ALL)
    return possible if possible == Kinds(0) or len(values) <= GLANCE else _kinds(values, possible or _ALL)


def settled(kinds: list[Kinds | None]) -> PropertyType:
    """The type of a column from what was found in its pieces; text if no piece has a value.

    >>> settled([Kinds.INT | Kinds.FLOAT, None, Kinds.FLOAT])
    <PropertyType.FLOAT: 'float'>
    """
    found = [each for each in kinds if each is not None]
    common = reduce(and_, found) if found else Kinds(0)
    return next((type_ for kind, type_, _ in _TESTS if kind & common), PropertyType.STRING)


def _kinds(texts: pa.Array, among: Kinds) -> Kinds | None:
    trimmed = pc.ascii_trim_whitespace(texts)
    # Nothing but blanks is text if the others are, and missing otherwise.
    values = trimmed.filter(pc.not_equal(trimmed, ""))
    if not len(values):
        return None
    found = Kinds(0)
    for kind, type_, pattern in _TESTS:
        if kind & among and _are_all(values, type_, pattern):
            found |= kind
    if found & Kinds.FLOAT and not found & Kinds.INT and not _fit_ints(values):
        found &= ~Kinds.FLOAT
    return found


def _are_all(values: pa.Array, type_: PropertyType, pattern: str) -> bool:
    if not pc.all(pc.match_substring_regex(values, pattern)).as_py():
        return False
    try:
        READERS[type_].read(values)
    except pa.ArrowInvalid:
        return False
    return True


def _fit_ints(values: pa.Array) -> bool:
    """Whether those that are written as ints fit 64 bits: a float would silently drop their last digits."""
    return narrowed(values.filter(pc.match_substring_regex(values, _LONG_INT_TEXT))) is not None
