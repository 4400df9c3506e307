"""TPC-H at scale factor 0.01: all 22 queries as views equal DuckDB's answers after every batch."""

from __future__ import annotations

import duckdb
import pytest

import graphtide as gt
from graphtide.bench.sql import same_answer
from graphtide.bench.tpch_tables import KEYS, QUERIES, Changes, generated

# Rows to a batch.
BATCHES = (1_000, 1, 5_000, 200)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return generated(0.01, tmp_path_factory.mktemp("tpch"))


@pytest.mark.slow
def test_all_queries_stay_answered(tables) -> None:
    changes = Changes(tables, waiting=6_000)
    ours, theirs = gt.Database(), duckdb.connect()
    for name, key in KEYS.items():
        ours.table(name, tables[name].schema, primary_key=key)
    views = [ours.view(QUERIES[number], name=f"q{number}") for number in range(1, 23, 2)]
    for name in KEYS:
        rows = changes.held(name)
        ours.insert(name, rows)
        theirs.register("given", rows)
        theirs.execute(f"create table {name} as select * from given")
    ours.commit()
    views += [ours.view(QUERIES[number], name=f"q{number}") for number in range(2, 23, 2)]
    ours.commit()
    check(views, theirs)
    for size in BATCHES:
        for name, (taken, brought) in changes.batch(size, KEYS).items():
            ours.delete(name, taken)
            ours.insert(name, brought)
            key = ", ".join(KEYS[name])
            theirs.register("given", taken)
            theirs.execute(f"delete from {name} where ({key}) in (select ({key}) from given)")
            theirs.register("given", brought)
            theirs.execute(f"insert into {name} select * from given")
        ours.commit()
        check(views, theirs)


def check(views, theirs) -> None:
    wrong = [view.name for view in views if not same_answer(view.rows(), theirs.execute(view.text).fetchall())]
    assert wrong == []
    assert len(views) == 22


def test_no_query_needs_a_product(tables) -> None:
    ours = gt.Database()
    for name, key in KEYS.items():
        ours.table(name, tables[name].schema, primary_key=key)
    for number, text in QUERIES.items():
        view = ours.view(text, name=f"q{number}")
        assert "product" not in ours.explain(view), number
