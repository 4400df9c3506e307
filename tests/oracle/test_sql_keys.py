"""Scalar subqueries that a primary key holds to one row: equal to DuckDB's answers after every commit."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphtide as gt
from graphtide.bench.sql import same_answer
from graphtide.errors import SqlError

QUERIES = (
    "select id, (select name from people b where b.id = p.boss) from people p",
    "select id from people p where pay > (select pay from people b where b.id = p.boss)",
    "select id from people where pay >= (select pay from people where id = 1)",
    "select id, (select n from places where x = boss and y = pay) from people",
    "select (select max(n) from places where x = p.id), (select name from people where id = p.boss) from people p",
    "select (select name from people where id = p.boss and pay > 1) from people p",
    """select count(*) from people p where
    (select b.boss from people b where b.id = p.boss and exists (select 1 from places where x = b.id)) is not null""",
)
PEOPLE = st.dictionaries(
    st.integers(1, 4), st.tuples(st.sampled_from("abc"), st.integers(1, 4) | st.none(), st.integers(0, 3)), max_size=4
)
PLACES = st.dictionaries(st.tuples(st.integers(1, 3), st.integers(0, 2)), st.integers(0, 5), max_size=4)


@given(st.lists(st.tuples(PEOPLE, PLACES), min_size=1, max_size=3), st.booleans())
def test_a_key_makes_a_scalar_of_a_subquery(states, starts_late) -> None:
    ours, theirs = gt.Database(), duckdb.connect()
    ours.table("people", id=int, name=str, boss=int | None, pay=int, primary_key="id")
    ours.table("places", x=int, y=int, n=int, primary_key=("x", "y"))
    theirs.execute("create table people (id bigint, name varchar, boss bigint, pay bigint)")
    theirs.execute("create table places (x bigint, y bigint, n bigint)")
    views = [] if starts_late else [ours.view(query) for query in QUERIES]
    held: dict[str, list] = {"people": [], "places": []}
    for people, places in states:
        wanted = {
            "people": [(k, *rest) for k, rest in people.items()],
            "places": [(*k, n) for k, n in places.items()],
        }
        for table, rows in wanted.items():
            ours.delete(table, [row for row in held[table] if row not in rows])
            ours.insert(table, [row for row in rows if row not in held[table]])
            theirs.execute(f"delete from {table}")
            if rows:
                theirs.executemany(f"insert into {table} values ({', '.join('?' * len(rows[0]))})", rows)
        held = wanted
        ours.commit()
        if not views:
            views = [ours.view(query) for query in QUERIES]
            ours.commit()
        for view in views:
            assert same_answer(view.rows(), theirs.execute(view.text).fetchall()), (view.text, held)


@pytest.mark.parametrize("condition", ["x = boss", "x = boss and y > 1", "x = y and y = x", "x = boss or y = 1"])
def test_a_part_of_a_key_does_not(condition) -> None:
    db = gt.Database()
    db.table("people", id=int, boss=int)
    db.table("places", x=int, y=int, n=int, primary_key=("x", "y"))
    with pytest.raises(SqlError, match="several rows"):
        db.view(f"select (select n from places where {condition}) from people")
