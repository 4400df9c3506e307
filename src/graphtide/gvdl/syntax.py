"""GVDL as it is written: statements and expressions before anything is known of graphs and types.

Each node knows the span of the text it came from, for errors to point at; two nodes are equal if they say the
same, wherever they stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal as OneOf
from typing import TypeAlias

from graphtide.graph.schema import PropertyType
from graphtide.text import NOWHERE, Span

__all__ = [
    "And",
    "Argument",
    "Arithmetic",
    "Between",
    "Comparison",
    "Components",
    "CreateCollection",
    "CreateView",
    "Describe",
    "Dimension",
    "Drop",
    "Explain",
    "Expression",
    "In",
    "IsNull",
    "KHop",
    "Like",
    "ListValue",
    "Literal",
    "LoadGraph",
    "Loop",
    "Name",
    "Negative",
    "Not",
    "Or",
    "PageRank",
    "PathPattern",
    "Property",
    "Question",
    "RegisterQuery",
    "Run",
    "ShortestPath",
    "ShortestPaths",
    "Show",
    "Statement",
    "Step",
    "TupleValue",
    "Value",
    "Variable",
    "ViewDefinition",
    "Views",
]


@dataclass(frozen=True, slots=True)
class _Located:
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Name(_Located):
    """What something is called."""

    text: str


@dataclass(frozen=True, slots=True)
class Literal(_Located):
    """A value as it stands in the text; timestamps are in UTC."""

    value: int | float | str | bool | date | datetime
    type: PropertyType


# ----------------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Property(_Located):
    """`name` is a property of the edge, `src.name` of its source, `dst.name` of its destination."""

    name: str
    end: Name | None = None


@dataclass(frozen=True, slots=True)
class Variable(_Located):
    """`$y`: the value of a loop's variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Negative(_Located):
    """`-operand`; the minus of a negative number belongs to its literal."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic(_Located):
    """Two values and one of + - * / %."""

    operator: OneOf["+", "-", "*", "/", "%"]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Comparison(_Located):
    """Two values and one of = <> < <= > >=."""

    operator: OneOf["=", "<>", "<", "<=", ">", ">="]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class In(_Located):
    """`value in (choices)`."""

    value: Expression
    choices: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Between(_Located):
    """`value between low and high`, both included."""

    value: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True, slots=True)
class Like(_Located):
    """`value like 'pattern'`."""

    value: Expression
    pattern: str


@dataclass(frozen=True, slots=True)
class IsNull(_Located):
    """`value is null`."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Not(_Located):
    """`not operand`; also what `not in`, `not between`, `not like` and `is not null` mean."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class And(_Located):
    """Two conditions or more that must all hold."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or(_Located):
    """Two conditions or more of which one must hold."""

    terms: tuple[Expression, ...]


Expression: TypeAlias = (
    Literal | Property | Variable | Negative | Arithmetic | Comparison | In | Between | Like | IsNull | Not | And | Or
)

# ------------------------------------------------------------------------------------------------- arguments


