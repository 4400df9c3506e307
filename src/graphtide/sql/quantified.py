"""Comparisons with all rows of a query at once: IN, ANY and ALL, read as one form.

`x in S` is `x = any S`, and `x < all S` is not `x >= any S`, also where NULL leaves both unknown. So there is ANY,
which may be negated, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlglot import Expr as Syntax
from sqlglot import exp

from graphtide.sql.spelling import refuse

__all__ = ["Quantified", "quantified"]


@dataclass(frozen=True, slots=True)
class Quantified:
    """Whether some values compare so with any row of a query, or, if it is negated, with none."""

    values: list[Syntax]
    comparison: type[Syntax]
    query: Syntax
    is_negated: bool = False


_OPPOSITES: Final[dict[type[Syntax], type[Syntax]]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}


def quantified(node: Syntax) -> Quantified | None:
    """A condition read as a comparison with the rows of a query, None if it is something else.

    >>> import sqlglot
    >>> found = quantified(sqlglot.parse_one("a < all (select b from t)"))
    >>> found.comparison.__name__, found.is_negated
    ('GTE', True)
    """
    if isinstance(node, exp.In):
        query = _query(node.args.get("query") or (node.expressions[0] if len(node.expressions) == 1 else None))
        return None if query is None else Quantified(_row(node.this), exp.EQ, query)
    side = node.args.get("expression")
    if isinstance(side, exp.Anonymous) and side.name.upper() == "ALL" and len(side.expressions) == 1:
        # sqlglot takes ALL for a function where VALUES follows.
        side = exp.All(this=side.expressions[0])
    if type(node) not in _OPPOSITES or not isinstance(side, exp.Any | exp.All):
        return None
    query = _query(side.this)
    if query is None:
        raise refuse(side, "compare with the rows of a query, or use IN with a list")
    is_all = isinstance(side, exp.All)
    found = Quantified(_row(node.this), _OPPOSITES[type(node)] if is_all else type(node), query, is_all)
    if len(found.values) > 1 and found.comparison is not exp.EQ:
        raise refuse(node, "compare the columns one by one, in EXISTS")
    return found


def _query(node: Syntax | None) -> Syntax | None:
    """What stands in parentheses, if it is a query."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node if isinstance(node, exp.Query | exp.Values) else None


def _row(node: Syntax) -> list[Syntax]:
    return node.expressions if isinstance(node, exp.Tuple) else [node]
