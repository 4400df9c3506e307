"""Tables: multisets of rows that the user changes, with a primary key if there is one.

Changes are staged until the database commits, and checked then: a row can be deleted only if it is there, and a
primary key holds a row at most once. What is checked are the rows that change, found in the table's index; the
others are not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from graphtide.dataflow.flow import Dataflow
from graphtide.dataflow.plan import Codes
from graphtide.errors import SchemaError, SqlError
from graphtide.rows import Schema, decode_rows, did_you_mean, encode_rows
from graphtide.sql.decimals import with_units
from graphtide.sql.types import SqlType

__all__ = ["Table"]


class Table:
    """A table of a database."""

    def __init__(
        self, flow: Dataflow, name: str, columns: Mapping[str, tuple[SqlType, bool]], primary_key: tuple[str, ...]
    ) -> None:
        self.name = name
        self.types = tuple(found for found, _ in columns.values())
        encodings = {n: t.encoding.optional if null else t.encoding for n, (t, null) in columns.items()}
        self.schema = Schema(encodings)
        for key in primary_key:
            if key not in self.schema:
                raise SchemaError(f'"{name}" has no column "{key}"', hint=did_you_mean(key, self.schema))
            if self.schema[key].nullable:
                raise SchemaError(f'"{key}" is part of a primary key and may be NULL', hint="declare it without None")
        self.primary_key = primary_key
        # Without a key, rows are found by all columns.
        self._key_places = [self.schema.index(name) for name in primary_key or self.schema]
        self.rows = 0  # as of the last commit
        self._decimals = {n: t for n, (t, _) in columns.items() if t.is_decimal}
        self._flow = flow
        self._input = flow.input_of(name, self.schema)
        self._index = self._input.arrange(*(primary_key or self.schema))
        self._staged: list[tuple[Codes, int]] = []

    @property
    def collection(self) -> Any:
        """The rows, as a collection of the dataflow."""
        return self._input

    def insert(self, rows: Any) -> None:
        """Add rows."""
        self._stage(self._encoded(rows), 1)

    def delete(self, rows: Any) -> None:
        """Take rows away."""
        self._stage(self._encoded(rows), -1)

    def delete_keys(self, keys: Any) -> None:
        """Take the rows with the given primary keys away."""
        self._stage(self._current(self._encoded_keys(keys), "name the keys of rows that are there"), -1)

    def update(self, rows: Any) -> None:
        """Put rows in place of those with the same primary key."""
        codes = self._encoded(rows)
        if not self.primary_key:
            raise SqlError(
                f'"{self.name}" has no primary key to update by', hint="delete the old rows and insert the new ones"
            )
        self._stage(self._current(codes[self._key_places], "insert it"), -1)
        self._stage(codes, 1)

    def check(self) -> None:
        """Refuse staged changes that delete what is not there, or bring a key twice."""
        only_adds = all(diff > 0 for _, diff in self._staged)
        if not self._staged or (only_adds and not self.primary_key):
            return
        if only_adds and not self.rows:
            # Nothing is there yet: the keys must differ among themselves.
            keys = np.concatenate([codes[self._key_places] for codes, _ in self._staged], axis=1)
            self._check_once(*self._summed(keys, np.ones(keys.shape[1], np.int64)))
            return
        changed = np.concatenate([codes for codes, _ in self._staged], axis=1)
        diffs = np.concatenate([np.full(codes.shape[1], diff) for codes, diff in self._staged])
        rows, diffs, held, of_key = self._index.held_with(changed, diffs, len(self._key_places))
        after = held + diffs
        if (after < 0).any():
            place = int(np.argmax(after < 0))
            row = self._shown(self.schema, rows[:, place : place + 1])
            raise SqlError(
                f'"{self.name}" would hold the row {row} {int(after[place])} times',
                hint="more are deleted than there are; nothing was committed, rollback() forgets what is staged",
            )
        if self.primary_key and len(diffs):
            keys = rows[self._key_places]
            # Rows of one key follow each other.
            firsts = np.flatnonzero(np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)]))
            self._check_once(keys[:, firsts], of_key[firsts] + np.add.reduceat(diffs, firsts))

    def settle(self) -> None:
        """Let what is staged be history."""
        self.rows += sum(codes.shape[1] * diff for codes, diff in self._staged)
        self._staged.clear()

    def discard(self) -> None:
        """Forget what is staged."""
        self._staged.clear()
        self._input.discard()

    def close(self) -> None:
        """Let go of the rows."""
        self._index.close()
        self._flow.drop_input(self.name)

    # -- inside

    def _stage(self, codes: Codes, diff: int) -> None:
        if codes.shape[1]:
            self._input.change_codes(codes, diff)
            self._staged.append((codes, diff))

    def _encoded(self, rows: Any) -> Codes:
        given = with_units(rows, self.schema.names, self._decimals)
        return encode_rows(self.schema, self._flow.dictionary, given)

    def _encoded_keys(self, keys: Any) -> Codes:
        if not self.primary_key:
            raise SqlError(f'"{self.name}" has no primary key', hint="name the rows in full")
        schema = self.schema.select(*self.primary_key)
        decimals = {name: of for name, of in self._decimals.items() if name in schema}
        return encode_rows(schema, self._flow.dictionary, with_units(keys, schema.names, decimals))

    def _current(self, keys: Codes, hint: str) -> Codes:
        """The rows that have the keys now, with what is staged; the hint is for keys that no row has."""
        probe, _ = self._summed(keys, np.ones(keys.shape[1], np.int64))
        held = self._index.find_counted(probe)
        rows, counts = self._summed(
            np.concatenate([held[:-1], *(codes for codes, _ in self._staged)], axis=1),
            np.concatenate([held[-1], *(np.full(codes.shape[1], diff) for codes, diff in self._staged)]),
        )
        of_probe, of_rows = _numbered(probe, rows[self._key_places])
        is_wanted = np.zeros(max(of_probe.max(initial=0), of_rows.max(initial=0)) + 1, np.bool)
        is_wanted[of_probe] = True
        is_current = is_wanted[of_rows] & (counts > 0)
        is_wanted[of_rows[is_current]] = False
        missing = is_wanted[of_probe]
        if missing.any():
            shown = self._shown_key(probe[:, missing][:, :1])
            raise SqlError(f'"{self.name}" has no row with the primary key {shown}', hint=hint)
        return np.ascontiguousarray(rows[:, is_current])

    def _summed(self, rows: Codes, diffs: Codes) -> tuple[Codes, Codes]:
        return self._flow.machine.heap.summed(np.ascontiguousarray(rows), diffs)

    def _check_once(self, keys: Codes, counts: Codes) -> None:
        if (counts > 1).any():
            shown = self._shown_key(keys[:, counts > 1][:, :1])
            raise SqlError(
                f'"{self.name}" would hold the primary key {shown} {int(counts[counts > 1][0])} times',
                hint="update() puts a row in place of the one that is there; nothing was committed",
            )

    def _shown_key(self, key: Codes) -> str:
        return self._shown(self.schema.select(*self.primary_key), key)

    def _shown(self, schema: Schema, row: Codes) -> str:
        """A row, given as a column of codes, with its decimals as such."""
        values = decode_rows(schema, self._flow.dictionary, np.ascontiguousarray(row))[0]
        pairs = [(value, self._decimals.get(name)) for name, value in zip(schema, values, strict=True)]
        return str(tuple(v if v is None or of is None else Decimal(v).scaleb(-(of.scale or 0)) for v, of in pairs))


def _numbered(*keys: Codes) -> list[Codes]:
    """Numbers for keys, lines of codes, that are equal exactly if the keys are.

    >>> [each.tolist() for each in _numbered(np.array([[7, 3], [1, 1]]), np.array([[3], [1]]))]
    [[1, 0], [0]]
    """
    together = np.concatenate(keys, axis=1)
    order = np.lexsort(together[::-1])
    ascending = together[:, order]
    numbers = np.zeros(together.shape[1], np.int64)
    numbers[order[1:]] = np.cumsum((ascending[:, 1:] != ascending[:, :-1]).any(axis=0))
    return np.split(numbers, np.cumsum([each.shape[1] for each in keys])[:-1])
