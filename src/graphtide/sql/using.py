"""USING and NATURAL written out: as conditions, and as the one column that both sides' columns become.

The merged column is that of the left side, that of the right side behind a right join, and behind a full join whichever
is not NULL. The next USING compares with the merged column, not with any one of those that it came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import Expr as Syntax
from sqlglot import exp

from graphtide.errors import SqlError
from graphtide.rows import did_you_mean
from graphtide.sql.nesting import said_of

__all__ = ["merge_columns"]


def merge_columns(tree: exp.Query, tables: Mapping[str, Iterable[str]]) -> None:
    """Write out every USING and NATURAL of a query over tables with the given columns, and what refers to them."""
    _written_out(tree, {name: list(columns) for name, columns in tables.items()}, {})


_Relations = Mapping[str, list[str]]
_Merged = Mapping[str, Syntax]


@dataclass(frozen=True, slots=True)
class _Column:
    """A column that a join has merged: its value, and the relations whose columns it stands for."""

    value: Syntax
    relations: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Side:
    """The columns of relations that are joined, each with its relation, and those that are merged."""

    columns: list[tuple[str, str]]
    merged: dict[str, _Column] = field(default_factory=dict[str, _Column])

    @property
    def values(self) -> dict[str, Syntax]:
        """The merged columns by name."""
        return {name: each.value for name, each in self.merged.items()}

    def told(self) -> list[tuple[str, Syntax]]:
        """The columns that a star stands for: a merged one where its first part stands."""
        result: dict[tuple[str, str | None], Syntax] = {}
        for name, relation in self.columns:
            found = self.merged.get(name)
            if found is not None and relation in found.relations:
                result.setdefault((name, None), found.value)
            else:
                result[name, relation] = exp.column(name, table=relation)
        return [(name, value) for (name, _), value in result.items()]

    def column(self, name: str, join: exp.Join) -> _Column:
        """The column of a name, of which there must be one."""
        if name in self.merged:
            return self.merged[name]
        found = [relation for column, relation in self.columns if column == name]
        if len(found) == 1:
            return _Column(exp.column(name, table=found[0]), frozenset(found))
        if found:
            named = " and ".join(f'"{each}"' for each in found)
            raise SqlError(f'column "{name}" of {said_of(join)} is in {named}', hint="write the condition with ON")
        raise SqlError(
            f'column "{name}" of {said_of(join)} is not on both sides',
            hint=did_you_mean(name, [column for column, _ in self.columns]),
        )


def _written_out(query: Syntax, relations: _Relations, around: _Merged) -> list[str]:
    """The names of a query's columns, after all USING in it is written out; `around` are merged columns outside."""
    known = dict(relations)
    part = query.args.get("with_")
    for cte in part.expressions if part is not None else ():
        known[cte.alias.lower()] = _common(cte, known)
    if isinstance(query, exp.Subquery):
        return _written_out(query.this, known, around)
    if isinstance(query, exp.SetOperation):
        names = _written_out(query.this, known, around)
        _written_out(query.args["expression"], known, around)
        return names
    return _select(query, known, around) if isinstance(query, exp.Select) else []


def _common(cte: exp.CTE, known: _Relations) -> list[str]:
    """The columns of a common table."""
    inner = cte.this
    if not isinstance(inner, exp.Union):
        return _renamed(_written_out(inner, known, {}), cte)
    # If it is recursive, the step reads what the base gives.
    names = _renamed(_written_out(inner.this, known, {}), cte)
    _written_out(inner, {**known, cte.alias.lower(): names}, {})
    return names


def _select(select: exp.Select, known: _Relations, around: _Merged) -> list[str]:
    source = select.args.get("from_")
    side = _Side([]) if source is None else _relation(source.this, known, around)
    for join in select.args.get("joins") or ():
        side = _joined(side, join, known, around)
    merged = _seen(side, around)
    for part, value in list(select.args.items()):
        if part not in {"from_", "joins", "with_", "expressions", "limit", "offset"}:
            for each in value if isinstance(value, list) else [value]:
                _replace(each, merged, known)
    projections: list[Syntax] = []
    for each in select.expressions:
        if isinstance(each, exp.Star) and side.merged:
            projections += _star(each, side, known)
        elif isinstance(each, exp.Column) and not each.table and each.name.lower() in merged:
            projections.append(exp.alias_(merged[each.name.lower()].copy(), each.name))
        else:
            _replace(each, merged, known)
            projections.append(each)
    select.set("expressions", projections)
    return [name for each in projections for name in _names(each, side)]


def _names(projection: Syntax, side: _Side) -> list[str]:
    if isinstance(projection, exp.Star):
        return [name for name, _ in side.told()]
    if isinstance(projection, exp.Column) and isinstance(projection.this, exp.Star):
        return [name for name, relation in side.columns if relation == projection.table.lower()]
    return [projection.alias_or_name.lower()]


