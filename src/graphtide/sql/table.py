"""Tables: multisets of rows that the user changes, with a primary key if there is one.

Changes are staged until the database commits, and checked then: a row can be deleted only if it is there, and a
primary key holds a row at most once. What is checked are the rows that change, found in the table's index; the
others are not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
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
        self.rows = 0  # as of the last commit
        self._scales = {n: t.scale for n, (t, _) in columns.items() if t.scale is not None}
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
        self._stage(self._current(self._encoded_keys(keys)), -1)

    def update(self, rows: Any) -> None:
        """Put rows in place of those with the same primary key."""
        codes = self._encoded(rows)
        self._stage(self._current(codes[self._key_places()]), -1)
        self._stage(codes, 1)

    def check(self) -> None:
        """Refuse staged changes that delete what is not there, or bring a key twice."""
        if all(diff > 0 for _, diff in self._staged):
            self._check_new_keys()
            return
        changes, counts = self._net()
        if self.primary_key:
            self._check_keys(changes, counts)
        gone = counts < 0
        if gone.any():
            rows, taken = changes[:, gone], -counts[gone]
            held = self._counts(rows)
            if (held < taken).any():
                at = int(np.argmax(held < taken))
                raise SqlError(
                    f'"{self.name}" holds the row {self._shown(rows[:, [at]])} {held[at]} times, '
                    f"and {taken[at]} are deleted",
                    hint="nothing was committed; rollback() forgets what is staged",
                )

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
        given = with_units(rows, self.schema.names, self._scales)
        return encode_rows(self.schema, self._flow.dictionary, given)

    def _encoded_keys(self, keys: Any) -> Codes:
        if not self.primary_key:
            raise SqlError(f'"{self.name}" has no primary key', hint="name the rows in full")
        schema = self.schema.select(*self.primary_key)
        scales = {name: scale for name, scale in self._scales.items() if name in schema}
        return encode_rows(schema, self._flow.dictionary, with_units(keys, schema.names, scales))

    def _key_places(self) -> list[int]:
        if not self.primary_key:
            raise SqlError(
                f'"{self.name}" has no primary key to update by', hint="delete the old rows and insert the new ones"
            )
        return [self.schema.index(name) for name in self.primary_key]

    def _net(self) -> tuple[Codes, Codes]:
        """The rows that are staged, each once, and by how much their counts change."""
        if not self._staged:
            return np.empty((len(self.schema), 0), np.int64), np.empty(0, np.int64)
        rows = np.concatenate([codes for codes, _ in self._staged], axis=1)
        diffs = np.concatenate([np.full(codes.shape[1], diff) for codes, diff in self._staged])
        return _summed(rows, diffs)

    def _current(self, keys: Codes) -> Codes:
        """The rows that have the keys now, with what is staged."""
        held = self._index.find_counted(keys)
        staged, counts = self._net()
        touched = _is_in(staged[self._key_places()], keys)
        rows = np.concatenate([held[:-1], staged[:, touched]], axis=1)
        rows, counts = _summed(rows, np.concatenate([held[-1], counts[touched]]))
        current = rows[:, counts > 0]
        missing = ~_is_in(keys, current[self._key_places()])
        if missing.any():
            at = keys[:, [int(np.argmax(missing))]]
            shown = decode_rows(self.schema.select(*self.primary_key), self._flow.dictionary, at)[0]
            raise SqlError(f'"{self.name}" has no row with the primary key {shown}', hint="insert it")
        return current

    def _counts(self, rows: Codes) -> Codes:
        """How often each row is there."""
        places = self._key_places() if self.primary_key else list(range(len(self.schema)))
        held = self._index.find_counted(np.ascontiguousarray(rows[places]))
        both = np.concatenate([held[:-1], rows], axis=1)
        unique, inverse = np.unique(both, axis=1, return_inverse=True)
        counts = np.zeros(unique.shape[1], np.int64)
        np.add.at(counts, inverse[: held.shape[1]], held[-1])
        return counts[inverse[held.shape[1] :]]

    def _check_new_keys(self) -> None:
        """Refuse keys that come twice or are there, where rows only come."""
        if not self.primary_key or not self._staged:
            return
        keys = np.concatenate([codes[self._key_places()] for codes, _ in self._staged], axis=1)
        held = self._index.find(keys)[:-1] if self.rows else np.empty((len(self.schema), 0), np.int64)
        keys = np.concatenate([held[self._key_places()], keys], axis=1)
        unique, sums = _summed(keys, np.ones(keys.shape[1], np.int64))
        self._check_once(unique, sums)

    def _check_keys(self, changes: Codes, counts: Codes) -> None:
        added = np.ascontiguousarray(changes[self._key_places()][:, counts > 0])
        if not added.shape[1]:
            return
        held = self._index.find_counted(added) if self.rows else np.empty((len(self.schema) + 1, 0), np.int64)
        places = self._key_places()
        touched = _is_in(changes[places], added) if (counts < 0).any() else counts > 0
        keys = np.concatenate([held[:-1][places], changes[places][:, touched]], axis=1)
        self._check_once(*_summed(keys, np.concatenate([held[-1], counts[touched]])))

    def _check_once(self, unique: Codes, sums: Codes) -> None:
        if (sums > 1).any():
            at = unique[:, [int(np.argmax(sums > 1))]]
            shown = decode_rows(self.schema.select(*self.primary_key), self._flow.dictionary, at)[0]
            raise SqlError(
                f'"{self.name}" would hold the primary key {shown} {int(sums.max())} times',
                hint="update() puts a row in place of the one that is there; nothing was committed",
            )

    def _shown(self, row: Codes) -> str:
        return str(decode_rows(self.schema, self._flow.dictionary, np.ascontiguousarray(row))[0])


def _summed(rows: Codes, diffs: Codes) -> tuple[Codes, Codes]:
    """Each row once, with the sum of its diffs."""
    if not rows.shape[1]:
        return rows, diffs
    packed = _packed(rows)
    order = np.lexsort(rows[::-1]) if packed is None else np.argsort(packed, kind="stable")
    ordered = rows[:, order]
    is_new = np.concatenate([[True], (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)])
    starts = np.flatnonzero(is_new)
    return ordered[:, starts], np.add.reduceat(diffs[order], starts)


def _packed(rows: Codes) -> Codes | None:
    """Each row as one int in the order of rows, None if that does not fit."""
    low, high = rows.min(axis=1), rows.max(axis=1)
    spans = [int(b) - int(a) + 1 for a, b in zip(low, high, strict=True)]
    if prod(spans) >= 2**62:
        return None
    result = np.zeros(rows.shape[1], np.int64)
    for line, least, span in zip(rows, low, spans, strict=True):
        result = result * span + (line - least)
    return result


def _is_in(keys: Codes, known: Codes) -> Any:
    """Which keys are among the known ones."""
    if not keys.shape[1] or not known.shape[1]:
        return np.zeros(keys.shape[1], bool)
    both = np.concatenate([known, keys], axis=1)
    _, inverse = np.unique(both, axis=1, return_inverse=True)
    inverse = inverse.reshape(-1)
    return np.isin(inverse[known.shape[1] :], inverse[: known.shape[1]])
