"""What terms come to: the functions and operators of Datalog, on values and as expressions over columns.

Division of numbers goes toward zero and the remainder has the sign of the dividend, as in Soufflé. Where a term has no
value (division by zero, `to_number` of a word) there is no solution.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from graphtide.dataflow.expressions import Expression, call, coalesce, concat, greatest, least, lit, when
from graphtide.datalog.syntax import Aggregate, Arithmetic, Call, Constant, Term, Value, Variable
from graphtide.errors import GraphtideError, StatementError
from graphtide.text import error_at

__all__ = [
    "FUNCTIONS",
    "NUMERIC",
    "Function",
    "Refuse",
    "can_fail",
    "compare",
    "evaluate",
    "evaluate_known",
    "lower",
    "refused",
    "value_or_zero",
]

NUMBER: Final = frozenset({"number"})
SYMBOL: Final = frozenset({"symbol"})
NUMERIC: Final = frozenset({"number", "float"})
LARGEST: Final = 2**63 - 1
# Makes the error that shows a term in the text, of what is wrong with its value.
Refuse: TypeAlias = Callable[[Term, str], GraphtideError]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of terms: the kinds of its parameters (of one, if any number of them), and of its result.

    Where the result is None, it has the kind of the parameters, which is then the same for all.
    """

    parameters: tuple[frozenset[str], ...]
    result: frozenset[str] | None
    value: Callable[..., Value | None]
    expression: Callable[..., Expression]
    is_variadic: bool = False


def _substr(text: str, start: int, length: int) -> str | None:
    return text[start : start + length] if start >= 0 and length >= 0 else None


def _to_number(text: str) -> int | None:
    try:
        number = int(text)
    except ValueError:
        return None
    return number if -LARGEST <= number <= LARGEST else None


def _substr_expression(text: Expression, start: Expression, length: Expression) -> Expression:
    return call(_substr, text, start, length, returns=str | None)


def _to_number_expression(text: Expression) -> Expression:
    return call(_to_number, text, returns=int | None)


FUNCTIONS: Final[Mapping[str, Function]] = {
    "min": Function((NUMERIC,), None, min, least, is_variadic=True),
    "max": Function((NUMERIC,), None, max, greatest, is_variadic=True),
    "cat": Function((SYMBOL,), SYMBOL, lambda *texts: "".join(texts), concat, is_variadic=True),
    "strlen": Function((SYMBOL,), NUMBER, len, lambda text: text.length()),
    "substr": Function((SYMBOL, NUMBER, NUMBER), SYMBOL, _substr, _substr_expression),
    "to_string": Function((NUMBER,), SYMBOL, str, lambda number: number.cast(str)),
    "to_number": Function((SYMBOL,), NUMBER, _to_number, _to_number_expression),
}
_FAILING: Final = frozenset({"substr", "to_number"})


def can_fail(term: Term) -> bool:
    """Whether a term may have no value."""
    match term:
        case Arithmetic(operator=sign, left=left, right=right):
            return sign in "/%" or can_fail(left) or can_fail(right)
        case Call(function=function, arguments=arguments):
            return function in _FAILING or any(map(can_fail, arguments))
        case _:
            return False


def refused(text: str, term: Term | Aggregate, what: str) -> StatementError:
    """The error for a term of a program that comes to what no column can hold, in the words of the program."""
    return error_at(
        text,
        term.span,
        f"{' '.join(term.span.of(text).split())} {what}",
        hint="compute in floats, with columns that are declared as float, or keep numbers that large out",
    )


def evaluate_known(term: Term, text: str) -> Value:
    """What a term without variables comes to in a text; an error that shows it if that is no value."""
    value = evaluate(term, {})
    if value is None:
        raise error_at(text, term.span, f"{term} has no value", "a divisor must not be zero")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise refused(text, term, "does not fit into 64 bits")
    return value


def evaluate(term: Term, values: Mapping[str, Value]) -> Value | None:
    """What a term comes to, None if it has no value.

    >>> from graphtide.datalog.parse import parse_goal
    >>> evaluate(parse_goal("p(-7 / 2 + x)").terms[0], {"x": 1})
    -2
    """
    match term:
        case Constant(value=value):
            return value
        case Variable(name=name):
            return values[name]
        case Call(function=function, arguments=arguments):
            given = [evaluate(each, values) for each in arguments]
            return None if None in given else FUNCTIONS[function].value(*given)
        case Arithmetic(operator=sign, left=left, right=right):
            a, b = evaluate(left, values), evaluate(right, values)
            if a is None or b is None:
                return None
            assert not isinstance(a, str), "kinds are checked"
            assert not isinstance(b, str), "kinds are checked"
            return _ARITHMETIC[sign](a, b)


def _divide(a: float, b: float) -> float | None:
    if b == 0:
        return None
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    return -(-a // b) if (a < 0) != (b < 0) else a // b


def _remainder(a: float, b: float) -> float | None:
    if b == 0:
        return None
    if isinstance(a, float) or isinstance(b, float):
        return math.fmod(a, b)
    return a - b * int(_divide(a, b) or 0)


# What is the same on values and on expressions over columns.
_EXPRESSIONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
_ARITHMETIC: Final[Mapping[str, Callable[[Any, Any], Any]]] = {**_EXPRESSIONS, "/": _divide, "%": _remainder}
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compare(sign: str, left: Any, right: Any) -> Any:
    """Whether a comparison holds, of values or as an expression."""
    return _COMPARISONS[sign](left, right)


def lower(term: Term, columns: Mapping[str, Expression], kind: Callable[[Term], str], refuse: Refuse) -> Expression:
    """A term as an expression over columns; `kind` tells what kind of value a term has. None where it has no value.

    `refuse` makes the error for an operation in it whose result does not fit.
    """
    match term:
        case Constant(value=value):
            return lit(float(value)) if kind(term) == "float" else lit(value)
        case Variable(name=name):
            return columns[name]
        case Call(function=function, arguments=arguments):
            return FUNCTIONS[function].expression(*(lower(each, columns, kind, refuse) for each in arguments))
        case Arithmetic(operator=sign, left=left, right=right):
            a, b = lower(left, columns, kind, refuse), lower(right, columns, kind, refuse)
            is_float = kind(term) == "float"
            result = _EXPRESSIONS[sign](a, b) if sign in _EXPRESSIONS else _divided(sign, a, b, is_float=is_float)
            return result.refusing(partial(refuse, term))


def _divided(sign: str, a: Expression, b: Expression, *, is_float: bool) -> Expression:
    if is_float and sign == "/":
        return a / b
    down = (a / b).floor() if is_float else a // b
    # Rounding down is one too far if the signs differ and something is left over.
    left_over = down * b != a if is_float else a % b != 0
    whole = when(((a < 0) != (b < 0)) & left_over, down + 1).otherwise(down)
    return whole if sign == "/" else a - b * whole


def value_or_zero(expression: Expression, kind: str) -> Expression:
    """The expression where None has been ruled out, so that its type says so."""
    zero: Value = "" if kind == "symbol" else 0.0 if kind == "float" else 0
    return coalesce(expression, lit(zero))
