"""Constructs of SQL, one by one: each query equal to DuckDB's answer as rows come and go."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest
from tests.oracle.test_sql import Both

D = Decimal
BATCHES = [
    {
        "t": [(1, 2, "abc", D("1.50"), date(2020, 1, 31), 0.5), (2, 3, "a", D("2.00"), date(2020, 2, 29), math.nan)],
        "u": [(1, 1, "ab", D("0.25"))],
    },
    {
        "t": [(2, None, "", None, None, math.inf), (3, 0, "ab", D("7.10"), date(1999, 12, 31), -1.5)],
        "u": [(2, 5, "a", None), (2, None, None, D("2.00"))],
    },
    {"t": [(None, 1, None, D("-1.50"), date(2021, 7, 4), None)], "u": [(None, 3, "b", D("0.00")), (2, 5, "a", None)]},
]
# Every one of these orders leaves nothing open.
ORDERED = [
    "select a, b from t order by a + 1, b",
    "select a, b from t order by -a, -b limit 2",
    "select s from t order by length(s) desc, s limit 2",
    "select a, b from t order by coalesce(a, 0), b",
    "select a, b from t order by case when a = 2 then 0 else a end, b",
    "select a as x, b from t order by -x, b",
    "select a, count(*) as n from t group by a order by n * 2, a",
    "select -a as a, b from t order by a + 0, b",
    "select a as b, b as a from t order by a + 0, b + 0",
    "select a as b, b as a from t order by a, b",
    "select -a as a, b from t order by (a), b",
    "select a + 1 as a, count(*) from t group by a + 1 order by (a + 1) * 2",
    "select a, max(b) as m from t group by a order by -max(b), a",
    "select distinct a from t order by -a",
    "select distinct a + 1 as y from t order by -y limit 2",
    "select distinct a, b from t order by a + b, a, b",
    "select distinct count(*) as n from t group by a order by -n",
    "select a, c from t join u using (a) order by a + 1, c, b",
    "select a, b from t order by (select count(*) from u where u.a = t.a), a, b",
    "select a, b from t order by (((a))), (2)",
    "select a, b from t order by a, b offset 1",
    "select a, b from t order by a, b offset 0",
    "select a, b from t order by a, b limit 9223372036854775807 offset 1",
    "select a, b from t order by a, b limit 1 offset 9223372036854775807",
    "(select a from t) order by 1 limit 1",
    "(select a, b from t order by a desc, b) limit 2",
    "with q as (select a, b from t) (select a from q order by a, b) limit 2",
]
UNORDERED = [
    "select n, count(*) from (select a, count(*) as n from t group by a) z group by n",
    "select count, count(*), count(distinct count) from (select a as count from t) x group by count",
    "select x.n, (select count(*) from u where u.c <> x.n) from (select count(*) as n from t) x",
    "select n from (select count(*) as n from t) x where exists (select 1 from u where c <> n having count(*) > 0)",
    "select x.a from (select a from t limit 0) x join (select a from t limit 0) y on x.a = y.a",
    "select date_trunc('month', date '2020-02-29')",
    "select date_trunc('month', e), date_trunc('hour', e), date_trunc('week', cast(e as timestamp)) from t",
    "with recursive r(n) as (select 1 union all select n * 2.5::double from r where n < 40) select n from r",
    "with recursive r(n) as (select 1 union all select cast(n + 1 as varchar) from r where n < 4) select n from r",
    "with recursive r(n) as (select d from t union all select n * 2.5 from r where n between 0.1 and 40) from r",
    "with recursive r(n) as (select e from t union select n + interval 1 year from r where n < '2025-01-01') from r",
    "select t.a, x.c from t left join (u x semi join t y on x.c = y.b) on t.a = x.a",
    "select t.a, u.c from t left join (u anti join t y on u.c = y.b) on t.a = u.a",
    "select a from ((select a from t)) x",
    "select x.a from (select a, b as a from t) x",
    "with w(k) as (select b as o from t order by -o, a limit 2) select k from w",
    "select x.k from ((select b as o from t order by -o, a limit 2)) x(k)",
    "select x.k from ((select b as o from t) order by o limit 2) x(k)",
    "select x.k, x.b from (select a as o, b from t order by o + 1, b offset 1) x(k)",
    "select (select k from (select c from u where u.a = t.a order by -c nulls last limit 1) x(k)) from t",
    "select x.a, x.c from (t join u on t.b = u.c) x",
    "select a from ((select a from t))",
    "select a from (((select a from t order by a limit 2)))",
    "select a from t where a > any (select c from u)",
    "select a from t where a > all (select c from u)",
    "select a from t where a > all (select c from u where c < t.b)",
    "select a = any (select c from u), a <> any (select c from u), a = all (select c from u) from t",
    "select a <> all (select c from u), a < any (select c from u), a >= all (select c from u) from t",
    "select d < any (select f from u), d = any (select c from u), c <= all (select d from t) from t, u",
    "select a from t where not a < all (select c from u where c is not null)",
    "select a from t where (a, b) = any (select a, c from u)",
    "select a from t where (a, b) in ((1, 2), (2, null))",
    "select (a, b) in ((1, 2), (2, null)), (a, b) not in ((1, 2), (3, 0)) from t",
    "select (a, b) = (2, null), (a, b) <> (2, 3), (a, s) in ((1, 'abc')) from t",
    "select t.s, u.r from t join u on (t.a, t.b) = (u.a, u.c)",
    "select a from t where a in (values (1), (2))",
    "select a in (values (1), (null)), a not in (values (1), (7)) from t",
    "select a from t where (a, b) in (values (1, 2), (2, 3))",
    "select a = any (values (1), (2)), a < all (values (1), (2)) from t",
    "select a from t where a in (values (b - 1), (2))",
    "select * from (values (1, (select max(a) from t)), (2, null)) v(x, y)",
    "select t.a, u.c from t left join u on t.a = u.a and exists (select 1 from t x where x.b = u.c)",
    "select t.a, u.c from t left join u on t.a = u.a and u.c > (select min(b) from t)",
    "select t.a, u.c from t right join u on t.a = u.a and t.b > (select min(c) from u)",
    "select t.a from t anti join u on t.a = u.a and exists (select 1 from t x where x.b = u.c)",
    "select d from t where d < 999999999999999999",
    "select d = 999999999999999999, d <> 999999999999999999, d in (999999999999999999, 2), d not in (1.5) from t",
    'select a as "how many" from t except all select c from u',
]
# What DuckDB does not take, and the same in words that it does.
IN_OTHER_WORDS = {
    f"select t.a, t.b, u.c from t left join u on t.a = u.a and {test}": (
        f"select t.a, t.b, u.c from t join u on t.a = u.a where {test} union all "
        f"select t.a, t.b, null from t where not exists (select 1 from u where t.a = u.a and {test})"
    )
    for test in (
        "exists (select 1 from t x where x.b = u.c + t.a - 1)",
        "t.b in (select x.c from u x where x.a = u.a)",
        "coalesce(t.b, 0) >= all (select x.c from u x where x.c < u.c + t.a)",
        "(select count(*) from t x where x.a = t.a or x.b = u.c) > 1",
    )
}


@pytest.mark.parametrize("query", IN_OTHER_WORDS)
def test_a_subquery_of_both_sides_of_a_left_join(query) -> None:
    follow(query, lambda both, view: both.check(replace(view, text=IN_OTHER_WORDS[query])))


@pytest.mark.parametrize("query", [*ORDERED, *UNORDERED])
def test_a_construct_gives_what_duckdb_gives(query) -> None:
    follow(query, _check)


def follow(query, check) -> None:
    """Check a view of the query after every batch, in which rows come and at last go."""
    both = Both()
    view = both.ours.view(query)
    for batch in BATCHES:
        for table, rows in batch.items():
            both.insert(table, rows)
        both.commit()
        check(both, view)
    for table in ("t", "u"):
        both.delete(table, [0, 2])
    both.commit()
    check(both, view)


def _check(both, view) -> None:
    both.check(view)
    if view.text in ORDERED:
        assert view.rows() == both.theirs.execute(view.text).fetchall()
