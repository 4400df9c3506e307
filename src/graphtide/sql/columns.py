"""Which columns of each plan are needed by those above it; the others are never made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graphtide.dataflow.expressions import Expression
from graphtide.sql.plan import (
    Aggregate,
    Distinct,
    Filter,
    Plan,
    Project,
    Recursive,
    Semi,
    SetOperation,
    TopK,
    Union,
    walk,
)

__all__ = ["needed_columns"]


def needed_columns(plan: Plan, wanted: Iterable[str]) -> dict[int, set[str]]:
    """The columns that are read of each plan, by its id: for all its readers together."""
    needed: dict[int, set[str]] = {id(each): set() for each in walk(plan)}
    needed[id(plan)] |= set(wanted)
    for each in walk(plan):
        for below, columns in _asked(each, needed[id(each)]):
            needed[id(below)] |= columns & set(below.schema)
    return needed


def _asked(plan: Plan, wanted: set[str]) -> Iterator[tuple[Plan, set[str]]]:
    """What a plan, of which some columns are wanted, needs of its inputs."""
    match plan:
        case Project():
            yield plan.input, _read(plan.outputs[name] for name in plan.outputs if name in wanted)
        case Filter():
            yield plan.input, wanted | _read(plan.conditions)
        case Aggregate():
            read = {each.column for name, each in plan.totals.items() if name in wanted and each.column is not None}
            yield plan.input, {*plan.keys, *read}
        case TopK():
            yield plan.input, wanted | _read(plan.expressions)
        case Union():
            places = [i for i, name in enumerate(plan.names) if name in wanted]
            for each in plan.inputs:
                yield each, {each.schema.names[i] for i in places}
        case Distinct() | SetOperation() | Recursive():
            for each in plan.inputs:
                yield each, set(each.schema)
        case Semi():
            read = _read(plan.conditions)
            yield plan.left, wanted | read
            yield plan.right, read
        case _:
            read = _read(plan.expressions)
            for each in plan.inputs:
                yield each, wanted | read


def _read(expressions: Iterable[Expression]) -> set[str]:
    return {name for each in expressions for name in each.columns()}
