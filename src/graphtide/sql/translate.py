"""Scalar expressions of SQL as expressions of the dataflow.

What depends on where an expression stands (columns, aggregates, subqueries) is asked of a `Context`; all else
is a table from SQL's constructs to functions. A construct that is not in it is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Final, Protocol

from sqlglot import Expr as Syntax
from sqlglot import exp

from graphtide.dataflow.expressions import Expression, coalesce, greatest, least, lit, when
from graphtide.errors import SqlError
from graphtide.rows import Kind, did_you_mean
from graphtide.sql.conditions import same
from graphtide.sql.functions import FUNCTIONS
from graphtide.sql.intervals import interval_of, outside_years, shifted
from graphtide.sql.scalar import BOOLEAN, INTEGER, TEXT, Scalar, arithmetic, cast, compared, may_be_equal, united
from graphtide.sql.spelling import place_of, refuse
from graphtide.sql.types import SqlType, named

__all__ = ["Context", "comparing", "translate", "truth"]


class Context(Protocol):
    """Where an expression stands."""

    def column(self, node: exp.Column) -> Scalar:
        """The value of a column."""
        ...

    def special(self, node: Syntax) -> Scalar | None:
        """The value of an aggregate, a group's key or a subquery; None if it is an ordinary expression."""
        ...


def translate(node: Syntax, context: Context) -> Scalar:
    """The value of an expression of SQL."""
    found = context.special(node)
    if found is not None:
        return found
    if isinstance(node, exp.Column):
        return context.column(node)
    rule = _RULES.get(type(node))
    if rule is not None:
        return rule(node, lambda part: translate(part, context))
    function = FUNCTIONS.get(type(node))
    if function is not None:
        return function(node, lambda part: translate(part, context))
    if isinstance(node, exp.Anonymous):
        nearest = did_you_mean(node.name.lower(), _FUNCTION_NAMES)
        raise refuse(node, nearest) if "did you mean" in nearest else refuse(node)
    raise refuse(node)


Part = Callable[[Syntax], Scalar]


def _literal(node: Syntax, _part: Part) -> Scalar:
    return Scalar(lit(node.name), TEXT) if node.args["is_string"] else Scalar.of_number(node.name)


def _boolean(node: Syntax, _part: Part) -> Scalar:
    return Scalar(lit(bool(node.this)), BOOLEAN)


def _null(_node: Syntax, _part: Part) -> Scalar:
    return Scalar(lit(None, int), SqlType(None))


def _inner(node: Syntax, part: Part) -> Scalar:
    return part(node.this)


def _arithmetic(operation: str) -> Callable[[Syntax, Part], Scalar]:
    def rule(node: Syntax, part: Part) -> Scalar:
        if operation in "+-":
            span = interval_of(node.args["expression"])
            if span is not None:
                return shifted(part(node.this), span if operation == "+" else -span, node)
            span = interval_of(node.this)
            if span is not None and operation == "+":
                return shifted(part(node.args["expression"]), span, node)
        try:
            return arithmetic(operation, part(node.this), part(node.args["expression"]))
        except OverflowError:
            raise outside_years(node) from None

    return rule


def _negated(node: Syntax, part: Part) -> Scalar:
    value = part(node.this)
    if not value.type.is_number:
        raise SqlError(f"cannot negate {value.type}: {node.sql(dialect='duckdb')}", hint="cast it to a number")
    literal = value.literal
    return Scalar(-value.expression if literal is None else lit(-literal), value.type)


_ORDERS: Final[dict[type[Syntax], tuple[str, Callable[[Expression, Expression], Expression]]]] = {
    exp.LT: ("<", lambda a, b: a < b),
    exp.LTE: ("<=", lambda a, b: a <= b),
    exp.GT: (">", lambda a, b: a > b),
    exp.GTE: (">=", lambda a, b: a >= b),
}
_EQUALITIES: Final[dict[type[Syntax], Callable[[Expression, Expression], Expression]]] = {
    exp.EQ: lambda a, b: a == b,
    exp.NEQ: lambda a, b: a != b,
    exp.NullSafeEQ: lambda a, b: coalesce(same(a, b), lit(False)),  # noqa: FBT003
    exp.NullSafeNEQ: lambda a, b: ~coalesce(same(a, b), lit(False)),  # noqa: FBT003
}


