"""What can be asked of dates and timestamps.

Dates count days, timestamps microseconds without a zone: `date + 3` is three days later, the difference
of two dates is an int of days, that of two timestamps an int of microseconds, and a `timedelta` may
stand for either. Each method is an operation of its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphtide.dataflow.expressions.expression import Expression

__all__ = ["MomentMethods"]


class MomentMethods:
    """Parts of dates and timestamps, as ints, and the periods they fall into."""

    __slots__ = ()

    def year(self) -> Expression:
        """The year."""
        return self._apply("year")

    def month(self) -> Expression:
        """The month, 1 to 12."""
        return self._apply("month")

    def day(self) -> Expression:
        """The day of the month, 1 to 31."""
        return self._apply("day")

    def weekday(self) -> Expression:
        """The day of the week, 0 for Monday to 6 for Sunday."""
        return self._apply("weekday")

    def hour(self) -> Expression:
        """The hour of a timestamp, 0 to 23."""
        return self._apply("hour")

    def minute(self) -> Expression:
        """The minute of a timestamp, 0 to 59."""
        return self._apply("minute")

    def second(self) -> Expression:
        """The whole second of a timestamp, 0 to 59."""
        return self._apply("second")

    def date_trunc(self, unit: str) -> Expression:
        """The start of the year, quarter, month, week, day, hour, minute or second it falls into."""
        return self._apply("date_trunc", unit)

    def add_months(self, months: int) -> Expression:
        """The same day and clock so many months later, or the last day of that month if it has no such day."""
        return self._apply("add_months", months)

    def to_date(self) -> Expression:
        """The date of a timestamp, or of a string such as '2020-12-31'."""
        return self._apply("to_date")

    def _apply(self, operation: str, *others: Any) -> Expression:
        raise NotImplementedError
