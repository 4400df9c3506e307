"""Predicates evaluated on columns in memory: what Spark finds on a stored graph, found on a live one.

Invariant: the answer is never missing, and means what `graphtide.gvdl.predicate` says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from graphtide.graph.schema import EDGE, ID, PropertyType
from graphtide.gvdl import predicate as tree
from graphtide.gvdl.predicate import Expression, Predicate, Side

__all__ = ["Columns", "holds"]

# Its functions are made when it is loaded, so a checker does not know them.
pc: Any = pyarrow.compute

_FLOAT, _STRING = PropertyType.FLOAT, PropertyType.STRING
_DATE, _TIMESTAMP = PropertyType.DATE, PropertyType.TIMESTAMP
_LEAST: Final = np.iinfo(np.int64).min
_MICROSECONDS_OF_DAY: Final = 86_400_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LIKE_TOKEN: Final = re.compile(r"\\.|.", re.DOTALL)
_BEYOND: Final = 2.0**63
_SIGNS: Final = {
    "=": lambda order: order == 0,
    "<>": lambda order: order != 0,
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}

Truths = NDArray[np.bool_]
Columns = Mapping[str, pa.Array]


class _Values(NamedTuple):
    """A value in each row and whether it is there; ints, days, microseconds and truths as int64, strings as Arrow."""

    of: Any
    there: Truths


class _Rows(NamedTuple):
    """The columns that names stand for, all of one length."""

    size: int
    edges: Columns
    ends: Mapping[Side, Columns]


def holds(
    predicate: Predicate, count: int, edges: Columns, src: Columns | None = None, dst: Columns | None = None
) -> Truths:
    """In which of so many rows a predicate holds, by columns of edges and of the nodes at either end.

    Columns have the names that a stored graph's have: properties, and `_edge` or `_id` if the predicate asks for them.

    >>> from graphtide.gvdl.predicate import Comparison, EdgeProperty, Literal
    >>> year = EdgeProperty("year", PropertyType.INT)
    >>> holds(Comparison("<", year, Literal(2019, PropertyType.INT)), 3, {"year": pa.array([2018, 2019, None])})
    array([ True, False, False])
    """
    return _truth(predicate, _Rows(count, edges, {Side.SRC: src or {}, Side.DST: dst or {}}))


def _truth(node: Expression, rows: _Rows) -> Truths:
    """Where an expression is true, and not missing."""
    match node:
        case tree.Comparison(operator, left, right):
            return _compared(operator, left, right, rows)
        case tree.In(value, choices):
            return _any(_compared("=", value, each, rows) for each in choices)
        case tree.Between(value, low, high):
            return _compared(">=", value, low, rows) & _compared("<=", value, high, rows)
        case tree.Like(value, pattern):
            values = _evaluate(value, rows)
            return _certain(pc.match_substring_regex(values.of, pattern=_regular(pattern)))
        case tree.IsNull(value):
            return ~_evaluate(value, rows).there
        case tree.Not(operand):
            return ~_truth(operand, rows)
        case tree.And(terms):
            return ~_any(~_truth(each, rows) for each in terms)
        case tree.Or(terms):
            return _any(_truth(each, rows) for each in terms)
        case _:
            values = _evaluate(node, rows)
            return values.there & (values.of != 0)


def _evaluate(node: Expression, rows: _Rows) -> _Values:
    match node:
        case tree.Literal(value):
            return _constant(value, rows.size)
        case tree.EdgeProperty(name):
            return _column(rows.edges[name], node.type)
        case tree.EdgeNumber():
            return _column(rows.edges[EDGE], node.type)
        case tree.EndProperty(side, name):
            return _column(rows.ends[side][name], node.type)
        case tree.EndId(side):
            return _column(rows.ends[side][ID], node.type)
        case tree.Negative(operand):
            values = _evaluate(operand, rows)
            has_negative = True if node.type is _FLOAT else values.of != _LEAST
            return _Values(-values.of, values.there & has_negative)
        case tree.Arithmetic():
            return _arithmetic(node, rows)
        case _:
            return _Values(_truth(node, rows).astype(np.int64), np.ones(rows.size, np.bool_))


def _certain(truths: pa.Array) -> Truths:
    return pc.fill_null(truths, fill_value=False).to_numpy(zero_copy_only=False)


def _any(truths: Any) -> Truths:
    return np.logical_or.reduce(list(truths))


# -------------------------------------------------------------------------------------------------- operands


def _column(array: pa.Array, kind: PropertyType) -> _Values:
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    array = array.cast(kind.arrow)
    there = array.is_valid().to_numpy(zero_copy_only=False)
    match kind:
        case PropertyType.STRING:
            return _Values(array, there)
        case PropertyType.FLOAT:
            return _Values(pc.fill_null(array, 0.0).to_numpy(zero_copy_only=False), there)
        case PropertyType.DATE:
            array = array.cast(pa.int32()).cast(pa.int64())
        case _:
            array = array.cast(pa.int64())
    return _Values(pc.fill_null(array, 0).to_numpy(zero_copy_only=False), there)


def _constant(value: Any, count: int) -> _Values:
    there = np.ones(count, np.bool_)
    match value:
        case str():
            return _Values(pa.repeat(pa.scalar(value, pa.string()), count), there)
        case float():
            return _Values(np.full(count, value), there)
        case datetime():
            return _Values(np.full(count, (value - _EPOCH) // _MICROSECOND), there)
        case date():
            return _Values(np.full(count, (value - _EPOCH.date()).days), there)
        case _:
            return _Values(np.full(count, int(value), np.int64), there)


def _regular(pattern: str) -> str:
    """A pattern of `like` as a regular expression for the whole of a string."""
    tokens = {"%": ".*", "_": "."}
    parts = (tokens[each] if each in tokens else re.escape(each[-1]) for each in _LIKE_TOKEN.findall(pattern))
    return rf"(?s)\A{''.join(parts)}\z"


# ------------------------------------------------------------------------------------------------ arithmetic


def _arithmetic(node: tree.Arithmetic, rows: _Rows) -> _Values:
    left, right = _evaluate(node.left, rows), _evaluate(node.right, rows)
    there = left.there & right.there
    with np.errstate(all="ignore"):
        if node.type is _FLOAT:
            made, fits = _of_floats(node.operator, left.of.astype(np.float64), right.of.astype(np.float64))
        else:
            made, fits = _of_ints(node.operator, left.of, right.of)
    if node.type is _DATE:
        fits &= (made >= np.iinfo(np.int32).min) & (made <= np.iinfo(np.int32).max)
    return _Values(made, there & fits)


def _of_floats(operator: str, left: NDArray[Any], right: NDArray[Any]) -> tuple[NDArray[Any], Truths]:
    always = np.ones(len(left), np.bool_)
    match operator:
        case "+":
            return left + right, always
        case "-":
            return left - right, always
        case "*":
            return left * right, always
        case "/":
            return left / right, right != 0
        case _:
            return np.mod(left, right), right != 0


def _of_ints(operator: str, left: NDArray[Any], right: NDArray[Any]) -> tuple[NDArray[Any], Truths]:
    """What ints make, and where it is an int."""
    match operator:
        case "+":
            made = left + right
            return made, ((left ^ made) & (right ^ made)) >= 0
        case "-":
            made = left - right
            return made, ((left ^ right) & (left ^ made)) >= 0
        case "*":
            made = left * right
            # Only -1 times the least int comes back to where it began.
            factor = np.where(left == 0, 1, left)
            fits = (left == 0) | (made // factor == right)
            return made, fits & ~((left == -1) & (right == _LEAST)) & ~((right == -1) & (left == _LEAST))
        case _:
            # The rest of anything by -1 is 0, but the machine divides the least int by it with an overflow.
            divisor = np.where((right == 0) | (right == -1), 1, right)
            return np.mod(left, divisor), right != 0


# ----------------------------------------------------------------------------------------------- comparisons


def _compared(operator: str, left: Expression, right: Expression, rows: _Rows) -> Truths:
    one, other = _evaluate(left, rows), _evaluate(right, rows)
    if {left.type, right.type} == {_DATE, _TIMESTAMP}:
        one, other = _instants(one, left.type), _instants(other, right.type)
    if left.type is _STRING:
        order = _order_of_strings(one.of, other.of)
    elif (left.type is _FLOAT) == (right.type is _FLOAT):
        order = _order(*map(_with_last, (one.of, other.of)))
    elif right.type is _FLOAT:
        order = _order_of_int_and_float(one.of, other.of)
    else:
        order = -_order_of_int_and_float(other.of, one.of)
    return one.there & other.there & _SIGNS[operator](order)


def _instants(values: _Values, kind: PropertyType) -> _Values:
    """Microseconds since 1970; a date is its midnight."""
    if kind is _TIMESTAMP:
        return values
    with np.errstate(all="ignore"):
        made, fits = _of_ints("*", values.of, np.full(len(values.of), _MICROSECONDS_OF_DAY))
    return _Values(made, values.there & fits)


def _with_last(values: NDArray[Any]) -> tuple[Truths, NDArray[Any]]:
    """Values, and which of them come after all others: NaN does."""
    last = np.isnan(values)
    return last, np.where(last, 0, values)


def _order(one: tuple[Truths, NDArray[Any]], other: tuple[Truths, NDArray[Any]]) -> NDArray[np.int8]:
    """Less, equal or greater: -1, 0 or 1."""
    among = (one[1] > other[1]).astype(np.int8) - (one[1] < other[1])
    return np.where(one[0] == other[0], among, one[0].astype(np.int8) - other[0])


def _order_of_int_and_float(ints: NDArray[Any], floats: NDArray[Any]) -> NDArray[np.int8]:
    """By their exact values."""
    inside = (floats >= -_BEYOND) & (floats < _BEYOND)
    whole = np.floor(np.where(inside, floats, 0.0))
    order = _order(_with_last(ints), _with_last(whole.astype(np.int64)))
    order = np.where((order == 0) & (whole < floats), -1, order)
    return np.where(inside, order, np.where(floats < 0, 1, -1)).astype(np.int8)


def _order_of_strings(one: pa.Array, other: pa.Array) -> NDArray[np.int8]:
    """By code points, as bytes of UTF-8 are ordered."""
    less, greater = (
        pc.fill_null(each(one, other), fill_value=False).to_numpy(zero_copy_only=False)
        for each in (pc.less, pc.greater)
    )
    return greater.astype(np.int8) - less
