"""What a batch did to the queries of a live graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from graphtide.errors import CatalogueError, CompactedError
from graphtide.rows.schema import did_you_mean

if TYPE_CHECKING:
    from graphtide.frontier.live import LiveGraph

__all__ = ["Applied"]


class Applied(Mapping[str, pa.Table]):
    """The changes of every query by its name, made when they are asked for and until the next batch comes."""

    def __init__(self, live: LiveGraph, batch: int) -> None:
        self._live = live
        self._batch = batch

    def __getitem__(self, name: str) -> pa.Table:
        self._check()
        queries = self._live.queries
        if name not in queries:
            raise CatalogueError(f'there is no query "{name}"', hint=did_you_mean(name, queries) or None)
        return queries[name].changes()

    def __iter__(self) -> Iterator[str]:
        self._check()
        return iter(self._live.queries)

    def __len__(self) -> int:
        return len(self._live.queries)

    def __repr__(self) -> str:
        return f"<changes of {len(self)} queries by batch {self._batch}>"

    def _check(self) -> None:
        if self._live.batches != self._batch:
            raise CompactedError(
                f"the changes of batch {self._batch} are gone: the graph is at batch {self._live.batches}",
                hint="read them before the next batch, for example dict(live.apply(...))",
            )
