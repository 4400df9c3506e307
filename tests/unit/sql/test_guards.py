"""A condition is asked only of the rows that those before it leave: they may keep out what it has no value for."""

from __future__ import annotations

import pytest

import graphtide as gt

GUARDED = {
    "with w as (select a, a * 4 as m from t where a < 100) select m from w where m > 1": [(20,), (28,)],
    "select a from t where a < 100 and a * 4 < 50": [(5,), (7,)],
    "select a from t where s <> 'x' and cast(s as bigint) > 1": [(5,), (7,)],
    "select v from (select cast(s as bigint) as v from t where s <> 'x') where v > 1": [(2,), (7,)],
    "select s from t group by s having count(*) > 100 and sum(a) * 100 > 0": [],
    "select t.a from t join u on t.a = u.a where t.a + u.a < 100 and t.a * 4 + u.a * 4 < 500": [(5,)],
    "select x.a from (select t.a, u.a as b from t, u where t.a + u.c < 100) x where x.a * 4 + x.b < 500": [(5,), (7,)],
    # What is unknown keeps a row out, too.
    "select a from t where n > 0 and a * 4 < 50": [(5,), (7,)],
    "select s from t group by s having sum(n) > 0 and sum(a) * 100 > 0": [("2",), ("7",)],
    "select t.a from t, u where t.n > u.c and t.a * 4 + u.a < 50": [(5,), (7,)],
    "select a from t where exists (select 1 from u where t.n > u.c and t.a * 4 + u.a < 50)": [(5,), (7,)],
}


@pytest.mark.parametrize("query", GUARDED)
def test_a_row_that_is_left_out_is_not_asked_the_next_condition(query) -> None:
    db = gt.Database()
    db.table("t", a=int, s=str, n=int | None)
    db.table("u", a=int, c=int)
    db.insert("t", [(2**62, "x", None), (5, "7", 1), (7, "2", 2)])
    db.insert("u", [(5, 0)])
    view = db.view(query)
    db.commit()
    assert sorted(view.rows()) == GUARDED[query]
