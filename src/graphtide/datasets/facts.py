"""Facts of real programs over their releases, as arrays that a Datalog program takes.

A file has a row for each fact that holds in any release, with a bit for each of them, so the facts of a release and
the changes between two are selections. The README beside the files says where each is from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.datasets.shipped import data_folder, read_parquet
from graphtide.errors import UsageError
from graphtide.text import hint_at_nearest

__all__ = ["FactHistory", "facts"]

_RELEASES: Final = {"redis": tuple(f"7.0.{minor}" for minor in range(16))}


@dataclass(frozen=True)
class FactHistory:
    """The facts of a program by release; each relation is an array of numbers, a line for each fact."""

    name: str
    releases: tuple[str, ...]

    def at(self, release: str) -> dict[str, NDArray[np.int64]]:
        """All facts of a release."""
        bit = self._bit(release)
        return {relation: rows[(bits >> bit) & 1 == 1] for relation, (rows, bits) in self._facts.items()}

    def changes(self, release: str) -> tuple[dict[str, NDArray[np.int64]], dict[str, NDArray[np.int64]]]:
        """The facts that came with a release, and those that went; relations without a change are left out."""
        bit = self._bit(release)
        coming: dict[str, NDArray[np.int64]] = {}
        going: dict[str, NDArray[np.int64]] = {}
        for relation, (rows, bits) in self._facts.items():
            now, before = (bits >> bit) & 1, (bits >> (bit - 1)) & 1 if bit else np.zeros_like(bits)
            for result, is_in in ((coming, now > before), (going, now < before)):
                if is_in.any():
                    result[relation] = rows[is_in]
        return coming, going

    @cached_property
    def names(self) -> pa.Table:
        """What the numbers in the facts stand for: `id` and `name`."""
        return _read(f"{self.name}.symbols.parquet")

    @cached_property
    def _facts(self) -> Mapping[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        table = _read(f"{self.name}.parquet")
        relations = table["relation"].combine_chunks()
        codes = relations.indices.to_numpy()
        arguments = [table[column] for column in ("a", "b", "c")]
        bits = table["releases"].to_numpy().astype(np.int64)
        found: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        for code, relation in enumerate(relations.dictionary.to_pylist()):
            low, high = np.searchsorted(codes, [code, code + 1]).tolist()
            parts = [column.slice(low, high - low) for column in arguments]
            given = [part.to_numpy().astype(np.int64) for part in parts if part.null_count == 0]
            found[relation] = np.column_stack(given), bits[low:high]
        return found

    def _bit(self, release: str) -> int:
        if release not in self.releases:
            hint = hint_at_nearest(release, self.releases, "releases")
            raise UsageError(f'there is no release "{release}" of {self.name}', hint=hint)
        return self.releases.index(release)


def facts(name: str) -> FactHistory:
    """The facts of a program that come with the package.

    >>> redis = facts("redis")
    >>> redis.at("7.0.0")["load"].shape
    (64988, 2)
    >>> coming, going = redis.changes("7.0.15")
    >>> sum(map(len, coming.values())), sum(map(len, going.values()))
    (84, 88)
    """
    if name not in _RELEASES:
        raise UsageError(f'there are no facts of "{name}"', hint=f"there are those of {', '.join(_RELEASES)}")
    return FactHistory(name, _RELEASES[name])


def _read(file: str) -> pa.Table:
    return read_parquet(data_folder() / "facts" / file)
