"""What a benchmark found, as JSON for machines and as a table for people."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from graphtide.bench.comparison import Comparison
from graphtide.bench.machine import machine_facts

__all__ = ["Report", "line_of"]


@dataclass(frozen=True, slots=True)
class Report:
    """The comparisons of one bench, and the machine they were measured on."""

    bench: str
    results: tuple[Comparison, ...] = ()
    machine: dict[str, object] = field(default_factory=machine_facts)

    @property
    def failures(self) -> tuple[Comparison, ...]:
        """The rows that miss their bar or whose answers differ."""
        return tuple(row for row in self.results if not (row.holds and row.agree))

    @property
    def disagreements(self) -> tuple[Comparison, ...]:
        """The rows whose answers differ."""
        return tuple(row for row in self.results if not row.agree)

    def with_row(self, row: Comparison) -> Report:
        """The same with a row more."""
        return Report(self.bench, (*self.results, row), self.machine)

    def write_json(self, file: Path) -> None:
        """Write the one shape that every measurement has."""
        rows = [row.as_row() for row in self.results]
        shape = {"bench": self.bench, "machine": self.machine, "results": rows}
        file.write_text(json.dumps(shape, indent=2) + "\n", encoding="utf-8")

    def table(self) -> Table:
        """The rows for the terminal, the ratio last."""
        table = Table(title=f"graphtide bench {self.bench}", caption=self._machine_line())
        for heading in ("task", "peer", "answers"):
            table.add_column(heading)
        for heading in ("ours", "theirs", "bar", "times better"):
            table.add_column(heading, justify="right")
        for row in self.results:
            table.add_row(
                escape(row.name) + (f"\n[dim]{escape(row.note)}[/dim]" if row.note else ""),
                escape(row.peer_name),
                "equal" if row.agree else "[red]differ[/red]",
                _figure(row.ours, row.unit),
                _figure(row.peer, row.unit),
                _times(row.bar),
                _times(row.ratio) if row.holds else f"[red]{_times(row.ratio)}[/red]",
            )
        return table

    def _machine_line(self) -> str:
        facts = self.machine
        return f"{facts['processor']}, {facts['cores']} cores, Python {facts['python']}"


def line_of(row: Comparison) -> str:
    """A row as it is shown when it has been measured: what it found, and its bar."""
    parts = [_figure(row.ours, row.unit)]
    if row.peer is not None:
        parts.append(f"{row.peer_name} {_figure(row.peer, row.unit)}")
    if row.ratio is not None:
        parts.append(_times(row.ratio) + ("" if row.bar is None else f" (bar {_times(row.bar)})"))
    if not row.agree:
        parts.append("the answers differ")
    return f"{row.name}: " + ", ".join(parts)


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    if unit == "s" and value < 1:
        value, unit = (value * 1e3, "ms") if value >= 1e-3 else (value * 1e6, "us")
    # Three significant digits: a benchmark's noise leaves no more.
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{digits}f} {unit}"


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}x"
