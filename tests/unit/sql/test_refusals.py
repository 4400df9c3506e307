"""What is not supported is refused when the view is made, with the construct named."""

from __future__ import annotations

import pytest

import graphtide as gt
from graphtide.errors import SqlError


@pytest.fixture(scope="module")
def db() -> gt.Database:
    made = gt.Database()
    made.table("t", a=int | None, b=int, s=str, d="decimal(18, 9)", e="date", ts="timestamp", f=float)
    made.table("u", a=int, c=int | None)
    return made


REFUSED = {
    "select a::decimal(x) from t": "are not two whole numbers",
    "select a::decimal(5, 1.5) from t": "are not two whole numbers",
    "select s like 'a%' escape 'bb' from t": "does not escape by one character",
    " union all ".join(f"select {i} as a" for i in range(150)): "nested too deeply",
    f"select a from t where {' or '.join(f'a + 0 = {i}' for i in range(400))}": "nested too deeply",
    f"select {'+'.join(['a'] * 400)} from t": "nested too deeply",
    f"select {'(' * 3000}1{')' * 3000}": "nested too deeply",
    "select from t": "selects no columns",
    "select": "selects no columns",
    "select a, count(*) from t group by 0": "the answer has no column 0",
    "select a from t order by 0": "the answer has no column 0",
    "select a from t order by (0) desc": "the answer has no column 0",
    "select a from t union select a from u order by 0": "the answer has no column 0",
    "with p as (select * from q), q as (select a from t) select * from p": 'no table or view "q"',
    "with r as (select * from r) select * from r": 'no table or view "r"',
    "select * from (with r as (select a from t) select a from r) x, r": 'no table or view "r"',
    "select a, row_number() over (order by b) from t": "WINDOW is not supported",
    "select a from t qualify row_number() over () = 1": "QUALIFY is not supported",
    "select distinct on (a) a, b from t": "DISTINCT ON",
    "select a, count(*) from t group by rollup (a)": "ROLLUP is not supported",
    "select string_agg(s, ',') from t": "GROUP_CONCAT is not supported",
    "select median(a) from t": "MEDIAN is not supported",
    "select count(distinct a, b) from t": "COUNT is not supported",
    "select hash(a) from t": "HASH is not supported",
    "select try_cast(s as int) from t": "TRY_CAST is not supported",
    "select a[1] from t": "BRACKET is not supported",
    "select cast(a as blob) from t": "BLOB is not supported",
    "select d * d * d from t": "64 bits",
    "select cast(a as decimal(30, 2)) from t": "64 bits",
    "select a, (select c from u where u.a = t.a) from t": "several rows",
    "select a, (select a, c from u limit 1) from t": "one column",
    "select a from t where (a, b) not in (select a, c from u)": "several columns",
    "select a from t where (a, b) in (select a from u)": "2 values are compared with the 1 columns",
    "select a from t where (a, b) in ((1, 2), 3)": "3 is not a row",
    "select a from t where (a, b) = (1, 2, 3)": "rows of 2 and 3 values",
    "select a from t where (a, b) < (1, 2)": "LT is not supported",
    "select a from t where (a, b) < any (select a, c from u)": "LT is not supported",
    "select a from t where a > any ([1, 2])": "ARRAY is not supported",
    "select t.a from t full join u on t.a = u.a and t.b in (select c from u)": "condition of a full join",
    "select * from (values (1, 2), (3)) v(a, b)": "row 1 of VALUES has 2 columns, row 2 has 1",
    "select date '9999-12-31' + interval '1 day'": "line 1, column 13: ",
    "select date '9999-12-31' + interval '1 year'": "outside the years 1 to 9999",
    "select date '2020-01-01' - interval '3000 years'": "outside the years 1 to 9999",
    "select 1,\n  date '9999-12-31' + 1": "line 2, column 8: ",
    "select date '0001-01-01' - 1": "outside the years 1 to 9999",
    "select e + interval '99999999999 day' from t": "line 1, column 8: INTERVAL '99999999999' DAY is longer",
    "select e + interval '99999 years' from t": "is longer",
    "select a from t order by a limit 9223372036854775808": "64 bits",
    "select a from t order by a offset 9223372036854775808": "64 bits",
    "select date_trunc('century', e) from t": "date_trunc to 'century'",
    "select d + 999999999999999999 from t": "64 bits",
    "select cast(1e30 as decimal(10, 2))": "1e+30 does not fit into DECIMAL(10, 2)",
    "select cast(1e30 as bigint)": "1e+30 does not fit into BIGINT",
    "select distinct a from t order by b + 1": "does not select",
    "select a from t order by -1": "ORDER BY -1 orders nothing",
    "select a from t order by 'x'": "ORDER BY 'x' orders nothing",
    "select * from t, (select t.a + 1) x(z)": '"t" cannot be named there',
    "select x from t, lateral (select t.a as x) l": "LATERAL",
    "select a from t tablesample 10%": "SAMPLE is not supported",
    "select a from t limit 5 + 1": "LIMIT is not supported",
    "select a from t where s like s": "not a string literal",
    "select substring(s, 0, 1) from t": "substring from 0",
    "select e + interval (a) day from t": "not a constant",
    "select a from t where a": "a condition is needed",
    "select a + s from t": "cannot compute BIGINT + VARCHAR",
    "select a from t where s > a": "VARCHAR cannot stand for BIGINT",
    "select null as x": "unknown",
    "with recursive r as (select a from t union select max(a) from r) select * from r": "aggregate",
    "with recursive r(n) as (select a from t union select x.n from r x, r y where x.n = y.n) select * from r": "itself",
    "with recursive r(n) as (select a from t union all select distinct n from r) select * from r": "distinct",
    "with recursive r(n) as (select a from t union select c from u where c not in (from r)) from r": "semi",
    "select q from t": 'column "q" does not exist',
    "select t.q from t": 'column "q" does not exist',
    "select x.a from t": 'no relation "x"',
    "select a from t order by 2": "no column 2",
    "select a from t group by 3": "no column 3",
    "select * from range(3)": "a function in FROM",
    "select * from t pivot (sum(b) for a in (1, 2))": "PIVOT",
    "select a from t for update": "FOR UPDATE is not supported",
    "select a, (select sum(t.a) from t t2) from t": "SUM is not supported",
    "select a, (select count(t.a) from u) from t group by a": "COUNT is not supported",
    # Parts of constructs: none is passed over.
    "select a from t limit 50%": "LIMIT with options is not supported",
    "select a from t limit 50 percent": "LIMIT with options is not supported",
    "select a from t limit 2 by a": "LIMIT is not supported",
    "select a from t where a between symmetric 3 and 1": "BETWEEN is not supported",
    "with recursive w(n, m) using key (n) as (select a, b from t union select n, m from w) from w": "USING KEY",
    "with recursive w(n) as (select a from t union select n from w) search depth first by n set o from w": "SEARCH",
    "select count(a, b) from t": "COUNT is not supported",
    "select count(distinct *) from t": "COUNT is not supported",
    "select max(a, 2) from t": "MAX is not supported",
    "select instr(s, 'b', 3) from t": "STR_POSITION is not supported",
    "select strpos(s, 'b', 3) from t": "STR_POSITION is not supported",
    "select date_trunc('month', ts, 'x') from t": "takes 2 arguments, and here are 3",
    "select mod(a, b, b) from t": "takes 2 arguments, and here are 3",
    "select ltrim(s, 'a', 'b') from t": "takes 2 arguments, and here are 3",
    "select floor(f, 1) from t": "FLOOR is not supported",
    "select ceil(f, 1, 2) from t": "CEIL is not supported",
    "select a from t union by name select a from u": "BY NAME is not supported",
    "select sum(a order by b) from t": "ORDER is not supported",
    "select main.t.a from main.t": "a schema is not supported",
    "select cast(ts as timestamp(3)) from t": "TIMESTAMP",
    "select * like 'a%' from t": "STAR",
    "select trim(s collate nocase) from t": "COLLATE",
    "with x as (select a from t), x as (select a from u) select * from x": 'two common tables are named "x"',
    "select a from tt": 'no table or view "tt"',
    "select t.b from t, u where a = 1": "in several relations",
    "select a, b from t group by a": '"t.b" is neither grouped',
    "select a from t union select a, c from u": "1 and 2 columns",
    "select a from t where sum(b) > 1": "SUM is not supported",
    "select a from": "line 1",
    "insert into t values (1)": "INSERT is not a query",
    "select 1 as x; select 2 as x": "one query",
    "values (1)": "VALUES is not a query",
}


