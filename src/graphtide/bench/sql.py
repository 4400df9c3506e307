"""Views in SQL: the queries of TPC-H maintained, against DuckDB asking them again."""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.tpch_tables import KEYS, QUERIES, Changes, generated
from graphtide.sql import Database, View

__all__ = ["run", "same_answer"]

_MEAN_BAR = 10.0
_AHEAD = 18
_WAITING = 50_000
# Rows to a batch, and how many batches.
_BATCHES = {1_000: 7, 1: 20, 100_000: 1}
_QUICK_BATCHES = {1_000: 3, 1: 5}


def run(quick: bool, progress: Progress) -> Iterator[Comparison]:  # noqa: FBT001
    """Each query by itself over tables that all of them share, then what all come to."""
    with tempfile.TemporaryDirectory() as folder:
        progress("making the tables")
        changes = Changes(generated(0.01 if quick else 1.0, Path(folder)), waiting=1_000 if quick else _WAITING)
    both = _Both(changes)
    progress("loading them")
    both.load()
    measured: list[_Measured] = []
    for number, text in QUERIES.items():
        progress(f"query {number}")
        found = both.measure(number, text, _QUICK_BATCHES if quick else _BATCHES)
        measured.append(found)
        yield _compared(f"q{number:02}, batches of 1,000 rows", found, 1_000, found.note)
    yield from _in_all(measured, bars=not quick)


@dataclass(frozen=True, slots=True)
class _Measured:
    """Seconds of one query, by the rows of a batch: ours to follow it, the peer's to ask again."""

    number: int
    ours: dict[int, float]
    peer: float
    # The same with taking the changed rows in, which both do before their clocks start otherwise.
    ours_in_all: dict[int, float]
    peer_in_all: dict[int, float]
    agree: bool
    note: str


@dataclass(frozen=True, slots=True)
class _Followed:
    """Seconds of one batch: ours to take its rows in and to commit, the peer's to change its tables."""

    taken_in: float
    committed: float
    peer_taken_in: float


