"""Datalog: transitive closure and same generation against DuckDB and clingo; changes and queries against all of it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np

from graphtide.bench.catalogue import Progress
from graphtide.bench.comparison import Comparison
from graphtide.bench.core_graphs import Ints
from graphtide.bench.datalog_graphs import grid, random_pairs, tree
from graphtide.bench.datalog_peers import in_clingo, in_duckdb
from graphtide.bench.held_memory import hold_memory
from graphtide.dataflow.warm import warm
from graphtide.datalog import Datalog

__all__ = ["run"]

_RULES = {
    "tc": "tc(X,Y) :- edge(X,Y).\ntc(X,Z) :- tc(X,Y), edge(Y,Z).",
    "sg": "sg(X,Y) :- edge(P,X), edge(P,Y), X != Y.\nsg(X,Y) :- edge(A,X), sg(A,B), edge(B,Y).",
}
_AHEAD = 1.0
_MUCH_LESS = 100.0


@dataclass(frozen=True, slots=True)
class Task:
    """A program on a graph, and which arguments are given in queries.

    What a change saves grows with the graph: on one that is smaller than memory allows it is only reported.
    """

    problem: str
    graph: str
    edges: Callable[[], Ints]
    given: tuple[int, ...]
    is_small: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    """Which tasks, and how often each is measured."""

    tasks: tuple[Task, ...]
    repeats: int
    changes: int
    queries: int
    memory: int  # bytes


# Of K-Pg's graphs, the tree for tc and the grid for sg are of its size; the others are as large as leaves some ten
# million facts, or as clingo grounds in some ten seconds. A smaller tree and random graph are there for sg as well.
FULL = Size(
    (
        Task("tc", "tree-11", lambda: tree(11), (0, 1)),
        Task("tc", "grid-75", lambda: grid(75), (0, 1)),
        Task("tc", "random-2000", lambda: random_pairs(2_000, 10), (0, 1)),
        Task("sg", "tree-7", lambda: tree(7), (0,), is_small=True),
        Task("sg", "tree-8", lambda: tree(8), (0,)),
        Task("sg", "grid-150", lambda: grid(150), (0,)),
        Task("sg", "random-500", lambda: random_pairs(500, 5), (0,), is_small=True),
        Task("sg", "random-1000", lambda: random_pairs(1_000, 5), (0,)),
    ),
    repeats=5,
    changes=50,
    queries=100,
    memory=4 << 30,
)
QUICK = Size(
    (
        Task("tc", "tree-7", lambda: tree(7), (0,)),
        Task("tc", "grid-10", lambda: grid(10), (0,)),
        Task("sg", "random-100", lambda: random_pairs(100, 2), (0,)),
    ),
    repeats=2,
    changes=5,
    queries=5,
    memory=256 << 20,
)


def run(quick: bool, progress: Progress) -> Iterator[Comparison]:  # noqa: FBT001
    """All rows, task by task."""
    size = QUICK if quick else FULL
    progress("kernels")
    warm()
    hold_memory(size.memory)
    for task in size.tasks:
        yield from _task(task, size, progress)
        gc.collect()


def _task(task: Task, size: Size, progress: Progress) -> Iterator[Comparison]:
    what = f"{task.problem} on {task.graph}"
    progress(what)
    edges = task.edges()
    ours = [_evaluated(task.problem, edges) for _ in range(size.repeats)]
    full = median(seconds for seconds, _ in ours)
    answer = ours[0][1]
    progress(f"{what}: DuckDB")
    theirs = [in_duckdb(task.problem, edges) for _ in range(size.repeats)]
    note = f"{len(edges):,} edges, {len(answer):,} facts"
    yield Comparison(
        what,
        full,
        median(seconds for seconds, _ in theirs),
        "DuckDB, recursive CTE",
        "s",
        agree=np.array_equal(answer, theirs[0][1]),
        bar=_AHEAD,
        note=note,
    )
    progress(f"{what}: clingo")
    seconds, found = in_clingo(task.problem, _RULES[task.problem], edges)
    yield Comparison(what, full, seconds, "clingo", "s", agree=np.array_equal(answer, found), bar=_AHEAD, note=note)
    del theirs, found, ours
    progress(f"{what}: single changes")
    yield _changes(task, edges, full, size.changes)
    for place in task.given:
        progress(f"{what}: queries")
        yield _queries(task, place, edges, answer, full, queries=size.queries)


def _evaluated(problem: str, edges: Ints) -> tuple[float, Ints]:
    """Seconds from facts in memory to all that follows, kept and indexed; and the answer, sorted."""
    gc.collect()
    rules = Datalog(_RULES[problem])
    relation = rules[problem]
    clock = time.perf_counter()
    rules.insert("edge", edges)
    rules.commit()
    return time.perf_counter() - clock, _sorted(relation.table().to_pandas().to_numpy())


def _changes(task: Task, edges: Ints, full: float, changes: int) -> Comparison:
    """An edge goes, and comes back."""
    rules = Datalog(_RULES[task.problem])
    relation = rules[task.problem]
    rules.insert("edge", edges)
    rules.commit()
    chosen = np.random.default_rng(3).choice(len(edges), changes, replace=False)
    seconds: list[float] = []
    agree = True
    for number, place in enumerate(chosen.tolist()):
        edge = edges[place : place + 1]
        for change in (rules.delete, rules.insert):
            clock = time.perf_counter()
            change("edge", edge)
            rules.commit()
            seconds.append(time.perf_counter() - clock)
            if number == 0 and change == rules.delete:
                left = np.delete(edges, place, axis=0)
                agree &= np.array_equal(
                    _sorted(relation.table().to_pandas().to_numpy()), _evaluated(task.problem, left)[1]
                )
    agree &= np.array_equal(_sorted(relation.table().to_pandas().to_numpy()), _evaluated(task.problem, edges)[1])
    return Comparison(
        f"{task.problem} on {task.graph}: one edge goes or comes",
        median(seconds),
        full,
        "full evaluation",
        "s",
        agree=agree,
        bar=None if task.is_small else _MUCH_LESS,
        note=f"it goes in {1e3 * median(seconds[::2]):,.2f} ms and comes in {1e3 * median(seconds[1::2]):,.2f}; "
        f"the slowest of {len(seconds)} took {1e3 * max(seconds):,.1f} ms",
    )


def _queries(task: Task, place: int, edges: Ints, answer: Ints, full: float, *, queries: int) -> Comparison:
    """Queries with one argument given, each time another one, where nothing is derived but for them."""
    gc.collect()
    rules = Datalog(_RULES[task.problem])
    rules.insert("edge", edges)
    rules.commit()
    asked = np.random.default_rng(4).choice(np.unique(edges), queries + 1, replace=False).tolist()
    seconds: list[float] = []
    agree = True
    for value in asked:
        clock = time.perf_counter()
        table = rules.query(f"{task.problem}({value}, Y)" if place == 0 else f"{task.problem}(X, {value})")
        seconds.append(time.perf_counter() - clock)
        agree &= np.array_equal(_sorted(table.to_pandas().to_numpy()), answer[answer[:, place] == value])
    return Comparison(
        f"{task.problem}{('(x, ?)', '(?, x)')[place]} on {task.graph}",
        median(seconds[1:]),
        full,
        "full evaluation",
        "s",
        agree=agree,
        bar=_MUCH_LESS if task.problem == "tc" else None,
        note=f"the first, with its plan, {1e3 * seconds[0]:,.1f} ms; the slowest {1e3 * max(seconds[1:]):,.1f} ms",
    )


def _sorted(rows: Ints) -> Ints:
    rows = rows.reshape(-1, 2)
    return rows[np.lexsort(rows.T[::-1])]
