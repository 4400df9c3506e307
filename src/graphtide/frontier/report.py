"""What queries on a live graph keep and what it spared or cost them: a report of each, and a table of all bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from graphtide.frontier.maintenance import Maintenance

__all__ = ["QueryReport", "SharedPart", "memory_table"]

_COUNTS = ("differences", "bytes", "dropped", "recomputed", "spurious")


@dataclass(frozen=True, slots=True)
class QueryReport:
    """What one query keeps, and how often it computed again what it had dropped.

    `bytes` are its own. `product` are those of the product with its pattern, which queries with that pattern share.
    """

    name: str
    kind: str
    policy: Maintenance
    differences: int
    bytes: int
    dropped: int  # differences, at first and in all batches
    recomputed: int  # differences that were dropped, or may have been
    spurious: int  # of these there had been none
    product: int  # 0 if it has no pattern

    def __str__(self) -> str:
        parts = [f"{self.differences:,} differences", f"{self.bytes:,} bytes"]
        if self.product:
            parts[-1] += f" besides {self.product:,} of a shared product"
        if self.dropped:
            parts.append(f"{self.dropped:,} dropped")
        if self.recomputed:
            parts.append(f"{self.recomputed:,} recomputed ({self.spurious:,} spurious)")
        return f"{self.kind} by {self.policy!r}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class SharedPart:
    """Bytes that no query answers for alone."""

    kind: str
    bytes: int


def memory_table(queries: Iterable[QueryReport], shared: Iterable[SharedPart]) -> pa.Table:
    """A row for each query, and one without a name for each part that they share."""
    reports, parts = list(queries), list(shared)
    rest = [None] * len(parts)
    columns: dict[str, pa.Array] = {
        "name": pa.array([each.name for each in reports] + rest, pa.string()),
        "kind": pa.array([each.kind for each in (*reports, *parts)], pa.string()),
        "policy": pa.array([repr(each.policy) for each in reports] + rest, pa.string()),
    }
    for count in _COUNTS:
        of_parts = [each.bytes for each in parts] if count == "bytes" else rest
        columns[count] = pa.array([getattr(each, count) for each in reports] + of_parts, pa.int64())
    return pa.table(columns)
