"""The types of expressions over a schema.

A type says whether None can occur: nulls come in with columns and literals, and with operations that
have no answer in some rows, such as a division by zero. An untyped `None` takes the type of what it
stands next to. A conversion happens by itself where it keeps the meaning: an int next to a float
becomes a float, a date next to a timestamp its midnight.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, Final, TypeAlias

from graphtide.dataflow.expressions.expression import Apply, Cast, Column, Expression, Invoke, Literal
from graphtide.dataflow.expressions.signatures import CASTS, SIGNATURES
from graphtide.errors import ExpressionError, SchemaError
from graphtide.rows import BOOL, BYTES, DATE, FLOAT, INT, STR, TIMESTAMP, Kind, Schema, TupleType, Type

__all__ = ["Inference", "common_type", "too_deep", "type_of"]

# None is the type of an untyped None.
Inferred: TypeAlias = Type | None


def type_of(expression: Expression, schema: Schema) -> Type:
    """The type of an expression's values, or an error that says what does not fit.

    >>> from graphtide.dataflow.expressions.functions import col
    >>> type_of(col("x") / 2 > col("y"), Schema.of(x=int, y=float | None))
    bool | None
    """
    return Inference(schema).type_of(expression)


class Inference:
    """The types of many expressions over one schema, each node looked at once."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        # The nodes are kept with their types: an id is a name only while its object lives.
        self._known: dict[int, tuple[Expression, Inferred]] = {}

    def type_of(self, expression: Expression) -> Type:
        """The type of a whole expression, which must have one."""
        try:
            found = self.part_type(expression)
        except SchemaError as error:
            raise SchemaError(f"{error.message}, used in {expression}", hint=error.hint) from None
        except RecursionError:
            raise too_deep() from None
        if found is None:
            raise ExpressionError(f"the type of {expression} is unknown", hint="say it with lit(None, int)")
        return found

    def part_type(self, node: Expression) -> Inferred:
        """The type of a part of an expression, None for an untyped None."""
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._infer(node))
        return known[1]

    def _infer(self, node: Expression) -> Inferred:
        if isinstance(node, Column):
            return self.schema[node.name]
        if isinstance(node, Literal):
            return _literal_type(node)
        parts = [self.part_type(part) for part in node.parts]
        if isinstance(node, Cast):
            return _cast(node, parts[0])
        if isinstance(node, Invoke):
            return node.returns.optional if _any_null(parts) else node.returns
        assert isinstance(node, Apply)
        return _RULES.get(node.operation, _by_signature)(node, parts)


def too_deep() -> ExpressionError:
    """The error of an expression that Python's stack does not hold."""
    hint = "write is_in for a long chain of ==, or select in two steps"
    return ExpressionError("an expression is nested too deeply", hint)


def common_type(types: list[Inferred]) -> Inferred:
    """The type that all values can be given without loss of meaning, None if all are untyped.

    A `LookupError` says that there is none.
    """
    result: Inferred = None
    for each in types:
        if each is None or result is None:
            result = result or each
        elif result.bare != each.bare:
            kinds = {result.kind, each.kind}
            if kinds == {Kind.INT, Kind.FLOAT}:
                result = FLOAT
            elif kinds == {Kind.DATE, Kind.TIMESTAMP}:
                result = TIMESTAMP
            else:
                raise LookupError
        elif isinstance(result, TupleType) and isinstance(each, TupleType):
            result = _widened(result, each)
    return result


def _widened(a: TupleType, b: TupleType) -> TupleType:
    """Elements may be None where either tuple's may; below the first level, everywhere."""
    elements = tuple(x.optional if y.nullable else x for x, y in zip(a.elements, b.elements, strict=True))
    return TupleType(elements, variadic=a.variadic)


def _any_null(types: list[Inferred]) -> bool:
    return any(each is None or each.nullable for each in types)


def _with_nulls(result: Type, nullable: bool) -> Type:  # noqa: FBT001
    return result.optional if nullable else result.required


# ------------------------------------------------------------------------------------- literals

_SCALARS: Final[tuple[tuple[type, Type], ...]] = (
    (bool, BOOL),
    (int, INT),
    (float, FLOAT),
    (str, STR),
    (bytes, BYTES),
    (datetime, TIMESTAMP),
    (date, DATE),
    (timedelta, INT),
)


def _literal_type(literal: Literal) -> Inferred:
    if literal.type is None:
        return _type_of_value(literal.value, literal)
    return _with_nulls(literal.type, literal.value is None)


