"""Decision tables: which views an edge is in, looked up by the ranks of its values.

A table belongs to a column and has, for every rank that a value can have among the literals of all views, a bit for
every view: whether the view's conditions on that column hold. The views of an edge are what the tables of all columns
have in common. Thousands of views thus cost a search per column and some words per edge, where evaluating one
predicate after the other costs each of them. A table has such bits for every alternative that a view may have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.graph.schema import PropertyType
from graphtide.gvdl.predicate import EdgeNumber, Predicate
from graphtide.pipeline.kernels.ranks import look_up, ranks_of
from graphtide.pipeline.materialize.conditions import Code, ColumnRead, Condition, alternatives
from graphtide.pipeline.materialize.files import WORD, words_of
from graphtide.rows.codes import codes_of_floats

__all__ = ["DecisionTables", "RankedColumn"]

Words: TypeAlias = NDArray[np.uint64]
Ranks: TypeAlias = NDArray[np.int32]

_MOST_ALTERNATIVES: Final = 8
# Beyond this many bytes of tables, looking up is no longer cheap.
_LARGEST: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class RankedColumn:
    """A column and the codes that its values are compared with, ascending."""

    column: ColumnRead
    codes: tuple[Code, ...]

    def __len__(self) -> int:
        """How many ranks there are."""
        return 2 * len(self.codes) + 2

    def rank_of(self) -> dict[Code, int]:
        """The ranks of the codes."""
        return {code: 2 * i + 2 for i, code in enumerate(self.codes)}

    def ranks(self, values: pa.Array) -> Ranks:
        """The ranks of values, 0 for those that are missing."""
        if isinstance(values, pa.DictionaryArray):
            # The place beyond the dictionary is for what is missing.
            known = np.append(self.ranks(values.dictionary), np.int32(0))
            return known[values.indices.fill_null(len(values.dictionary)).to_numpy()]
        if self.column.type is PropertyType.STRING:
            ranks = self._ranks_of_strings(values)
        else:
            ranks = ranks_of(_codes(values, self.column.type), np.array(self.codes, np.int64))
        if values.null_count:
            ranks[values.is_null().to_numpy(zero_copy_only=False)] = 0
        return ranks

    def _ranks_of_strings(self, values: pa.Array) -> Ranks:
        # Python orders strings by code points, as predicates do.
        texts = values.fill_null("").to_numpy(zero_copy_only=False)
        literals = np.array(self.codes, object)
        below, not_above = (np.searchsorted(literals, texts, side) for side in ("left", "right"))
        return (below + not_above + 1).astype(np.int32)


@dataclass(frozen=True, slots=True)
class DecisionTables:
    """The tables of columns, one after the other, as `graphtide.pipeline.kernels.ranks.look_up` takes them."""

    columns: tuple[RankedColumn, ...]
    bits: Words
    starts: NDArray[np.int64]
    alternatives: int
    width: int

    @classmethod
    def of(cls, dimensions: Sequence[Sequence[Predicate]]) -> Self | None:
        """Tables for the views of each dimension, which begin a word each; None if a predicate is not of that kind."""
        by_bit: dict[int, list[tuple[Condition, ...]]] = {}
        width = 0
        for predicates in dimensions:
            for number, predicate in enumerate(predicates):
                found = alternatives(predicate, _MOST_ALTERNATIVES)
                if found is None:
                    return None
                by_bit[WORD * width + number] = found
            width += words_of(len(predicates))
        most = max([1, *map(len, by_bit.values())])
        columns = _ranked([each for found in by_bit.values() for conjunction in found for each in conjunction])
        sizes = [most * len(column) * width for column in columns]
        if 8 * sum(sizes) > _LARGEST:
            return None
        tables = [_table(column, by_bit, most, width).ravel() for column in columns]
        return cls(columns, np.concatenate(tables), np.cumsum([0, *sizes[:-1]]), most, width)

    def words(self, ranks: Sequence[Ranks]) -> Words:
        """The words of edges, a line to each word, from the ranks of their values in each column."""
        sizes = np.array([len(column) for column in self.columns])
        return look_up(np.stack(ranks), self.bits, self.starts, sizes, self.alternatives, self.width)


def _ranked(conditions: Sequence[Condition]) -> tuple[RankedColumn, ...]:
    """The columns of conditions with the literals there; the number of the edge is always among them."""
    codes: dict[ColumnRead, set[Any]] = {EdgeNumber(): set()}
    for condition in conditions:
        codes.setdefault(condition.column, set()).update(condition.codes())
    return tuple(RankedColumn(column, tuple(sorted(found))) for column, found in codes.items())


def _table(column: RankedColumn, by_bit: dict[int, list[tuple[Condition, ...]]], most: int, width: int) -> Words:
    """For each of `most` alternatives and each rank, the words of those views whose conditions on the column hold."""
    ranks, rank_of = np.arange(len(column)), column.rank_of()
    table = np.empty((most, len(column), width), np.uint64)
    for a in range(most):
        # A view that has fewer alternatives holds nowhere.
        truth = np.zeros((WORD * width, len(column)), bool)
        for bit, found in by_bit.items():
            if a < len(found):
                truth[bit] = True
                for condition in found[a]:
                    if condition.column == column.column:
                        truth[bit] &= condition.holds(rank_of, ranks)
        packed = np.packbits(truth, axis=0, bitorder="little")
        table[a] = np.ascontiguousarray(packed.T).view("<u8")
    return table


def _codes(values: pa.Array, kind: PropertyType) -> NDArray[np.int64]:
    """Numbers that compare as the values do; what is missing gets any."""
    values = values.cast(kind.arrow)
    if kind is PropertyType.FLOAT:
        return codes_of_floats(values.fill_null(0.0).to_numpy())
    if kind is PropertyType.DATE:
        values = values.cast(pa.int32())
    return values.cast(pa.int64()).fill_null(0).to_numpy()
