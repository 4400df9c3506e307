"""What an expression in ORDER BY may name: columns of the relations, and what is selected.

A bare name is that of what is selected, if there is one. Inside an expression a column of a relation comes first, as
in DuckDB: `select -a as a from t order by a + 1` is ordered by the table's `a`.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import Expr as Syntax
from sqlglot import exp

from graphtide.dataflow.expressions import Expression, col
from graphtide.dataflow.expressions.expression import Column
from graphtide.errors import SqlError
from graphtide.sql.scope import Scope
from graphtide.sql.spelling import place_of, spelled

__all__ = ["name_order", "over_selected", "without_parentheses"]


def name_order(order: Syntax | None, scope: Scope) -> None:
    """Write the relation before each column in an expression of ORDER BY that only one relation has."""
    for each in order.expressions if order is not None else ():
        if isinstance(without_parentheses(each.this), exp.Column):
            continue
        for column in each.this.find_all(exp.Column):
            owners = [alias for alias, known in scope.relations.items() if column.name in known]
            if not column.table and len(owners) == 1:
                column.set("table", exp.to_identifier(owners[0]))


def without_parentheses(node: Syntax) -> Syntax:
    """What ORDER BY is given, `(a)` as `a`; a constant, which orders nothing, is refused."""
    while isinstance(node, exp.Paren):
        node = node.this
    inner = node.this if isinstance(node, exp.Neg) else node
    if isinstance(inner, exp.Literal) and (inner is not node or not inner.name.isdigit() or inner.is_string):
        raise SqlError(f"{place_of(node)}ORDER BY {spelled(node)} orders nothing", hint="name a column, or its number")
    return node


def over_selected(further: Mapping[str, Expression], columns: Mapping[str, Expression]) -> dict[str, Expression]:
    """What distinct rows are ordered by, as made of the columns that are selected."""
    places = {each.name: col(name) for name, each in columns.items() if isinstance(each, Column)}
    result = {name: each.substitute(places) for name, each in further.items()}
    if not all(each.columns() <= set(columns) for each in result.values()):
        raise SqlError("SELECT DISTINCT is ordered by what it does not select", hint="select it, too")
    return result
