"""Constructs of SQL, one by one: each query equal to DuckDB's answer as rows come and go."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from tests.oracle.test_sql import Both

D = Decimal
BATCHES = [
    {
        "t": [(1, 2, "abc", D("1.50"), date(2020, 1, 31)), (2, 3, "a", D("2.00"), date(2020, 2, 29))],
        "u": [(1, 1, "ab", D("0.25"))],
    },
    {
        "t": [(2, None, "", None, None), (3, 0, "ab", D("7.10"), date(1999, 12, 31))],
        "u": [(2, 5, "a", None), (2, None, None, D("2.00"))],
    },
    {"t": [(None, 1, None, D("-1.50"), date(2021, 7, 4))], "u": [(None, 3, "b", D("0.00")), (2, 5, "a", None)]},
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
    "select distinct a + 1 as x from t order by -x limit 2",
    "select distinct a, b from t order by a + b, a, b",
    "select distinct count(*) as n from t group by a order by -n",
    "select a, c from t join u using (a) order by a + 1, c, b",
]
UNORDERED = [
    "select n, count(*) from (select a, count(*) as n from t group by a) z group by n",
    "select count, count(*), count(distinct count) from (select a as count from t) x group by count",
    "select x.n, (select count(*) from u where u.c <> x.n) from (select count(*) as n from t) x",
    "select x.n from (select count(*) as n from t) x where exists "
    "(select count(*) from u where u.c <> x.n having count(*) > 0)",
    'select a as "how many" from t except all select c from u',
]


@pytest.mark.parametrize("query", [*ORDERED, *UNORDERED])
def test_a_construct_gives_what_duckdb_gives(query) -> None:
    both = Both()
    view = both.ours.view(query)
    for batch in BATCHES:
        for table, rows in batch.items():
            both.insert(table, rows)
        both.commit()
        _check(both, view)
    for table in ("t", "u"):
        both.delete(table, [0, 2])
    both.commit()
    _check(both, view)


def _check(both, view) -> None:
    both.check(view)
    if view.text in ORDERED:
        assert view.rows() == both.theirs.execute(view.text).fetchall()
