"""Conditions: taken apart into conjuncts, read as equalities, and asked what they say of NULL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar, Final, Self

from graphtide.dataflow.expressions import Expression, lit
from graphtide.dataflow.expressions.expression import Apply, Cast, Literal
from graphtide.dataflow.plan import Comparison

__all__ = ["Bound", "Equality", "all_of", "bound", "conjuncts", "equality", "implied", "rejects_null", "same"]


def conjuncts(condition: Expression) -> list[Expression]:
    """Conditions that are all true exactly if this one is.

    What all sides of an "or" have in common is taken out of it, so that an equality in every side can
    become the key of a join: (a and x) or (a and y) is a and (x or y), with NULLs too.

    >>> from graphtide.dataflow.expressions import col
    >>> a, x, y = (col(n) > 0 for n in "axy")
    >>> conjuncts((a & x) | (a & y))
    [a > 0, (x > 0) | (y > 0)]
    """
    if _is(condition, "&"):
        return [each for part in condition.parts for each in conjuncts(part)]
    if _is(condition, "coalesce") and len(condition.parts) == 2 and _is_false(condition.parts[1]):
        # What is unknown is not true as it is.
        return conjuncts(condition.parts[0])
    if not _is(condition, "|"):
        return [condition]
    sides = [conjuncts(side) for side in _disjuncts(condition)]
    shared = [each for each in sides[0] if all(any(each.equals(e) for e in side) for side in sides[1:])]
    if not shared:
        return [condition]
    rests = [[each for each in side if not any(each.equals(s) for s in shared)] for side in sides]
    if all(rests):
        return [*shared, reduce(lambda a, b: a | b, map(all_of, rests))]
    return shared


def implied(condition: Expression, columns: frozenset[str]) -> Expression | None:
    """What a disjunction says of some columns alone, None if that is nothing.

    >>> from graphtide.dataflow.expressions import col
    >>> a, b = col("a"), col("b")
    >>> implied(((a == 1) & (b == 2)) | ((a == 2) & (b == 1)), frozenset("a"))
    (a == 1) | (a == 2)
    """
    if not _is(condition, "|"):
        return None
    sides = [[each for each in conjuncts(side) if each.columns() <= columns] for side in _disjuncts(condition)]
    return reduce(lambda a, b: a | b, map(all_of, sides)) if all(sides) else None


def all_of(conditions: Iterable[Expression]) -> Expression:
    """One condition that is true exactly if all are."""
    given = list(conditions)
    return reduce(lambda a, b: a & b, given) if given else lit(True)  # noqa: FBT003


def _disjuncts(condition: Expression) -> list[Expression]:
    return [each for part in condition.parts for each in _disjuncts(part)] if _is(condition, "|") else [condition]


def _is(expression: Expression, operation: str) -> bool:
    return isinstance(expression, Apply) and expression.operation == operation


def _is_false(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is False


def same(a: Expression, b: Expression) -> Expression:
    """Whether both are equal, or both are NULL: SQL's `is not distinct from`, except that NULL stands for false."""
    return (a == b) | (a.is_null() & b.is_null())


@dataclass(frozen=True, slots=True)
class _Sides(ABC):
    """A condition that compares two expressions."""

    left: Expression
    right: Expression

    def between(self, one: Iterable[str], other: Iterable[str]) -> Self | None:
        """This condition with columns of one side on the left and of the other on the right, if it is such."""
        left, right = self.left.columns(), self.right.columns()
        if left and right:
            if left <= set(one) and right <= set(other):
                return self
            if right <= set(one) and left <= set(other):
                return self.turned
        return None

    @property
    @abstractmethod
    def turned(self) -> Self:
        """The same, the other way round."""


@dataclass(frozen=True, slots=True)
class Equality(_Sides):
    """A condition that two expressions are equal; if it is null-safe, NULL is equal to NULL."""

    is_null_safe: bool

    @property
    def turned(self) -> Self:
        """The same, the other way round."""
        return replace(self, left=self.right, right=self.left)

    @property
    def condition(self) -> Expression:
        """The condition itself."""
        return same(self.left, self.right) if self.is_null_safe else self.left == self.right


def equality(condition: Expression) -> Equality | None:
    """The condition read as an equality, None if it is none."""
    if isinstance(condition, Apply) and condition.operation == "==":
        return Equality(*condition.arguments, is_null_safe=False)
    if isinstance(condition, Apply) and condition.operation == "|":
        first = condition.arguments[0]
        if isinstance(first, Apply) and first.operation == "==":
            a, b = first.arguments
            if condition.equals(same(a, b)):
                return Equality(a, b, is_null_safe=True)
    return None


@dataclass(frozen=True, slots=True)
class Bound(_Sides):
    """A condition that one expression is beyond another. NULL needs no care: whoever compares leaves it out."""

    comparison: Comparison
    is_null_safe: ClassVar[bool] = True

    @property
    def turned(self) -> Self:
        """The same, the other way round."""
        return replace(self, left=self.right, right=self.left, comparison=_TURNED[self.comparison])


_TURNED: Final[dict[Comparison, Comparison]] = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


def bound(condition: Expression) -> Bound | None:
    """The condition read as a comparison with a bound, None if it is none."""
    if not isinstance(condition, Apply):
        return None
    for comparison in _TURNED:
        if condition.operation == comparison:
            left, right = condition.arguments
            return Bound(left, right, comparison)
    return None


# Operations that are NULL wherever an operand is.
_STRICT: Final = frozenset(
    (
        *("+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "~"),
        *("negate", "abs", "floor", "ceil", "round", "is_in", "year", "month", "day"),
        *("like", "contains", "substr", "upper", "lower", "length"),
    )
)


def rejects_null(condition: Expression, columns: frozenset[str]) -> bool:
    """Whether the condition cannot be true where all these columns are NULL; False if that is not plain to see."""
    return _is_never_true(condition, columns) or _is_null(condition, columns)


def _is_never_true(node: Expression, columns: frozenset[str]) -> bool:
    if isinstance(node, Apply):
        if node.operation == "&":
            return any(rejects_null(part, columns) for part in node.parts)
        if node.operation == "|":
            return all(rejects_null(part, columns) for part in node.parts)
        if node.operation == "is_not_null":
            return _is_null(node.parts[0], columns)
    return False


def _is_null(node: Expression, columns: frozenset[str]) -> bool:
    """Whether an expression is NULL where the columns are."""
    if isinstance(node, Cast):
        return _is_null(node.argument, columns)
    if isinstance(node, Apply):
        return node.operation in _STRICT and any(_is_null(part, columns) for part in node.parts)
    return bool(node.columns() & columns) and not node.parts
