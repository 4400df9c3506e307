"""Weights of shortest paths: which are lengths, and what becomes of those that are not."""

from __future__ import annotations

import math
from datetime import date

import pytest

import graphtide as gt
from graphtide.analytics import AnalyticGraph, find
from graphtide.errors import DataError, SchemaError


def shortest_paths(weight: type) -> tuple[gt.Dataflow, gt.Input, gt.Output]:
    """Paths from 0 among three vertices."""
    flow = gt.Dataflow()
    nodes, edges = flow.input("nodes", node=int), flow.input("edges", src=int, dst=int, weight=weight)
    nodes.insert([(0,), (1,), (2,)])
    bound = find("sssp").bind({"source": 0, "weight": "miles"})
    return flow, edges, bound.build(AnalyticGraph(nodes, edges), lambda number: number).output("paths")


@pytest.mark.parametrize(("kind", "weight"), [(int, -1), (float, -0.5), (float, -math.inf), (float, math.nan)])
def test_a_weight_that_is_no_length_stops_the_run_and_can_be_taken_back(kind: type, weight: float) -> None:
    flow, edges, paths = shortest_paths(kind)
    edges.insert([(0, 1, kind(2))])
    flow.commit()
    edges.insert([(1, 2, kind(1)), (2, 1, weight)])
    with pytest.raises(DataError) as caught:
        flow.commit()
    assert caught.value.message == f'the edge property "miles" is {weight} somewhere'
    assert sorted(paths.rows()) == [(0, 0), (1, 2)]
    edges.remove([(2, 1, weight)])
    flow.commit()
    assert sorted(paths.rows()) == [(0, 0), (1, 2), (2, 3)]


@pytest.mark.parametrize(("kind", "described"), [(str, "a str"), (bool, "a bool"), (date, "a date")])
def test_what_is_no_number_is_no_weight(kind: type, described: str) -> None:
    with pytest.raises(SchemaError) as caught:
        shortest_paths(kind)
    assert caught.value.message == f'shortest paths need numbers for weights, edge property "miles" is {described}'
    assert caught.value.hint == "name an int or a float property"


def test_a_negative_cycle_does_not_go_on_forever() -> None:
    flow, edges, _ = shortest_paths(int)
    edges.insert([(0, 1, -1), (1, 0, -1)])
    with pytest.raises(DataError, match='"miles" is -1 somewhere'):
        flow.commit()


def test_an_infinite_length_is_a_length() -> None:
    flow, edges, paths = shortest_paths(float)
    edges.insert([(0, 1, math.inf), (0, 2, 0.0), (2, 2, -0.0)])
    flow.commit()
    assert sorted(paths.rows()) == [(0, 0.0), (1, math.inf), (2, 0.0)]


def test_the_largest_int_is_a_length() -> None:
    flow, edges, paths = shortest_paths(int)
    edges.insert([(0, 1, 2**63 - 1)])
    flow.commit()
    assert sorted(paths.rows()) == [(0, 0), (1, 2**63 - 1)]
