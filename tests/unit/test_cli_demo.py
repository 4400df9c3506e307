"""The demonstration: what it shows, what it writes, and that a wrong answer is not passed over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from graphtide.cli import app, demo

SMALL = ("--days", "2", "--minutes", "360", "--windows", "6", "--skip", "9")


def call(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "100"}).invoke(app, ["demo", "stream", *arguments], catch_exceptions=False)


def test_it_compares_draws_and_says_what_to_try_next(tmp_path: Path) -> None:
    result = call(*SMALL, "--output", str(tmp_path / "new"))
    assert result.exit_code == 0
    assert "a window of 2 days that slides by 6 hours" in result.stdout
    assert "7 windows maintained" in result.stdout
    assert "all answers are equal" in result.stdout
    assert "try next" in result.stdout
    picture = tmp_path / "new/sliding-components.png"
    assert str(picture) in result.stdout.replace("\n", "")
    assert picture.read_bytes().startswith(b"\x89PNG")
    lines = [line for line in result.stdout.splitlines() if line.startswith("2004-")]
    assert len(lines) == 7
    assert "first" in lines[0]


def test_a_wrong_answer_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recompute = demo.recompute

    def mistaken(stream, positions):
        for n, right in enumerate(recompute(stream, positions)):
            yield replace(right, strong={}) if n == 3 else right

    monkeypatch.setattr(demo, "recompute", mistaken)
    result = call(*SMALL, "--output", str(tmp_path))
    assert result.exit_code == 1
    assert "answers differ in 1 windows" in result.stdout
    assert "all answers are equal" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "air-routes"), '"air-routes" is not a stream of edges'),
        (("--days", "0"), "a window needs a width"),
        (("--minutes", "-1"), "a window needs a width"),
        (("--windows", "0"), "a window needs a width"),
    ],
)
def test_what_cannot_be_shown_is_refused(arguments: tuple[str, str], message: str, tmp_path: Path) -> None:
    result = call(*arguments, "--output", str(tmp_path))
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = call(*SMALL, "--output", str(tmp_path / "file/folder"))
    assert result.exit_code == 2
    assert "choose another with --output" in result.stderr


@pytest.mark.parametrize(
    ("minutes", "said"), [(0.5, "30 seconds"), (1, "1 minute"), (90, "1.5 hours"), (1440, "1 day"), (2880, "2 days")]
)
def test_spans_are_said_in_their_own_unit(minutes: float, said: str) -> None:
    assert demo._span(minutes) == said
