"""Graph algorithms as short programs on collections, and the catalogue in which they are found by name.

Importing the package enters the built-in ones. Nothing in an analytic is about change: what it computes
of a graph's collections is kept up to date by the dataflow.
"""

from graphtide.analytics import (
    bfs,
    clustering,
    degrees,
    k_core,
    label_propagation,
    mpsp,
    pagerank,
    scc,
    sssp,
    triangles,
    wcc,
)
from graphtide.analytics.analytic import Analytic, AnalyticGraph, BoundAnalytic
from graphtide.analytics.catalogue import analytic, find, names
from graphtide.analytics.parameter import EdgeProperty, Parameter, ParameterKind, Vertex, VertexPairs

__all__ = [
    "Analytic",
    "AnalyticGraph",
    "BoundAnalytic",
    "EdgeProperty",
    "Parameter",
    "ParameterKind",
    "Vertex",
    "VertexPairs",
    "analytic",
    "bfs",
    "clustering",
    "degrees",
    "find",
    "k_core",
    "label_propagation",
    "mpsp",
    "names",
    "pagerank",
    "scc",
    "sssp",
    "triangles",
    "wcc",
]
