"""Dates and timestamps as SQL writes them: YYYY-MM-DD, then HH:MM[:SS[.micros]].

Python's own forms without dashes, or of weeks, are none. As in DuckDB, the offset from UTC that stands behind a
timestamp without a time zone is passed over.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Final

__all__ = ["date_of", "timestamp_of", "timestamp_text"]

_DATE: Final = r"(\d{1,4})([-/])(\d{1,2})\2(\d{1,2})"
_TIME: Final = r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6})\d*)?)?"
_OFFSET: Final = r"(?:\s*(?:Z|[+-]\d{1,2}(?::\d{2}){0,2}))?"
_MOMENT: Final = re.compile(rf"\s*{_DATE}(?:[ T]+{_TIME}{_OFFSET})?\s*", re.ASCII)


def date_of(text: str) -> date:
    """The date that a text begins with, a ValueError if it is none.

    >>> date_of("2020-2-29")
    datetime.date(2020, 2, 29)
    """
    return timestamp_of(text).date()


def timestamp_of(text: str) -> datetime:
    """The moment that a text names, a ValueError if it is none; midnight if it names a date.

    >>> timestamp_of("2020-02-29 12:30:00.25+02:00")
    datetime.datetime(2020, 2, 29, 12, 30, 0, 250000)
    """
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise ValueError(text)
    year, _, month, day, hour, minute, second, fraction = found.groups()
    micros = (fraction or "").ljust(6, "0")
    return datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), int(micros))  # noqa: DTZ001


def timestamp_text(moment: datetime) -> str:
    """A moment as DuckDB writes it, its fraction as long as it must be.

    >>> timestamp_text(timestamp_of("2020-02-29 12:30:00.250"))
    '2020-02-29 12:30:00.25'
    """
    text = moment.isoformat(" ")
    return text.rstrip("0") if moment.microsecond else text
