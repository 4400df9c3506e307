"""Inputs: collections whose differences the user stages, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphtide.dataflow.builder import order_of
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.plan import Codes, Node, Source
from graphtide.dataflow.staged import Staged, lines_of
from graphtide.errors import NegativeMultiplicityError, PlanError, SchemaError, UsageError
from graphtide.rows import decode_rows, encode_rows
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.exchange import load_changes
from graphtide.trace.kernels.lookup import first_shortage

if TYPE_CHECKING:
    from graphtide.dataflow.flow import Dataflow
    from graphtide.trace.heap import Heap

__all__ = ["Input"]

_LARGEST: Final = 2**63 - 1


class Input(Collection):
    """A collection that changes as you say; nothing happens before the dataflow runs."""

    def __init__(self, flow: Dataflow, node: Node) -> None:
        super().__init__(flow, node)
        self._staged: list[Staged] = []
        self._is_retry = False
        self.has_history = False  # whether it ever was anything but empty

    def insert(self, rows: Any) -> None:
        """Add rows: a list of tuples or dicts, or an Arrow, pandas, Polars or NumPy table."""
        self._stage(rows, 1)

    def remove(self, rows: Any) -> None:
        """Take rows away."""
        self._stage(rows, -1)

    def change(self, rows: Any, diffs: Iterable[int], *, epochs: Iterable[int] | None = None) -> None:
        """Change the multiplicity of each row by its own integer, in the current epoch or in its own.

        Many epochs can be staged in one call; `seal` closes them and `run` takes them as one batch:

        >>> from graphtide import Dataflow
        >>> flow = Dataflow()
        >>> visits = flow.input("visits", page=int)
        >>> counts = visits.group_by("page").count().output("counts")
        >>> visits.change([(7,), (7,), (8,)], diffs=[1, 1, 1], epochs=[0, 1, 1])
        >>> flow.seal(2)
        1
        >>> flow.run()
        >>> counts.changes().num_rows
        4
        """
        codes = encode_rows(self.schema, self.flow.dictionary, rows)
        amounts = _one_per_row("diff", diffs, codes.shape[1])
        if len(amounts):
            self._check_grows(int(amounts.min()))
        if epochs is None:
            with self.flow.lock:
                self._staged.append(Staged(codes, self.flow.staging, amounts))
            return
        times = _one_per_row("epoch", epochs, codes.shape[1])
        with self.flow.lock:
            if len(times) and times.min() < self.flow.staging:
                raise UsageError(
                    f"epoch {times.min()} is closed: the current one is {self.flow.staging}",
                    hint="stage into the current epoch or a later one",
                )
            self._staged.append(Staged(codes, times, amounts))

    def change_codes(self, codes: Codes, diff: int) -> None:
        """As `insert` (1) and `remove` (-1), for lines of codes in the dataflow's dictionary."""
        self._check_grows(diff)
        with self.flow.lock:
            self._staged.append(Staged(codes, self.flow.staging, diff))

    def _stage(self, rows: Any, diff: int) -> None:
        self.change_codes(encode_rows(self.schema, self.flow.dictionary, rows), diff)

    def _check_grows(self, least: int) -> None:
        """Refuse to take rows away from an input that was made to grow."""
        source = self.node.operation
        if least < 0 and isinstance(source, Source) and source.grows:
            raise UsageError(
                f'rows cannot be taken away from "{self.node.name}", which was made to grow',
                hint="make it with flow.input(...)",
            )

    def check(self, heap: Heap, loaded: int, upper: int) -> None:
        """Refuse what is staged before an epoch if the input is checked and a row would be there fewer than 0 times.

        It is the batch that was loaded, if anything reads the input.
        """
        source = self.node.operation
        if not (isinstance(source, Source) and source.is_checked):
            return
        if not any(part.takes_away and len(part.parted(upper)[0]) for part in self._staged):
            return
        index = next((each for each in self.flow.builder.indexes_of(self.node) if self.flow.is_installed(each)), None)
        if index is None:
            raise PlanError(
                f'rows cannot be taken away from "{self.node.name}", of which nothing keeps an index',
                hint="keep one with arrange",
            )
        order = np.array(order_of(index))
        changes = int(consolidate(heap.table, 0, loaded, order))
        if changes == 0:
            return
        short = first_shortage(heap.table, self.flow.assembly.spine_of(index), changes)
        heap.release(changes)
        if len(short):
            codes = np.empty((len(order), 1), np.int64)
            codes[order, 0] = short[:-2]
            (row,) = decode_rows(self.schema, self.flow.dictionary, codes)
            raise NegativeMultiplicityError(
                f'cannot take {row} away from "{self.node.name}": {short[-2]} to go, {short[-1]} there',
                hint="nothing was committed; rollback() forgets what is staged, or put in what is missing",
            )

    @property
    def staged(self) -> int:
        """How many changes wait for a run."""
        return sum(map(len, self._staged))

    @property
    def nbytes(self) -> int:
        """Bytes of what is staged."""
        return sum(part.nbytes for part in self._staged)

    def discard(self) -> None:
        """Forget what is staged."""
        self._staged.clear()
        self._is_retry = False

    def commit(self, upper: int) -> None:
        """Let what is staged before an epoch be history."""
        parted = [part.parted(upper) for part in self._staged]
        self.has_history = self.has_history or any(len(before) for before, _ in parted)
        self._staged = [after for _, after in parted if len(after)]
        self._is_retry = False

    def restage(self, epoch: int, upper: int) -> None:
        """Put what is staged before `upper` into `epoch`, and what follows as far after it: a run of several failed."""
        parted = [part.parted(upper) for part in self._staged]
        self._staged = [before.moved_to(epoch) for before, _ in parted if len(before)]
        self._staged += [after.moved_by(epoch - upper) for _, after in parted if len(after)]
        self._is_retry = True

    def load(self, heap: Heap, number: int, upper: int) -> int:
        """A batch of what is staged before an epoch, 0 if nothing is; it stays staged until `commit`."""
        parts = [before for part in self._staged if len(before := part.parted(upper)[0])]
        if not parts:
            return 0
        first = parts[0]
        if len(parts) == 1 and isinstance(first.diffs, int) and isinstance(first.epochs, int):
            return int(load_changes(heap.table, number, first.codes, first.epochs, first.diffs))
        loaded = heap.put(lines_of(parts), 1, number)
        if not self._is_retry and not any(part.takes_away for part in parts):
            return loaded
        # A row that came and went, or made the last run fail and was taken back since, is not even looked at.
        settled = int(consolidate(heap.table, number, loaded, np.arange(len(self.schema))))
        heap.release(loaded)
        return settled


def _one_per_row(what: str, values: Iterable[int], rows: int) -> Codes:
    """Diffs or epochs as they were passed, checked."""
    numbers = values if isinstance(values, np.ndarray) else np.array(list(values))
    if numbers.dtype.kind not in "iu" and len(numbers):
        raise SchemaError(f"{what}s must be integers, not {numbers.dtype}", hint="pass one int per row")
    if numbers.dtype.kind == "u" and (numbers > _LARGEST).any():
        raise SchemaError(f"{numbers.max()} is too large for a {what}", hint=f"it is at most {_LARGEST}")
    if numbers.shape != (rows,):
        raise SchemaError(f"{rows} rows came with {len(numbers)} {what}s", hint="pass one int per row")
    return numbers.astype(np.int64)
