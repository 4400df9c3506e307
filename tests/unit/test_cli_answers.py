"""What statements gave, as the terminal and machines see it."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from rich.console import Console

from graphtide.cli.answers import print_answer, print_json


def printed(answer: object) -> str:
    console = Console(width=100, record=True)
    with console.capture() as capture:
        print_answer(console, answer)  # type: ignore[arg-type]
    return capture.get()


def test_a_table_is_shown_with_what_is_left_out() -> None:
    text = printed(pa.table({"name": [f"n{i}" for i in range(30)], "count": list(range(30))}))
    assert "n19" in text
    assert "n20" not in text
    assert "and 10 more rows" in text


def test_brackets_in_names_and_values_are_no_markup() -> None:
    text = printed(pa.table({"[bold]": ["[red]x"]}))
    assert "[bold]" in text
    assert "[red]x" in text


def test_a_sentence_is_shown_as_it_is() -> None:
    assert printed('dropped view "[a]"') == 'dropped view "[a]"\n'


def test_machines_get_a_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json(pa.table({"name": ["a"], "count": [None]}))
    assert json.loads(capsys.readouterr().out) == {"rows": [{"name": "a", "count": None}]}
