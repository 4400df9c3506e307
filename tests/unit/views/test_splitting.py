"""What a splitter expects of views, from what it has seen."""

from __future__ import annotations

import pytest

from graphtide.views.splitting import LinearModel, Splitter


def test_one_run_is_put_down_to_its_size_but_for_its_start() -> None:
    model = LinearModel()
    model.observe(100, 5.0, start=1.0)
    assert model.estimate(200) == pytest.approx(9.0)


def test_a_start_is_not_below_the_one_that_was_seen() -> None:
    model = LinearModel()
    model.observe(100, 2.0, start=1.0)
    model.observe(200, 5.0, start=1.0)
    # The line through both runs would begin below zero.
    assert model.estimate(0) == pytest.approx(1.0)
    assert model.estimate(200) > model.estimate(100)


def test_runs_that_got_shorter_say_nothing_of_a_price() -> None:
    model = LinearModel()
    model.observe(100, 3.0)
    model.observe(200, 1.0)
    assert model.estimate(10) == model.estimate(10_000) == pytest.approx(2.0)


def test_views_that_share_nothing_begin_anew_before_anything_was_observed() -> None:
    splitter = Splitter()
    splitter.observe("scratch", 100, 1.0)
    assert splitter.decide(100, differences=200) == "scratch"
    assert splitter.decide(100, differences=20) == "differential"


def test_a_small_first_view_does_not_make_large_ones_dear() -> None:
    splitter = Splitter()
    splitter.observe("scratch", 10, 0.010, start=0.005)
    splitter.observe("differential", 10, 0.001)
    # By the first view alone, 10,000 edges would take 5 s from scratch, and 20,000 differences take 2 s.
    assert splitter.decide(10_000, differences=20_000) == "scratch"
    assert splitter.estimate("scratch", 10_000) == pytest.approx(1.005)


def test_a_dataflow_is_not_built_for_a_few_edges() -> None:
    splitter = Splitter()
    splitter.observe("scratch", 1_000, 0.010, start=0.005)
    splitter.observe("differential", 1_000, 0.005)
    assert splitter.decide(100, differences=200) == "differential"
