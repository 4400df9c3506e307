"""VALUES: rows that are written out, as a query."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from graphtide.errors import SqlError
from graphtide.sql.plan import Project, Union
from graphtide.sql.rows import Rows
from graphtide.sql.scalar import united
from graphtide.sql.scope import Bound, Output

__all__ = ["written_out"]


def written_out(node: exp.Values, new_row: Callable[[], Rows]) -> Bound:
    """The rows of VALUES as a query; each is written over a new row without columns, which its subqueries extend."""
    over = [new_row() for _ in node.expressions]
    rows = [[row.scalar(each) for each in line.expressions] for row, line in zip(over, node.expressions, strict=True)]
    for number, line in enumerate(rows, 1):
        if len(line) != len(rows[0]):
            raise SqlError(
                f"row 1 of VALUES has {len(rows[0])} columns, row {number} has {len(line)}",
                hint="give all rows as many",
            )
    columns = {over[0].names.fresh("value"): united(*column) for column in zip(*rows, strict=True)}
    parts = tuple(
        Project(row.plan, {name: values[i].expression for name, values in columns.items()}, row.scope.around())
        for i, row in enumerate(over)
    )
    outputs = tuple(Output(f"col{i}", name, values[0].type) for i, (name, values) in enumerate(columns.items()))
    return Bound(Union(parts, tuple(columns)), outputs)
