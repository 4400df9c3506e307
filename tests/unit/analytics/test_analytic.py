"""From a function to a dataflow: what is declared, bound, checked and built."""

from __future__ import annotations

from typing import Any

import pytest

import graphtide as gt
from graphtide.analytics import Analytic, AnalyticGraph, EdgeProperty, Vertex, VertexPairs
from graphtide.errors import PlanError, UsageError


def paths(
    graph: AnalyticGraph,
    source: Vertex,
    pairs: VertexPairs,
    *,
    weight: EdgeProperty,
    length: EdgeProperty | None = None,
    rounds: int = 10,
) -> gt.Collection:
    """Paths of some kind.

    With more to say about them.
    """
    del weight, length
    said = [(source, target) for _, target in pairs]
    return graph.nodes.flat_map(lambda node: said if node == source else [], vertex=int, target=int).select(
        "vertex", "target", value=gt.lit(rounds)
    )


PATHS = Analytic.of(paths, ["target"])
ARGUMENTS = {"source": "c", "pairs": [("a", "b"), ("c", "a")], "weight": "miles"}
IDS = {"a": 0, "b": 1, "c": 2}


def small_graph(**properties: type) -> tuple[gt.Dataflow, AnalyticGraph]:
    flow = gt.Dataflow()
    nodes = flow.input("nodes", node=int)
    nodes.insert([(n,) for n in range(3)])
    return flow, AnalyticGraph(nodes, flow.input("edges", src=int, dst=int, **properties))


def test_a_function_declares_its_analytic() -> None:
    assert PATHS.name == "paths"
    assert PATHS.description == "Paths of some kind."
    assert PATHS.vertex_columns == ("target",)
    assert [(each.name, each.required, each.default) for each in PATHS.parameters] == [
        ("source", True, None),
        ("pairs", True, None),
        ("weight", True, None),
        ("length", False, None),
        ("rounds", False, 10),
    ]
    assert PATHS.signature == (
        "paths(source: vertex, pairs: vertex pairs, weight: edge property, "
        "length: edge property = none, rounds: int = 10)"
    )


def test_a_function_without_parameters_is_called_by_its_name() -> None:
    def nothing(graph: AnalyticGraph) -> gt.Collection:
        return graph.nodes

    made = Analytic.of(nothing)
    assert (made.signature, str(made.bind({})), made.description) == ("nothing", "nothing", "")


def test_bound_arguments_say_what_they_need_and_how_it_was_called() -> None:
    bound = PATHS.bind(ARGUMENTS)
    assert bound.vertices == ("c", "a", "b")
    assert bound.edge_properties == {"weight": "miles"}
    assert str(bound) == "paths(source = 'c', pairs = [('a', 'b'), ('c', 'a')], weight = miles, rounds = 10)"
    assert PATHS.bind({**ARGUMENTS, "length": "km"}).edge_properties == {"weight": "miles", "length": "km"}


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ({**ARGUMENTS, "sorce": 1}, 'paths has no parameter "sorce"', 'did you mean "source"?; it is paths('),
        ({"source": 1, "pairs": []}, 'paths needs "weight"', "it is paths(source: vertex"),
        ({**ARGUMENTS, "rounds": "ten"}, "paths: \"rounds\" is 'ten', not an int", "it is paths(source: vertex"),
        ({**ARGUMENTS, "weight": None}, 'paths: "weight" is None, not the name of', "it is paths(source: vertex"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        PATHS.bind(arguments)
    assert caught.value.message.startswith(message)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith(hint)


def test_an_argument_too_many_is_refused_where_none_is_taken() -> None:
    def nothing(graph: AnalyticGraph) -> gt.Collection:
        return graph.nodes

    with pytest.raises(UsageError, match='nothing has no parameter "x"\nhint: nothing takes no arguments'):
        Analytic.of(nothing).bind({"x": 1})


def test_vertices_are_numbered_for_the_function() -> None:
    flow, graph = small_graph(weight=float)
    out = PATHS.bind(ARGUMENTS).build(graph, IDS.get).output("out")
    flow.commit()
    assert sorted(out.rows()) == [(2, 0, 10), (2, 1, 10)]


def test_a_vertex_that_is_not_there_is_named() -> None:
    _, graph = small_graph(weight=float)
    with pytest.raises(UsageError, match=r"paths\(.*\): there is no vertex 'z'"):
        PATHS.bind({**ARGUMENTS, "source": "z"}).build(graph, IDS.get)


def test_the_function_must_give_a_collection_of_vertices() -> None:
    _, graph = small_graph()

    def list_of_nodes(graph: AnalyticGraph) -> gt.Collection:
        return [graph]  # pyright: ignore[reportReturnType]

    def words(graph: AnalyticGraph) -> gt.Collection:
        return graph.nodes.select(vertex=gt.lit("a"), value="node")

    def shares(graph: AnalyticGraph) -> gt.Collection:
        return graph.nodes.select(vertex="node", value=gt.lit(0.5))

    with pytest.raises(PlanError, match='analytic "list_of_nodes" gave'):
        Analytic.of(list_of_nodes).bind({}).build(graph, IDS.get)
    with pytest.raises(PlanError, match=r'analytic "words" gave .* where "vertex" is no vertex'):
        Analytic.of(words).bind({}).build(graph, IDS.get)
    with pytest.raises(PlanError, match=r'analytic "shares" gave .* where "value" is no vertex'):
        Analytic.of(shares, ["value"]).bind({}).build(graph, IDS.get)


def test_a_function_that_cannot_be_called_by_name_is_refused() -> None:
    def alone() -> gt.Collection:
        raise NotImplementedError

    def unknown(graph: AnalyticGraph, source: Vertices) -> gt.Collection:  # noqa: F821
        del source
        return graph.nodes

    def untyped(graph: AnalyticGraph, depth) -> gt.Collection:
        del depth
        return graph.nodes

    def many(graph: AnalyticGraph, *depths: int) -> gt.Collection:
        del depths
        return graph.nodes

    def listed(graph: AnalyticGraph, depths: list[int]) -> gt.Collection:
        del depths
        return graph.nodes

    for function, problem in (
        (alone, "it takes no graph"),
        (unknown, "name 'Vertices' is not defined"),
        (untyped, 'parameter "depth" has no type'),
        (many, "parameter \"*depths: 'int'\" cannot be passed by name"),
        (listed, 'parameter "depths" is annotated as list[int], which no argument can be'),
    ):
        with pytest.raises(UsageError) as caught:
            Analytic.of(function)
        assert caught.value.message == f'analytic "{function.__name__}": {problem}'
    with pytest.raises(UsageError, match="has no name to be found by"):
        Analytic.of(lambda graph: graph.nodes)
