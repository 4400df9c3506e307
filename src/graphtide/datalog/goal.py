"""Goals of queries: a relation, the arguments that are given, and which of the others must be equal."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyarrow.dataset import field

from graphtide.datalog.bind import Program
from graphtide.datalog.functions import evaluate_known
from graphtide.datalog.parse import parse_goal
from graphtide.datalog.syntax import Value, Variable, variables_of
from graphtide.errors import UsageError
from graphtide.text import error_at, hint_at_nearest

__all__ = ["Goal", "read_goal"]


@dataclass(frozen=True, slots=True)
class Goal:
    """`values` has a value for each given place; `equal` are pairs of places with the same variable."""

    text: str
    relation: str
    values: dict[int, Value]
    equal: tuple[tuple[int, int], ...]

    @property
    def given(self) -> tuple[int, ...]:
        """The places that have a value."""
        return tuple(self.values)

    def fitting(self, table: pa.Table, looked_up: tuple[int, ...] = ()) -> pa.Table:
        """The rows of a table that fit the goal; those places fit already by which they were looked up."""
        names = table.column_names
        for place, value in self.values.items():
            if place not in looked_up:
                table = table.filter(field(names[place]) == value)
        for one, other in self.equal:
            table = table.filter(field(names[one]) == field(names[other]))
        return table


def read_goal(text: str, program: Program) -> Goal:
    """Read a goal and check it against the program."""
    atom = parse_goal(text)
    if atom.relation not in program.names:
        hint = hint_at_nearest(atom.relation, program.names, "relations")
        raise error_at(text, atom.span, f'there is no relation "{atom.relation}"', hint)
    columns = program.relations[atom.relation].columns
    if len(columns) != len(atom.terms):
        raise error_at(
            text,
            atom.span,
            f'"{atom.relation}" has {len(atom.terms)} arguments here, and {len(columns)} in the program',
            hint=f"its columns are {', '.join(columns)}" if columns else "it has no columns",
        )
    values: dict[int, Value] = {}
    first: dict[str, int] = {}
    equal: list[tuple[int, int]] = []
    for place, term in enumerate(atom.terms):
        if isinstance(term, Variable):
            if term.name in first:
                equal.append((first[term.name], place))
            first.setdefault(term.name, place)
            continue
        if variable := next(variables_of(term), None):
            raise error_at(text, variable.span, f'"{variable}" has no value', "give a value, or a variable alone")
        values[place] = _fitted(text, program, atom.relation, place, evaluate_known(term, text))
    return Goal(text, atom.relation, values, tuple(equal))


def _fitted(text: str, program: Program, relation: str, place: int, value: Value) -> Value:
    """A value as its column holds it."""
    kind = program.kinds.of_column(relation, place)
    if kind == "float" and isinstance(value, int):
        return float(value)
    found = "symbol" if isinstance(value, str) else "float" if isinstance(value, float) else "number"
    if found != kind:
        raise UsageError(
            f'{text}: column {place + 1} of "{relation}" holds {kind}s, and {value!r} is a {found}',
            hint="symbols stand in double quotes, numbers without",
        )
    return value
