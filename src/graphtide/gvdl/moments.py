"""Dates and timestamps as GVDL writes them: `2019-01-31`, `2019-01-31 12:00:00`, in UTC unless a zone is given."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Final

__all__ = ["DATE_FORM", "TIMESTAMP_FORM", "read_date", "read_timestamp", "show_timestamp"]

DATE_FORM: Final = "2019-01-31"
TIMESTAMP_FORM: Final = "2019-01-31 12:00:00"

# Narrower than what `fromisoformat` reads, which takes weeks, ordinal days and seconds without colons too.
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME: Final = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?", re.IGNORECASE)


def read_date(text: str) -> date | None:
    """The date that a text says, None if it says none.

    >>> read_date("2019-01-31"), read_date("2019-02-31")
    (datetime.date(2019, 1, 31), None)
    """
    if not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def read_timestamp(text: str) -> datetime | None:
    """The instant that a text says, in UTC; a date is its midnight.

    >>> read_timestamp("2019-01-31T12:00:00.5+02:00").isoformat()
    '2019-01-31T10:00:00.500000+00:00'
    >>> read_timestamp("yesterday") is None
    True
    """
    day, time = text[:10], text[11:]
    if read_date(text) is None and not (
        _DATE.fullmatch(day) and text[10:11] in {" ", "T", "t"} and _TIME.fullmatch(time)
    ):
        return None
    try:
        read = datetime.fromisoformat(text.upper())
        return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def show_timestamp(instant: datetime) -> str:
    """The text that `read_timestamp` reads as this instant.

    >>> show_timestamp(datetime(2019, 1, 31, 12, tzinfo=UTC))
    '2019-01-31 12:00:00'
    """
    return instant.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ")
