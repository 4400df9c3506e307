"""The edges of a live graph as users speak of them: their ids, types and rows, checked before anything changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.errors import CatalogueError, SchemaError
from graphtide.frontier.adjacency import Adjacency
from graphtide.frontier.delta import Rows
from graphtide.frontier.kernels import change as kernels
from graphtide.frontier.kernels.adjacency import FIRST_COLUMN
from graphtide.frontier.numbers import Numbers
from graphtide.frontier.plain_rows import PlainRows
from graphtide.frontier.report import SharedPart
from graphtide.frontier.turnover import NOBODY, Turnover
from graphtide.rows import Dictionary, Schema, decode_rows, decode_table, encode_rows
from graphtide.rows.codes import Codes, floats_of_codes
from graphtide.rows.decode import decode_column
from graphtide.rows.encode import encode_column
from graphtide.rows.schema import did_you_mean
from graphtide.rows.types import Kind, Type

__all__ = ["Edges", "written_range"]

_ENDS: Final = 2
_NOTHING: Final = np.empty(0, np.int64)
_SEQUENCES: Final = (list, tuple)


class Edges:
    """Typed edges between vertices of any ids."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._numbers = Numbers()
        self.adjacency = Adjacency(len(schema) - _ENDS, self._numbers)
        self._id_schema = schema.select("src")
        self.id_schema = Schema({"id": schema["src"]})
        self._dictionary = Dictionary()
        self._all_given = np.ones(len(schema) - _ENDS, np.bool_)
        self._places = {name: place for place, name in enumerate(schema.names[_ENDS:])}
        self._floats = [kind.kind is Kind.FLOAT for kind in schema.types[_ENDS:]]
        self._has_int_ids = schema["src"].kind is Kind.INT
        self.adjacency.rules[:, kernels.IS_FLOAT] = self._floats
        self._read_few: dict[str, Callable[[Any], Rows | None]] = {}  # by what is done with them: plain rows
        for word in ("insert", "delete", "update"):
            is_plain = PlainRows.fit(schema)
            self._read_few[word] = PlainRows(word, schema, self.adjacency).read if is_plain else lambda _rows: None
        self._in_order = _NOTHING
        self.nothing = self.adjacency.nothing
        self.turnover = Turnover()  # of the last batch

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

    @property
    def vertices(self) -> int:
        """How many vertices there are; numbers of those that were removed are among the adjacency's."""
        return len(self._numbers) - len(self._numbers.free)

    def are_there(self) -> NDArray[np.bool_]:
        """By number: whether it stands for a vertex."""
        return self._numbers.are_there()

    def has_new(self, known: int) -> bool:
        """Whether vertices came since the last batch, when there were so many numbers."""
        return len(self._numbers) > known or bool(self._numbers.reused)

    def leaving_with(self, vertices: Codes) -> Rows:
        """Rows to delete: all edges at vertices."""
        rows = self.adjacency.edges_at(vertices)
        table = self.adjacency.new_rows(len(rows))
        table[:, :_ENDS] = self._numbers.names[rows[:, :_ENDS]]
        for c in range(len(self._floats)):
            table[:, FIRST_COLUMN + c] = self.adjacency.column(c)[rows[:, _ENDS]]
        return Rows("delete", table, self._all_given, np.empty_like(table))

    def settle(self, known: int, went: Codes = NOBODY) -> None:
        """A batch is applied, before which there were so many numbers: know who came with it, and forget who went."""
        if not (len(went) or self.has_new(known)):
            # Most batches change nobody, and cost little more than this.
            if self.turnover.known != known or len(self.turnover.came) or len(self.turnover.went):
                self.turnover = Turnover(known)
            return
        self._numbers.remove(went)
        fresh = np.arange(known, len(self._numbers))
        self.turnover = Turnover(known, np.concatenate([np.array(self._numbers.reused, np.int64), fresh]), went)
        self._numbers.reused.clear()

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
        self.numbers_of(self.encode(self._id_schema, {"src": ids}).ravel())

    def encode(self, schema: Schema, rows: Any) -> Codes:
        """Rows of any schema, with strings known by the same codes as those of edges."""
        return encode_rows(schema, self._dictionary, rows)

    def numbers_of(self, ids: Codes) -> Codes:
        """The numbers of vertices by the codes of their ids; those that were not there become vertices."""
        numbers = self._numbers.of_new(ids)
        self.adjacency.add_vertices(len(self._numbers))
        return numbers

    def decode(self, kind: Type, codes: Codes) -> pa.Array:
        """What stands behind codes."""
        array = decode_column(kind, self._dictionary, np.ascontiguousarray(codes))
        return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array

    def code_of(self, name: str, value: Any) -> int:
        """What stands for a value in the column of a property."""
        return int(encode_rows(self.schema.select(name), self._dictionary, [(value,)])[0, 0])

    def ids_of(self, vertices: Codes) -> pa.Array:
        """The users' ids of vertices by number."""
        return self._decode(self._numbers.names[vertices])

    @property
    def shared(self) -> list[SharedPart]:
        """Bytes of the lists, and of the ids with the strings among the properties."""
        ids = self._numbers.nbytes + self._in_order.nbytes + self._dictionary.nbytes
        return [SharedPart("edges", self.adjacency.nbytes), SharedPart("ids", ids)]

    def ids_of_labels(self, labels: Codes) -> pa.Array:
        """The users' ids behind labels."""
        return self._decode(labels) if self._has_int_ids else self.ids_of(labels)

    # -- rows

    def entering(self, rows: Any) -> Rows:
        """Rows to insert."""
        found = self._read_few["insert"](rows)
        if found is not None:
            return found
        if isinstance(rows, _SEQUENCES) and not rows:
            return self.nothing
        return Rows("insert", self._table(encode_rows(self.schema, self._dictionary, rows)), self._all_given)

    def leaving(self, rows: Any, word: str) -> Rows:
        """Rows to delete or update: the ends, and all or some of the properties."""
        found = self._read_few[word](rows)
        if found is not None:
            return found
        if isinstance(rows, _SEQUENCES) and not rows:
            return self.nothing
        names = _names_of(rows, self.schema, word)
        given = self._all_given
        if names == self.schema.names:
            table = self._table(encode_rows(self.schema, self._dictionary, rows))
        else:
            part = encode_rows(self.schema.select(*names), self._dictionary, rows)
            codes = np.zeros((len(self.schema), part.shape[1]), np.int64)
            for line, name in zip(part, names, strict=True):
                codes[self.schema.index(name)] = line
            given = np.array([name in names for name in self.schema.names[_ENDS:]], np.bool_)
            table = self._table(codes)
        return Rows(word, table, given, np.empty_like(table))

    def limit(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        """Let batches bring no properties, by their names, but those between two numbers."""
        rules = self.adjacency.rules
        rules[:, kernels.IS_LIMITED] = 0
        for name, limits in ranges.items():
            rules[self._places[name], kernels.IS_LIMITED :] = 1, *limits

    def shown(self, rows: Rows, row: int) -> str:
        """A row as the user wrote it."""
        parts = list(self._shown_ids(rows.table[row, :_ENDS]))
        for c in np.flatnonzero(rows.given).tolist():
            name = self.schema.names[_ENDS + c]
            value = rows.table[row : row + 1, FIRST_COLUMN + c].copy()
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
        """What stands behind the codes of a property."""
        return self.decode(self.schema[name], codes)

    def decode_values(self, name: str, bits: Codes) -> pa.Array:
        """A property as adjacency lists hold it, as users see it."""
        # What makes bits of codes makes codes of bits.
        return self.values_of(name, floats_of_codes(bits).view(np.int64) if self.is_float(name) else bits)

    def table(self) -> pa.Table:
        """All edges."""
        rows = self.adjacency.list_all()
        codes = np.empty((len(self.schema), len(rows)), np.int64)
        codes[:_ENDS] = self._numbers.names[rows[:, :_ENDS].T]
        codes[_ENDS:] = self.codes_at(rows[:, 2])
        return decode_table(self.schema, self._dictionary, codes)

    # -- change

    def change(self, entering: Rows, leaving: Rows, renewed: Rows) -> None:
        """Delete, update and insert, or raise and leave everything as it was."""
        given = self._numbers.reuse(entering.table[:, :_ENDS].ravel()) if self._numbers.free else []
        code = self.adjacency.change(leaving, renewed, entering)
        if code in {kernels.NO_EDGE_LIKE_IT, kernels.OUT_OF_RANGE}:
            self._numbers.take_back(given)
        if code == kernels.NO_EDGE_LIKE_IT:
            self._raise_not_found(leaving, renewed)
        elif code == kernels.OUT_OF_RANGE:
            self._raise_out_of_range(entering, renewed)

    def _raise_not_found(self, leaving: Rows, renewed: Rows) -> None:
        row, unlike = self.adjacency.refused
        rows, row = (leaving, row) if row < leaving.count else (renewed, row - leaving.count)
        what = f"cannot {rows.word} row {row}, {self.shown(rows, row)}"
        hint = ""
        if unlike < 0:
            _, missing = self._numbers.of(rows.table[row, :_ENDS].copy())
            unseen = self._shown_ids(rows.table[row, missing : missing + 1])[0]
            message = f"{what}: there is no vertex {unseen!r}"
        elif unlike == 0:
            message = f"{what}: there is no such edge"
        else:
            message = f"{what}: {unlike + 1} edges between these vertices differ in their properties"
            hint = "delete the one that you mean with all its properties; "
        raise CatalogueError(message, hint=f"{hint}nothing of the batch was applied")

    def _raise_out_of_range(self, entering: Rows, renewed: Rows) -> None:
        row, column = self.adjacency.refused
        rows, row = (entering, row) if row < entering.count else (renewed, row - entering.count)
        name = self.schema.names[_ENDS + column]
        number = self.as_numbers(name, rows.table[row : row + 1, FIRST_COLUMN + column].copy())[0]
        least, greatest = self.adjacency.rules[column, kernels.LEAST :]
        raise SchemaError(
            f'cannot {rows.word} row {row}, {self.shown(rows, row)}: a query on "{name}" takes no {number}',
            hint=f"it takes {written_range(least, greatest)}; nothing of the batch was applied",
        )

    def _table(self, codes: Codes) -> Codes:
        """Rows of codes as kernels take them: floats by their bits."""
        table = self.adjacency.new_rows(codes.shape[1])
        table[:, :_ENDS] = codes[:_ENDS].T
        for c, is_float in enumerate(self._floats):
            values = codes[_ENDS + c]
            table[:, FIRST_COLUMN + c] = floats_of_codes(values).view(np.int64) if is_float else values
        return table

    def as_numbers(self, name: str, bits: Codes) -> NDArray[Any]:
        """Values of a property, as adjacency lists hold them, as numbers."""
        return bits.view(np.float64) if self.is_float(name) else bits

    def _decode(self, codes: Codes) -> pa.Array:
        return self.decode(self.schema["src"], codes)

    def _shown_ids(self, codes: Codes) -> list[Any]:
        return [row[0] for row in decode_rows(self._id_schema, self._dictionary, codes[None])]


def written_range(least: float, greatest: float) -> str:
    """A range of weights, as hints say it."""
    return f"{least:g} and more" if greatest == np.inf else f"{least:g} to {greatest:g}"


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