def _type_of_value(value: Any, literal: Literal) -> Inferred:
    if value is None:
        return None
    for python, found in _SCALARS:
        if isinstance(value, python):
            return found
    if isinstance(value, tuple) and value:
        elements = [_type_of_value(element, literal) for element in value]
        known = [element for element in elements if element is not None]
        if len(known) == len(elements):
            return TupleType(tuple(known))
    raise ExpressionError(f"the type of {literal} is unknown", hint="say it with lit(value, type)")


# ---------------------------------------------------------------------------------- operations

_VERBS: Final = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "//": "divide",
    "%": "divide",
    "**": "raise",
}
_NUMBERS: Final = frozenset({Kind.INT, Kind.FLOAT})
_MOMENTS: Final = frozenset({Kind.DATE, Kind.TIMESTAMP})


def _arithmetic(node: Apply, parts: list[Inferred]) -> Type:
    a, b = parts[0] or parts[1], parts[1] or parts[0]
    if a is None or b is None:
        raise ExpressionError(f"the type of {node} is unknown", hint="say it with lit(None, int)")
    result = _arithmetic_result(node.operation, a, b)
    if result is None:
        raise ExpressionError(
            f"cannot {_VERBS[node.operation]} {a.required} and {b.required} in {node}",
            hint=_arithmetic_hint(a, b),
        )
    if node.operation in "+-" and Kind.DATE in {a.kind, b.kind}:
        _check_whole_days(node)
    return _with_nulls(result, _any_null(parts) or (node.operation in {"/", "//", "%"} and _may_be_zero(node)))


def _arithmetic_result(operation: str, a: Type, b: Type) -> Inferred:
    kinds = {a.kind, b.kind}
    if kinds <= _NUMBERS:
        return FLOAT if Kind.FLOAT in kinds or operation in {"/", "**"} else INT
    if operation == "+":
        if kinds in ({Kind.STR}, {Kind.BYTES}):
            return a
        if Kind.INT in kinds and kinds & _MOMENTS:
            return a if a.kind in _MOMENTS else b
    if operation == "-" and a.kind in _MOMENTS:
        return a if b.kind is Kind.INT else INT if b.kind in _MOMENTS else None
    return None


def _check_whole_days(node: Apply) -> None:
    for part in node.arguments:
        span = part.value if isinstance(part, Literal) else None
        if isinstance(span, timedelta) and span % timedelta(days=1):
            raise ExpressionError(
                f"{node} is not a whole number of days",
                hint="cast the date to a timestamp with .cast(datetime) first",
            )


def _may_be_zero(node: Apply) -> bool:
    divisor = node.arguments[1]
    return not isinstance(divisor, Literal) or not divisor.value


def _arithmetic_hint(a: Type, b: Type) -> str:
    kinds = {a.kind, b.kind}
    if Kind.BOOL in kinds:
        return "count a bool as 0 or 1 with .cast(int)"
    if Kind.STR in kinds and kinds & _NUMBERS:
        return "write .cast(str) to join text, or .cast(int) to compute"
    return "convert one side with .cast(...)"


def _comparison(node: Apply, parts: list[Inferred]) -> Type:
    try:
        common_type(parts)
    except LookupError:
        a, b = (part.required for part in parts if part is not None)
        raise ExpressionError(f"cannot compare {a} with {b} in {node}", hint=_comparison_hint(node, a, b)) from None
    return _with_nulls(BOOL, _any_null(parts))


def _comparison_hint(node: Apply, a: Type, b: Type) -> str:
    kinds = {a.kind, b.kind}
    if Kind.BOOL in kinds and any(isinstance(p, Apply) and p.operation in {"&", "|"} for p in node.arguments):
        return "& and | bind tighter than comparisons: write (x > 1) & (y > 2)"
    if kinds & _MOMENTS and Kind.STR in kinds:
        return "write date(2020, 12, 31), or turn the string into a date with .cast(date)"
    return f"convert one side, for example with .cast({b if a.kind is Kind.STR else a})"


def _logic(node: Apply, parts: list[Inferred]) -> Type:
    for part, argument in zip(parts, node.arguments, strict=True):
        if part is not None and part.kind is not Kind.BOOL:
            raise ExpressionError(
                f"{argument} is {part.required.described}, where {node.operation} needs a bool, in {node}",
                hint="& and | bind tighter than comparisons: write (x > 1) & (y > 2)",
            )
    return _with_nulls(BOOL, _any_null(parts))


