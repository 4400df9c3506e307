"""Reading a few tuples of plain ints and floats, which need none of the care that tables of every make do."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np

from graphtide.frontier.adjacency import Adjacency
from graphtide.frontier.kernels.adjacency import FIRST_COLUMN
from graphtide.rows import Schema
from graphtide.rows.codes import NULL, Codes
from graphtide.rows.types import Kind

__all__ = ["PlainRows"]

# More rows than these cost less column by column.
_FEW: Final = 16
_ENDS: Final = 2
_TYPES: Final = {Kind.INT: int, Kind.FLOAT: float}
_LETTERS: Final = {int: "q", float: "d"}


class PlainRows:
    """Memory for the rows of a batch, for each thing that is done with them; what is read lasts until the next one."""

    def __init__(self, schema: Schema, adjacency: Adjacency) -> None:
        self._types = tuple(_TYPES[each.kind] for each in schema.types)
        # A row of kernels: its ends, no slots yet, its columns.
        letters = [_LETTERS[each] for each in self._types]
        self._row = struct.Struct("".join(["=", *letters[:_ENDS], "16x", *letters[_ENDS:]]))
        self._floats = [FIRST_COLUMN + c for c, each in enumerate(self._types[_ENDS:]) if each is float]
        self._memory: dict[str, tuple[memoryview, list[Codes]]] = {}
        for word in ("insert", "delete", "update"):
            table = adjacency.new_rows(_FEW)
            # The first rows, by how many they are: to cut them off costs as much as to read one.
            self._memory[word] = table.data.cast("B"), [table[:count] for count in range(_FEW + 1)]

    @classmethod
    def fit(cls, schema: Schema) -> bool:
        """Whether edges have ids that are ints, and numbers as properties."""
        kinds = [each.kind for each in schema.types]
        return all(kind is Kind.INT for kind in kinds[:_ENDS]) and all(kind in _TYPES for kind in kinds)

    def read(self, rows: Any, word: str) -> Codes | None:
        """Rows of kernels, floats by their bits, or nothing if these are not few and plain."""
        if type(rows) is not list or len(rows) > _FEW:
            return None
        types, layout = self._types, self._row
        memory, tables = self._memory[word]
        place = 0
        try:
            for row in rows:
                if type(row) is not tuple or tuple(map(type, row)) != types or NULL in row:
                    return None
                layout.pack_into(memory, place, *row)
                place += layout.size
        except struct.error:  # an int of more than eight bytes
            return None
        table = tables[len(rows)]
        for at in self._floats:
            # Zero has one sign, as it has in columns of codes.
            table.view(np.float64)[:, at] += 0.0
        return table
