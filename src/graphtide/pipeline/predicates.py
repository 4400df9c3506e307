"""Predicates as Spark columns, and the edges with what the predicates ask of their ends.

A predicate becomes one SQL expression that never raises and is never null: missing values are sorted out as
`graphtide.gvdl.predicate` says, whatever the session's settings for ANSI mode and time zone are. It is built as
text, since every operation on a `Column` is a call into the virtual machine, and a view collection has thousands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everyone calls it

from graphtide.graph.schema import DST, EDGE, ID, SRC, VERTEX, PropertyType
from graphtide.gvdl.predicate import (
    And,
    Arithmetic,
    Between,
    Comparison,
    EdgeNumber,
    EdgeProperty,
    EndId,
    EndProperty,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Negative,
    Not,
    Or,
    Predicate,
    Side,
    names_used,
)

__all__ = ["column_of", "edges_with_ends"]

_INT, _FLOAT = PropertyType.INT, PropertyType.FLOAT
_DATE, _TIMESTAMP = PropertyType.DATE, PropertyType.TIMESTAMP
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_MICROSECONDS_OF_DAY: Final = 86_400_000_000
# The ints are at least the first and less than the second; both are floats.
_FIRST: Final = f"{-(2.0**63)!r}D"
_BEYOND: Final = f"{2.0**63!r}D"
_PLAIN_STRING: Final = re.compile(r"[A-Za-z0-9 _.:,/-]*")
_LIKE_TOKEN: Final = re.compile(r"\\.|.", re.DOTALL)
_LIKE_SPECIAL: Final = re.compile(r"[%_\\]")
_MIRRORED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
# For an int on the left and a float on the right: how the float becomes an int, and which floats beyond all ints are
# on the true side. NaN is above all ints in Spark's order, as it should be.
_ROUNDED: Final = {
    "<": ("ceil", f">= {_BEYOND}"),
    "<=": ("floor", f">= {_BEYOND}"),
    ">": ("floor", f"< {_FIRST}"),
    ">=": ("ceil", f"< {_FIRST}"),
}


def column_of(predicate: Predicate) -> Column:
    """A boolean column, true where the predicate holds and false elsewhere, over what `edges_with_ends` gives."""
    return F.expr(_certain(predicate))


def edges_with_ends(edges: DataFrame, nodes: DataFrame, predicates: Sequence[Predicate]) -> DataFrame:
    """All stored edges, with those properties of their ends that the predicates read, from the stored nodes.

    Edges that are joined with nodes come in no particular order.
    """
    used = names_used(*predicates)
    kept = [F.col(_quoted(name)) for name in edges.columns]
    for side, number, names in ((Side.SRC, SRC, used.src), (Side.DST, DST, used.dst)):
        if names:
            added = [F.col(_quoted(name)).alias(_end_column(side, name)) for name in sorted(names)]
            # Every end is a node, so an inner join would keep all edges too; a left join promises it.
            edges = edges.join(nodes.select(F.col(VERTEX).alias(number), *added), on=number, how="left")
            kept += [F.col(_quoted(_end_column(side, name))) for name in sorted(names)]
    return edges.select(*kept)


def _end_column(side: Side, name: str) -> str:
    return f"_{side}:{name}"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


# -------------------------------------------------------------------------------------------------- the tree


def _certain(node: Expression) -> str:
    """A truth value in which what is missing is false."""
    return _sql(node) if isinstance(node, Not | IsNull | Literal) else f"coalesce({_sql(node)}, false)"


def _value(node: Expression) -> str:
    """An operand: null where it is missing, and only there."""
    is_condition = isinstance(node, Comparison | In | Between | Like | And | Or)
    return _certain(node) if is_condition else _sql(node)


def _sql(node: Expression) -> str:
    """An expression that holds together; a condition is null instead of false where a value is missing."""
    match node:
        case Literal():
            return _literal(node)
        case EdgeProperty(name):
            return _quoted(name)
        case EdgeNumber():
            return _quoted(EDGE)
        case EndProperty(side, name):
            return _quoted(_end_column(side, name))
        case EndId(side):
            return _quoted(_end_column(side, ID))
        case Negative(operand):
            return f"try_subtract(0L, {_value(operand)})" if operand.type is _INT else f"(- {_value(operand)})"
        case Arithmetic():
            return _arithmetic(node)
        case Comparison(operator, left, right):
            return _comparison(operator, left, right)
        case In(value, choices):
            return _in(value, choices)
        case Between(value, low, high):
            return _between(value, low, high)
        case Like(value, pattern):
            return f"({_value(value)} LIKE {_string(_like_pattern(pattern))})"
        case IsNull(value):
            return f"({_value(value)} IS NULL)"
        case Not(operand):
            return f"(NOT {_certain(operand)})"
        # As values that are null or false make a conjunction or a disjunction alike, they need not be told apart.
        case And(terms):
            return f"({' AND '.join(map(_sql, terms))})"
        case Or(terms):
            return f"({' OR '.join(map(_sql, terms))})"


# ------------------------------------------------------------------------------------------------ arithmetic


def _arithmetic(node: Arithmetic) -> str:
    if _DATE in {node.left.type, node.right.type}:
        return _date_arithmetic(node)
    left, right = (
        f"CAST({_value(each)} AS DOUBLE)" if node.type is _FLOAT and each.type is _INT else _value(each)
        for each in (node.left, node.right)
    )
    match node.operator:
        case "/":
            return f"try_divide({left}, {right})"
        case "%":
            return _modulo(node, left, right)
        case "+" | "-" | "*" if node.type is _FLOAT:
            return f"({left} {node.operator} {right})"
        case "+":
            return f"try_add({left}, {right})"
        case "-":
            return f"try_subtract({left}, {right})"
        case "*":
            return f"try_multiply({left}, {right})"


def _modulo(node: Arithmetic, left: str, right: str) -> str:
    divisor = node.right
    if node.type is _INT and isinstance(divisor, Literal) and isinstance(divisor.value, int) and divisor.value > 0:
        return f"pmod({left}, {right})"
    # Spark's remainder has the sign of the dividend. The lambda binds the operands, which would otherwise stand four
    # times in the text, and nested ones four times as often each.
    rest = "try_mod(x.a, x.b)"
    moved = f"CASE WHEN {rest} <> 0 AND ({rest} < 0) <> (x.b < 0) THEN {rest} + x.b ELSE {rest} END"
    return f"transform(array(named_struct('a', {left}, 'b', {right})), x -> {moved})[0]"


def _date_arithmetic(node: Arithmetic) -> str:
    left, right = (
        f"CAST(unix_date({_value(each)}) AS BIGINT)" if each.type is _DATE else _value(each)
        for each in (node.left, node.right)
    )
    days = f"try_add({left}, {right})" if node.operator == "+" else f"try_subtract({left}, {right})"
    return f"date_from_unix_date(try_cast({days} AS INT))" if node.type is _DATE else days


# ----------------------------------------------------------------------------------------------- comparisons


def _comparison(operator: str, left: Expression, right: Expression) -> str:
    left, right = _of_type(left, right.type) or left, _of_type(right, left.type) or right
    if left.type is right.type:
        return f"({_value(left)} {operator} {_value(right)})"
    if {left.type, right.type} == {_DATE, _TIMESTAMP}:
        return f"({_instant(left)} {operator} {_instant(right)})"
    if left.type is _INT:
        return _int_with_float(operator, _value(left), _value(right))
    return _int_with_float(_MIRRORED[operator], _value(right), _value(left))


def _in(value: Expression, choices: Sequence[Expression]) -> str:
    """Equal to one of the choices; a literal that no value of the type equals is left out."""
    same = [_of_type(each, value.type) for each in choices if each.type is value.type or isinstance(each, Literal)]
    listed = [_value(each) for each in same if each is not None]
    conditions = [f"({_value(value)} IN ({', '.join(listed)}))"] if listed else []
    others = [each for each in choices if each.type is not value.type and not isinstance(each, Literal)]
    conditions += [_comparison("=", value, each) for each in others]
    return f"({' OR '.join(conditions)})" if conditions else "false"


def _between(value: Expression, low: Expression, high: Expression) -> str:
    if value.type is low.type is high.type:
        return f"({_value(value)} BETWEEN {_value(low)} AND {_value(high)})"
    return f"({_comparison('>=', value, low)} AND {_comparison('<=', value, high)})"


def _int_with_float(operator: str, number: str, real: str) -> str:
    """Compares by exact value, where Spark would round the int to a float."""
    inside = f"CASE WHEN {real} >= {_FIRST} AND {real} < {_BEYOND} THEN {real} END"
    equal = f"({number} = ceil({inside}) AND {number} = floor({inside}))"
    if operator == "=":
        return equal
    if operator == "<>":
        return f"({number} IS NOT NULL AND {real} IS NOT NULL AND NOT coalesce({equal}, false))"
    rounded, outside = _ROUNDED[operator]
    return f"coalesce({number} {operator} {rounded}({inside}), {number} IS NOT NULL AND {real} {outside})"


def _instant(node: Expression) -> str:
    """Microseconds since 1970; a date is its midnight in UTC, whatever the session's time zone is."""
    if node.type is _TIMESTAMP:
        return f"unix_micros({_value(node)})"
    return f"try_multiply(CAST(unix_date({_value(node)}) AS BIGINT), {_MICROSECONDS_OF_DAY}L)"


