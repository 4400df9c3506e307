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


@pytest.mark.parametrize(
    ("name", "small"),
    [
        ("table1", ["--graph", "rmat-small", "--queries", "1", "3"]),
        ("figure4", ["--graphs", "rmat-small", "--queries", "2"]),
        ("figure5", ["--degrees", "15", "--queries", "2"]),
        ("figure6", ["--graphs", "rmat-small", "--queries", "2", "--probabilities", "0", "1"]),
        ("figure7", ["--graphs", "rmat-small", "--megabytes", "1", "--levels", "2"]),
        ("figure8", ["--graphs", "rmat-small", "--share", "0.9"]),
    ],
)
def test_an_experiment_with_continuous_queries_can_be_made_again(
    name: str, small: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", *small, "--batches", "6", "--output", str(tmp_path)])
    runpy.run_path(str(ROOT / f"experiments/vldb22_{name}/run.py"), run_name="__main__")
    assert "JoinOnDemand" in capsys.readouterr().out
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    with (tmp_path / "results.csv").open() as stream, (ROOT / f"experiments/vldb22_{name}/results.csv").open() as other:
        rows, recorded = list(csv.DictReader(stream)), csv.DictReader(other)
        assert recorded.fieldnames == list(rows[0])
    assert all(int(row["batches"]) > 0 and float(row["total_seconds"]) > 0 for row in rows)
    kept = {(row["graph"], row["query"], row["policy"]): int(row["differences"]) / int(row["queries"]) for row in rows}
    for (graph, query, policy), count in kept.items():
        lean = kept[graph, query, "JoinOnDemand"] if policy in {"Scratch", "Vanilla"} else count
        assert count == 0 < lean if policy == "Scratch" else count >= lean > 0


def test_recorded_activity_can_be_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--events", "400", "--output", str(tmp_path)])
    runpy.run_path(str(ROOT / "experiments/eagr_activity/run.py"), run_name="__main__")
    assert "EPA: not in the folder" in capsys.readouterr().out
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    with (tmp_path / "results.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {(row["activity"], row["aggregate"]) for row in rows} == {
        (activity, aggregate) for activity in ("Twitter", "Wikipedia") for aggregate in ("SUM", "TOP-K")
    }
    assert all(float(row["value"]) > 0 for row in rows if row["what"] == "operations a second")


def test_single_pairs_with_landmarks_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--graphs", "--scale", "8", "--side", "8", "--queries", "3", "--batches", "2", "--landmarks", "2"]
    monkeypatch.setattr(sys, "argv", ["run.py", *small, "--output", str(tmp_path)])
    runpy.run_path(str(ROOT / "experiments/vldb22_figure9/run.py"), run_name="__main__")
    assert "with landmarks" in capsys.readouterr().out
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    with (tmp_path / "results.csv").open() as stream:
        ways = [(row["graph"], row["way"]) for row in csv.DictReader(stream)]
    assert len(ways) == len(set(ways)) == 8


def test_program_analyses_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ROOT / "experiments/program_analysis"
    monkeypatch.syspath_prepend(str(folder))
    few = r"(?!(adlist|dict|networking|object|sds|t_set|zmalloc)\.c).*"
    small = ["--analyses", "points_to", "--left-out", few, "--releases", "2", "--removals", "2"]
    monkeypatch.setattr(sys, "argv", ["run.py", *small, "--output", str(tmp_path)])
    runpy.run_path(str(folder / "run.py"), run_name="__main__")
    assert capsys.readouterr().out.count("from scratch") == 2
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    with (tmp_path / "results.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["step"] for row in rows] == ["7.0.0", "7.0.1", "removal 1", "removal 2"]
    assert int(rows[0]["changed"]) == int(rows[0]["result"]) > int(rows[1]["changed"]) > 0
