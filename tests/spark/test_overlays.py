"""Overlays that Spark makes give each reader its writers, as those made in one place do."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from graphtide import Session
from graphtide.ego import (
    AdaptiveMining,
    Direct,
    FixedMining,
    Incremental,
    NegativeMining,
    Neighbourhoods,
    OverlappingMining,
    build,
)
from graphtide.ego.aggregates import aggregate_of
from graphtide.ego.building import Method, check_method
from graphtide.ego.contents import WindowContents
from graphtide.ego.partials import WRITE
from graphtide.ego.plan import Plan
from graphtide.ego.windows import Last
from graphtide.errors import UsageError
from graphtide.pipeline.overlays import SparkMining
from graphtide.rows import INT

METHODS = [FixedMining(), AdaptiveMining(), NegativeMining(), OverlappingMining(), Incremental()]


def alike(groups: int, copies: int, rng: np.random.Generator) -> Neighbourhoods:
    """Some sets of writers, of each many readers with a writer more or less; and readers with one writer or none."""
    sets: list[set[int]] = [set(), {3}]
    for _ in range(groups):
        base = rng.choice(1_000, 20, replace=False)
        for _ in range(copies):
            kept: NDArray[np.int64] = base[rng.random(len(base)) > 0.1]
            sets.append({*kept.tolist(), int(rng.integers(1_000))})
    order = rng.permutation(len(sets))
    return Neighbourhoods.from_sets([sets[place] for place in order], 1_000)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("groups", [1, 3])
def test_paths_add_up(spark: SparkSession, method: Method, groups: int) -> None:
    asked = alike(12, 8, np.random.default_rng(groups))
    made = build(asked, SparkMining(spark, method, groups)).overlay
    made.check_invariants(asked)
    here = build(asked, method).overlay
    assert made.overlapping == here.overlapping
    assert made.partials > 0
    assert made.sharing_index(asked) > 0.5 * here.sharing_index(asked)


def test_the_same_lists_give_the_same_overlay(spark: SparkSession) -> None:
    asked = alike(6, 5, np.random.default_rng(7))
    one, other = (build(asked, SparkMining(spark, groups=2)).overlay for _ in range(2))
    assert np.array_equal(one.starts, other.starts)
    assert np.array_equal(one.inputs, other.inputs)
    assert np.array_equal(one.signs, other.signs)


@pytest.mark.parametrize("sets", [[], [set()], [{0}, {1}], [{0, 1}, {2, 3}]])
def test_nothing_to_share(spark: SparkSession, sets: list[set[int]]) -> None:
    asked = Neighbourhoods.from_sets(sets, 4)
    made = build(asked, SparkMining(spark, groups=2)).overlay
    made.check_invariants(asked)
    assert made.partials == 0


def test_more_groups_than_readers(spark: SparkSession) -> None:
    asked = Neighbourhoods.from_sets([{0, 1, 2}] * 3, 3)
    made = build(asked, SparkMining(spark, groups=20)).overlay
    made.check_invariants(asked)
    assert made.partials == 1


def test_an_ego_aggregate_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    asked = alike(5, 6, rng)
    readers = 1_000 + np.repeat(np.arange(asked.readers), np.diff(asked.starts))
    with Session(tmp_path) as session:
        assert session.spark is spark
        session.load_graph("G", edges=pa.table({"src": asked.writers, "dst": readers}))
        live = session.live("G")
        by_spark = live.ego("sum", overlay=session.mining(groups=2), name="by spark")
        here = live.ego("sum", overlay=Direct(), name="here")
        vertices = np.unique(asked.writers)
        for ego in (by_spark, here):
            ego.write_many(vertices.tolist(), (vertices % 17).tolist())
        assert by_spark.table().equals(here.table())
        live.apply(delete=[(int(asked.writers[0]), int(readers[0]))])
        assert by_spark.table().equals(here.table())


@pytest.mark.parametrize("pushes", [True, False])
def test_sums_on_an_overlay_by_spark(spark: SparkSession, pushes: bool) -> None:
    asked = alike(5, 6, np.random.default_rng(4))
    overlay = build(asked, SparkMining(spark, groups=2)).overlay
    assert overlay.partials > 0
    push = (np.arange(overlay.nodes) < overlay.writers) | pushes
    plan = Plan(overlay, push, aggregate_of("sum"), WindowContents(Last(1), overlay.writers), value_type=INT)
    written = np.random.default_rng(5).integers(-100, 100, overlay.writers)
    nothing = np.zeros(0, np.int64)
    plan.run(np.full(overlay.writers, WRITE, np.int8), np.arange(overlay.writers), written, nothing, nothing)
    found = plan.values(plan.read(np.arange(asked.readers)))
    assert [each or 0 for each in found] == [int(written[asked.of(r)].sum()) for r in range(asked.readers)]


def test_no_groups(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match="cannot mine 0 groups"):
        SparkMining(spark, groups=0)


@pytest.mark.parametrize(
    ("more", "words"), [({"groups": "x"}, "'x' groups"), ({"method": AdaptiveMining}, "how groups")]
)
def test_what_says_nothing_of_groups(spark: SparkSession, more: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        SparkMining(spark, **more)


def test_groups_fit_an_aggregate_as_their_method_does(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match="subtracts, which max cannot"):
        check_method(SparkMining(spark, NegativeMining()), aggregate_of("max"))
