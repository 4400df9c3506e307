"""What a run did, view by view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import pyarrow as pa

from graphtide.views.following import Step

__all__ = ["Report"]

# Of more views than this, the first and the last few are shown.
_SHOWN = 24
_SHOWN_LAST = 6


@dataclass(frozen=True, slots=True)
class Report:
    """A line per view in the order of the run: the way it took, sizes, differences, seconds.

    `order` is the order that was taken, `orders` how many edge differences each order that was considered has, and
    `expected` what they were expected to cost, in edge differences of a chain: the choice between them.
    """

    names: Sequence[str]
    steps: Sequence[Step]
    order: str
    orders: Mapping[str, float]
    expected: Mapping[str, float]

    def table(self) -> pa.Table:
        """The lines as an Arrow table."""
        return pa.table(
            {
                "view": [self.names[step.view] for step in self.steps],
                "way": [step.way for step in self.steps],
                "edges": pa.array([step.edges for step in self.steps], pa.int64()),
                "differences_in": pa.array([step.differences_in for step in self.steps], pa.int64()),
                "differences_out": pa.array([step.differences_out for step in self.steps], pa.int64()),
                "work": pa.array([step.work for step in self.steps], pa.int64()),
                "seconds": pa.array([step.seconds for step in self.steps], pa.float64()),
                "estimate": pa.array([step.estimate for step in self.steps], pa.float64()),
            }
        )

    @property
    def seconds(self) -> float:
        """Of all views together."""
        return sum(step.seconds for step in self.steps)

    @property
    def work(self) -> int:
        """Differences that all operators put out, over all views."""
        return sum(step.work for step in self.steps)

    @property
    def splits(self) -> list[str]:
        """The views after the first that began anew."""
        return [self.names[step.view] for step in self.steps[1:] if step.way == "scratch"]

    def summary(self) -> str:
        """One line of totals."""
        anew = sum(step.way == "scratch" for step in self.steps)
        considered = ", ".join(f"{name} {cost:,.0f}" for name, cost in self.expected.items())
        fed = sum(step.differences_in for step in self.steps)
        return (
            f"{len(self.steps)} views in {self.seconds:.3g} s: {anew} from scratch, "
            f"{len(self.steps) - anew} by differences; order {self.order}"
            + (f", expected cost by order: {considered}" if considered else "")
            + f"; {fed:,} edge differences set off {self.work:,} in all"
        )

    def __str__(self) -> str:
        lines = self._lines()
        widths = [max(len(line[c]) for line in lines) for c in range(len(lines[0]))]
        # The first two columns are words, the others numbers.
        rows = [
            "  ".join(
                cell.ljust(w) if c < 2 else cell.rjust(w) for c, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        ]
        left = len(self.steps) - _SHOWN
        if left > 0:
            rows.insert(len(rows) - _SHOWN_LAST, f"... {left} more ...")
        return "\n".join([*(row.rstrip() for row in rows), self.summary()])

    def html(self) -> str:
        """The lines as a table for notebooks."""
        head, *lines = self._lines()
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in lines)
        header = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        return f"<table><caption>{escape(self.summary())}</caption><tr>{header}</tr>{body}</table>"

    def _repr_html_(self) -> str:
        return self.html()

    def _lines(self) -> list[list[str]]:
        head = ["view", "way", "edges", "diffs in", "diffs out", "seconds", "expected"]
        return [head] + [
            [
                self.names[step.view],
                step.way,
                f"{step.edges:,}",
                f"{step.differences_in:,}",
                f"{step.differences_out:,}",
                f"{step.seconds:.4f}",
                "" if step.estimate is None else f"{step.estimate:.4f}",
            ]
            for step in self._shown_steps()
        ]

    def _shown_steps(self) -> Sequence[Step]:
        if len(self.steps) <= _SHOWN:
            return self.steps
        return [*self.steps[: _SHOWN - _SHOWN_LAST], *self.steps[-_SHOWN_LAST:]]

    def to_pandas(self) -> Any:
        """The lines as a pandas DataFrame."""
        return self.table().to_pandas()
