"""The one shape of every measurement."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from graphtide.bench import Comparison, Report, machine_facts

FASTER = Comparison("join", ours=0.5, peer=2.0, peer_name="polars", unit="s", agree=True, bar=3.0)


def test_ratio_says_how_many_times_ours_is_better() -> None:
    assert FASTER.ratio == 4.0
    assert dataclasses.replace(FASTER, unit="bytes").ratio == 4.0
    assert dataclasses.replace(FASTER, unit="rows/s").ratio == 0.25


def test_a_row_without_peer_or_with_a_zero_has_no_ratio() -> None:
    assert dataclasses.replace(FASTER, peer=None).ratio is None
    assert dataclasses.replace(FASTER, ours=0.0).ratio is None


@pytest.mark.parametrize(
    ("bar", "peer", "holds"),
    [(3.0, 2.0, True), (4.0, 2.0, True), (4.1, 2.0, False), (None, 0.1, True), (3.0, None, False)],
)
def test_a_bar_holds_when_the_ratio_reaches_it(bar: float | None, peer: float | None, holds: bool) -> None:
    assert dataclasses.replace(FASTER, bar=bar, peer=peer).holds is holds


def test_json_has_the_fields_of_the_design(tmp_path: Path) -> None:
    Report("core", (FASTER,)).write_json(tmp_path / "out.json")
    written = json.loads((tmp_path / "out.json").read_text())
    assert list(written) == ["bench", "machine", "results"]
    assert written["bench"] == "core"
    assert written["results"] == [
        {
            "name": "join",
            "ours": 0.5,
            "peer": 2.0,
            "peer_name": "polars",
            "unit": "s",
            "ratio": 4.0,
            "bar": 3.0,
            "holds": True,
            "agree": True,
            "note": "",
        }
    ]


def test_failures_are_missed_bars_and_different_answers() -> None:
    missed = dataclasses.replace(FASTER, bar=9.0)
    wrong = dataclasses.replace(FASTER, agree=False)
    assert Report("core", (FASTER, missed, wrong)).failures == (missed, wrong)


def test_table_shows_figures_in_readable_units_and_the_ratio_last() -> None:
    console = Console(width=160, record=True, file=io.StringIO())
    rows = (
        FASTER,
        Comparison("tiny", ours=2.5e-5, peer=None, peer_name="[none]", unit="s", agree=False, note="[a] b"),
        Comparison("rate", ours=12_345_678.0, peer=1.0, peer_name="pathway", unit="rows/s", agree=True),
    )
    console.print(Report("core", rows).table())
    text = console.export_text()
    join, tiny = (next(line for line in text.splitlines() if name in line) for name in ("join", "tiny"))
    assert [part.strip() for part in join.strip("│ ").split("│")] == [
        "join", "polars", "equal", "500 ms", "2.00 s", "3.00x", "4.00x",
    ]  # fmt: skip
    assert "25.0 us" in tiny
    assert "differ" in tiny
    assert "[none]" in text
    assert "[a] b" in text
    assert "12,345,678 rows/s" in text


def test_machine_facts_name_what_a_measurement_depends_on() -> None:
    facts = machine_facts()
    assert {"processor", "cores", "memory_bytes", "python", "numba", "numpy"} <= set(facts)
    assert json.loads(json.dumps(facts)) == facts