def _comparison(node: Syntax, part: Part) -> Scalar:
    left, right = node.this, node.args["expression"]
    if isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple):
        if not isinstance(node, exp.EQ | exp.NEQ):
            raise refuse(node, "compare the columns one by one")
        same_rows = _same_rows(left, right, part)
        return Scalar(~same_rows if isinstance(node, exp.NEQ) else same_rows, BOOLEAN)
    return Scalar(comparing(type(node), part(left), part(right)), BOOLEAN)


def comparing(comparison: type[Syntax], a: Scalar, b: Scalar) -> Expression:
    """Whether two values compare so."""
    if comparison in _ORDERS:
        symbol, compare = _ORDERS[comparison]
        return compare(*compared(symbol, a, b))
    a, b = a.without_zeros, b.without_zeros
    if may_be_equal(a, b):
        a, b = united(a, b)
        return _EQUALITIES[comparison](a.expression, b.expression)
    # A literal that no decimal is as large as: unknown for NULL, else never equal.
    value = (a if b.literal is not None else b).expression
    return _EQUALITIES[comparison](when(value.is_not_null(), lit(1)).otherwise(lit(None, int)), lit(0))


def _same_rows(a: exp.Tuple, b: exp.Tuple, part: Part) -> Expression:
    """Whether two rows are the same: as in DuckDB, NULL in a row is equal to NULL."""
    if len(a.expressions) != len(b.expressions):
        raise SqlError(
            f"rows of {len(a.expressions)} and {len(b.expressions)} values are compared: "
            f"{a.sql(dialect='duckdb')} and {b.sql(dialect='duckdb')}",
            hint="compare as many",
        )
    pairs = zip(a.expressions, b.expressions, strict=True)
    return reduce(lambda x, y: x & y, (comparing(exp.NullSafeEQ, part(x), part(y)) for x, y in pairs))


def truth(value: Scalar, node: Syntax) -> Expression:
    """The value of a condition, which must be a BOOLEAN."""
    if value.is_null:
        return lit(None, bool)
    if value.type.kind is not Kind.BOOL:
        raise SqlError(
            f"{node.sql(dialect='duckdb')} is {value.type}, where a condition is needed", hint="write a comparison"
        )
    return value.expression


def _and(node: Syntax, part: Part) -> Scalar:
    left, right = node.this, node.args["expression"]
    return Scalar(truth(part(left), left) & truth(part(right), right), BOOLEAN)


def _or(node: Syntax, part: Part) -> Scalar:
    left, right = node.this, node.args["expression"]
    return Scalar(truth(part(left), left) | truth(part(right), right), BOOLEAN)


def _not(node: Syntax, part: Part) -> Scalar:
    return Scalar(~truth(part(node.this), node.this), BOOLEAN)


def _is(node: Syntax, part: Part) -> Scalar:
    value, what = part(node.this), node.args["expression"]
    if isinstance(what, exp.Null):
        return Scalar(value.expression.is_null(), BOOLEAN)
    if isinstance(what, exp.Boolean):
        holds = truth(value, node.this)
        return Scalar(coalesce(holds if what.this else ~holds, lit(False)), BOOLEAN)  # noqa: FBT003
    raise refuse(node)


def _between(node: Syntax, part: Part) -> Scalar:
    value = part(node.this)
    a, low = compared(">=", value, part(node.args["low"]))
    b, high = compared("<=", value, part(node.args["high"]))
    return Scalar((a >= low) & (b <= high), BOOLEAN)


def _in_list(node: Syntax, part: Part) -> Scalar:
    if not node.expressions:
        raise refuse(node, "give the list, or a query")
    if isinstance(node.this, exp.Tuple):
        return Scalar(reduce(lambda a, b: a | b, _row_tests(node, part)), BOOLEAN)
    subject, choices = part(node.this), [part(each).without_zeros for each in node.expressions]
    tests = [comparing(exp.EQ, subject, each) for each in choices if not may_be_equal(subject, each)]
    value, *members = united(subject, *(each for each in choices if may_be_equal(subject, each)))
    fixed = [each.literal for each in members if each.literal is not None]
    tests += [value.expression.is_in(fixed)] if fixed else []
    tests += [value.expression == each.expression for each in members if each.literal is None]
    return Scalar(reduce(lambda a, b: a | b, tests), BOOLEAN)


