"""Predicates on columns in memory find what a naive evaluation finds."""

from __future__ import annotations

from random import Random

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.conditions import CONDITIONS, Sample, Terms, any_sample, bound
from tests.examples import share

from graphtide.gvdl.evaluation import holds


def truths(sample: Sample, condition: str) -> list[bool]:
    edges = sample.edges
    ends = [sample.nodes.take(edges[name]) for name in ("_src", "_dst")]
    columns = [{name: table[name] for name in table.column_names} for table in (edges, *ends)]
    return holds(bound(condition, sample.schema), edges.num_rows, *columns).tolist()


@given(seed=st.integers(0, 2**64))
@share(60)
def test_predicates_find_what_a_naive_evaluation_finds(seed: int) -> None:
    rng = Random(seed)
    sample = any_sample(rng)
    terms = Terms(rng, sample.schema.id_type)
    for _ in range(CONDITIONS):
        condition = terms.condition(rng.randint(0, 3))
        for row, truth in zip(sample.rows(), truths(sample, condition.text), strict=True):
            assert truth == bool(condition.of(row)), (condition.text, row)


def test_no_rows_have_no_answers() -> None:
    sample = any_sample(Random(0))
    nothing = Sample(sample.schema, sample.nodes, sample.edges.slice(0, 0))
    assert truths(nothing, "i > 2 or s like 'a%' or not x = y") == []
    assert isinstance(nothing.edges, pa.Table)
