"""Reading a few tuples of plain ints and floats, which need none of the care that tables of every make do."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np

from graphtide.frontier.adjacency import Adjacency
from graphtide.frontier.delta import Rows
from graphtide.rows import Schema
from graphtide.rows.codes import NULL
from graphtide.rows.types import Kind

__all__ = ["PlainRows"]

# More rows than these cost less column by column.
_FEW: Final = 16
_ENDS: Final = 2
_TYPES: Final = {Kind.INT: int, Kind.FLOAT: float}
_LETTERS: Final = {int: "q", float: "d"}


class PlainRows:
    """Memory for the rows of a batch with which one thing is done; what is read lasts until the next one."""

    def __init__(self, word: str, schema: Schema, adjacency: Adjacency) -> None:
        self._types = tuple(_TYPES[each.kind] for each in schema.types)
        # A row of kernels: its ends, no slots yet, its columns.
        letters = [_LETTERS[each] for each in self._types]
        self._row = struct.Struct("".join(["=", *letters[:_ENDS], "16x", *letters[_ENDS:]]))
        table, before = adjacency.new_rows(_FEW), adjacency.new_rows(_FEW)
        given = np.ones(len(letters) - _ENDS, np.bool_)
        self._memory = table.data.cast("B")
        # The first rows, by how many they are: to cut them off costs more than to read one.
        self._rows = [Rows(word, table[:count], given, before[:count]) for count in range(_FEW + 1)]

    @classmethod
    def fit(cls, schema: Schema) -> bool:
        """Whether edges have ids that are ints, and numbers as properties."""
        kinds = [each.kind for each in schema.types]
        return all(kind is Kind.INT for kind in kinds[:_ENDS]) and all(kind in _TYPES for kind in kinds)

    def read(self, rows: Any) -> Rows | None:
        """Rows of kernels, or nothing if these are not few and plain."""
        if type(rows) is not list or len(rows) > _FEW:
            return None
        types, layout, memory = self._types, self._row, self._memory
        place = 0
        try:
            for row in rows:
                if type(row) is not tuple or tuple(map(type, row)) != types or NULL in row:
                    return None
                layout.pack_into(memory, place, *row)
                place += layout.size
        except struct.error:  # an int of more than eight bytes
            return None
        return self._rows[len(rows)]
