"""What is told as an Arrow table is one call away from the frames of other libraries, and shows itself in notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape
from typing import Any

import pyarrow as pa

__all__ = ["Tabular", "html_table"]

_SHOWN_IN_NOTEBOOKS = 20


class Tabular(ABC):
    """Something that a table tells in full."""

    __slots__ = ()

    @abstractmethod
    def _as_table(self) -> pa.Table:
        """All of it."""

    def to_pandas(self) -> Any:
        """All rows as a pandas DataFrame."""
        return self._as_table().to_pandas()

    def to_polars(self) -> Any:
        """All rows as a Polars DataFrame."""
        import polars  # noqa: ICN001, PLC0415 - only where it is used

        return polars.from_arrow(self._as_table())

    def to_spark(self, spark: Any) -> Any:
        """All rows as a DataFrame of a Spark session."""
        # Spark takes a chunk without rows for the end of the table.
        return spark.createDataFrame(self._as_table().combine_chunks())


def html_table(table: pa.Table, caption: str) -> str:
    """The first rows of a table, for notebooks.

    >>> html_table(pa.table({"a": [1]}), "one row")
    '<table><caption>one row</caption><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>'
    """
    names = "".join(f"<th>{escape(name)}</th>" for name in table.column_names)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in row.values()) + "</tr>"
        for row in table.slice(0, _SHOWN_IN_NOTEBOOKS).to_pylist()
    )
    head = f"<caption>{escape(caption)}</caption><thead><tr>{names}</tr></thead>"
    return f"<table>{head}<tbody>{rows}</tbody></table>"