@dataclass(frozen=True, slots=True)
class ListValue(_Located):
    """`[a, b, ...]`."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class TupleValue(_Located):
    """`(a, b, ...)`, of two items or more."""

    items: tuple[Value, ...]


Value: TypeAlias = Literal | Name | ListValue | TupleValue


@dataclass(frozen=True, slots=True)
class Argument(_Located):
    """`name = value`."""

    name: Name
    value: Value


# ------------------------------------------------------------------------------------------ view collections


@dataclass(frozen=True, slots=True)
class Step(_Located):
    """How far apart the values of a loop are."""

    count: int
    unit: OneOf["day", "week", "month", "year"] | None = None


@dataclass(frozen=True, slots=True)
class Loop(_Located):
    """`for variable in first..last step step`, both ends included."""

    variable: Name
    first: Literal
    last: Literal
    step: Step | None = None


@dataclass(frozen=True, slots=True)
class ViewDefinition(_Located):
    """`[name: where]`; the name may hold variables, `calls_$y` or `calls_${y}_all`."""

    name: Name
    where: Expression


@dataclass(frozen=True, slots=True)
class Views(_Located):
    """Views one after the other, or all of them for each value of a loop."""

    definitions: tuple[ViewDefinition, ...]
    loop: Loop | None = None


@dataclass(frozen=True, slots=True)
class Dimension(_Located):
    """One side of a product of views."""

    name: Name
    views: Views


# ------------------------------------------------------------------------------------------------- questions


@dataclass(frozen=True, slots=True)
class ShortestPath(_Located):
    """`shortest path from source to target`, by the sum of weights or the number of edges."""

    source: Literal
    target: Literal
    weight: Name | None = None


@dataclass(frozen=True, slots=True)
class ShortestPaths(_Located):
    """`shortest paths from source`, to every vertex."""

    source: Literal
    weight: Name | None = None


@dataclass(frozen=True, slots=True)
class KHop(_Located):
    """`3 hop from source`: the vertices at most so many edges away."""

    hops: Literal
    source: Literal


@dataclass(frozen=True, slots=True)
class PathPattern(_Located):
    """`path 'pattern' from sources`, or from anywhere; the labels stand in a property of the edges."""

    pattern: Literal
    sources: tuple[Literal, ...] = ()
    label: Name | None = None


@dataclass(frozen=True, slots=True)
class Components(_Located):
    """`components`, weakly connected; also written `wcc`."""


@dataclass(frozen=True, slots=True)
class PageRank(_Located):
    """`pagerank(rounds = ..., damping = ...)`."""

    arguments: tuple[Argument, ...] = ()


Question: TypeAlias = ShortestPath | ShortestPaths | KHop | PathPattern | Components | PageRank

# ------------------------------------------------------------------------------------------------ statements


@dataclass(frozen=True, slots=True)
class LoadGraph(_Located):
    """`load graph name nodes ... edges ... with (...)`."""

    name: Name
    nodes: tuple[str, ...]
    edges: tuple[str, ...]
    options: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True)
class CreateView(_Located):
    """`create view name on base edges where ...`."""

    name: Name
    base: Name
    where: Expression


@dataclass(frozen=True, slots=True)
class CreateCollection(_Located):
    """`create view collection name on base ...`, with views or with dimensions, never both."""

    name: Name
    base: Name
    views: Views | None
    dimensions: tuple[Dimension, ...] = ()
    order: OneOf["given", "auto"] | None = None


@dataclass(frozen=True, slots=True)
class Run(_Located):
    """`run computation(...) on name ...`."""

    computation: Name
    arguments: tuple[Argument, ...]
    on: Name
    strategy: OneOf["adaptive", "differential", "scratch"] | None = None
    order: OneOf["given", "chain", "lattice", "auto"] | None = None
    save_to: str | None = None


@dataclass(frozen=True, slots=True)
class RegisterQuery(_Located):
    """`register query name as question on graph ...`."""

    name: Name
    question: Question
    on: Name


@dataclass(frozen=True, slots=True)
class Show(_Located):
    """`show graphs` and the like."""

    what: OneOf["graphs", "views", "view collections", "computations", "queries"]


@dataclass(frozen=True, slots=True)
class Describe(_Located):
    """`describe name`."""

    name: Name


@dataclass(frozen=True, slots=True)
class Drop(_Located):
    """`drop view name` and the like."""

    kind: OneOf["graph", "view", "view collection", "query"]
    name: Name


@dataclass(frozen=True, slots=True)
class Explain(_Located):
    """`explain statement`: what it would do."""

    statement: LoadGraph | CreateView | CreateCollection | Run | RegisterQuery | Show | Describe | Drop


Statement: TypeAlias = (
    LoadGraph | CreateView | CreateCollection | Run | RegisterQuery | Show | Describe | Drop | Explain
)