class _Both:
    """The same tables in a database of ours and in DuckDB."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._ours = Database()
        self._peer = duckdb.connect()
        self._peer.execute("set enable_progress_bar = false")

    def load(self) -> None:
        """Put the first rows in."""
        for name, key in KEYS.items():
            rows = self._changes.held(name)
            self._ours.table(name, rows.schema, primary_key=key)
            self._ours.insert(name, rows)
            self._tell_peer("create table {0} as select * from given", name, rows)
        self._ours.commit()

    def measure(self, number: int, text: str, batches: dict[int, int]) -> _Measured:
        """Make a view of a query, follow batches of changes with it, and ask DuckDB after each."""
        view = self._ours.view(text, name=f"q{number}")
        filling = _timed(self._ours.commit)
        agree = self._agrees(view)
        # The first batch meets kernels and memory that are not warm.
        self._follow(view, 1_000)
        found: dict[int, list[_Followed]] = {}
        for size, count in batches.items():
            found[size] = [self._follow(view, size) for _ in range(count)]
            agree = agree and self._agrees(view)
        peer = statistics.median(_timed(lambda: self._peer.execute(text).fetchall()) for _ in range(5))
        self._ours.drop(view)
        return _Measured(
            number,
            _medians(found, lambda each: each.committed),
            peer,
            _medians(found, lambda each: each.taken_in + each.committed),
            _medians(found, lambda each: each.peer_taken_in + peer),
            agree,
            f"filled in {filling:.1f} s",
        )

    def _follow(self, view: View, size: int) -> _Followed:
        """Follow a batch in the tables that a view reads."""
        ours, peers = 0.0, 0.0
        for name, (taken, brought) in self._changes.batch(size, view.reads).items():
            ours += _timed(lambda n=name, t=taken, b=brought: (self._ours.delete(n, t), self._ours.insert(n, b)))
            peers += _timed(lambda n=name, t=taken, b=brought: self._change_peer(n, t, b))
        return _Followed(ours, _timed(lambda: (self._ours.commit(), view.changes())), peers)

    def _change_peer(self, name: str, taken: pa.Table, brought: pa.Table) -> None:
        self._tell_peer("delete from {0} where ({1}) in (select ({1}) from given)", name, taken)
        self._tell_peer("insert into {0} select * from given", name, brought)

    def _tell_peer(self, statement: str, name: str, rows: pa.Table) -> None:
        self._peer.register("given", rows)
        self._peer.execute(statement.format(name, ", ".join(KEYS[name])))
        self._peer.unregister("given")

    def _agrees(self, view: View) -> bool:
        return same_answer(view.rows(), self._peer.execute(view.text).fetchall())


def same_answer(ours: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]]) -> bool:
    """Whether two answers hold the same rows; floats may differ by rounding.

    >>> same_answer([(1, 0.1 + 0.2)], [(Decimal(1), 0.3)]), same_answer([(1,)], [(1,), (1,)])
    (True, False)
    >>> same_answer([(1, None), (None, 2)], [(None, 2), (1, None)])
    True
    """
    if len(ours) != len(theirs):
        return False
    pairs = zip(sorted(ours, key=_sortable), sorted(theirs, key=_sortable), strict=True)
    return all(len(a) == len(b) and all(map(_alike, a, b)) for a, b in pairs)


def _sortable(row: tuple[Any, ...]) -> tuple[list[bool], list[str], list[str]]:
    """What rows are sorted by: where they are NULL, what is exact, and then numbers, which may be rounded."""
    known = [value for value in row if value is not None]
    exact = [str(value) for value in known if not isinstance(value, float | int | Decimal)]
    numbers = [f"{float(value):+.6e}" for value in known if isinstance(value, float | int | Decimal)]
    return [value is None for value in row], exact, numbers


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b


def _medians(found: dict[int, list[_Followed]], seconds: Callable[[_Followed], float]) -> dict[int, float]:
    return {size: statistics.median(map(seconds, each)) for size, each in found.items()}


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _compared(name: str, found: _Measured, size: int, note: str, bar: float | None = None) -> Comparison:
    return Comparison(name, found.ours[size], found.peer, "duckdb", "s", found.agree, bar, note)


def _in_all(measured: list[_Measured], *, bars: bool) -> Iterator[Comparison]:
    agree = all(each.agree for each in measured)
    peer = statistics.geometric_mean(each.peer for each in measured)
    ours = statistics.geometric_mean(each.ours[1_000] for each in measured)
    note = "median of a commit and the view's changes; DuckDB's tables are changed before its clock starts"
    name = "geometric mean of 22 queries, batches of 1,000 rows"
    yield Comparison(name, ours, peer, "duckdb", "s", agree, _MEAN_BAR if bars else None, note)
    ranked = sorted(measured, key=lambda each: each.ours[1_000] / each.peer)
    last = ranked[_AHEAD - 1]
    behind = [f"q{each.number:02}" for each in ranked if each.ours[1_000] >= each.peer]
    note = f"it is q{last.number:02}; behind: {', '.join(behind) or 'none'}"
    yield _compared(f"{_AHEAD} of 22 queries ahead: the {_AHEAD}th", last, 1_000, note, 1.0 if bars else None)
    for size in measured[0].ours:
        label = f"changed rows per second, {size:,} to a batch, geometric mean of 22 queries"
        mean = statistics.geometric_mean
        rate, again = mean(size / each.ours[size] for each in measured), mean(size / each.peer for each in measured)
        yield Comparison(label, rate, again, "duckdb", "rows/s", agree)
        rate = mean(size / each.ours_in_all[size] for each in measured)
        again = mean(size / each.peer_in_all[size] for each in measured)
        yield Comparison(f"{label}, taking them in included", rate, again, "duckdb", "rows/s", agree)