@pytest.mark.parametrize("query", REFUSED)
def test_a_refusal_names_what_it_refuses(db, query) -> None:
    with pytest.raises(SqlError) as caught:
        db.view(query)
    assert REFUSED[query].lower() in str(caught.value).lower()
    assert caught.value.hint


TAKEN = [
    "extract(year from e)",
    "trim(both 'x' from s)",
    "ltrim(s, 'x')",
    "position('b' in s)",
    "strpos(s, 'b')",
    "abs(a)",
    "s || 'x'",
    "a is not distinct from b",
    "date_diff('day', e, e)",
    "datediff('day', e, e)",
    "s not like 'a!%' escape '!'",
    "s ilike 'b'",
    "round(a, 2)",
    "round(f, 2)",
    "a::decimal(9, 2)",
    "mod(a, 2)",
    "a // 2",
    "a / 2",
    "left(s, 2)",
    "substring(s from 2 for 3)",
    "substr(s, 2)",
    "concat(s, 'a', 'b')",
    "if(a > 1, 2, 3)",
    "count_if(a > 1)",
    "bool_and(a > 1)",
    "var_samp(a)",
    "stddev(a)",
    "sum(distinct a)",
    "count(distinct a)",
    "count(*) filter (where a > 1)",
    "pow(a, 2)",
    "floor(f)",
    "ceil(f)",
    "sqrt(f)",
    "ln(f)",
    "date_trunc('month', ts)",
    "year(e)",
    "quarter(e)",
    "dayofweek(e)",
    "replace(s, 'a', 'b')",
    "starts_with(s, 'a')",
    "exp(f)",
    "contains(s, 'a')",
    "coalesce(a, b, 1)",
    "ifnull(a, b)",
    "greatest(a, b, 1)",
    "least(a, b)",
    "nullif(a, b)",
    "upper(s)",
    "case a when 1 then 2 else 3 end",
    "a in (1, 2)",
    "a between 1 and 2",
    "cast(s as varchar(5))",
    "e + interval 3 day",
    "length(s)",
]


