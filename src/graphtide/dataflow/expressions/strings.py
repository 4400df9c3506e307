"""The Python functions behind operations on strings and calendars, and casts from and to text.

They never see None. An exception becomes an error that quotes the value; None is no answer.
"""

from __future__ import annotations

import operator
import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

from graphtide.dataflow.kernels.opcodes import AT_MOST, LESS
from graphtide.rows import Kind

__all__ = ["CASTS_FROM_TEXT", "FUNCTIONS", "ORDER", "WORD_BYTES", "add_months", "cast_to_text", "digest"]


def _substr(text: str, start: int, length: int | None = None) -> str:
    start = max(len(text) + start, 0) if start < 0 else start
    return text[start:] if length is None else text[start : start + max(length, 0)]


def _contains(text: str, part: str) -> bool:
    return part in text


def _split_part(text: str, separator: str, index: int) -> str | None:
    parts = text.split(separator)
    return parts[index] if -len(parts) <= index < len(parts) else None


def _like(text: str, pattern: str) -> bool:
    return _like_regex(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _like_regex(pattern: str) -> re.Pattern[str]:
    r"""The regular expression of a LIKE pattern.

    >>> _like_regex(r"a%_\%").pattern
    'a.*.%'
    """
    wild = {"%": ".*", "_": "."}
    tokens: list[str] = re.findall(r"\\.|.", pattern, re.DOTALL)
    parts = [re.escape(token[1:]) if len(token) > 1 else wild.get(token) or re.escape(token) for token in tokens]
    return re.compile("".join(parts), re.DOTALL)


def _matches(text: str, pattern: str) -> bool:
    return re.search(pattern, text) is not None


def _extract(text: str, pattern: str, group: int) -> str | None:
    found = re.search(pattern, text)
    return None if found is None else found[group]


def _concat(*parts: str) -> str:
    return "".join(parts)


# So many bytes of a string, and no sign, fit into an int.
WORD_BYTES: Final = 7


def _order_word(text: str, index: int) -> int:
    """A few bytes as an int.

    >>> _order_word("a", 0) < _order_word("aa", 0) < _order_word("b", 0)
    True
    """
    part = text.encode()[index * WORD_BYTES :][:WORD_BYTES]
    return int.from_bytes(part.ljust(WORD_BYTES, b"\0"), "big")


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "upper": str.upper,
    "lower": str.lower,
    "length": len,
    "strip": str.strip,
    "lstrip": str.lstrip,
    "rstrip": str.rstrip,
    "substr": _substr,
    "contains": _contains,
    "startswith": str.startswith,
    "endswith": str.endswith,
    "replace": str.replace,
    "split_part": _split_part,
    "like": _like,
    "matches": _matches,
    "extract": _extract,
    "concat": _concat,
    "order_word": _order_word,
}


# ------------------------------------------------------------------------------------------ order


def _sortable(value: Any) -> Any:
    """A value that Python orders as we do: None first, NaN last, also inside tuples."""
    if isinstance(value, tuple):
        return tuple((element is not None, _sortable(element)) for element in value)
    if isinstance(value, float):
        return (value != value, 0.0 if value != value else value)  # noqa: PLR0124 - a NaN differs from itself
    return 0 if value is None else value


def _less(a: Any, b: Any) -> bool:
    return operator.lt(_sortable(a), _sortable(b))


def _at_most(a: Any, b: Any) -> bool:
    return operator.le(_sortable(a), _sortable(b))


# By the opcode of the comparison.
ORDER: Final[dict[int, Callable[[Any, Any], bool]]] = {LESS: _less, AT_MOST: _at_most}


# ----------------------------------------------------------------------------------------- casts


def cast_to_text(value: Any) -> str:
    """Text that the cast back understands: bools in small letters, as in SQL and JSON.

    >>> cast_to_text(True), cast_to_text(1.5), cast_to_text(date(2020, 1, 2))
    ('true', '1.5', '2020-01-02')
    """
    if isinstance(value, bytes):
        return value.decode()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _to_int(text: str) -> int:
    result = int(text)
    if not -(2**63) < result < 2**63:
        raise ValueError("it does not fit into 64 bits")
    return result


def _to_bool(text: str) -> bool:
    known = {"true": True, "false": False}
    if text.strip().lower() not in known:
        raise ValueError("it is neither true nor false")
    return known[text.strip().lower()]


def _to_date(text: str) -> date:
    return date.fromisoformat(text.strip())


def _to_timestamp(text: str) -> datetime:
    moment = datetime.fromisoformat(text.strip())
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


CASTS_FROM_TEXT: Final[dict[Kind, Callable[[str], Any]]] = {
    Kind.INT: _to_int,
    Kind.FLOAT: float,
    Kind.BOOL: _to_bool,
    Kind.BYTES: str.encode,
    Kind.DATE: _to_date,
    Kind.TIMESTAMP: _to_timestamp,
}


def add_months(moment: date, months: int) -> date:
    """The same day of another month, or its last one.

    >>> add_months(date(2024, 1, 31), 1)
    datetime.date(2024, 2, 29)
    """
    years, month = divmod(moment.month - 1 + months, 12)
    year = moment.year + years
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))


def digest(value: Any) -> int:
    """63 bits of a hash that is the same in every process.

    >>> digest("a") == digest("a"), digest("a") == digest("b")
    (True, False)
    """
    data = value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else repr(value).encode()
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little") >> 1
