"""The tables of TPC-H, the texts of its queries, and batches of changes to them.

The queries are those of the specification with the parameters of its validation run. Rows that no table holds at
first wait in a queue: a batch takes rows of a table to its end, and brings those at its head.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphtide.errors import UsageError

__all__ = ["KEYS", "QUERIES", "Changes", "generated"]

KEYS: Final = {
    "region": ("r_regionkey",),
    "nation": ("n_nationkey",),
    "supplier": ("s_suppkey",),
    "part": ("p_partkey",),
    "customer": ("c_custkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "orders": ("o_orderkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
}
_FIXED: Final = frozenset({"region", "nation"})

QUERIES: Final = {
    number: (files("graphtide.bench") / "tpch" / f"q{number:02}.sql").read_text() for number in range(1, 23)
}


def generated(scale: float, folder: Path) -> dict[str, pa.Table]:
    """All tables, with the columns that some query reads: a comment that none does is no part of the work."""
    program = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent)) or shutil.which("tpchgen-cli")
    if program is None:
        raise UsageError('"tpchgen-cli" is not installed', hint='pip install "graphtide[bench]" brings it')
    command = [program, "parquet", "--scale-factor", str(scale), "--output-dir", str(folder)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - a program of ours, with a number
    words = set(re.findall(r"\w+", " ".join(QUERIES.values())))
    return {name: _read(folder / f"{name}.parquet", words.union(key)) for name, key in KEYS.items()}


def _read(file: Path, wanted: set[str]) -> pa.Table:
    names = [name for name in pq.read_schema(file).names if name in wanted]
    table = pq.read_table(file, columns=names)
    # Not all of Arrow's functions know the younger layouts.
    plain = [pa.string() if each.type == pa.string_view() else each.type for each in table.schema]
    fields = [pa.field(name, found, nullable=False) for name, found in zip(names, plain, strict=True)]
    # In one piece, rows are taken from it much faster.
    return table.cast(pa.schema(fields)).combine_chunks()


@dataclass(slots=True)
class Changes:
    """Batches of rows to take away and to bring, in proportion to the sizes of tables."""

    tables: Mapping[str, pa.Table]
    waiting: int  # rows that no table holds, of all tables together
    seed: int = 1
    _orders: dict[str, NDArray[np.int64]] = field(init=False)
    _heads: dict[str, int] = field(init=False)
    _waits: dict[str, int] = field(init=False)
    _rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._orders = {n: self._rng.permutation(t.num_rows) for n, t in self.tables.items() if n not in _FIXED}
        self._heads = dict.fromkeys(self._orders, 0)
        total = sum(map(len, self._orders.values()))
        self._waits = {n: max(2, self.waiting * len(order) // total) for n, order in self._orders.items()}

    def held(self, name: str) -> pa.Table:
        """The rows that a table has at first."""
        table = self.tables[name]
        return table.take(self._orders[name][self._waits[name] :]) if name in self._orders else table

    def batch(self, size: int, names: Iterable[str]) -> dict[str, tuple[pa.Table, pa.Table]]:
        """For each table the rows to take away and the rows to bring: so many in all, half of each.

        A single row is taken away.
        """
        known = [name for name in names if name in self._orders]
        total = sum(self.tables[name].num_rows for name in known)
        shares = {name: self.tables[name].num_rows / total for name in known}
        if size == 1:
            one = str(self._rng.choice(known, p=[shares[name] for name in known]))
            return {one: self._swap(one, 1, 0)}
        halves = {name: max(1, round(size * share / 2)) for name, share in shares.items()}
        return {name: self._swap(name, half, half) for name, half in halves.items()}

    def _swap(self, name: str, taken: int, brought: int) -> tuple[pa.Table, pa.Table]:
        order, head, waits = self._orders[name], self._heads[name], self._waits[name]
        brought = min(brought, waits)
        going = order[np.arange(head + waits, head + waits + taken) % len(order)]
        coming = order[np.arange(head, head + brought) % len(order)]
        self._heads[name] = (head + brought) % len(order)
        self._waits[name] = waits + taken - brought
        return self.tables[name].take(going), self.tables[name].take(coming)