def _row_tests(node: Syntax, part: Part) -> list[Expression]:
    for each in node.expressions:
        if not isinstance(each, exp.Tuple):
            raise SqlError(
                f"{each.sql(dialect='duckdb')} is not a row: {node.sql(dialect='duckdb')}", hint="write (1, 2)"
            )
    return [_same_rows(node.this, each, part) for each in node.expressions]


def _case(node: Syntax, part: Part) -> Scalar:
    subject = node.args.get("this")
    conditions: list[Expression] = []
    values: list[Scalar] = []
    for branch in node.args["ifs"]:
        test = branch.this if subject is None else exp.EQ(this=subject, expression=branch.this)
        conditions.append(truth(part(test), test))
        values.append(part(branch.args["true"]))
    default = node.args.get("default")
    values.append(_null(node, part) if default is None else part(default))
    return _chosen(conditions, values)


def _if(node: Syntax, part: Part) -> Scalar:
    other = node.args.get("false")
    values = [part(node.args["true"]), _null(node, part) if other is None else part(other)]
    return _chosen([truth(part(node.this), node.this)], values)


def _chosen(conditions: list[Expression], values: list[Scalar]) -> Scalar:
    values = united(*values)
    if values[0].is_null:
        return values[0]
    choice = when(conditions[0], values[0].expression)
    for condition, value in zip(conditions[1:], values[1:-1], strict=True):
        choice = choice.when(condition, value.expression)
    return Scalar(choice.otherwise(values[-1].expression), values[0].type)


def _first_of(make: Callable[..., Expression]) -> Callable[[Syntax, Part], Scalar]:
    def rule(node: Syntax, part: Part) -> Scalar:
        values = united(*(part(each) for each in (node.this, *node.expressions)))
        return Scalar(make(*(each.expression for each in values)), values[0].type)

    return rule


def _null_if(node: Syntax, part: Part) -> Scalar:
    value, other = part(node.this), part(node.args["expression"])
    if value.is_null or other.is_null:
        return value
    a, b = united(value, other)
    nothing = lit(None, value.type.encoding)
    return Scalar(when(a.expression == b.expression, nothing).otherwise(value.expression), value.type)


def _cast(node: Syntax, part: Part) -> Scalar:
    inner, to = node.this, named(node.args["to"])
    if to.kind is Kind.FLOAT and isinstance(inner, exp.Literal) and not inner.is_string:
        # A double may be written with more digits than 64 bits hold.
        return Scalar(lit(float(inner.name)), to)
    value = part(inner)
    if isinstance(value.literal, float) and to.kind is Kind.INT:
        digits = to.precision - (to.scale or 0)
        if not abs(value.literal) < (10**digits if to.is_decimal else 2**63):
            raise SqlError(
                f"{place_of(node)}{value.literal!r} does not fit into {to}",
                hint="use a type with more digits, or DOUBLE",
            )
    return cast(value, to, node.sql(dialect="duckdb"))


def _distance_of_dates(node: Syntax, part: Part) -> Scalar:
    later, earlier = part(node.this), part(node.args["expression"])
    if node.args["unit"].name.upper() != "DAY" or {later.type.kind, earlier.type.kind} != {Kind.DATE}:
        raise refuse(node, "date_diff('day', ...) of two dates is supported")
    return Scalar(later.expression - earlier.expression, INTEGER)


_RULES: Final[dict[type[Syntax], Callable[[Any, Part], Scalar]]] = {
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.Paren: _inner,
    exp.Alias: _inner,
    exp.Add: _arithmetic("+"),
    exp.Sub: _arithmetic("-"),
    exp.Mul: _arithmetic("*"),
    exp.Div: _arithmetic("/"),
    exp.IntDiv: _arithmetic("//"),
    exp.Mod: _arithmetic("%"),
    exp.Neg: _negated,
    **dict.fromkeys((*_ORDERS, *_EQUALITIES), _comparison),
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in_list,
    exp.Case: _case,
    exp.If: _if,
    exp.Coalesce: _first_of(coalesce),
    exp.Greatest: _first_of(greatest),
    exp.Least: _first_of(least),
    exp.Nullif: _null_if,
    exp.Cast: _cast,
    exp.DateDiff: _distance_of_dates,
}
# What a name that is no function may have been meant to be.
_FUNCTION_NAMES: Final = sorted(
    {name.lower() for each in (*FUNCTIONS, *_RULES) if issubclass(each, exp.Func) for name in each.sql_names()}
    | {"avg", "count", "max", "min", "sum"}
)
