"""Aggregate functions, as sums, counts, means, least and greatest values, and what is made of them.

A mean is of the ints that decimals are, a variance the spread of them by a count. Sums and spreads are exact, so both
are rounded only where they are put together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlglot import Expr as Syntax
from sqlglot import exp

from graphtide.dataflow.expressions import Expression, coalesce, col, lit, when
from graphtide.errors import SqlError
from graphtide.rows import Kind
from graphtide.sql.plan import Total
from graphtide.sql.scalar import BOOLEAN, DOUBLE, INTEGER, Scalar, cast
from graphtide.sql.scope import Names
from graphtide.sql.spelling import refuse
from graphtide.sql.translate import truth
from graphtide.sql.types import SqlType

__all__ = ["Totals", "aggregates_in", "is_aggregate", "on_nothing"]

_SUM_DIGITS: Final = 38


def is_aggregate(node: Syntax) -> bool:
    """Whether a node is an aggregate, with its filter if it has one."""
    return isinstance(node, exp.AggFunc) or (isinstance(node, exp.Filter) and isinstance(node.this, exp.AggFunc))


def aggregates_in(node: Syntax) -> list[Syntax]:
    """The aggregates of an expression, those of its subqueries left out."""
    if is_aggregate(node):
        return [node]
    if isinstance(node, exp.Query | exp.Window):
        return []
    return [found for child in node.iter_expressions() for found in aggregates_in(child)]


def on_nothing(totals: Mapping[str, Total]) -> dict[str, Expression]:
    """The columns that are not NULL where there is no row at all: counts, which are zero then."""
    return {name: coalesce(col(name), lit(0)) for name, each in totals.items() if each.function == "count"}


@dataclass(slots=True)
class Totals:
    """The totals that the aggregates of a select come to, and the columns that they read."""

    names: Names
    part: Callable[[Syntax], Scalar]
    arguments: dict[str, Expression] = field(default_factory=dict[str, Expression])
    totals: dict[str, Total] = field(default_factory=dict[str, Total])

    def add(self, node: Syntax) -> Scalar:
        """The value of an aggregate, as an expression over totals."""
        condition: Syntax | None = None
        if isinstance(node, exp.Filter):
            node, condition = node.this, node.args["expression"].this
        rule = _RULES.get(type(node))
        if rule is None:
            raise refuse(node)
        inner = node.this
        is_distinct = isinstance(inner, exp.Distinct)
        if is_distinct:
            if len(inner.expressions) != 1 or isinstance(inner.expressions[0], exp.Star):
                raise refuse(node, "count the distinct values of one column")
            inner = inner.expressions[0]
        if isinstance(inner, exp.Star) or inner is None:
            value = None
        else:
            value = self.part(inner)
            if value.is_null:
                value = value.to(INTEGER)
        return rule(self, self._filtered(value, condition), is_distinct)

    def _filtered(self, value: Scalar | None, condition: Syntax | None) -> Scalar | None:
        if condition is None:
            return value
        kept = Scalar(lit(1), INTEGER) if value is None else value
        nothing = lit(None, kept.type.encoding)
        return Scalar(when(truth(self.part(condition), condition), kept.expression).otherwise(nothing), kept.type)

    def total(self, function: str, value: Scalar | None, *, is_distinct: bool = False) -> Expression:
        """The column of a total, an older one if it is the same."""
        made = Total(function, None if value is None else self._argument(value.expression), is_distinct)
        for name, each in self.totals.items():
            if each == made:
                return col(name)
        name = self.names.fresh(function)
        self.totals[name] = made
        return col(name)

    def _argument(self, expression: Expression) -> str:
        for name, each in self.arguments.items():
            if each.equals(expression):
                return name
        name = self.names.fresh("argument")
        self.arguments[name] = expression
        return name


def _count(totals: Totals, value: Scalar | None, is_distinct: bool) -> Scalar:  # noqa: FBT001
    return Scalar(totals.total("count", value, is_distinct=is_distinct), INTEGER)


def _number(value: Scalar | None) -> Scalar:
    assert value is not None, "only count takes a star"
    if value.type.kind is Kind.BOOL:
        return cast(value, INTEGER)
    if not value.type.is_number:
        raise SqlError(f"cannot add up {value.type}", hint="cast it to a number")
    return value


def _sum(totals: Totals, value: Scalar | None, is_distinct: bool) -> Scalar:  # noqa: FBT001
    number = _number(value)
    result = number.type
    if result.is_decimal:
        result = SqlType(Kind.INT, result.scale, _SUM_DIGITS)
    return Scalar(totals.total("sum", number, is_distinct=is_distinct), result)


def _avg(totals: Totals, value: Scalar | None, is_distinct: bool) -> Scalar:  # noqa: FBT001
    number = _number(value)
    mean = totals.total("avg", number, is_distinct=is_distinct)
    return Scalar(mean / float(10**number.type.scale) if number.type.scale else mean, DOUBLE)


def _extreme(function: str) -> Callable[[Totals, Scalar | None, bool], Scalar]:
    def rule(totals: Totals, value: Scalar | None, _is_distinct: bool) -> Scalar:  # noqa: FBT001
        assert value is not None, "only count takes a star"
        return Scalar(totals.total(function, value), value.type)

    return rule


def _logical(function: str) -> Callable[[Totals, Scalar | None, bool], Scalar]:
    def rule(totals: Totals, value: Scalar | None, _is_distinct: bool) -> Scalar:  # noqa: FBT001
        assert value is not None, "only count takes a star"
        if value.type != BOOLEAN:
            raise SqlError(f"{value.type} has no truth value", hint="write a comparison")
        return Scalar(totals.total(function, value), BOOLEAN)

    return rule


def _count_if(totals: Totals, value: Scalar | None, _is_distinct: bool) -> Scalar:  # noqa: FBT001
    assert value is not None, "only count takes a star"
    hit = when(value.expression, lit(1)).otherwise(lit(None, int))
    return Scalar(totals.total("count", Scalar(hit, INTEGER)), INTEGER)


def _variance(
    finish: Callable[[Expression], Expression], missing: int
) -> Callable[[Totals, Scalar | None, bool], Scalar]:
    """The mean square distance from the mean, for n - `missing` degrees of freedom."""

    def rule(totals: Totals, value: Scalar | None, is_distinct: bool) -> Scalar:  # noqa: FBT001
        number = _number(value)
        if is_distinct:
            raise SqlError("the variance of distinct values is not supported", hint="select them distinct first")
        count = totals.total("count", number).cast(float)
        spread = totals.total("spread", number) / (count - float(missing))
        if number.type.scale:
            spread /= float(10 ** (2 * number.type.scale))
        return Scalar(finish(when(count > float(missing), spread).otherwise(lit(None, float))), DOUBLE)

    return rule


def _itself(value: Expression) -> Expression:
    return value


def _root(value: Expression) -> Expression:
    return value.sqrt()


_RULES: Final[dict[type[Syntax], Callable[[Totals, Scalar | None, bool], Scalar]]] = {
    exp.Count: _count,
    exp.CountIf: _count_if,
    exp.Sum: _sum,
    exp.Avg: _avg,
    exp.Min: _extreme("min"),
    exp.Max: _extreme("max"),
    exp.LogicalAnd: _logical("min"),
    exp.LogicalOr: _logical("max"),
    exp.Variance: _variance(_itself, 1),
    exp.VariancePop: _variance(_itself, 0),
    exp.Stddev: _variance(_root, 1),
    exp.StddevSamp: _variance(_root, 1),
    exp.StddevPop: _variance(_root, 0),
}