@pytest.mark.parametrize("expression", TAKEN)
def test_what_is_understood_is_taken(expression) -> None:
    made = gt.Database()
    made.table("t", a=int | None, b=int, s=str, e="date", ts="timestamp", f=float)
    view = made.view(f"select {expression} as told from t")
    assert view.columns == ("told",)


SUGGESTED = {
    "select tss from t": "ts",
    "select t.tss from t": "ts",
    "select total from (select b as total from t) x where totl > 1": "total",
    "select orders.a from t as order_": "order_",
    "select a from tt": "t",
    "select lenght(s) from t": "length",
    "select cuont(a) from t": "count",
}


@pytest.mark.parametrize("query", SUGGESTED)
def test_a_name_that_is_near_is_suggested(db, query) -> None:
    with pytest.raises(SqlError) as caught:
        db.view(query)
    assert caught.value.hint == f'did you mean "{SUGGESTED[query]}"?'


def test_a_refused_view_leaves_nothing_behind(db) -> None:
    before = len(db.flow.builder.nodes)
    for query in REFUSED:
        with pytest.raises(SqlError):
            db.view(query, name="x")
    assert len(db.flow.builder.nodes) == before
    assert db.views == []


HINTED = {
    "select a from t where a = 'x'": "number",
    "select a from t where e = 'x'": "2020-12-31",
    "select a from t where ts = 'x'": "23:59",
    "select cast('x' as boolean)": "true",
}


@pytest.mark.parametrize("query", HINTED)
def test_a_literal_of_the_wrong_form_is_told_the_right_one(db, query) -> None:
    with pytest.raises(SqlError) as caught:
        db.view(query)
    assert HINTED[query] in (caught.value.hint or "")
