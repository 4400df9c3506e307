"""Which joins stand inside of which: what sqlglot reads one after the other, nested as SQL means it.

A comma binds less than JOIN does: `a, b right join c on ...` is a next to (b right join c). A join that needs a
condition takes the next one that is left over: `a left join b cross join c on ...` is a left join (b cross join c).
"""

from __future__ import annotations

from sqlglot import Expr as Syntax
from sqlglot import exp

from graphtide.errors import SqlError

__all__ = ["nest_joins", "said_of"]


def nest_joins(tree: Syntax) -> None:
    """Put joins into those that they are part of; one whose condition is missing is refused."""
    for node in list(tree.find_all(exp.Subquery)):
        _open(node)
    for node in list(tree.walk()):
        joins = node.args.get("joins")
        if joins:
            node.set("joins", _by_comma(_closed(joins)))


def _open(node: exp.Subquery) -> None:
    """Take the brackets off a join: what is inside of it is told by its first relation."""
    inner = node.this
    if not node.alias and (isinstance(inner, exp.Table) or (isinstance(inner, exp.Subquery) and inner.alias)):
        inner.set("joins", [*(inner.args.get("joins") or ()), *(node.args.get("joins") or ())])
        node.replace(inner)


def said_of(join: exp.Join) -> str:
    """The words with which a join begins."""
    words = (join.method, join.side, "" if join.side and join.kind == "OUTER" else join.kind, "JOIN")
    return " ".join(word.upper() for word in words if word)


def _closed(joins: list[exp.Join]) -> list[exp.Join]:
    """The joins with those that stand between another one and its condition inside of it."""
    result: list[exp.Join] = []
    waiting: exp.Join | None = None
    for join in joins:
        if waiting is not None:
            if _is_comma(join):
                break
            _put_inside(waiting, [join])
            if _takes_no_condition(join) and _has_condition(join):
                for part in ("on", "using"):
                    waiting.set(part, join.args.get(part))
                    join.set(part, None)
                waiting = None
            continue
        if _takes_no_condition(join) and _has_condition(join):
            raise SqlError(f"{_shown(join)} takes no condition", hint="write JOIN")
        if not _takes_no_condition(join) and not _has_condition(join):
            waiting = join
        result.append(join)
    if waiting is not None:
        raise SqlError(
            f"{_shown(waiting)} needs a condition",
            hint="write ON or USING, or CROSS JOIN for all pairs",
        )
    return result


def _by_comma(joins: list[exp.Join]) -> list[exp.Join]:
    """The joins with those behind a comma inside of what stands there, where that makes a difference."""
    groups: list[list[exp.Join]] = [[]]
    for join in joins:
        if _is_comma(join):
            groups.append([join])
        else:
            groups[-1].append(join)
    result = groups[0]
    for first, *rest in groups[1:]:
        # Other joins are the same either way, and may name what stands before the comma.
        if any(each.side in {"RIGHT", "FULL"} or each.args.get("using") or each.method for each in rest):
            _put_inside(first, rest)
            rest = []  # noqa: PLW2901
        result += [first, *rest]
    return result


def _put_inside(outer: exp.Join, joins: list[exp.Join]) -> None:
    relation = outer.this
    relation.set("joins", [*(relation.args.get("joins") or ()), *joins])


def _shown(join: exp.Join) -> str:
    return f"{said_of(join)} {join.this.sql(dialect='duckdb')}"


def _is_comma(join: exp.Join) -> bool:
    # Behind the word JOIN sqlglot looks for pivots, found or not; there is no other trace of it.
    return "pivots" not in join.args


def _takes_no_condition(join: exp.Join) -> bool:
    return _is_comma(join) or join.kind == "CROSS" or join.method in {"NATURAL", "POSITIONAL"}


def _has_condition(join: exp.Join) -> bool:
    return join.args.get("on") is not None or bool(join.args.get("using"))
