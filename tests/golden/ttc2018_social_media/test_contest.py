"""Both queries give the published answers after every batch, on the sizes that are kept here."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
contest = importlib.import_module("experiments.ttc2018_social_media.run")


@pytest.mark.parametrize("size", [1, 2, 4])
def test_every_published_answer(size: int) -> None:
    answers = contest.published(HERE / "expected-results.csv.gz")
    found = {
        (name, str(size), number): answer
        for number, both, _ in contest.replay(HERE / f"model-{size}.tar.gz")
        for name, answer in both.items()
    }
    assert len(found) == 42
    assert found == {key: answers[key] for key in found}
