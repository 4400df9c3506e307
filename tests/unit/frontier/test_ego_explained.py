"""How an ego aggregate's overlay came about, by what costs it was decided, what it looks like, and what it takes up."""

from __future__ import annotations

import pytest

from graphtide.ego import AdaptiveMining, Costs, Curve, Direct, Incremental, MinCut, build
from graphtide.ego import planning as ego_planning
from graphtide.frontier import LiveGraph

PUSH_ALL, PULL_ALL = Costs(push=Curve(constant=1e-6)), Costs(push=Curve(constant=1e6))


def biclique(size, **more):
    live = LiveGraph()
    live.apply(insert=[(w, 1_000 + r) for w in range(size) for r in range(size)])
    return live.ego("sum", **more)


def no_trial(*_arguments):
    raise AssertionError("plans were tried")


@pytest.mark.parametrize("method", [AdaptiveMining(), Incremental(look=4)], ids=repr)
def test_the_sharing_index_of_each_iteration_is_told(method):
    ego = biclique(20, overlay=method, decide=MinCut())
    origin = ego.explain().origin
    made = build(ego.plan.neighbourhoods(), method)
    assert origin.sharing_indices == tuple(each.sharing_index for each in made.iterations)
    assert len(origin.sharing_indices) >= 1
    assert (origin.method, origin.taken, origin.by) == (repr(method), "shared", "decisions")
    words = str(ego.explain())
    assert f"made by: {method!r}: sharing index {origin.sharing_indices[0]:.1%}" in words
    assert "since decisions were given" in words


def test_a_method_that_finds_nothing_says_so():
    assert "Direct(): nothing was found to share" in str(biclique(5, overlay=Direct()).explain())


@pytest.mark.parametrize(
    ("best", "taken", "words"),
    [
        (0, "direct", "a plan without sharing: in a trial none that shares was clearly faster"),
        (2, "flat", "worth keeping"),
        (3, "direct", "a plan without sharing"),
    ],
)
def test_what_a_trial_took_is_told(monkeypatch, best, taken, words):
    monkeypatch.setattr(ego_planning, "fastest", lambda *_arguments: best)
    monkeypatch.setattr(ego_planning, "calibrate", lambda *_arguments: Costs())
    # Readers that are pulled, and writers that write as often: what they share is kept.
    ego = biclique(130, overlay=AdaptiveMining())
    explained = ego.explain()
    assert (explained.origin.taken, explained.origin.by) == (taken, "trial")
    assert words in str(explained)
    assert "hint: decide=MinCut() takes that overlay" in str(explained)
    assert explained.origin.sharing_indices[-1] > 0.9
    taken_as_it_is = biclique(130, overlay=AdaptiveMining(), decide=MinCut()).explain()
    assert taken_as_it_is.sharing_index == taken_as_it_is.origin.sharing_indices[-1]


@pytest.mark.parametrize("size", [6, 130])
@pytest.mark.parametrize(("costs", "pushed"), [(PUSH_ALL, True), (PULL_ALL, False)])
def test_costs_that_are_given_decide(monkeypatch, size, costs, pushed):
    monkeypatch.setattr(ego_planning, "fastest", no_trial)
    monkeypatch.setattr(ego_planning, "calibrate", no_trial)
    # Those without writers cost nothing either way.
    explained = biclique(size, costs=costs, readers=range(1_000, 1_000 + size)).explain()
    assert (explained.pushed, explained.pulled)[pushed] == 0
    assert explained.origin.by == "costs"


def test_costs_that_are_given_decide_what_observed_rates_flip():
    live = LiveGraph()
    live.apply(insert=[(w, 99) for w in range(10)])
    ego = live.ego("sum", readers=[99], rates=(100, 1), costs=Costs(push=Curve(constant=10)))
    assert ego.explain().pushed == 0
    # A pull of ten inputs costs as much as a push here: more reads than writes flip the reader.
    ego.write_many(range(10), [1] * 10)
    for _ in range(10):
        ego.read_many([99] * 1_000)
        ego.adapt()
    assert ego.explain().pushed == 1
    assert ego.read(99) == 10


@pytest.mark.parametrize("vertices", [5, 300])
def test_the_legend_of_a_picture_covers_nothing(vertices):
    live = LiveGraph()
    live.apply(insert=[(n, (n * 7 + 1) % vertices) for n in range(vertices)])
    figure = live.ego("sum").plot()
    figure.draw_without_rendering()
    axes = figure.axes[0]
    legends = [*figure.legends, *([axes.get_legend()] if axes.get_legend() else [])]
    assert len(legends) == 1
    assert not legends[0].get_window_extent().overlaps(axes.get_window_extent())
