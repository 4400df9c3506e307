"""Times for edges that have none, so that windows and prefixes can be cut from a graph of any size."""

from __future__ import annotations

from datetime import date
from typing import Final

import numpy as np
import pyarrow as pa

from graphtide.datasets.generators.arguments import check_number, seeded
from graphtide.errors import UsageError

__all__ = ["temporal"]

_DAY: Final = 86_400_000_000  # microseconds


def temporal(
    edges: pa.Table, seed: int = 0, *, begin: date = date(2020, 1, 1), days: float = 365, growth: float = 1
) -> pa.Table:
    """The edges in their order with a column `time` (UTC) that never falls.

    They arrive at random within `days` days from `begin` on, at the end `growth` times as often as at the beginning.

    >>> from graphtide.datasets import rmat
    >>> temporal(rmat(scale=8), growth=10).column_names
    ['src', 'dst', 'time']
    """
    check_number("days", days, 0)
    check_number("growth", growth, 1e-6, 1e6)
    if "time" in edges.column_names:
        raise UsageError('the edges have a column "time" already', hint='drop or rename it: edges.drop_columns("time")')
    share = np.sort(seeded(seed).random(edges.num_rows))
    if growth != 1:
        # With a rate of growth ** x at x in [0, 1], this is where a share of all edges has arrived.
        share = np.log1p(share * (growth - 1)) / np.log(growth)
    times = (share * (days * _DAY)).astype(np.int64) + (begin - date(1970, 1, 1)).days * _DAY
    return edges.append_column("time", pa.array(times).cast(pa.timestamp("us", tz="UTC")))
