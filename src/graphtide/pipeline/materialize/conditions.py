"""Predicates as alternatives of conditions that read one column each.

Such a condition compares its column with literals alone. So its truth in an edge depends on the rank of the edge's
value among the literals: 0 if the value is missing, 2i + 2 if it equals the i-th of them, 2i + 1 if it lies just
before that one, and one more than the last literal's rank beyond all. What comparisons mean is said in
`graphtide.gvdl.predicate`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import chain, product
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphtide.graph.schema import PropertyType
from graphtide.gvdl.predicate import (
    And,
    Between,
    Comparison,
    EdgeNumber,
    EdgeProperty,
    EndId,
    EndProperty,
    Expression,
    In,
    IsNull,
    Literal,
    Not,
    Or,
    Predicate,
)
from graphtide.rows.codes import code_of_float

__all__ = ["Code", "ColumnRead", "Condition", "alternatives"]

ColumnRead: TypeAlias = EdgeProperty | EdgeNumber | EndProperty | EndId
# Values of one column compare as their codes do; the codes of strings are the strings.
Code: TypeAlias = int | str
Truth: TypeAlias = NDArray[np.bool_]

_COMPARED: Final[Mapping[str, Callable[[Any, int], Truth]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MIRRORED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_MISSING: Final = 0
_TRUE: Final = Literal(value=True, type=PropertyType.BOOL)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Condition:
    """A predicate on one column, or the opposite of it."""

    column: ColumnRead
    predicate: Predicate
    is_negated: bool

    def codes(self) -> Iterator[Code]:
        """The codes of the literals."""
        return (_certain(literal, self.column) for literal in _literals(self.predicate))

    def holds(self, rank_of: Mapping[Code, int], ranks: NDArray[np.int64]) -> Truth:
        """For which ranks it does; `rank_of` has those of the literals."""

        def rank(literal: Expression) -> int:
            assert isinstance(literal, Literal), "compared with literals alone"
            return rank_of[_certain(literal, self.column)]

        return _holds(self.predicate, rank, ranks) != self.is_negated


def alternatives(predicate: Predicate, most: int, *, negated: bool = False) -> list[tuple[Condition, ...]] | None:
    """Conjunctions of which one at least holds where the predicate does, and none elsewhere.

    None if the predicate does more than such conditions can say, or needs more than `most` alternatives.

    >>> year, kind = EdgeProperty("year", PropertyType.INT), EdgeProperty("kind", PropertyType.STRING)
    >>> recent = Comparison(">", year, Literal(2018, PropertyType.INT))
    >>> either = Or((recent, IsNull(kind)))
    >>> [[condition.column.name for condition in each] for each in alternatives(either, 2)]
    [['year'], ['kind']]
    >>> [[condition.column.name for condition in each] for each in alternatives(Not(either), 2)]
    [['year', 'kind']]
    >>> alternatives(Comparison("=", year, year), 2) is None
    True
    """
    column = _column_of(predicate)
    if column is not None:
        return [(Condition(column, predicate, negated),)]
    match predicate:
        case Literal(value=bool(value)):
            return [] if value == negated else [()]
        case Not(operand):
            return alternatives(operand, most, negated=not negated)
        case And(terms) | Or(terms):
            each = [alternatives(term, most, negated=negated) for term in terms]
            known = [conjunctions for conjunctions in each if conjunctions is not None]
            if len(known) < len(each):
                return None
            if isinstance(predicate, And) == negated:
                return list(chain.from_iterable(known)) if sum(map(len, known)) <= most else None
            # One of every term's, all together.
            chosen = product(*known) if prod(map(len, known)) <= most else None
            return None if chosen is None else [tuple(chain.from_iterable(each)) for each in chosen]
        case _:
            return None


def _column_of(predicate: Expression) -> ColumnRead | None:
    """The one column that a predicate compares with literals; None if it does anything else."""
    match predicate:
        case EdgeProperty() | EndProperty():
            return predicate
        case IsNull(value):
            return value if isinstance(value, ColumnRead) else None
        case Comparison() | In() | Between():
            value, others = _compared(predicate)
            if not isinstance(value, ColumnRead):
                return None
            are_codes = all(isinstance(each, Literal) and _code(each, value) is not None for each in others)
            return value if are_codes else None
        case Not(operand):
            return _column_of(operand)
        case And(terms) | Or(terms):
            columns = {_column_of(term) for term in terms}
            return columns.pop() if len(columns) == 1 else None
        case _:
            return None


def _compared(predicate: Comparison | In | Between) -> tuple[Expression, tuple[Expression, ...]]:
    """A value and what it is compared with, the literal of a comparison last."""
    match predicate:
        case Comparison(_, left, right):
            return (right, (left,)) if isinstance(left, Literal) else (left, (right,))
        case In(value, choices):
            return value, choices
        case Between(value, low, high):
            return value, (low, high)


def _literals(predicate: Expression) -> Iterator[Expression]:
    match predicate:
        case EdgeProperty() | EndProperty():
            yield _TRUE
        case Comparison() | In() | Between():
            yield from _compared(predicate)[1]
        case Not(operand):
            yield from _literals(operand)
        case And(terms) | Or(terms):
            for term in terms:
                yield from _literals(term)
        case _:
            pass


def _holds(predicate: Expression, rank: Callable[[Expression], int], ranks: NDArray[np.int64]) -> Truth:
    match predicate:
        case EdgeProperty() | EndProperty():
            return ranks == rank(_TRUE)
        case IsNull():
            return ranks == _MISSING
        case Comparison(sign, left, right):
            if isinstance(left, Literal):
                sign, right = _MIRRORED[sign], left
            return _COMPARED[sign](ranks, rank(right)) & (ranks != _MISSING)
        # What is missing ranks before all literals, so it is neither among them nor between two.
        case In(_, choices):
            return np.isin(ranks, [rank(choice) for choice in choices])
        case Between(_, low, high):
            return (ranks >= rank(low)) & (ranks <= rank(high))
        case Not(operand):
            return ~_holds(operand, rank, ranks)
        case And(terms):
            return np.logical_and.reduce([_holds(term, rank, ranks) for term in terms])
        case Or(terms):
            return np.logical_or.reduce([_holds(term, rank, ranks) for term in terms])
        case _:
            raise AssertionError(predicate)


def _certain(literal: Expression, column: ColumnRead) -> Code:
    code = _code(literal, column) if isinstance(literal, Literal) else None
    assert code is not None, "conditions are made of literals that their column can equal"
    return code


def _code(literal: Literal, column: ColumnRead) -> Code | None:
    """The code of the column's value that a literal equals; None if there is none."""
    match column.type, literal.value:
        case PropertyType.BOOL, bool(value):
            return int(value)
        case PropertyType.STRING, str(value):
            return value
        case PropertyType.INT, int(value) if -(2**63) <= value < 2**63:
            return value
        case PropertyType.INT, float(value) if value.is_integer() and -(2**63) <= value < 2**63:
            return int(value)
        case PropertyType.FLOAT, float(value):
            return code_of_float(value)
        case PropertyType.FLOAT, int(value) if int(float(value)) == value:
            return code_of_float(float(value))
        case PropertyType.TIMESTAMP, datetime() as value:
            return (value - _EPOCH) // _MICROSECOND
        case PropertyType.TIMESTAMP, date() as value:
            return (datetime.combine(value, time(), UTC) - _EPOCH) // _MICROSECOND
        case PropertyType.DATE, datetime() as value if value.astimezone(UTC).timetz() == time(tzinfo=UTC):
            return (value - _EPOCH).days
        case PropertyType.DATE, date() as value if not isinstance(value, datetime):
            return (value - _EPOCH.date()).days
        case _:
            return None
