"""Facts that wait for a commit, and what they tell of a relation's columns.

Relations are sets: to insert a fact that is there, or to delete one that is not, changes nothing. Of several changes
to a fact the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from graphtide.dataflow.output import Output
from graphtide.dataflow.plan import Codes
from graphtide.datalog.kinds import Kinds
from graphtide.datalog.program import Relation
from graphtide.errors import SchemaError
from graphtide.rows import Kind, Type
from graphtide.rows.misfit import shown

__all__ = ["Waiting", "as_data", "note_kinds"]

_KINDS: Final = {Kind.INT: "number", Kind.FLOAT: "float", Kind.STR: "symbol"}
_TYPES: Final = {int: "number", float: "float", str: "symbol"}


class Waiting:
    """The staged changes of one relation, in the order of staging: lines of codes, and whether they come or go."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, Codes]] = []

    def stage(self, codes: Codes, diff: int) -> None:
        """Note facts to insert (1) or to delete (-1)."""
        if codes.shape[1]:
            self._parts.append((diff, codes))

    def stage_first(self, codes: Codes) -> None:
        """Note facts to insert before all others."""
        self._parts.insert(0, (1, codes))

    def clear(self) -> None:
        """Forget all of them."""
        self._parts.clear()

    def changes(self, present: Output) -> tuple[Codes, Codes]:
        """The facts that come in and those that go, given what is there."""
        if not self._parts:
            none = np.empty((len(present.schema), 0), np.int64)
            return none, none
        codes = np.concatenate([part for _, part in self._parts], axis=1)
        diffs = np.concatenate([np.full(part.shape[1], diff) for diff, part in self._parts])
        if codes.shape[1] > 1:
            last = _last_of_equal(codes)
            codes, diffs = codes[:, last], diffs[last]
        wanted = diffs > 0
        is_there = present.counts_of(codes) > 0
        return codes[:, wanted & ~is_there], codes[:, ~wanted & is_there]


def _last_of_equal(codes: Codes) -> Codes:
    """Of each group of equal rows, the place of the last."""
    # The sort is stable, so equal rows stay in the order in which they came.
    order = np.lexsort(codes[::-1])
    lines = codes[:, order]
    is_last = np.ones(len(order), np.bool_)
    is_last[:-1] = (lines[:, 1:] != lines[:, :-1]).any(axis=0)
    return order[is_last]


def as_data(rows: Any, relation: Relation, *, is_declared: bool) -> Any:
    """Rows as they were passed; tables for a relation whose columns have no names of their own are taken by place."""
    if isinstance(rows, str | bytes) or (not isinstance(rows, Iterable) and not hasattr(rows, "__arrow_c_stream__")):
        raise SchemaError(
            f'{shown(rows)} is not rows of "{relation.name}"',
            hint='pass a list of tuples, as in insert("edge", [(1, 2)])',
        )
    if isinstance(rows, np.ndarray | list | dict):
        return rows
    if isinstance(rows, pa.Table | pa.RecordBatch) or hasattr(rows, "__arrow_c_stream__"):
        table = pa.table(rows)
        if not is_declared and table.num_columns == len(relation.columns):
            return table.rename_columns(list(relation.columns))
        return table
    return rows if hasattr(rows, "columns") else list(rows)


def note_kinds(kinds: Kinds, relation: Relation, data: Any) -> None:
    """Let rows decide what the text of the program leaves open."""
    for place in range(len(relation.columns)):
        if len(kinds.possible(relation.name, place)) > 1:
            found = _kind(data, relation, place)
            if found is not None:
                kinds.settle(relation.name, place, found)


def _kind(data: Any, relation: Relation, place: int) -> str | None:
    """What a column of data holds; None if that is not to be seen, and encoding will tell."""
    if isinstance(data, pa.Table):
        names = data.schema.names
        if relation.columns[place] not in names:
            return None
        return _KINDS.get(Type.from_arrow(data.schema.field(relation.columns[place]).type).kind)
    if isinstance(data, np.ndarray) and data.dtype.kind in "iuf" and data.ndim == 2:
        return "float" if data.dtype.kind == "f" else "number"
    if isinstance(data, list | np.ndarray):
        values = [row[place] for row in data if isinstance(row, tuple | list) and len(row) > place]
        if len(relation.columns) == 1 and not values:
            values = [row for row in data if not isinstance(row, tuple | list | dict)]
        found = {type(value) for value in values}
        known = {_TYPES[each] for each in found if each in _TYPES}
        return "float" if known == {"number", "float"} else next(iter(known), None)
    return None
