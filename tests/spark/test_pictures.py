"""Pictures of runs and view collections show what they say: orders, names, values and scales."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import graphtide as gt
from graphtide.analytics import catalogue

ROADS = [(i % 7, (i * 3 + 1) % 11, i % 20, 0.25 * (i % 13)) for i in range(60)]


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[gt.Session]:
    del spark  # it runs; sessions take the one that does
    with gt.Session(tmp_path_factory.mktemp("home")) as made:
        src, dst, t, w = zip(*ROADS, strict=True)
        made.load_graph("G", edges=pa.table({"src": src, "dst": dst, "t": t, "w": w}))
        shuffled = {f"until{t}": f"t <= {t}" for t in (19, 2, 11, 6)}
        made.create_view_collection("kept", on="G", views=shuffled, order="given")
        made.create_view_collection("sorted", on="G", views=shuffled)
        steps = range(2, 20, 3)
        lengths = {"least": {f"from{n}": f"t >= {n}" for n in steps}, "most": {f"to{n}": f"t <= {n}" for n in steps}}
        made.create_view_collection("cells", on="G", dimensions=lengths)
        yield made


def names(axis: Any) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def legend(axes: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}


def ticks_inside(axes: Any) -> list[float]:
    low, high = sorted(axes.get_ylim())
    return [tick for tick in axes.get_yticks() if low <= tick <= high]


def test_a_collection_is_drawn_in_the_order_that_is_chosen(session: gt.Session) -> None:
    kept = session.view_collection("kept")
    given, _scale = kept.plot().axes
    assert given.get_title().startswith("as given, which is chosen:")
    assert names(given.xaxis) == names(given.yaxis) == ["until19", "until2", "until11", "until6"]
    made = session.view_collection("sorted")
    assert made.chosen == "chain"
    given, chain, *_scales = made.plot().axes
    assert given.get_title().startswith("as given:")
    assert chain.get_title().startswith("along the chain, which is chosen:")
    assert names(chain.xaxis) == names(chain.yaxis) == [made.views[v] for v in made.orders["chain"].views]
    shown = chain.get_images()[0].get_array().tolist()
    sizes = [made.sizes[v] for v in made.orders["chain"].views]
    # Of views that contain each other, sizes say how much they differ in.
    assert shown == [[abs(one - other) for other in sizes] for one in sizes]


def test_a_lattice_is_drawn_by_its_cells(session: gt.Session) -> None:
    made = session.view_collection("cells")
    assert made.chosen == "lattice"
    _given, lattice, *_scales = made.plot().axes
    assert "on the lattice least x most, which is chosen" in lattice.get_title()
    down, across = made.dimensions
    assert names(lattice.yaxis) == [down.views[v] for v in down.order]
    assert names(lattice.xaxis) == [across.views[v] for v in across.order]
    assert lattice.get_images()[0].get_array().sum() == made.costs["lattice"]


def test_the_scale_of_equal_views_has_whole_numbers_from_zero(session: gt.Session) -> None:
    made = session.create_view_collection("equal", on="G", views={f"v{i}": "true" for i in range(3)})
    _panel, scale = made.plot().axes
    assert ticks_inside(scale) == [0, 1]


def test_many_names_are_thinned_out_evenly(session: gt.Session) -> None:
    views = {f"v{i}": f"t <= {i % 20}" for i in range(60)}
    panel, _scale = session.create_view_collection("many", on="G", views=views, order="given").plot().axes
    assert names(panel.xaxis) == names(panel.yaxis) == [f"v{i}" for i in range(0, 60, 3)]


def test_measures_are_drawn_by_their_quartiles(session: gt.Session) -> None:
    run = session.run("sssp", "kept", source=0, weight="w")
    values, _sizes, _seconds = run.plot().axes
    lines = legend(values)
    lengths = [run.table(name).column("value").to_pylist() for name in run.names]
    assert lines["median"].get_ydata().tolist() == pytest.approx([median(each) for each in lengths])
    assert lines["greatest"].get_ydata().tolist() == [max(each) for each in lengths]
    assert lines["least"].get_ydata().tolist() == [min(each) for each in lengths]
    assert values.get_ylabel() == "value"


def test_labels_are_drawn_by_how_many_there_are(session: gt.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    run = session.run("wcc", "kept")
    lines = legend(run.plot().axes[0])
    tables = [run.table(name) for name in run.names]
    assert lines["rows of the result"].get_ydata().tolist() == [table.num_rows for table in tables]
    distinct = [len(table.column("value").unique()) for table in tables]
    assert lines['different values of "value"'].get_ydata().tolist() == distinct
    monkeypatch.setattr(catalogue, "_ANALYTICS", dict(catalogue._ANALYTICS))

    @gt.analytic
    def sources(graph: gt.AnalyticGraph) -> gt.Collection:
        """Who has an edge."""
        return graph.edges.select(vertex="src").distinct()

    assert list(legend(session.run("sources", "kept").plot().axes[0])) == ["rows of the result"]


@pytest.mark.parametrize("computation", ["wcc", "pagerank", "triangles", "degrees"])
@pytest.mark.parametrize("on", ["kept", "cells", "G"])
def test_panels_of_a_run_share_their_views_and_have_numbers(session: gt.Session, computation: str, on: str) -> None:
    run = session.run(computation, on)
    panels = run.plot().axes
    places = {panel.get_xlim() for panel in panels}
    assert places == {(-0.5, len(run.names) - 0.5)}
    for panel in panels:
        assert len(ticks_inside(panel)) >= 2
        low, high = panel.get_ylim()
        drawn = [y for line in legend(panel).values() for y in line.get_ydata()]
        assert all(low <= y <= high for y in drawn if not isnan(y))


def test_views_without_edges_are_drawn(session: gt.Session, tmp_path: Path) -> None:
    made = session.create_view_collection("none", on="G", views={"a": "t < 0", "b": "t < 1"})
    made.plot(tmp_path / "views.png")
    session.run("bfs", "none", source=0).plot(tmp_path / "run.png")
    assert (tmp_path / "views.png").stat().st_size > 5_000
    assert (tmp_path / "run.png").stat().st_size > 5_000
