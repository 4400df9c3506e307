"""Inputs: collections whose differences the user stages, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.plan import Codes, Node
from graphtide.errors import SchemaError
from graphtide.rows import encode_rows
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.exchange import load_changes

if TYPE_CHECKING:
    from graphtide.dataflow.flow import Dataflow
    from graphtide.trace.heap import Heap

__all__ = ["Input"]

_LARGEST: Final = 2**63 - 1


class Input(Collection):
    """A collection that changes as you say; nothing happens before the dataflow runs."""

    def __init__(self, flow: Dataflow, node: Node) -> None:
        super().__init__(flow, node)
        # Lines of codes with the epoch and the diffs of their rows.
        self._staged: list[tuple[Codes, int, int | Codes]] = []
        self._is_retry = False
        self.has_history = False  # whether it ever was anything but empty

    def insert(self, rows: Any) -> None:
        """Add rows: a list of tuples or dicts, or an Arrow, pandas, Polars or NumPy table."""
        self._stage(rows, 1)

    def remove(self, rows: Any) -> None:
        """Take rows away."""
        self._stage(rows, -1)

    def change(self, rows: Any, diffs: Iterable[int]) -> None:
        """Change the multiplicity of each row by its own integer."""
        codes = encode_rows(self.schema, self.flow.dictionary, rows)
        amounts = np.array(list(diffs) if not isinstance(diffs, np.ndarray) else diffs)
        if amounts.dtype.kind not in "iu" and len(amounts):
            raise SchemaError(f"diffs must be integers, not {amounts.dtype}", hint="pass one int per row")
        if amounts.dtype.kind == "u" and (amounts > _LARGEST).any():
            raise SchemaError(f"{amounts.max()} is too large for a diff", hint=f"a diff is at most {_LARGEST}")
        if amounts.shape != (codes.shape[1],):
            raise SchemaError(f"{codes.shape[1]} rows came with {len(amounts)} diffs", hint="pass one int per row")
        with self.flow.lock:
            self._staged.append((codes, self.flow.staging, amounts.astype(np.int64)))

    def _stage(self, rows: Any, diff: int) -> None:
        codes = encode_rows(self.schema, self.flow.dictionary, rows)
        with self.flow.lock:
            self._staged.append((codes, self.flow.staging, diff))

    @property
    def staged(self) -> int:
        """How many changes wait for the next run."""
        return sum(codes.shape[1] for codes, _, _ in self._staged)

    @property
    def nbytes(self) -> int:
        """Bytes of what is staged."""
        return sum(codes.nbytes + (0 if isinstance(diff, int) else diff.nbytes) for codes, _, diff in self._staged)

    def discard(self) -> None:
        """Forget what is staged."""
        self._staged.clear()
        self._is_retry = False

    def commit(self) -> None:
        """Let what is staged be history."""
        self.has_history = self.has_history or self.staged > 0
        self.discard()

    def restage(self, epoch: int) -> None:
        """Put all that is staged into one epoch: a run of several failed."""
        self._staged = [(codes, epoch, diff) for codes, _, diff in self._staged]
        self._is_retry = True

    def load(self, heap: Heap, number: int) -> int:
        """A batch of all that is staged, 0 if nothing is; it stays staged until `discard`."""
        parts = [part for part in self._staged if part[0].shape[1]]
        if not parts:
            return 0
        if len(parts) == 1 and isinstance(parts[0][2], int):
            codes, epoch, diff = parts[0]
            return int(load_changes(heap.table, number, codes, epoch, diff))
        sizes = [codes.shape[1] for codes, _, _ in parts]
        lines = np.empty((len(self.schema) + 2, sum(sizes)), np.int64)
        np.concatenate([codes for codes, _, _ in parts], axis=1, out=lines[:-2])
        lines[-2] = np.repeat([epoch for _, epoch, _ in parts], sizes)
        # One diff per part and then those of single rows, written over the zero that stands for them.
        lines[-1] = np.repeat([diff if isinstance(diff, int) else 0 for _, _, diff in parts], sizes)
        ends = np.cumsum(sizes).tolist()
        for (_, _, diff), size, end in zip(parts, sizes, ends, strict=True):
            if not isinstance(diff, int):
                lines[-1, end - size : end] = diff
        loaded = heap.put(lines, 1, number)
        if not self._is_retry:
            return loaded
        # A row that made the last run fail and was taken back since is not even looked at.
        settled = int(consolidate(heap.table, number, loaded, np.arange(len(self.schema))))
        heap.release(loaded)
        return settled
