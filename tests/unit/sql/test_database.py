"""Tables and views: what goes in, what comes out, and what is refused when it is committed."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphtide as gt
from graphtide.errors import CatalogueError, ExpressionError, SchemaError, SqlError


def orders(primary_key=()) -> gt.Database:
    db = gt.Database()
    db.table("orders", id=int, customer=str | None, total="decimal(10, 2)", primary_key=primary_key)
    return db


ROWS = [(1, "ann", Decimal("10.50")), (2, "bob", Decimal("0.25")), (3, "ann", None), (3, "ann", None)]


def test_rows_of_every_make() -> None:
    names = ["id", "customer", "total"]
    columns = {name: [row[i] for row in ROWS] for i, name in enumerate(names)}
    table = pa.table({**columns, "total": pa.array(columns["total"], pa.decimal128(12, 2))})
    makes = [ROWS, [dict(zip(names, row, strict=True)) for row in ROWS], columns, table]
    makes += [table.to_pandas(), pl.from_arrow(table), iter(ROWS)]
    for rows in makes:
        db = orders()
        view = db.view("select * from orders")
        db.insert("orders", rows)
        db.commit()
        assert sorted(view.rows(), key=repr) == sorted(ROWS, key=repr)
        assert view.table().schema.field("total").type == pa.decimal128(10, 2)
    assert isinstance(view.to_pandas(), pd.DataFrame)


def test_decimals_that_do_not_fit_are_refused() -> None:
    db = orders()
    for bad, word in [(Decimal("0.001"), "digits"), ("x", "not a decimal"), (Decimal(10) ** 18, "does not fit")]:
        with pytest.raises(SchemaError, match=word):
            db.insert("orders", [(1, "a", bad)])
    wide = pa.table({"id": [1], "customer": ["a"], "total": pa.array([Decimal(10) ** 20], pa.decimal128(38, 2))})
    with pytest.raises(SchemaError, match="does not fit"):
        db.insert("orders", wide)
    fine = pa.table({"id": [1], "customer": ["a"], "total": pa.array([Decimal("0.001")], pa.decimal128(9, 3))})
    with pytest.raises(SchemaError, match="digits"):
        db.insert("orders", fine)
    with pytest.raises(SchemaError, match="declared as"):
        db.table("wide", n="decimal(30, 2)")


def test_a_sum_beyond_64_bits_stops_the_commit_and_changes_nothing() -> None:
    db = gt.Database()
    db.table("t", a=int)
    view = db.view("select a * 4 as b from t")
    db.insert("t", [(1,)])
    db.commit()
    db.insert("t", [(2**62,)])
    with pytest.raises(ExpressionError, match="64 bits"):
        db.commit()
    db.rollback()
    db.commit()
    assert view.rows() == [(4,)]


@pytest.mark.parametrize(
    ("query", "ok", "bad"),
    [
        ("select e + interval '1' day as x from t", date(2020, 1, 1), date(9999, 12, 31)),
        ("select e + interval '1' month as x from t", date(2020, 1, 1), date(9999, 12, 31)),
        ("select e - interval '1' year as x from t", date(2020, 1, 1), date(1, 12, 31)),
        ("select e + 1 as x from t", date(2020, 1, 1), date(9999, 12, 31)),
        ("select e - 1 as x from t", date(2020, 1, 1), date(1, 1, 1)),
    ],
)
def test_a_date_beyond_the_years_stops_the_commit_and_stays_staged(query, ok, bad) -> None:
    db = gt.Database()
    db.table("t", e=date)
    view = db.view(query)
    db.insert("t", [(ok,)])
    db.commit()
    before = view.rows()
    db.insert("t", [(bad,)])
    for _ in range(2):
        with pytest.raises(ExpressionError, match=r"years|range") as caught:
            db.commit()
        assert "WHERE" in (caught.value.hint or "")
        assert view.rows() == before
    db.delete("t", [(bad,)])
    db.commit()
    assert view.rows() == before


def test_errors_about_rows_show_decimals_and_say_what_to_do() -> None:
    db = gt.Database()
    db.table("prices", price="decimal(10, 2) not null", primary_key="price")
    db.delete("prices", [(Decimal("10.50"),)])
    with pytest.raises(SqlError, match=r"the row \(Decimal\('10.50'\),\) -1 times"):
        db.commit()
    db.rollback()
    with pytest.raises(SqlError, match=r"primary key \(Decimal\('0.25'\),\)") as caught:
        db.delete("prices", key=[Decimal("0.25")])
    assert "insert" not in (caught.value.hint or "")
    db.table("numbers", a=int, f=float)
    db.view("select a * 4 as b, cast(f as decimal(10, 2)) as d from numbers")
    for row, told in [((2**62, 0.0), "DOUBLE"), ((1, 1e30), "a type with more digits")]:
        db.insert("numbers", [row])
        with pytest.raises((ExpressionError, SqlError)) as failed:
            db.commit()
        assert told in (failed.value.hint or "")
        assert ".cast" not in str(failed.value)
        db.rollback()


def test_updates_by_key() -> None:
    db = orders("id")
    view = db.view("select customer, sum(total) as spent from orders group by customer")
    db.insert("orders", ROWS[:2])
    db.commit()
    db.update("orders", [(1, "bob", Decimal(7))])
    db.insert("orders", [(9, "eve", Decimal(1))])
    # What is staged counts: this is the row as of the update above.
    db.update("orders", [(1, "eve", Decimal(8))])
    db.delete("orders", key=[2])
    db.commit()
    assert sorted(view.rows()) == [("eve", Decimal(9))]
    changes = {(row["customer"], row["diff"]) for row in view.changes().to_pylist()}
    assert changes == {("ann", -1), ("bob", -1), ("eve", 1)}


def test_what_a_table_refuses() -> None:
    db = orders("id")
    view = db.view("select id from orders")
    db.insert("orders", ROWS[:2])
    db.commit()
    for work, word in [
        (lambda: db.insert("orders", [(1, "x", None)]), r"primary key \(1,\) 2 times"),
        (lambda: db.insert("orders", [(7, "x", None), (7, "y", None)]), r"primary key \(7,\) 2 times"),
        (lambda: db.delete("orders", [(1, "nobody", None)]), "-1 times"),
        (lambda: db.delete("orders", [ROWS[0], ROWS[0]]), "-1 times"),
    ]:
        work()
        with pytest.raises(SqlError, match=word):
            db.commit()
        db.rollback()
    with pytest.raises(SqlError, match=r"no row with the primary key \(5,\)"):
        db.update("orders", [(5, "x", None)])
    with pytest.raises(SqlError, match="takes rows or keys"):
        db.delete("orders")
    # A key may change hands within one commit.
    db.delete("orders", [ROWS[0]])
    db.insert("orders", [(1, "new", None)])
    db.commit()
    assert sorted(view.rows()) == [(1,), (2,)]
    other = orders()
    with pytest.raises(SqlError, match="no primary key"):
        other.update("orders", ROWS)
    with pytest.raises(SqlError, match="no primary key"):
        other.delete("orders", key=[1])
    other.delete("orders", ROWS[:1])
    with pytest.raises(SqlError, match="-1 times"):
        other.commit()


def test_views_on_views_late_views_and_dropping() -> None:
    db = orders()
    db.insert("orders", ROWS)
    db.commit()
    spent = db.view("select customer, sum(total) as Spent from orders group by customer", name="Spent_by")
    rich = db.view("select customer from spent_by where spent > 1")
    with pytest.raises(gt.GraphtideError, match="not computed yet"):
        rich.rows()
    db.commit()
    assert rich.rows() == [("ann",)]
    assert spent.columns == ("customer", "spent")
    with pytest.raises(CatalogueError, match="is read by"):
        db.drop(spent)
    with pytest.raises(CatalogueError, match="is read by"):
        db.drop("orders")
    with pytest.raises(CatalogueError, match="already is"):
        db.view("select 1 as one", name="orders")
    db.drop(rich)
    db.drop("spent_by")
    again = db.view("select customer from orders")
    db.insert("orders", [(4, "zoe", None)])
    db.commit()
    assert ("zoe",) in again.rows()
    db.drop(again)
    db.drop("orders")
    assert (db.tables, db.views) == ([], [])


def test_equal_queries_share_their_operators() -> None:
    db = orders()
    text = "select customer, count(*) as n from orders where total > 1 group by customer"
    db.view(text)
    db.commit()
    one = len(db.flow.builder.nodes)
    db.view(text)
    # The second view has its own output and nothing more.
    assert len(db.flow.builder.nodes) - one == 2


def test_tables_from_schemas(tmp_path) -> None:
    table = pa.table({"k": pa.array([1], pa.int32()), "d": pa.array([date(2020, 1, 1)])})
    pq.write_table(table, tmp_path / "t.parquet")
    db = gt.Database()
    db.table("a", table.schema)
    db.table("b", table, primary_key=["K"] if not table.schema.field("k").nullable else ())
    db.table("c", tmp_path / "t.parquet")
    view = db.view("select a.k, b.d from a, b, c where a.k = b.k and b.k = c.k")
    for name in "abc":
        db.insert(name, table)
    db.commit()
    assert view.rows() == [(1, date(2020, 1, 1))]
    for wrong in ({}, {"x": Decimal}, {"x": tuple[int, int]}, {"x": "blob"}):
        with pytest.raises(SchemaError):
            db.table("d", **wrong)
    with pytest.raises(SchemaError, match="may be NULL"):
        db.table("d", x=int | None, primary_key="x")
    with pytest.raises(SchemaError, match="no column"):
        db.table("d", x=int, primary_key="y")


def test_order_is_that_of_the_query() -> None:
    db = orders()
    view = db.view("select customer from orders order by total desc nulls first, id")
    db.insert("orders", [*ROWS[:3], (0, None, Decimal("0.25"))])
    db.commit()
    assert view.rows() == [("ann",), ("ann",), (None,), ("bob",)]
    assert view.table().column_names == ["customer"]


NUMBERS = [(1, math.nan), (2, 1.0), (3, math.inf), (4, None), (5, -math.inf), (6, math.nan)]


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ("x desc, a", [1, 6, 3, 2, 5, 4]),
        ("x, a", [5, 2, 3, 1, 6, 4]),
        ("x desc nulls first, a desc", [4, 6, 1, 3, 2, 5]),
        ("-x desc, a", [1, 6, 5, 2, 3, 4]),
    ],
)
def test_nan_is_the_greatest_number_in_every_order(order, told) -> None:
    db = gt.Database()
    db.table("t", a=int, x=float | None)
    whole = db.view(f"select a from t order by {order}")
    firsts = [db.view(f"select a from t order by {order} limit {n}") for n in range(1, 6)]
    db.insert("t", NUMBERS)
    db.commit()
    assert [a for (a,) in whole.rows()] == told
    for n, view in enumerate(firsts, 1):
        assert [a for (a,) in view.rows()] == told[:n]


def test_changes_are_those_of_the_columns_that_are_selected() -> None:
    db = gt.Database()
    db.table("t", a=int, x=float | None, s=str, d="decimal(9, 2)", primary_key="a")
    by_x = db.view("select a as diff, d from t order by x")
    by_s = db.view("select d from t order by s limit 2")
    db.insert("t", [(1, 1.0, "a", Decimal(1)), (2, None, "b", None), (3, 3.0, "c", Decimal(1))])
    db.commit()
    assert sorted(row[-1] for row in zip(*by_s.changes().to_pydict().values(), strict=True)) == [1, 1]
    db.update("t", [(2, 2.0, "b", None), (1, 1.0, "d", Decimal(1))])
    db.commit()
    assert by_x.changes().num_rows == 0
    # One row with 1.00 has taken the place of another.
    assert by_s.changes().num_rows == 0
    db.update("t", [(2, math.nan, "b", Decimal("2.5"))])
    db.commit()
    found = by_x.changes()
    assert found.schema.field(1).type == pa.decimal128(9, 2)
    assert sorted(map(repr, zip(*(column.to_pylist() for column in found.columns), strict=True))) == sorted(
        map(repr, [(2, None, 2, -1), (2, Decimal("2.50"), 2, 1)])
    )


def test_an_index_finds_the_rows_of_keys() -> None:
    flow = gt.Dataflow()
    edges = flow.input("edges", src=int, dst=int, weight=int)
    index = edges.arrange("dst")
    assert index.find_counted(np.array([[1]])).shape == (4, 0)
    rng = np.random.default_rng(3)
    held: dict[tuple[int, ...], int] = {}
    for _ in range(6):
        rows = rng.integers(0, 40, (200, 3))
        diffs = rng.integers(-1, 3, 200)
        edges.change(rows, diffs)
        flow.commit()
        for row, diff in zip(map(tuple, rows.tolist()), diffs.tolist(), strict=True):
            held[row] = held.get(row, 0) + diff
        keys = rng.integers(-2, 45, (1, 9))
        found = {tuple(line[:3]): line[3] for line in index.find_counted(keys).T.tolist()}
        assert found == {row: n for row, n in held.items() if n and row[1] in set(keys[0].tolist())}
