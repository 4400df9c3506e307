"""SQL's functions of strings, numbers and moments.

Strings count characters from 1. What a function takes beyond what stands here is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sqlglot import Expr as Syntax
from sqlglot import exp

from graphtide.dataflow.expressions import Expression, call, coalesce, concat, lit
from graphtide.dataflow.expressions.signatures import UNITS
from graphtide.errors import SqlError
from graphtide.rows import Kind
from graphtide.sql.scalar import BOOLEAN, DATES, DOUBLE, INTEGER, TEXT, TIMES, Scalar, cast, round_to, whole

__all__ = ["FUNCTIONS"]

Part = Callable[[Syntax], Scalar]


def _needed(value: Scalar, kinds: set[Kind], node: Syntax) -> Scalar:
    if value.is_null:
        wanted = {Kind.STR: TEXT, Kind.DATE: DATES, Kind.FLOAT: DOUBLE}
        return value.to(next((t for k, t in wanted.items() if k in kinds), INTEGER))
    if value.type.kind not in kinds:
        raise SqlError(f"{value.type} does not fit into {node.sql(dialect='duckdb')}", hint="cast it")
    return value


def _text(value: Scalar, node: Syntax) -> Expression:
    return _needed(value, {Kind.STR}, node).expression


def _of_text(make: Callable[..., Expression], result: Any, *names: str) -> Callable[[Syntax, Part], Scalar]:
    """A function of strings, the first of which is `this`."""

    def rule(node: Syntax, part: Part) -> Scalar:
        texts = [_text(part(node.args[name]), node) for name in ("this", *names)]
        return Scalar(make(*texts), result)

    return rule


def _of_float(make: Callable[[Expression], Expression]) -> Callable[[Syntax, Part], Scalar]:
    def rule(node: Syntax, part: Part) -> Scalar:
        return Scalar(make(_number(part(node.this), node).to(DOUBLE).expression), DOUBLE)

    return rule


def _number(value: Scalar, node: Syntax) -> Scalar:
    return _needed(value, {Kind.INT, Kind.FLOAT}, node)


def _power(node: Syntax, part: Part) -> Scalar:
    base, exponent = (_number(part(node.args[name]), node).to(DOUBLE).expression for name in ("this", "expression"))
    return Scalar(base**exponent, DOUBLE)


def _abs(node: Syntax, part: Part) -> Scalar:
    value = _number(part(node.this), node)
    return Scalar(abs(value.expression), value.type)


def _fixed(node: Syntax | None, part: Part, what: str, default: int | None = None) -> int:
    """An argument that must be an int literal."""
    if node is None and default is not None:
        return default
    value = None if node is None else part(node).literal
    if not isinstance(value, int):
        raise SqlError(f"{what} must be a whole number that is written out", hint="columns are not supported there")
    return value


def _round(node: Syntax, part: Part) -> Scalar:
    digits = _fixed(node.args.get("decimals"), part, "the digits of round", 0)
    if digits < 0:
        raise SqlError(f"round to {digits} digits is not supported", hint="divide, round and multiply")
    return round_to(_number(part(node.this), node), digits)


def _whole(*, up: bool) -> Callable[[Syntax, Part], Scalar]:
    def rule(node: Syntax, part: Part) -> Scalar:
        return whole(_number(part(node.this), node), up=up)

    return rule


def _substring(node: Syntax, part: Part) -> Scalar:
    start = _fixed(node.args.get("start"), part, "the start of substring")
    if start < 1:
        raise SqlError(f"substring from {start} is not supported", hint="characters count from 1")
    length = node.args.get("length")
    text = _text(part(node.this), node)
    if length is None:
        return Scalar(text.substr(start - 1), TEXT)
    return Scalar(text.substr(start - 1, max(_fixed(length, part, "the length of substring"), 0)), TEXT)


def _left(node: Syntax, part: Part) -> Scalar:
    length = _fixed(node.args["expression"], part, "the length of left")
    if length < 0:
        raise SqlError("left of a negative length is not supported", hint="use substring")
    return Scalar(_text(part(node.this), node).substr(0, length), TEXT)


def _trim(node: Syntax, part: Part) -> Scalar:
    text = _text(part(node.this), node)
    given = node.args.get("expression")
    characters = lit(" ") if given is None else _text(part(given), node)
    position = (node.args.get("position") or "BOTH").upper()
    trims = {"BOTH": text.strip, "LEADING": text.lstrip, "TRAILING": text.rstrip}
    return Scalar(trims[position](characters), TEXT)


def _like(node: Syntax, part: Part, escape: str = "") -> Scalar:
    text, pattern = _text(part(node.this), node), part(node.args["expression"]).literal
    if not isinstance(pattern, str):
        raise SqlError(f"the pattern of {node.sql(dialect='duckdb')} is not a string literal", hint="write it out")
    pattern = _plain_pattern(pattern, escape)
    if isinstance(node, exp.ILike):
        text, pattern = text.lower(), pattern.lower()
    found = text.like(pattern)
    return Scalar(~found if node.args.get("negate") else found, BOOLEAN)


def _plain_pattern(pattern: str, escape: str) -> str:
    r"""A pattern of SQL in which only a backslash takes the next character as it is.

    >>> _plain_pattern("50!%\\_", "!")
    '50\\%\\\\_'
    """
    result, i = "", 0
    while i < len(pattern):
        if escape and pattern[i] == escape and i + 1 < len(pattern):
            i += 1
            result += "\\" + pattern[i]
        else:
            result += "\\\\" if pattern[i] == "\\" else pattern[i]
        i += 1
    return result


def _escape(node: Syntax, part: Part) -> Scalar:
    given = part(node.args["expression"])
    if given.is_null:
        return given.to(BOOLEAN)
    if not isinstance(given.literal, str) or len(given.literal) > 1:
        raise SqlError(
            f"{node.sql(dialect='duckdb')} does not escape by one character", hint="write one, as in ESCAPE '!'"
        )
    return _like(node.this, part, given.literal)


def _joined(node: Syntax, part: Part) -> Scalar:
    """The || of strings; NULL if either is."""
    parts = [part(node.this), part(node.args["expression"])]
    return Scalar(concat(*(_as_text(each).expression for each in parts)), TEXT)


def _concat(node: Syntax, part: Part) -> Scalar:
    """The concat of strings, which passes NULL over."""
    texts = [coalesce(_as_text(part(each)).expression, lit("")) for each in node.expressions]
    return Scalar(concat(*texts), TEXT)


def _as_text(value: Scalar) -> Scalar:
    return value if value.type == TEXT else cast(value, TEXT)


def _position(node: Syntax, part: Part) -> Scalar:
    texts = [_text(part(node.args[name]), node) for name in ("this", "substr")]
    return Scalar(call(_place, *texts, returns=int), INTEGER)


def _place(text: str, found: str) -> int:
    return text.find(found) + 1


def _replaced(text: str, old: str, new: str) -> str:
    # SQL finds an empty string nowhere, Python everywhere.
    return text.replace(old, new) if old else text


_PARTS: Final[dict[str, Callable[[Expression], Expression]]] = {
    "YEAR": lambda x: x.year(),
    "MONTH": lambda x: x.month(),
    "DAY": lambda x: x.day(),
    "QUARTER": lambda x: (x.month() + 2) // 3,
    "DOW": lambda x: (x.weekday() + 1) % 7,
    "DAYOFWEEK": lambda x: (x.weekday() + 1) % 7,
    "ISODOW": lambda x: x.weekday() + 1,
    "HOUR": lambda x: x.hour(),
    "MINUTE": lambda x: x.minute(),
    "SECOND": lambda x: x.second(),
}
_CLOCK: Final = frozenset({"HOUR", "MINUTE", "SECOND"})


def _part_of(name: str, value: Scalar, node: Syntax) -> Scalar:
    if name not in _PARTS:
        raise SqlError(f"extract of {name} is not supported", hint=f"use one of {', '.join(_PARTS)}")
    kinds = {Kind.TIMESTAMP} if name in _CLOCK else {Kind.DATE, Kind.TIMESTAMP}
    return Scalar(_PARTS[name](_needed(value, kinds, node).expression), INTEGER)


def _extract(node: Syntax, part: Part) -> Scalar:
    return _part_of(node.this.name.upper(), part(node.args["expression"]), node)


def _named_part(name: str) -> Callable[[Syntax, Part], Scalar]:
    def rule(node: Syntax, part: Part) -> Scalar:
        return _part_of(name, part(node.this), node)

    return rule


def _truncated(node: Syntax, part: Part) -> Scalar:
    """The start of a period, which is a timestamp also for a date."""
    value = _needed(part(node.this), {Kind.DATE, Kind.TIMESTAMP}, node)
    unit = node.args["unit"].name.lower()
    if unit not in UNITS:
        raise SqlError(f"date_trunc to '{unit}' is not supported", hint=f"use one of {', '.join(UNITS)}")
    return Scalar(value.to(TIMES).expression.date_trunc(unit), TIMES)


FUNCTIONS: Final[dict[type[Syntax], Callable[[Any, Part], Scalar]]] = {
    exp.Upper: _of_text(lambda x: x.upper(), TEXT),
    exp.Lower: _of_text(lambda x: x.lower(), TEXT),
    exp.Length: _of_text(lambda x: x.length(), INTEGER),
    exp.Replace: _of_text(lambda *texts: call(_replaced, *texts, returns=str), TEXT, "expression", "replacement"),
    exp.StartsWith: _of_text(lambda x, y: x.startswith(y), BOOLEAN, "expression"),
    exp.EndsWith: _of_text(lambda x, y: x.endswith(y), BOOLEAN, "expression"),
    exp.Contains: _of_text(lambda x, y: x.contains(y), BOOLEAN, "expression"),
    exp.Substring: _substring,
    exp.Left: _left,
    exp.Trim: _trim,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escape,
    exp.DPipe: _joined,
    exp.Concat: _concat,
    exp.StrPosition: _position,
    exp.Abs: _abs,
    exp.Round: _round,
    exp.Floor: _whole(up=False),
    exp.Ceil: _whole(up=True),
    exp.Sqrt: _of_float(lambda x: x.sqrt()),
    exp.Ln: _of_float(lambda x: x.log()),
    exp.Exp: _of_float(lambda x: x.exp()),
    exp.Pow: _power,
    exp.Extract: _extract,
    exp.Year: _named_part("YEAR"),
    exp.Month: _named_part("MONTH"),
    exp.Day: _named_part("DAY"),
    exp.Quarter: _named_part("QUARTER"),
    exp.DayOfWeek: _named_part("DOW"),
    exp.DateTrunc: _truncated,
    exp.TimestampTrunc: _truncated,
}
