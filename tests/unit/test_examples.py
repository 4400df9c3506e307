"""Examples and experiments run as they stand, on the data that come with the package."""

from __future__ import annotations

import csv
import importlib
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(file.stem for file in (ROOT / "examples").glob("*.py") if file.stem != "__init__")


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    importlib.import_module(f"examples.{name}").main()
    assert 2 <= len(capsys.readouterr().out.splitlines()) <= 10


def test_figure_1_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--day", "2012-07-04T07:00", "--hours", "0.2", "--slides", "20", "--removals", "20"]
    monkeypatch.setattr(sys, "argv", ["run.py", *small, "--output", str(tmp_path)])
    runpy.run_path(str(ROOT / "experiments/cidr13_figure1/run.py"), run_name="__main__")
    assert "labels equal NetworkX's" in capsys.readouterr().out
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    totals = dict.fromkeys(["stateless", "incremental", "prioritized", "differential (60 s change)"], 0)
    with (tmp_path / "results.csv").open() as stream:
        for row in csv.DictReader(stream):
            totals[row["technique"]] = totals.get(row["technique"], 0) + int(row["differences"])
    assert (
        totals["stateless"] > totals["incremental"] > totals["prioritized"] > totals["differential (60 s change)"] > 0
    )
