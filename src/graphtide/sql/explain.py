"""The text of a plan: a line for each operation, its inputs below it."""

from __future__ import annotations

import re
from collections import Counter

from graphtide.dataflow.expressions import Expression
from graphtide.sql.plan import (
    Aggregate,
    Conditions,
    Filter,
    Join,
    Order,
    Outer,
    Plan,
    Project,
    Recursion,
    Recursive,
    Scan,
    Semi,
    SetOperation,
    TopK,
    walk,
)

__all__ = ["explained"]


def explained(plan: Plan) -> str:
    """A plan as text; one that is read in several places is told once and then named by its number."""
    readers = Counter(id(below) for each in walk(plan) for below in each.inputs)
    numbers: dict[int, int] = {}
    lines: list[str] = []

    def tell(each: Plan, depth: int) -> None:
        margin = "  " * depth
        if id(each) in numbers:
            lines.append(f"{margin}as #{numbers[id(each)]}")
            return
        mark = ""
        if readers[id(each)] > 1:
            numbers[id(each)] = len(numbers) + 1
            mark = f" #{numbers[id(each)]}"
        lines.append(f"{margin}{_line(each)}{mark}")
        for below in each.inputs:
            tell(below, depth + 1)

    tell(plan, 0)
    return "\n".join(lines)


def _line(plan: Plan) -> str:
    match plan:
        case Scan():
            return f"scan {plan.name}"
        case Filter():
            return f"filter {_all(plan.conditions)}"
        case Project():
            return f"project {', '.join(_shown(each) for each in plan.outputs.values())}"
        case Join():
            return f"join on {_all(plan.conditions)}" if plan.conditions else "product"
        case Outer():
            return f"{'full' if plan.is_full else 'left'} join on {_all(plan.conditions)}"
        case Semi():
            return f"{'anti' if plan.is_anti else 'semi'} join on {_all(plan.conditions)}"
        case Aggregate():
            totals = [
                f"{t.function}({'distinct ' if t.is_distinct else ''}{_plain(t.column or '*')})"
                for t in plan.totals.values()
            ]
            by = f" by {', '.join(map(_plain, plan.keys))}" if plan.keys else ""
            return f"aggregate {', '.join(totals)}{by}"
        case SetOperation():
            return f"{'except' if plan.is_except else 'intersect'}{' all' if plan.is_all else ''}"
        case TopK():
            by = f" by {', '.join(map(_direction, plan.order))}" if plan.order else ""
            per = f" for each {', '.join(map(_plain, plan.keys))}" if plan.keys else ""
            most = "all" if plan.limit is None else f"top {plan.limit}"
            return f"{most}{f' from {plan.offset} on' if plan.offset else ''}{by}{per}"
        case Recursive():
            return f"recursive {plan.variable.name}"
        case Recursion():
            return f"rows of {plan.name}"
        case _:
            return type(plan).__name__.lower()


def _all(conditions: Conditions) -> str:
    return " and ".join(map(_shown, conditions)) or "true"


def _shown(expression: Expression) -> str:
    return _plain(str(expression))


def _plain(text: str) -> str:
    """Names without the numbers that tell them apart."""
    return re.sub(r"([A-Za-z_]\w*)\.\d+", r"\1", text)


def _direction(order: Order) -> str:
    return f"{_plain(order.column)}{' desc' if order.is_descending else ''}"