# -------------------------------------------------------------------------------------------------- literals


def _of_type(node: Expression, kind: PropertyType) -> Expression | None:
    """An expression of the type that equals this one: itself, or for a literal another; None if there is none."""
    if node.type is kind:
        return node
    if not isinstance(node, Literal):
        return None
    match node.value, kind:
        case int(value), PropertyType.FLOAT if int(float(value)) == value:
            return Literal(float(value), kind)
        case float(value), PropertyType.INT if value.is_integer() and -(2**63) <= value < 2**63:
            return Literal(int(value), kind)
        case datetime() as value, PropertyType.DATE if value.astimezone(UTC).timetz() == time(tzinfo=UTC):
            return Literal(value.astimezone(UTC).date(), kind)
        case date() as value, PropertyType.TIMESTAMP:
            return Literal(datetime.combine(value, time(), UTC), kind)
        case _:
            return None


def _literal(literal: Literal) -> str:
    match literal.value:
        case bool(value):
            return "true" if value else "false"
        case int(value):
            return f"{value}L"
        case float(value):
            return f"{value!r}D" if math.isfinite(value) else f"CAST('{value}' AS DOUBLE)"
        case str(value):
            return _string(value)
        # As numbers, since Spark moves old dates between calendars on their way in, and texts between time zones.
        case datetime() as value:
            return f"timestamp_micros({(value - _EPOCH) // _MICROSECOND}L)"
        case date() as value:
            return f"date_from_unix_date({(value - _EPOCH.date()).days})"


def _string(text: str) -> str:
    """In bytes unless it is plain: escapes in Spark's strings depend on the session's settings."""
    return f"'{text}'" if _PLAIN_STRING.fullmatch(text) else f"CAST(X'{text.encode().hex()}' AS STRING)"


def _like_pattern(pattern: str) -> str:
    r"""The same pattern with a backslash where Spark needs one, and nowhere else.

    >>> _like_pattern(r"100\%_\a\\")
    '100\\%_a\\\\'
    """
    tokens = _LIKE_TOKEN.findall(pattern)
    return "".join(token if token in {"%", "_"} else _LIKE_SPECIAL.sub(r"\\\g<0>", token[-1]) for token in tokens)
