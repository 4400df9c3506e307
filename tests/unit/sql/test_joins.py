"""Joins: what USING merges, and what stands inside of what."""

from __future__ import annotations

import pytest

import graphtide as gt
from graphtide.errors import SqlError


@pytest.fixture(scope="module")
def db() -> gt.Database:
    made = gt.Database()
    made.table("x", a=int, b=int)
    made.table("y", a=int, c=int)
    made.table("z", a=int, d=int)
    made.insert("x", [(1, 10)])
    made.insert("y", [(2, 20)])
    made.insert("z", [(2, 30), (3, 31)])
    made.commit()
    return made


def answer(db: gt.Database, query: str) -> list[tuple]:
    view = db.view(query)
    db.commit()
    return sorted(view.rows(), key=lambda row: [(each is None, each or 0) for each in row])


FULL = [(1, 10, None, None), (2, None, 20, 30), (3, None, None, 31)]
MERGED = {
    "select a, c from x right join y using (a) right join z using (a)": [(2, 20), (3, None)],
    "select a, c from x right join y using (a) join z using (a)": [(2, 20)],
    "select * from x full join y using (a) full join z using (a)": FULL,
    "select * from x natural full join y natural full join z": FULL,
    "select * from (x full join y using (a)) full join z using (a)": FULL,
    "select * from x full join (y full join z using (a)) using (a)": FULL,
    "select * from (select * from x full join y using (a)) s full join z using (a)": FULL,
    "with s as (select * from x full join y using (a)) select * from s natural full join z": FULL,
    "select y.a, a from x full join y using (a)": [(2, 2), (None, 1)],
    "select y.* from x full join y using (a)": [(2, 20), (None, None)],
    "select * exclude (a) replace (a + c as c) from x full join y using (a)": [(10, None), (None, 22)],
    "select a, d from x full join y using (a) join z on a <> z.a": [(1, 30), (1, 31), (2, 31)],
    "select a from x full join y using (a) group by a having a > 1": [(2,)],
    "select b from x full join y using (a) where exists (select 1 from (values (1)) v(k) where k = a)": [(10,)],
    "select b from x full join y using (a) where exists (select 1 from z where a = 3)": [(10,), (None,)],
    "select * from x semi join y using (a) full join z using (a)": [(2, None, 30), (3, None, 31)],
    "select * from x, y right join z using (a)": [(1, 10, 2, 20, 30), (1, 10, 3, None, 31)],
}


@pytest.mark.parametrize("query", MERGED)
def test_a_merged_column_is_that_of_all_sides(db, query) -> None:
    assert answer(db, query) == MERGED[query]


NESTED = {
    "select x.a, c, d from x left join y cross join z on x.a = z.a": [(1, None, None)],
    "select x.a from x anti join y cross join z on x.a = z.a": [(1,)],
    "select z.a, c, b from z left join y join x on y.a = x.a on y.a = z.a": [(2, None, None), (3, None, None)],
    "select b, c, d from x, y right join z on y.a = z.a": [(10, 20, 30), (10, None, 31)],
    "select b, c, d from x, y join z on x.a < z.a": [(10, 20, 30), (10, 20, 31)],
}


@pytest.mark.parametrize("query", NESTED)
def test_joins_are_nested_as_they_are_meant(db, query) -> None:
    assert answer(db, query) == NESTED[query]


REFUSED = {
    "select 1 from x join y": "JOIN y needs a condition",
    "select 1 from x inner join y": "INNER JOIN y needs a condition",
    "select 1 from x left join y": "LEFT JOIN y needs a condition",
    "select 1 from x full outer join y": "FULL JOIN y needs a condition",
    "select 1 from x semi join y": "SEMI JOIN y needs a condition",
    "select 1 from x left join y, z": "LEFT JOIN y needs a condition",
    "select 1 from x cross join y on x.a = y.a": "CROSS JOIN y takes no condition",
    "select 1 from x natural join y on x.a = y.a": "NATURAL JOIN y takes no condition",
    "select 1 from x right semi join y on x.a = y.a": "RIGHT SEMI JOIN is not supported",
    "select 1 from x outer join y on x.a = y.a": "OUTER JOIN is not supported",
    "select 1 from x asof join y on x.a >= y.a": "ASOF",
    "select 1 from x join y on x.a < y.a join z using (a)": 'column "a" of JOIN is in "x" and "y"',
    "select 1 from x join y using (q)": 'column "q" of JOIN is not on both sides',
    "select 1 from x natural join (select 5 as q) s": "finds no column that both sides have",
    "select 1 from x, y right join z on x.a = z.a": '"x" stands outside of the join',
    "select 1 from x left join (y join z on x.a = z.a) on x.a = y.a": '"x" stands outside of the join',
}


@pytest.mark.parametrize("query", REFUSED)
def test_a_join_that_is_not_whole_is_refused(db, query) -> None:
    with pytest.raises(SqlError) as caught:
        db.view(query)
    assert REFUSED[query] in str(caught.value)
    assert caught.value.hint