def _is_null(_node: Apply, _parts: list[Inferred]) -> Type:
    return BOOL


def _is_in(node: Apply, parts: list[Inferred]) -> Type:
    for argument in node.arguments[1:]:
        if not isinstance(argument, Literal):
            raise ExpressionError(f"{argument} is not a value in {node}", hint="write (x == a) | (x == b) for columns")
        if argument.value is None:
            raise ExpressionError(f"None is never found in {node}", hint="write x.is_in([...]) | x.is_null()")
    _comparison_of_all(node, parts)
    return _with_nulls(BOOL, _any_null(parts[:1]))


def _comparison_of_all(node: Apply, parts: list[Inferred]) -> Inferred:
    try:
        return common_type(parts)
    except LookupError:
        listed = ", ".join(sorted({str(part.required) for part in parts if part is not None}))
        raise ExpressionError(f"no type holds all of {listed} in {node}", hint="convert some with .cast(...)") from None


def _when(node: Apply, parts: list[Inferred]) -> Inferred:
    for condition, argument in zip(parts[:-1:2], node.arguments[:-1:2], strict=True):
        if condition is not None and condition.kind is not Kind.BOOL:
            raise ExpressionError(
                f"{argument} is {condition.required.described}, where when needs a bool, in {node}",
                hint="write a comparison, or .cast(bool)",
            )
    values = [*parts[1::2], parts[-1]]
    found = _comparison_of_all(node, values)
    return found and _with_nulls(found, _any_null(values))


def _first_value(node: Apply, parts: list[Inferred]) -> Inferred:
    """Of operations that pass None over: coalesce, least and greatest."""
    found = _comparison_of_all(node, parts)
    return found and _with_nulls(found, all(part is None or part.nullable for part in parts))


def _hash_of(_node: Apply, _parts: list[Inferred]) -> Type:
    return INT


def _tuple(node: Apply, parts: list[Inferred]) -> Type:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        raise ExpressionError(f"the type of None is unknown in {node}", hint="say it with lit(None, int)")
    return TupleType(tuple(known))


def _element(node: Apply, parts: list[Inferred]) -> Type:
    whole, index = parts[0], node.arguments[1]
    if not isinstance(whole, TupleType):
        kind = "None" if whole is None else whole.required.described
        raise ExpressionError(
            f"{node.arguments[0]} is {kind}, not a tuple, in {node}", hint="use .substr(0, 1) on strings"
        )
    if not isinstance(index, Literal) or not isinstance(index.value, int) or isinstance(index.value, bool):
        raise ExpressionError(f"the index in {node} is not an int", hint="elements are taken by number: x[0]")
    if whole.variadic:
        return whole.elements[0].optional
    size = len(whole.elements)
    if not -size <= index.value < size:
        raise ExpressionError(
            f"{node} does not exist: {whole.required} has {size} elements", hint="elements count from 0"
        )
    found = whole.elements[index.value]
    return found.optional if whole.nullable else found


def _by_signature(node: Apply, parts: list[Inferred]) -> Type:
    signature = SIGNATURES[node.operation]
    signature.check(node, parts)
    result = parts[0] if signature.result is None else signature.result
    assert result is not None, "a signature's first parameter has a type"
    return _with_nulls(result, signature.may_be_null or _any_null(parts))


def _cast(node: Cast, part: Inferred) -> Type:
    if part is None or part.bare == node.to.bare:
        return _with_nulls(node.to if part is None else part, _any_null([part]))
    if part.kind not in CASTS.get(node.to.kind, ()):
        raise ExpressionError(f"cannot cast {part.required} to {node.to} in {node}", hint=_cast_hint(part))
    return _with_nulls(node.to, part.nullable)


def _cast_hint(part: Type) -> str:
    if part.kind is Kind.TUPLE:
        return "take an element first: x[0].cast(...)"
    possible = ", ".join(to.value for to, of in CASTS.items() if part.kind in of)
    return f"{part.required.described} can become {possible}"


_RULES: Final = {
    **dict.fromkeys(("+", "-", "*", "/", "//", "%", "**"), _arithmetic),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), _comparison),
    **dict.fromkeys(("&", "|", "~"), _logic),
    **dict.fromkeys(("is_null", "is_not_null"), _is_null),
    **dict.fromkeys(("coalesce", "least", "greatest"), _first_value),
    "is_in": _is_in,
    "when": _when,
    "hash_of": _hash_of,
    "tuple_": _tuple,
    "[]": _element,
}
