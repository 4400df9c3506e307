"""Which plan a trial takes, by the seconds that plans are said to need."""

from __future__ import annotations

import numpy as np
import pytest

from graphtide.ego import trial
from graphtide.ego.aggregates import aggregate_of
from graphtide.ego.decisions import decide
from graphtide.ego.neighbourhoods import Neighbourhoods
from graphtide.ego.overlay import Overlay
from graphtide.ego.policies import AllPull, AllPush
from graphtide.ego.windows import Last, Window, Within


def taken(monkeypatch: pytest.MonkeyPatch, *needed: float, spread: float = 0.01, window: Window | None = None) -> int:
    """Which is taken of plans that need so much time, but for noise that is each plan's own."""
    overlay = Overlay.direct(Neighbourhoods.from_sets([{0, 1}, {1}], writer_count=2))
    rates = np.ones(2)
    candidates = [
        (overlay, decide(overlay, rates, rates, by=AllPush() if at % 2 == 0 else AllPull()))
        for at in range(len(needed))
    ]
    noise = np.random.default_rng(0)
    rounds = []

    def run(race: trial._Race, operations: int | None = None) -> None:
        many = operations or race.operations
        for at in race._plans:
            race._seconds[at].append(many * needed[at] * 1e-6 * (1 + spread * noise.standard_normal()))
        rounds.append(many * max(needed[at] * 1e-6 for at in race._plans))

    monkeypatch.setattr(trial._Race, "run", run)
    conditions = trial.Conditions(aggregate_of("sum"), window or Last(3), rates, rates, np.array([True, False]))
    found = trial.fastest(candidates, conditions)
    assert len(rounds) <= 60
    assert max(rounds[3:]) <= 0.6, "a round takes long"
    return found


def test_the_better_plain_plan_is_taken_unless_another_is_clearly_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    assert taken(monkeypatch, 1.0, 1.2, 0.8, 0.9) == 2
    assert taken(monkeypatch, 1.0, 1.2, 1.1, 0.99) == 0
    assert taken(monkeypatch, 1.2, 1.0, 1.1, 1.3) == 1
    assert taken(monkeypatch, 3.0, 1.0, 0.7, window=Within(4)) == 2


def test_what_takes_far_longer_is_soon_left_out_and_rounds_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    assert taken(monkeypatch, 1000.0, 20.0, 1.0, 70.0) == 2
    assert taken(monkeypatch, 20.0, 1000.0, 30.0, 19.9) == 0


def test_what_is_only_now_and_then_faster_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert taken(monkeypatch, 1.0, 1.2, *[1.0] * 6, spread=0.2) == 0
    assert taken(monkeypatch, 1.0, 1.2, 0.95, spread=0.1) == 0


def test_of_plans_that_are_about_as_fast_the_first_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert taken(monkeypatch, 1.0, 1.2, 0.701, 0.7, 0.7, spread=0.0001) == 2


def test_windows_of_a_trial_are_full_where_they_have_values() -> None:
    overlay = Overlay.direct(Neighbourhoods.from_sets([{0, 1}], writer_count=2))
    conditions = trial.Conditions(aggregate_of("sum"), Last(3), np.ones(2), np.ones(1), np.array([True, False]))
    plan = trial._filled(overlay, np.ones(3, np.bool_), conditions)
    assert [len(plan.frame.contents.values_of(writer)) for writer in (0, 1)] == [3, 0]
    plan.check_invariants()
