"""Labels of edges as path patterns name them, and the product of a graph with a pattern."""

from __future__ import annotations

import numpy as np

from graphtide.errors import SchemaError, StatementError
from graphtide.frontier.edges import Edges
from graphtide.frontier.path_graph import PathGraph
from graphtide.frontier.pattern import Automaton
from graphtide.rows.codes import Codes
from graphtide.rows.schema import did_you_mean
from graphtide.rows.types import Kind

__all__ = ["label_codes", "path_graph"]


def label_codes(edges: Edges, machine: Automaton, label: str) -> dict[str, int]:
    """By label that a pattern names: what stands for it in the column of a property, which edges must have."""
    properties = edges.schema.names[2:]
    if label not in properties:
        hint = did_you_mean(label, properties) or f"edges are {edges.schema}"
        raise SchemaError(f'edges have no property "{label}"', hint=hint)
    if edges.schema[label].kind is not Kind.STR:
        raise SchemaError(f'"{label}" is {edges.schema[label]}: a pattern reads labels that are strings')
    codes = {each: edges.code_of(label, each) for each in machine.labels}
    there = np.unique(_labels_of(edges, label, edges.adjacency.list_all()))
    known = set(there.tolist())
    for each, code in codes.items():
        if code not in known:
            shown = [str(value) for value in edges.values_of(label, there).to_pylist()]
            hint = did_you_mean(each, shown) or f"there are {', '.join(shown[:5]) or 'no edges yet'}"
            raise StatementError(f'no edge has the {label} "{each}"', hint=hint)
    return codes


def path_graph(edges: Edges, machine: Automaton, label: str, codes: dict[str, int]) -> PathGraph:
    """The product of a graph and a pattern's automaton."""
    rows = edges.adjacency.list_all()
    graph = PathGraph(machine, codes)
    graph.add_vertices(edges.adjacency.vertices)
    graph.insert(rows[:, :2], _labels_of(edges, label, rows))
    return graph


def _labels_of(edges: Edges, label: str, rows: Codes) -> Codes:
    return edges.adjacency.column(edges.column(label))[rows[:, 2]]
