"""The same recursive queries in DuckDB, as recursive common table expressions, and in clingo, by grounding."""

from __future__ import annotations

import time

import clingo
import duckdb
import numpy as np
import pyarrow as pa

from graphtide.bench.core_graphs import Ints

__all__ = ["in_clingo", "in_duckdb"]

_SQL = {
    "tc": "with recursive tc(x, y) as (select src, dst from edge union "
    "select tc.x, edge.dst from tc join edge on tc.y = edge.src) select x, y from tc",
    "sg": "with recursive sg(x, y) as ("
    "select a.dst, b.dst from edge a join edge b on a.src = b.src where a.dst <> b.dst "
    "union select a.dst, b.dst from sg join edge a on sg.x = a.src join edge b on sg.y = b.src) select x, y from sg",
}


def in_duckdb(problem: str, edges: Ints) -> tuple[float, Ints]:
    """Seconds from facts in memory to a table of the answer, and the answer, sorted."""
    connection = duckdb.connect()
    facts = pa.table({"src": edges[:, 0], "dst": edges[:, 1]})
    clock = time.perf_counter()
    connection.register("facts", facts)
    connection.execute("create table edge as select * from facts")
    connection.execute(f"create table answer as {_SQL[problem]}")
    seconds = time.perf_counter() - clock
    columns = connection.execute("select x, y from answer order by x, y").fetchnumpy()
    connection.close()
    return seconds, np.column_stack([columns["x"], columns["y"]])


def in_clingo(problem: str, rules: str, edges: Ints) -> tuple[float, Ints]:
    """Seconds from the text of the facts to all that follows from them, and the answer, sorted."""
    text = " ".join(f"edge({src},{dst})." for src, dst in edges.tolist())
    control = clingo.Control(["--warn=none"])
    clock = time.perf_counter()
    control.add("base", [], f"{text}\n{rules}")
    control.ground([("base", [])])
    seconds = time.perf_counter() - clock
    found = [
        (each.symbol.arguments[0].number, each.symbol.arguments[1].number)
        for each in control.symbolic_atoms.by_signature(problem, 2)
    ]
    rows = np.array(found, np.int64).reshape(-1, 2)
    return seconds, rows[np.lexsort(rows.T[::-1])]