def _star(star: exp.Star, side: _Side, known: _Relations) -> list[Syntax]:
    """The columns that a star stands for, with what it leaves out, replaces and renames."""
    left_out = [*(star.args.get("except_") or ())]
    if any(isinstance(each, exp.Column) and each.table for each in left_out):
        raise SqlError(
            f"a column of one side cannot be left out where USING has merged it: {star.sql(dialect='duckdb')}",
            hint="name the columns that are wanted",
        )
    without = {each.name.lower() for each in left_out}
    replaced = {each.alias.lower(): exp.Paren(this=each.this) for each in star.args.get("replace") or ()}
    renamed = {each.this.name.lower(): each.alias for each in star.args.get("rename") or ()}
    for each in replaced.values():
        _replace(each, side.values, known)
    return [
        exp.alias_(replaced.get(name, value).copy(), renamed.get(name, name))
        for name, value in side.told()
        if name not in without
    ]


def _seen(side: _Side, around: _Merged) -> dict[str, Syntax]:
    """The merged columns that an unqualified name can mean: those around are hidden by columns of the same name."""
    own = {name for name, _ in side.columns}
    return {**{name: value for name, value in around.items() if name not in own}, **side.values}


def _replace(node: object, merged: _Merged, known: _Relations) -> None:
    """Put merged columns in place of their names inside an expression, and write its subqueries out."""
    if isinstance(node, exp.Query):
        _written_out(node, known, merged)
    elif isinstance(node, exp.Column):
        if not node.table and node.name.lower() in merged:
            node.replace(merged[node.name.lower()].copy())
    elif isinstance(node, Syntax):
        for child in list(node.iter_expressions()):
            _replace(child, merged, known)


# -- relations


def _relation(node: Syntax, known: _Relations, around: _Merged) -> _Side:
    """What stands in FROM, with the joins that are inside of it."""
    alias = node.alias_or_name.lower()
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table | exp.Subquery) and not node.alias:
        side = _relation(node.this, known, around)
    elif isinstance(node, exp.Table):
        side = _of(_renamed(known.get(node.name.lower(), []), node), alias)
    elif isinstance(node, exp.Values):
        width = len(node.expressions[0].expressions) if node.expressions else 0
        side = _of(_renamed([f"col{i}" for i in range(width)], node), alias)
    elif isinstance(node, exp.Subquery):
        side = _of(_renamed(_written_out(node.this, known, {}), node), alias)
    else:
        side = _Side([])
    for join in node.args.get("joins") or ():
        side = _joined(side, join, known, around)
    return side


def _of(names: list[str], alias: str) -> _Side:
    return _Side([(name, alias) for name in names])


def _renamed(names: list[str], node: Syntax) -> list[str]:
    alias = node.args.get("alias")
    given = [each.name.lower() for each in alias.args.get("columns") or ()] if alias is not None else []
    return [*given, *names[len(given) :]]


def _joined(left: _Side, join: exp.Join, known: _Relations, around: _Merged) -> _Side:
    """Both sides of a join, its USING written out."""
    right = _relation(join.this, known, around)
    names = _shared(left, right, join)
    pairs = {name: (left.column(name, join), right.column(name, join)) for name in names}
    # Of a name that both sides have merged, and not with each other, nothing is left to mean.
    others = {n: each for n, each in right.merged.items() if n not in left.merged}
    merged = {n: each for n, each in left.merged.items() if n not in right.merged} | others
    merged |= {name: _merged(a, b, join.side) for name, (a, b) in pairs.items()}
    both = _Side([*left.columns, *right.columns], merged)
    if pairs:
        equal = [exp.EQ(this=a.value.copy(), expression=b.value.copy()) for a, b in pairs.values()]
        join.set("on", exp.and_(*equal, copy=False))
        join.set("using", None)
        join.set("method", None)
    else:
        _replace(join.args.get("on"), _seen(both, around), known)
    if join.kind in {"SEMI", "ANTI"}:
        return left
    return both


def _shared(left: _Side, right: _Side, join: exp.Join) -> list[str]:
    """The names of the columns that a join merges."""
    if join.method != "NATURAL":
        return [each.name.lower() for each in join.args.get("using") or ()]
    theirs = {name for name, _ in right.columns}
    found = list(dict.fromkeys(name for name, _ in left.columns if name in theirs))
    if not found:
        raise SqlError(
            f"{said_of(join)} {join.this.sql(dialect='duckdb')} finds no column that both sides have",
            hint="write the condition with ON",
        )
    return found


def _merged(left: _Column, right: _Column, side: str) -> _Column:
    relations = left.relations | right.relations
    if side == "FULL":
        return _Column(exp.Coalesce(this=left.value.copy(), expressions=[right.value.copy()]), relations)
    return _Column((right if side == "RIGHT" else left).value, relations)
