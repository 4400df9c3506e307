"""Random queries over two tables: the whole of the SQL that is supported, and nothing that DuckDB leaves open.

Columns go by type, so every query is well typed. An order with a limit names all columns, so that it has one answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from hypothesis import strategies as st

TABLES = {
    "t": {"a": "int", "b": "int", "s": "str", "d": "dec", "e": "date", "x": "float"},
    "u": {"a": "int", "c": "int", "r": "str", "f": "dec"},
}
DECLARED = {"int": "bigint", "str": "varchar", "dec": "decimal(9, 2)", "date": "date", "float": "double"}
VALUES = {
    "int": st.sampled_from([None, -2, 0, 1, 1, 2, 3]),
    "str": st.sampled_from([None, "", "a", "ab", "b%", "abcabcabcabcabcabcabcabc", "abcabcabcabcabcabcabcabd"]),
    "dec": st.sampled_from([None, *map(Decimal, ("-1.50", "0.00", "0.25", "2.00", "7.10"))]),
    "date": st.sampled_from([None, date(2020, 1, 31), date(2020, 2, 29), date(1999, 12, 31), date(2021, 7, 4)]),
    "float": st.sampled_from([None, math.nan, math.inf, -math.inf, -1.5, 0.25, 2.5, 0.49999999999999994]),
}
LITERALS = {
    "int": ["0", "1", "2", "-1", "null::bigint"],
    "str": ["'a'", "'ab'", "''", "'abcabcabcabcabcabcabcabc'"],
    "dec": ["0.5", "1.25", "2.00", "-1.5"],
    "date": ["date '2020-02-29'", "date '2000-01-01'"],
    "float": ["0.5::double", "2.0::double", "'nan'::double"],
}
KINDS = ("int", "str", "dec", "date", "float")


@dataclass(frozen=True)
class Relation:
    """What can stand in FROM, and the columns that it gives."""

    sql: str
    columns: tuple[tuple[str, str], ...]  # expression, kind

    def of(self, kind: str) -> list[str]:
        return [name for name, found in self.columns if found == kind]


def rows(table: str) -> st.SearchStrategy[list[tuple[object, ...]]]:
    return st.lists(st.tuples(*(VALUES[kind] for kind in TABLES[table].values())), max_size=6)


class Grammar:
    """Draws one query."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._count = 0

    def pick(self, choices):
        return self._draw(st.sampled_from(list(choices)))

    def chance(self, one_in: int = 3) -> bool:
        return self._draw(st.integers(0, one_in - 1)) == 0

    def alias(self, letter: str = "x") -> str:
        self._count += 1
        return f"{letter}{self._count}"

    # -- expressions

    def value(self, kind: str, scope: Relation, depth: int = 2) -> str:
        known = scope.of(kind)
        choice = self._draw(st.integers(0, 7)) if depth else 0
        if choice <= 3 and known:
            return self.pick(known)
        if choice <= 4 or not depth:
            return self.pick(LITERALS[kind])
        if choice == 5:
            condition = self.condition(scope, depth - 1)
            return (
                f"case when {condition} then {self.value(kind, scope, depth - 1)} else {self.value(kind, scope, 0)} end"
            )
        if choice == 6:
            name = self.pick(["coalesce", "nullif", "greatest", "least"])
            return f"{name}({self.value(kind, scope, depth - 1)}, {self.value(kind, scope, depth - 1)})"
        return self.function(kind, scope, depth - 1)

    def function(self, kind: str, scope: Relation, depth: int) -> str:
        if kind == "int":
            x, y = self.value("int", scope, depth), self.value("int", scope, depth)
            return self.pick(
                [
                    f"({x} + {y})",
                    f"({x} - {y})",
                    f"({x} * {y})",
                    f"({x} % nullif({y}, 0))",
                    f"({x} // nullif({y}, 0))",
                    f"(-({x}))",
                    f"abs({x})",
                    f"length({self.value('str', scope, depth)})",
                    f"extract(year from {self.value('date', scope, depth)})",
                    f"extract(month from {self.value('date', scope, depth)})",
                    f"({self.value('date', scope, depth)} - {self.value('date', scope, depth)})",
                    f"cast({self.value('dec', scope, depth)} as bigint)",
                ]
            )
        if kind == "str":
            x = self.value("str", scope, depth)
            return self.pick(
                [
                    f"upper({x})",
                    f"({x} || {self.value('str', scope, depth)})",
                    f"substring({x}, 2, 3)",
                    f"trim({x})",
                    f"replace({x}, 'a', 'z')",
                    f"concat({x}, 'q')",
                    f"cast({self.value('int', scope, depth)} as varchar)",
                ]
            )
        if kind == "dec":
            x, y = self.value("dec", scope, depth), self.value("dec", scope, 0)
            return self.pick(
                [
                    f"({x} + {y})",
                    f"({x} - {self.value('int', scope, depth)})",
                    f"({self.value('dec', scope, 0)} * {y})",
                    f"(2 * {x})",
                    f"round({x}, 1)",
                    f"abs({x})",
                    f"cast({self.value('int', scope, depth)} as decimal(9, 1))",
                ]
            )
        if kind == "float":
            x = self.value("float", scope, depth)
            return self.pick([f"round({x})", f"abs({x})", f"(-({x}))", f"({x} + 1)", f"({x} * 2)"])
        x = self.value("date", scope, depth)
        return self.pick(
            [f"({x} + 3)", f"cast({x} + interval '1' month as date)", f"cast({x} - interval 5 day as date)"]
        )

    def condition(self, scope: Relation, depth: int = 2, *, with_subqueries: bool = False) -> str:
        choice = self._draw(st.integers(0, 9))
        if depth and choice == 0:
            return f"({self.condition(scope, depth - 1)} and {self.condition(scope, depth - 1)})"
        if depth and choice == 1:
            return f"({self.condition(scope, depth - 1)} or {self.condition(scope, depth - 1)})"
        if depth and choice == 2:
            return f"(not {self.condition(scope, depth - 1, with_subqueries=with_subqueries)})"
        if with_subqueries and choice <= 6:
            return self.subquery_condition(scope)
        kind = self.pick(KINDS)
        x = self.value(kind, scope, max(depth - 1, 0))
        y = self.value(kind, scope, 0)
        tests = [f"{x} {self.pick(['=', '<>', '<', '<=', '>', '>='])} {y}", f"{x} is null", f"{x} is not null"]
        tests += [f"{x} between {y} and {self.value(kind, scope, 0)}", f"{x} is distinct from {y}"]
        tests.append(f"{x} in ({y}, {self.pick(LITERALS[kind])})")
        if kind == "int":
            large = self.pick(["1234567890123456788", "1234567890123456789", "1234567890123456790"])
            tests.append(f"{x} + 1234567890123456788 {self.pick(['=', '<', '>='])} {large}")
        tests.append(f"{x} {self.pick(['in', 'not in'])} (values ({y}), ({self.pick(LITERALS[kind])}))")
        other = self.pick(KINDS)
        row = f"({x}, {self.value(other, scope, 0)})"
        rows = [f"({self.pick(LITERALS[kind])}, {self.value(other, scope, 0)})" for _ in range(2)]
        tests += [
            f"{row} {self.pick(['in', 'not in'])} ({', '.join(rows)})",
            f"{row} {self.pick(['=', '<>'])} {rows[0]}",
        ]
        if kind == "str":
            pattern = self.pick(["a%", "%b", "_", r"%b\%", ""])
            tests += [f"{x} like '{pattern}'", f"{x} not like '%c%'"]
        return f"({self.pick(tests)})"

    # -- subqueries

    def inner(self, scope: Relation) -> tuple[Relation, str]:
        """A relation of a subquery, and a condition that may relate it to the query around."""
        table = self.table()
        both = Relation("", (*scope.columns, *table.columns))
        conditions = []
        if not self.chance(4):
            kind = self.pick(["int", "int", "str"])
            mine, outer = table.of(kind), scope.of(kind)
            if mine and outer:
                conditions.append(
                    f"{self.pick(mine)} {self.pick(['=', '=', '=', '<', '<=', '>', '>=', '<>'])} {self.pick(outer)}"
                )
        if self.chance(2):
            conditions.append(self.condition(both, 1))
        return table, " where " + " and ".join(conditions) if conditions else ""

    def subquery_condition(self, scope: Relation) -> str:
        table, where = self.inner(scope)
        choice = self._draw(st.integers(0, 4))
        negation = self.pick(["", "not "])
        if choice == 0:
            return f"{negation}exists (select 1 from {table.sql}{where})"
        kind = self.pick([kind for kind in KINDS if table.of(kind)])
        x = self.value(kind, scope, 1)
        if choice == 1:
            group = ""
            if self.chance(4):
                group = f" group by {self.pick(table.of(kind))}"
                return f"{x} {negation}in (select max({self.pick(table.of(kind))}) from {table.sql}{where}{group})"
            return f"{x} {negation}in (select {self.pick(table.of(kind))} from {table.sql}{where})"
        if choice == 2:
            how = f"{self.pick(['=', '<>', '<', '<=', '>', '>='])} {self.pick(['any', 'all'])}"
            return f"{negation}({x} {how} (select {self.pick(table.of(kind))} from {table.sql}{where}))"
        return f"{x} {self.pick(['=', '<', '>='])} {self.scalar(kind, scope)}"

    def scalar(self, kind: str, scope: Relation) -> str:
        table, where = self.inner(scope)
        mine = table.of(kind)
        if not mine or self.chance(6):
            return f"(select {self.pick(LITERALS[kind])})"
        column = self.pick(mine)
        if self.chance(4):
            order = self.pick(["asc nulls last", "desc nulls last", "asc nulls first"])
            return f"(select {column} from {table.sql}{where} order by {column} {order} limit 1)"
        function = self.pick(["max", "min", "sum"] if kind in {"int", "dec"} else ["max", "min"])
        if kind == "int" and self.chance(2):
            having = " having count(*) > 1" if self.chance(4) else ""
            return f"(select count({column}) + 1 from {table.sql}{where}{having})"
        return f"(select {function}({column}) from {table.sql}{where})"

    # -- relations

    def table(self) -> Relation:
        name = self.pick(TABLES)
        alias = self.alias(name)
        return Relation(f"{name} {alias}", tuple((f"{alias}.{c}", kind) for c, kind in TABLES[name].items()))

    def relation(self, depth: int = 1) -> Relation:
        choice = self._draw(st.integers(0, 9)) if depth else 0
        if choice <= 3:
            return self.table()
        if choice == 8:
            return self.merged()
        if choice == 9:
            return self.nested()
        if choice == 4 and self.chance(4):
            table, alias = self.table(), self.alias()
            column = self.pick(table.of("int"))
            counted = f"(select {column} as k0, count(*) as count from {table.sql} group by {column}) {alias}"
            return Relation(counted, ((f"{alias}.k0", "int"), (f"{alias}.count", "int")))
        if choice == 4:
            sql, kinds = self.query(depth - 1)
            sql = f"({sql})" if self.chance(4) else sql
            alias = self.alias()
            names = [f"k{i}" for i in range(len(kinds))]
            return Relation(
                f"({sql}) {alias}({', '.join(names)})",
                tuple((f"{alias}.{n}", kind) for n, kind in zip(names, kinds, strict=True)),
            )
        left, right = self.relation(depth - 1), self.relation(depth - 1)
        both = Relation("", left.columns + right.columns)
        how = self.pick(
            ["join", "join", "left join", "right join", "full join", "semi join", "anti join", "cross join"]
        )
        if how == "cross join":
            return Relation(f"{left.sql} cross join {right.sql}", both.columns)
        kind = self.pick([k for k in KINDS if left.of(k) and right.of(k)] or ["int"])
        on = "true"
        if left.of(kind) and right.of(kind):
            on = f"{self.pick(left.of(kind))} = {self.pick(right.of(kind))}"
        # DuckDB takes no other condition in a full join.
        if self.chance(3) and how != "full join":
            on += f" and {self.condition(both, 1)}"
        # DuckDB asks subqueries there only about the side that may be missing.
        missing = {"left join": right, "right join": left}.get(how)
        if missing is not None and missing.of("int") and self.chance(3):
            inner = self.table()
            link = f"{self.pick(inner.of('int'))} = {self.pick(missing.of('int'))}"
            on += f" and exists (select 1 from {inner.sql} where {link})"
        columns = left.columns if how in {"semi join", "anti join"} else both.columns
        return Relation(f"{left.sql} {how} {right.sql} on {on}", columns)

    def keyed(self) -> Relation:
        """A table whose first column is called "key", and the others as in no other relation."""
        name = self.pick(TABLES)
        alias = self.alias(name)
        told = {column: "key" if column == "a" else f"{column}_{alias}" for column in TABLES[name]}
        listed = ", ".join(f"{column} as {new}" for column, new in told.items())
        columns = tuple((f"{alias}.{told[column]}", kind) for column, kind in TABLES[name].items())
        return Relation(f"(select {listed} from {name}) {alias}", columns)

    def merged(self) -> Relation:
        """A chain of joins by the one column that all have in common, named by itself or with a relation."""
        made = self.keyed()
        for _ in range(self._draw(st.integers(1, 3))):
            right = self.keyed()
            if self.chance(4):
                more = self.keyed()
                inside = self.by_key(right, more, self.pick(["join", "left join", "right join", "full join"]))
                right = Relation(f"({inside.sql})", inside.columns)
            how = self.pick(["join", "left join", "right join", "full join", "full join", "semi join", "anti join"])
            made = self.by_key(made, right, how)
        return Relation(made.sql, (*made.columns, ("key", "int"), ("key", "int")))

    def by_key(self, left: Relation, right: Relation, how: str) -> Relation:
        sql = f"{left.sql} {how} {right.sql} using (key)"
        if how not in {"semi join", "anti join"} and self.chance(2):
            sql = f"{left.sql} natural {how} {right.sql}"
        return Relation(sql, left.columns if how in {"semi join", "anti join"} else left.columns + right.columns)

    def nested(self) -> Relation:
        """Joins whose nesting is not that of their order: behind a comma, or before a condition that comes late."""
        one, two, three = self.table(), self.table(), self.table()
        columns = one.columns + two.columns + three.columns
        if self.chance(2):
            how = self.pick(["right join", "full join", "left join", "join"])
            on = f"{self.pick(two.of('int'))} = {self.pick(three.of('int'))}"
            return Relation(f"{one.sql}, {two.sql} {how} {three.sql} on {on}", columns)
        how = self.pick(["join", "left join", "right join", "full join", "semi join", "anti join"])
        on = f"{self.pick(one.of('int'))} = {self.pick(two.of('int') + three.of('int'))}"
        return Relation(
            f"{one.sql} {how} {two.sql} cross join {three.sql} on {on}",
            one.columns if how in {"semi join", "anti join"} else columns,
        )

    # -- queries

    def query(self, depth: int = 1) -> tuple[str, list[str]]:
        choice = self._draw(st.integers(0, 9))
        if depth and choice == 0:
            return self.set_operation(depth)
        if depth and choice == 1:
            return self.recursive()
        if depth and choice == 2:
            return self.common(depth)
        if choice <= 5:
            return self.grouped(depth)
        return self.plain(depth)

    def where(self, scope: Relation) -> str:
        if self.chance(3):
            return ""
        parts = [self.condition(scope, 2, with_subqueries=True) for _ in range(self._draw(st.integers(1, 2)))]
        return " where " + " and ".join(parts)

    def plain(self, depth: int) -> tuple[str, list[str]]:
        scope = self.relation(depth)
        kinds = [self.pick(KINDS) for _ in range(self._draw(st.integers(1, 3)))]
        columns = [self.scalar(kind, scope) if self.chance(8) else self.value(kind, scope) for kind in kinds]
        listed = ", ".join(f"{c} as o{i}" for i, c in enumerate(columns))
        distinct = "distinct " if self.chance(4) else ""
        sql = f"select {distinct}{listed} from {scope.sql}{self.where(scope)}"
        return self.limited(sql, list(zip(columns, kinds, strict=True))), kinds

    def limited(self, sql: str, columns: list[tuple[str, str]]) -> str:
        """The query with its first rows alone, or without them; or as it is."""
        if not self.chance(3):
            return sql
        ways = ["", " desc", " nulls first", " desc nulls first"]
        is_outside = self.chance(5)
        names = [f"{i + 1}" if is_outside else f"o{i}" for i in range(len(columns))]
        order = [f"{name}{self.pick(ways)}" for name in names]
        # DuckDB does not name a subquery in an expression.
        is_plain = ["select" not in text and "values" not in text for text, _ in columns]
        named = [(kind, name) for name, (_, kind), plain in zip(names, columns, is_plain, strict=True) if plain]
        if named and not is_outside and self.chance(2):
            order.insert(0, f"{self.made_of(*self.pick(named))}{self.pick(ways)}")
        limit = f" limit {self._draw(st.integers(1, 4))}" if not self.chance(4) else ""
        offset = f" offset {self._draw(st.integers(0, 2))}" if not limit or self.chance(3) else ""
        return f"{f'({sql})' if is_outside else sql} order by {', '.join(order)}{limit}{offset}"

    def made_of(self, kind: str, name: str) -> str:
        """An expression over a column."""
        choices = [f"case when {name} is null then 1 else 0 end", f"coalesce({name}, {self.pick(LITERALS[kind])})"]
        if kind in {"int", "dec", "float"}:
            choices += [f"-{name}", f"{name} * 2", f"abs({name})"]
        if kind == "str":
            choices += [f"length({name})", f"{name} || 'x'"]
        return self.pick(choices)

    def aggregate(self, scope: Relation) -> tuple[str, str]:
        kind = self.pick(KINDS)
        x = self.value(kind, scope, 1)
        choices = [(f"count({x})", "int"), ("count(*)", "int"), (f"min({x})", kind), (f"max({x})", kind)]
        choices.append((f"count(distinct {x})", "int"))
        if kind in {"int", "dec"}:
            choices += [(f"sum({x})", kind)] * 3 + [(f"sum(distinct {x})", kind)]
            choices.append((f"sum({x}) filter (where {self.condition(scope, 1)})", kind))
            choices += [(f"avg({x})", "float"), (f"avg({x})", "float"), (f"avg(distinct {x})", "float")]
        return self.pick(choices)

    def grouped(self, depth: int) -> tuple[str, list[str]]:
        scope = self.relation(depth)
        keys = [(self.value(kind, scope, 1), kind) for kind in self._draw(st.lists(st.sampled_from(KINDS), max_size=2))]
        # A constant is no key: it would be taken for the number of a column.
        keys = [(key, kind) for key, kind in keys if any(name in key for name, _ in scope.columns)]
        totals = [self.aggregate(scope) for _ in range(self._draw(st.integers(1, 3)))]
        columns = [*keys, *totals]
        listed = ", ".join(f"{c} as o{i}" for i, (c, _) in enumerate(columns))
        sql = f"select {listed} from {scope.sql}{self.where(scope)}"
        if keys:
            sql += f" group by {', '.join(key for key, _ in keys)}"
        if self.chance(4):
            total, kind = self.aggregate(scope)
            sql += f" having {total} {self.pick(['>', '<=', '='])} {self.pick(LITERALS[kind])}"
        kinds = [kind for _, kind in columns]
        return self.limited(sql, columns), kinds

    def set_operation(self, depth: int) -> tuple[str, list[str]]:
        kinds = [self.pick(KINDS) for _ in range(self._draw(st.integers(1, 2)))]
        sides = []
        for _ in range(2):
            scope = self.relation(depth - 1)
            listed = ", ".join(f"{self.value(kind, scope, 1)} as o{i}" for i, kind in enumerate(kinds))
            sides.append(f"select {listed} from {scope.sql}{self.where(scope)}")
        how = self.pick(["union", "union all", "except", "except all", "intersect", "intersect all"])
        return f"{sides[0]} {how} {sides[1]}", kinds

    def common(self, depth: int) -> tuple[str, list[str]]:
        inner, kinds = self.query(depth - 1)
        name, one, other = self.alias("w"), self.alias(), self.alias()
        names = [f"k{i}" for i in range(len(kinds))]
        columns = tuple((f"{a}.{n}", k) for a in (one, other) for n, k in zip(names, kinds, strict=True))
        scope = Relation("", columns)
        listed = ", ".join(f"{column} as o{i}" for i, (column, _) in enumerate(columns))
        body = f"select {listed} from {name} {one}, {name} {other}{self.where(scope)}"
        return f"with {name}({', '.join(names)}) as ({inner}) {body}", [kind for _, kind in columns]

    def recursive(self) -> tuple[str, list[str]]:
        name, step = self.alias("w"), self.alias()
        how = self.pick(["union", "union all"])
        base = self.pick(["select a from t", "select c from u where c > 0", "select a from u"])
        steps = [f"select {step}.n + 1 from {name} {step} where {step}.n < 4"]
        steps.append(f"select u.c from {name} {step} join u on u.a = {step}.n and u.c > {step}.n")
        if how == "union":
            steps.append(f"select u.c from {name} {step} join u on u.a = {step}.n")
        return f"with recursive {name}(n) as ({base} {how} {self.pick(steps)}) select n as o0 from {name}", ["int"]


@st.composite
def queries(draw: st.DrawFn) -> str:
    return Grammar(draw).query()[0]
