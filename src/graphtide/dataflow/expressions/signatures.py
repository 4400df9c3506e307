"""What each function takes and gives, and which type can become which.

Operators and the functions that unite the types of their arguments have rules of their own in `infer`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from graphtide.dataflow.expressions.expression import Apply, Literal
from graphtide.errors import ExpressionError
from graphtide.rows import BOOL, DATE, FLOAT, INT, STR, Kind, Type

__all__ = ["CASTS", "SIGNATURES", "UNITS", "Signature"]

_INT: Final = frozenset({Kind.INT})
_NUMBER: Final = frozenset({Kind.INT, Kind.FLOAT})
_TEXT: Final = frozenset({Kind.STR})
_SIZED: Final = frozenset({Kind.STR, Kind.BYTES, Kind.TUPLE})
_MOMENT: Final = frozenset({Kind.DATE, Kind.TIMESTAMP})
_CLOCK: Final = frozenset({Kind.TIMESTAMP})

# The periods of `date_trunc`: how many of which smaller unit.
UNITS: Final = {
    "year": ("months", 12),
    "quarter": ("months", 3),
    "month": ("months", 1),
    "week": ("days", 7),
    "day": ("days", 1),
    "hour": ("microseconds", 3_600_000_000),
    "minute": ("microseconds", 60_000_000),
    "second": ("microseconds", 1_000_000),
}


@dataclass(frozen=True, slots=True)
class Signature:
    """The kinds that parameters may have; the last one may repeat if there are more arguments."""

    parameters: tuple[frozenset[Kind], ...]
    result: Type | None  # None for that of the first argument
    may_be_null: bool = False  # even if no argument is
    needs_literals: tuple[int, ...] = ()  # arguments that must be known before the run
    holds_regex: bool = False  # in the second argument

    def check(self, node: Apply, parts: Sequence[Type | None]) -> None:
        """Raise an error for the first argument that does not fit."""
        for i, part in enumerate(parts):
            allowed = self.parameters[min(i, len(self.parameters) - 1)]
            if part is not None and part.kind not in allowed:
                raise _misfit(node, i, part, allowed)
            if part is None and i == 0:
                raise ExpressionError(f"the type of None is unknown in {node}", hint="say it with lit(None, str)")
        for i in self.needs_literals:
            if i < len(parts) and not isinstance(node.arguments[i], Literal):
                raise ExpressionError(
                    f"{node.arguments[i]} is not a fixed value in {node}",
                    hint=f"{node.operation} needs a literal there",
                )
        _check_values(node, parts)
        if self.holds_regex and isinstance(node.arguments[1], Literal):
            _check_regex(node, node.arguments[1].value)


def _misfit(node: Apply, i: int, part: Type, allowed: frozenset[Kind]) -> ExpressionError:
    wanted = " or ".join(
        Type(kind).described if kind is not Kind.TUPLE else "a tuple" for kind in Kind if kind in allowed
    )
    hints = {
        Kind.STR: "convert it with .cast(str)",
        Kind.INT: "convert it with .cast(int)",
        Kind.DATE: "turn it into a date with .cast(date)",
        Kind.TIMESTAMP: "turn it into a timestamp with .cast(datetime)",
    }
    hint = next((text for kind, text in hints.items() if kind in allowed), None)
    given = node.arguments[i]
    return ExpressionError(
        f"{node.operation} needs {wanted}, and {given} is {part.required.described}, in {node}", hint=hint
    )


def _check_values(node: Apply, parts: Sequence[Type | None]) -> None:
    if node.operation == "date_trunc":
        unit = node.arguments[1]
        assert isinstance(unit, Literal)
        moment = parts[0]
        known = [
            name
            for name, (of, _) in UNITS.items()
            if of != "microseconds" or (moment and moment.kind is Kind.TIMESTAMP)
        ]
        if unit.value not in known:
            raise ExpressionError(f"{unit} is not a unit of {moment} in {node}", hint=f"use one of {', '.join(known)}")
    if node.operation == "round":
        digits, number = node.arguments[1], parts[0]
        assert isinstance(digits, Literal)
        if number is not None and number.kind is Kind.INT and digits.value < 0:
            raise ExpressionError(f"{node} would round an int", hint="write x // 100 * 100, or .cast(float) first")


def _check_regex(node: Apply, pattern: str) -> None:
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise ExpressionError(f"{pattern!r} is not a regular expression in {node}: {error}") from None
    group = node.arguments[2].value if node.operation == "extract" and isinstance(node.arguments[2], Literal) else 0
    if not 0 <= group <= groups:
        raise ExpressionError(f"{pattern!r} has {groups} groups in {node}", hint="group 0 is the whole match")


SIGNATURES: Final = {
    "negate": Signature((_NUMBER,), None),
    "abs": Signature((_NUMBER,), None),
    "bit_length": Signature((_INT,), INT),
    "floor": Signature((_NUMBER,), None),
    "ceil": Signature((_NUMBER,), None),
    "round": Signature((_NUMBER, _INT), None, needs_literals=(1,)),
    "sqrt": Signature((_NUMBER,), FLOAT),
    "exp": Signature((_NUMBER,), FLOAT),
    "log": Signature((_NUMBER,), FLOAT),
    "upper": Signature((_TEXT,), STR),
    "lower": Signature((_TEXT,), STR),
    "length": Signature((_SIZED,), INT),
    "strip": Signature((_TEXT, _TEXT), STR),
    "lstrip": Signature((_TEXT, _TEXT), STR),
    "rstrip": Signature((_TEXT, _TEXT), STR),
    "substr": Signature((_TEXT, _INT, _INT), STR),
    "contains": Signature((_TEXT, _TEXT), BOOL),
    "startswith": Signature((_TEXT, _TEXT), BOOL),
    "endswith": Signature((_TEXT, _TEXT), BOOL),
    "replace": Signature((_TEXT, _TEXT, _TEXT), STR),
    "split_part": Signature((_TEXT, _TEXT, _INT), STR, may_be_null=True),
    "like": Signature((_TEXT, _TEXT), BOOL),
    "matches": Signature((_TEXT, _TEXT), BOOL, holds_regex=True),
    "extract": Signature((_TEXT, _TEXT, _INT), STR, may_be_null=True, needs_literals=(1, 2), holds_regex=True),
    "order_word": Signature((_TEXT, _INT), INT),
    "concat": Signature((_TEXT,), STR),
    "year": Signature((_MOMENT,), INT),
    "month": Signature((_MOMENT,), INT),
    "day": Signature((_MOMENT,), INT),
    "weekday": Signature((_MOMENT,), INT),
    "hour": Signature((_CLOCK,), INT),
    "minute": Signature((_CLOCK,), INT),
    "second": Signature((_CLOCK,), INT),
    "date_trunc": Signature((_MOMENT, _TEXT), None, needs_literals=(1,)),
    "add_months": Signature((_MOMENT, _INT), None),
    "to_date": Signature((_MOMENT | _TEXT,), DATE),
}

# From the kinds on the right to the one on the left; a kind can always become itself.
CASTS: Final = {
    Kind.INT: frozenset({Kind.FLOAT, Kind.BOOL, Kind.STR, Kind.DATE, Kind.TIMESTAMP}),
    Kind.FLOAT: frozenset({Kind.INT, Kind.BOOL, Kind.STR}),
    Kind.BOOL: frozenset({Kind.INT, Kind.FLOAT, Kind.STR}),
    Kind.STR: frozenset({Kind.INT, Kind.FLOAT, Kind.BOOL, Kind.DATE, Kind.TIMESTAMP, Kind.BYTES}),
    Kind.BYTES: frozenset({Kind.STR}),
    Kind.DATE: frozenset({Kind.INT, Kind.TIMESTAMP, Kind.STR}),
    Kind.TIMESTAMP: frozenset({Kind.INT, Kind.DATE, Kind.STR}),
}
