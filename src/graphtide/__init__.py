"""Computations over data that changes, paid for by their differences.

>>> import graphtide as gt
>>> flow = gt.Dataflow()
>>> edges = flow.input("edges", src=int, dst=int)
>>> labels = edges.select(node="src", label="src").distinct()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphtide.errors import GraphtideError

if TYPE_CHECKING:
    from graphtide import datasets
    from graphtide.analytics import AnalyticGraph, EdgeProperty, Vertex, VertexPairs, analytic
    from graphtide.dataflow.arrangement import Arrangement
    from graphtide.dataflow.collection import Collection
    from graphtide.dataflow.expressions.expression import Expression
    from graphtide.dataflow.expressions.functions import (
        call,
        coalesce,
        col,
        concat,
        func,
        greatest,
        hash_of,
        least,
        lit,
        tuple_,
        when,
    )
    from graphtide.dataflow.flow import Dataflow
    from graphtide.dataflow.input import Input
    from graphtide.dataflow.loop import Loop
    from graphtide.dataflow.output import Output
    from graphtide.datalog import Datalog
    from graphtide.ego.aggregates import Aggregate, TopK
    from graphtide.ego.windows import Last, Within
    from graphtide.frontier import (
        Budget,
        Degree,
        DeterministicDrop,
        Ego,
        JoinOnDemand,
        LiveGraph,
        ProbabilisticDrop,
        Program,
        Query,
        Random,
        Scratch,
        SumProgram,
        Vanilla,
        ife,
    )
    from graphtide.pipeline.session import Session
    from graphtide.procedures import Procedure, SharedGraph
    from graphtide.rows import Schema
    from graphtide.sql import Database, View

__all__ = [
    "Aggregate",
    "AnalyticGraph",
    "Arrangement",
    "Budget",
    "Collection",
    "Database",
    "Dataflow",
    "Datalog",
    "Degree",
    "DeterministicDrop",
    "EdgeProperty",
    "Ego",
    "Expression",
    "GraphtideError",
    "Input",
    "JoinOnDemand",
    "Last",
    "LiveGraph",
    "Loop",
    "Output",
    "ProbabilisticDrop",
    "Procedure",
    "Program",
    "Query",
    "Random",
    "Schema",
    "Scratch",
    "Session",
    "SharedGraph",
    "SumProgram",
    "TopK",
    "Vanilla",
    "Vertex",
    "VertexPairs",
    "View",
    "Within",
    "__version__",
    "analytic",
    "call",
    "coalesce",
    "col",
    "concat",
    "datasets",
    "func",
    "greatest",
    "hash_of",
    "ife",
    "least",
    "lit",
    "tuple_",
    "when",
]

__version__ = "0.1.0"

_FUNCTIONS = "graphtide.dataflow.expressions.functions"
# Where each name is at home: imported when it is first asked for, so that `graphtide --version` compiles nothing.
_HOMES = {
    "AnalyticGraph": "graphtide.analytics",
    "Arrangement": "graphtide.dataflow.arrangement",
    "Aggregate": "graphtide.ego.aggregates",
    "Budget": "graphtide.frontier",
    "Ego": "graphtide.frontier",
    "Last": "graphtide.ego.windows",
    "TopK": "graphtide.ego.aggregates",
    "Within": "graphtide.ego.windows",
    "Collection": "graphtide.dataflow.collection",
    "Database": "graphtide.sql",
    "Dataflow": "graphtide.dataflow.flow",
    "Datalog": "graphtide.datalog",
    "EdgeProperty": "graphtide.analytics",
    "Expression": "graphtide.dataflow.expressions.expression",
    "JoinOnDemand": "graphtide.frontier",
    "LiveGraph": "graphtide.frontier",
    "Program": "graphtide.frontier",
    "SumProgram": "graphtide.frontier",
    "Query": "graphtide.frontier",
    "Degree": "graphtide.frontier",
    "DeterministicDrop": "graphtide.frontier",
    "ProbabilisticDrop": "graphtide.frontier",
    "Random": "graphtide.frontier",
    "Scratch": "graphtide.frontier",
    "Vanilla": "graphtide.frontier",
    "ife": "graphtide.frontier",
    "Input": "graphtide.dataflow.input",
    "Loop": "graphtide.dataflow.loop",
    "Output": "graphtide.dataflow.output",
    "Schema": "graphtide.rows",
    "Procedure": "graphtide.procedures",
    "Session": "graphtide.pipeline.session",
    "SharedGraph": "graphtide.procedures",
    "Vertex": "graphtide.analytics",
    "VertexPairs": "graphtide.analytics",
    "View": "graphtide.sql",
    "analytic": "graphtide.analytics",
    "call": _FUNCTIONS,
    "coalesce": _FUNCTIONS,
    "col": _FUNCTIONS,
    "concat": _FUNCTIONS,
    "func": _FUNCTIONS,
    "greatest": _FUNCTIONS,
    "hash_of": _FUNCTIONS,
    "least": _FUNCTIONS,
    "lit": _FUNCTIONS,
    "tuple_": _FUNCTIONS,
    "when": _FUNCTIONS,
}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("graphtide.datasets")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
