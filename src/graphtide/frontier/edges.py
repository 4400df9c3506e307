"""The edges of a live graph as users speak of them: their ids, types and rows, checked before anything changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.errors import CatalogueError, SchemaError
from graphtide.frontier.adjacency import Adjacency
from graphtide.frontier.numbers import Numbers
from graphtide.rows import Dictionary, Schema, decode_rows, decode_table, encode_rows
from graphtide.rows.codes import NULL, Codes, floats_of_codes
from graphtide.rows.decode import decode_column
from graphtide.rows.encode import encode_column
from graphtide.rows.schema import did_you_mean
from graphtide.rows.types import Kind

__all__ = ["Delta", "Edges", "Rows"]

_ENDS: Final = 2
_NOTHING: Final = np.empty(0, np.int64)
_PLAIN: Final = {Kind.INT: int, Kind.FLOAT: float}
_FEW: Final = 16
_NO_ENDS: Final = np.empty((0, 2), np.int64)
_NO_ROWS: Final = np.empty((0, 4), np.int64)


class Rows(NamedTuple):
    """Edges that a batch speaks of."""

    word: str  # what is to be done with them
    table: Codes  # rows of the ids of their ends and of their own columns, floats by their bits
    given: NDArray[np.bool_]  # which of these columns the user gave
    plain: list[tuple[Any, ...]] | None = None  # the rows themselves, if they are few and plain


class Delta(NamedTuple):
    """What a batch did: edges lost, edges gained, and those that have other values now as both."""

    lost: Codes  # rows (source, target)
    lost_values: Codes
    gained: Codes  # rows (source, target, slot at the source, slot at the target)
    gained_rows: Codes  # their ids in front of their columns
    renewed: int  # so many of either, the first ones, are edges that have other values

    def without_columns(self) -> tuple[Codes, Codes]:
        """Edges lost and gained, for those who do not look at their columns."""
        return self.lost[self.renewed :], self.gained[self.renewed :]

    def in_column(self, c: int) -> tuple[Codes, Codes, Codes, Codes]:
        """Edges lost, their values, edges gained and theirs, for those who look at one column."""
        lost, gained = self.lost, self.gained
        values = self.lost_values
        before = values.reshape(-1) if values.shape[1] == 1 else np.ascontiguousarray(values[:, c])
        after = self.gained_rows[:, _ENDS + c]
        if self.renewed == 0:
            return lost, before, gained, after
        differ = before[: self.renewed] != after[: self.renewed]
        gone, come = np.ones(len(lost), np.bool_), np.ones(len(gained), np.bool_)
        gone[: self.renewed] = come[: self.renewed] = differ
        return lost[gone], before[gone], gained[come], after[come]


class Edges:
    """Typed edges between vertices of any ids."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.adjacency = Adjacency(len(schema) - _ENDS)
        self._id_schema = schema.select("src")
        self.id_schema = Schema({"id": schema["src"]})
        self._dictionary = Dictionary()
        self._numbers = Numbers()
        self._all_given = np.ones(len(schema) - _ENDS, np.bool_)
        self._none_given = np.zeros(len(schema) - _ENDS, np.bool_)
        self._places = {name: place for place, name in enumerate(schema.names[_ENDS:])}
        self._floats = [kind.kind is Kind.FLOAT for kind in schema.types[_ENDS:]]
        self._has_int_ids = schema["src"].kind is Kind.INT
        plain = tuple(_PLAIN.get(each.kind) for each in schema.types)
        self._plain = None if None in plain else plain  # the types of a plain row
        self._in_order = _NOTHING
        self._has_floats = any(self._floats)
        self._no_values = np.empty((0, len(schema) - _ENDS), np.int64)
        self._nothing = Rows("", np.empty((0, len(schema)), np.int64), self._all_given)

    # -- vertices

    @property
    def labels(self) -> Codes:
        """By number of a vertex: what it is called as a label of others; ids that are ints, numbers of others."""
        if self._has_int_ids:
            return self._numbers.names
        if len(self._in_order) < len(self._numbers.names):
            self._in_order = np.arange(len(self._numbers.names))
        return self._in_order

    def number(self, vertex: Any) -> int:
        """The number of a vertex, which need not have edges."""
        codes = encode_rows(self._id_schema, self._dictionary, [(vertex,)])
        number = int(self._numbers.of_new(codes.ravel())[0])
        self.adjacency.add_vertices(len(self._numbers))
        return number

    def known(self, vertex: Any) -> int | None:
        """The number of a vertex, if it has one."""
        codes = encode_rows(self._id_schema, self._dictionary, [(vertex,)])
        numbers, missing = self._numbers.of(codes.ravel())
        return int(numbers[0]) if missing else None

    @property
    def dictionary(self) -> Dictionary:
        """What the codes of strings among ids and properties mean."""
        return self._dictionary

    def known_numbers(self, ids: Any, word: str) -> Codes:
        """The numbers of a column of vertices, all of which there must be."""
        codes = encode_column(self.schema["src"], self._dictionary, ids, "vertex")
        numbers, missing = self._numbers.of(codes)
        if missing < len(codes):
            unseen = self._shown_ids(codes[missing : missing + 1])[0]
            raise CatalogueError(
                f"cannot {word} vertex {unseen!r}: there is no such vertex",
                hint="edges make vertices known, and add_vertices(...) does without any; nothing was applied",
            )
        return numbers

    def names(self, first: int, last: int) -> Codes:
        """The codes of the ids of vertices from one number up to another."""
        return self._numbers.names[first:last]

    def codes_at(self, slots: Codes) -> Codes:
        """The codes of all properties at slots, a line for each property."""
        codes = np.empty((len(self._floats), len(slots)), np.int64)
        for c, is_float in enumerate(self._floats):
            values = self.adjacency.column(c)[slots]
            # What makes bits of codes makes codes of bits.
            codes[c] = floats_of_codes(values).view(np.int64) if is_float else values
        return codes

    def add_vertices(self, ids: Any) -> None:
        """Number vertices that need not have edges."""
        codes = encode_rows(self._id_schema, self._dictionary, {"src": ids})
        self._numbers.of_new(codes.ravel())
        self.adjacency.add_vertices(len(self._numbers))

    def code_of(self, name: str, value: Any) -> int:
        """What stands for a value in the column of a property."""
        return int(encode_rows(self.schema.select(name), self._dictionary, [(value,)])[0, 0])

    def ids_of(self, vertices: Codes) -> pa.Array:
        """The users' ids of vertices by number."""
        return self._decode(self._numbers.names[vertices])

    @property
    def id_bytes(self) -> int:
        """Bytes of the ids and of the strings among the properties."""
        return self._numbers.nbytes + self._in_order.nbytes + self._dictionary.nbytes

    def ids_of_labels(self, labels: Codes) -> pa.Array:
        """The users' ids behind labels."""
        return self._decode(labels) if self._has_int_ids else self.ids_of(labels)

    # -- rows

    def entering(self, rows: Any) -> Rows:
        """Rows to insert."""
        if _is_nothing(rows):
            return self._nothing
        few = self._few(rows)
        if few is not None:
            return Rows("insert", few, self._all_given, rows)
        return Rows("insert", self._table(encode_rows(self.schema, self._dictionary, rows)), self._all_given)

    def leaving(self, rows: Any, word: str) -> Rows:
        """Rows to delete or update: the ends, and all or some of the properties."""
        if _is_nothing(rows):
            return self._nothing
        few = self._few(rows)
        if few is not None:
            return Rows(word, few, self._all_given, rows)
        names = _names_of(rows, self.schema, word)
        if names == self.schema.names:
            return Rows(word, self._table(encode_rows(self.schema, self._dictionary, rows)), self._all_given)
        part = encode_rows(self.schema.select(*names), self._dictionary, rows)
        codes = np.zeros((len(self.schema), part.shape[1]), np.int64)
        for line, name in zip(part, names, strict=True):
            codes[self.schema.index(name)] = line
        given = np.array([name in names for name in self.schema.names[_ENDS:]], np.bool_)
        return Rows(word, self._table(codes), given)

    def _few(self, rows: Any) -> Codes | None:
        """A few plain rows, which need none of the care that tables of every make do."""
        if type(rows) is not list or len(rows) > _FEW or self._plain is None:
            return None
        for row in rows:
            if type(row) is not tuple or tuple(map(type, row)) != self._plain or NULL in row:
                return None
        try:
            if not self._has_floats:
                return np.array(rows, np.int64)
            table = np.empty((len(rows), len(self._plain)), np.int64)
            for c, is_float in enumerate((False, False, *self._floats)):
                column = [row[c] for row in rows]
                # Zero has one sign, as it has in columns of codes.
                table[:, c] = (np.array(column) + 0.0).view(np.int64) if is_float else column
        except OverflowError:
            return None
        return table

    def outside(self, name: str, rows: Rows, least: float, greatest: float) -> tuple[int, Any] | None:
        """The first row with a property that is not between the two, and that property."""
        at = _ENDS + self.column(name)
        if rows.plain is not None:
            # A few comparisons in Python cost less than a call of NumPy.
            for k, row in enumerate(rows.plain):
                if not least <= row[at] <= greatest:
                    return k, row[at]
            return None
        numbers = self.as_numbers(name, np.ascontiguousarray(rows.table[:, at]))
        bad = ~((numbers >= least) & (numbers <= greatest))
        first = int(bad.argmax()) if len(bad) else 0
        return (first, numbers[first]) if bad.any() else None

    def shown(self, rows: Rows, row: int) -> str:
        """A row as the user wrote it."""
        parts = list(self._shown_ids(rows.table[row, :_ENDS]))
        for c in np.flatnonzero(rows.given).tolist():
            name = self.schema.names[_ENDS + c]
            value = rows.table[row : row + 1, _ENDS + c].copy()
            if self._floats[c]:
                parts.append(value.view(np.float64)[0].item())
            else:
                parts.append(decode_rows(self.schema.select(name), self._dictionary, value[None])[0][0])
        return repr(tuple(parts))

    # -- columns

    def column(self, name: str) -> int:
        """The place of a property among the edges' own columns."""
        return self._places[name]

    def is_float(self, name: str) -> bool:
        """Whether a property is a float."""
        return self._floats[self.column(name)]

    def slot_weights(self, name: str | None) -> NDArray[Any]:
        """A property by slot; of no property, an empty array."""
        return _NOTHING if name is None else self.as_numbers(name, self.adjacency.column(self.column(name)))

    def values_of(self, name: str, codes: Codes) -> pa.Array:
        """What stands behind the codes of a property that is no float."""
        array = decode_column(self.schema[name], self._dictionary, codes)
        return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array

    def table(self) -> pa.Table:
        """All edges."""
        rows = self.adjacency.list_all()
        codes = np.empty((len(self.schema), len(rows)), np.int64)
        codes[:_ENDS] = self._numbers.names[rows[:, :_ENDS].T]
        codes[_ENDS:] = self.codes_at(rows[:, 2])
        return decode_table(self.schema, self._dictionary, codes)

    # -- change

    def change(self, entering: Rows, leaving: Rows, renewed: Rows) -> Delta:
        """Delete, update and insert, or raise and leave everything as it was."""
        adjacency = self.adjacency
        gone = self._claim(leaving, leaving.given)
        try:
            changed = self._claim(renewed, self._none_given)
        except CatalogueError:
            adjacency.unclaim(gone)
            raise
        lost, lost_values = adjacency.take_out(gone) if len(gone) else (_NO_ENDS, self._no_values)
        if len(changed):
            old = adjacency.renew(changed, renewed.given, renewed.table)
            ends = adjacency.locate(changed)[:, :_ENDS]
            lost, lost_values = np.concatenate([ends, lost]), np.concatenate([old, lost_values])
        gained = adjacency.enter(entering.table, self._numbers) if len(entering.table) else _NO_ROWS
        rows = entering.table
        if len(changed):
            # Slots may have moved since.
            gained = np.concatenate([adjacency.locate(changed), gained])
            rows = np.concatenate([renewed.table, rows])
        return Delta(lost, lost_values, gained, rows, len(changed))

    def _claim(self, rows: Rows, given: NDArray[np.bool_]) -> Codes:
        if not len(rows.table):
            return _NOTHING
        claimed, row, unlike = self.adjacency.claim(rows.table, given, self._numbers)
        if row == len(rows.table):
            return claimed
        what = f"cannot {rows.word} row {row}, {self.shown(rows, row)}"
        hint = ""
        if unlike < 0:
            _, missing = self._numbers.of(rows.table[row, :_ENDS].copy())
            unseen = self._shown_ids(rows.table[row, missing : missing + 1])[0]
            message = f"{what}: no edge was ever seen at {unseen!r}"
        elif unlike == 0:
            message = f"{what}: there is no such edge"
        else:
            message = f"{what}: {unlike + 1} edges between these vertices differ in their properties"
            hint = "delete the one that you mean with all its properties; "
        raise CatalogueError(message, hint=f"{hint}nothing of the batch was applied")

    def _table(self, codes: Codes) -> Codes:
        """Rows of codes as adjacency lists hold them: floats by their bits."""
        table = np.ascontiguousarray(codes.T)
        for c, is_float in enumerate(self._floats):
            if is_float:
                table[:, _ENDS + c] = floats_of_codes(codes[_ENDS + c]).view(np.int64)
        return table

    def as_numbers(self, name: str, bits: Codes) -> NDArray[Any]:
        """Values of a property, as adjacency lists hold them, as numbers."""
        return bits.view(np.float64) if self.is_float(name) else bits

    def _decode(self, codes: Codes) -> pa.Array:
        array = decode_column(self.schema["src"], self._dictionary, np.ascontiguousarray(codes))
        return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array

    def _shown_ids(self, codes: Codes) -> list[Any]:
        return [row[0] for row in decode_rows(self._id_schema, self._dictionary, codes[None])]


def _is_nothing(rows: Any) -> bool:
    return isinstance(rows, list | tuple) and not rows


def _names_of(rows: Any, schema: Schema, word: str) -> tuple[str, ...]:
    """The columns that rows have by which edges are found."""
    first: Any = rows[0] if isinstance(rows, list | tuple) else rows
    if isinstance(first, tuple | list | np.ndarray):
        arity = first.shape[1] if isinstance(first, np.ndarray) and first.ndim == _ENDS else len(first)
        if arity in {_ENDS, len(schema)}:
            return schema.names[:arity]
        raise SchemaError(
            f"row 0 to {word} has {arity} values, an edge of {schema} has 2 ends and {len(schema) - _ENDS} properties",
            hint="pass the ends, or all columns, or dicts with the columns that you mean",
        )
    if isinstance(first, Mapping):
        named = [str(name) for name in first]
    else:
        named = [str(name) for name in getattr(first, "column_names", getattr(first, "columns", ()))]
    for name in named:
        if name not in schema:
            raise SchemaError(f'edges have no property "{name}"', hint=did_you_mean(name, schema.names) or str(schema))
    return tuple(name for name in schema.names if name in named or name in schema.names[:_ENDS])
