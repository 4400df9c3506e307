"""Analytics by name: those that are there, users' own, and names that are not free or not known."""

from __future__ import annotations

import pytest

import graphtide as gt
from graphtide.analytics import AnalyticGraph, Vertex, analytic, catalogue, find, names
from graphtide.errors import CatalogueError


@pytest.fixture(autouse=True)
def _own_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test or an example enters is not there, and gone after the test."""
    built_in = {
        n: each for n, each in catalogue._ANALYTICS.items() if each.function.__module__.startswith("graphtide.")
    }
    monkeypatch.setattr(catalogue, "_ANALYTICS", built_in)


def followers(graph: AnalyticGraph, of: Vertex) -> gt.Collection:
    """Who has an edge to a vertex."""
    return graph.edges.where(gt.col("dst") == of).select(vertex="src").distinct()


def test_the_built_in_analytics() -> None:
    signatures = {find(name).signature: find(name).vertex_columns for name in names()}
    assert signatures == {
        "bfs(source: vertex)": (),
        "clustering": (),
        "degrees": (),
        "k_core(k: int)": (),
        "label_propagation(rounds: int = 10)": ("value",),
        "mpsp(pairs: vertex pairs, weight: edge property = none)": ("target",),
        "pagerank(iterations: int = 10, damping: float = 0.85)": (),
        "scc": ("value",),
        "sssp(source: vertex, weight: edge property)": (),
        "triangles": (),
        "wcc": ("value",),
    }
    assert all(find(name).description for name in names())


def test_a_user_enters_an_analytic_and_runs_it_by_name() -> None:
    assert analytic(followers) is followers
    flow = gt.Dataflow()
    nodes, edges = flow.input("nodes", node=int), flow.input("edges", src=int, dst=int)
    result = find("followers").bind({"of": "ann"}).build(AnalyticGraph(nodes, edges), {"ann": 1}.get).output("result")
    edges.insert([(0, 1), (2, 1), (2, 1), (1, 2)])
    flow.commit()
    assert sorted(result.rows()) == [(0,), (2,)]
    assert "followers" in names()


def test_a_decorator_with_arguments_says_which_columns_hold_vertices() -> None:
    @analytic(vertices=["best"])
    def friends(graph: AnalyticGraph) -> gt.Collection:
        return graph.edges.select(vertex="src", best="dst")

    assert find("friends").vertex_columns == ("best",)
    assert find("friends").function is friends


def test_a_name_is_entered_once_unless_it_is_replaced() -> None:
    analytic(followers)
    with pytest.raises(CatalogueError, match='there already is a computation "followers"'):
        analytic(followers)
    analytic(replace=True, vertices=["vertex"])(followers)
    assert find("followers").vertex_columns == ("vertex",)


def test_a_name_that_is_not_known_is_looked_up_by_its_likeness() -> None:
    with pytest.raises(CatalogueError, match=r'there is no computation "pagernak"\nhint: did you mean "pagerank"\?'):
        find("pagernak")
