"""Decision tables against predicates evaluated one by one in plain Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.examples import share

from graphtide.graph.schema import GraphSchema, Property, PropertyType
from graphtide.graph.source import Source
from graphtide.graph.stored import StoredGraph
from graphtide.gvdl.predicate import (
    ALL,
    And,
    Arithmetic,
    Between,
    Comparison,
    EdgeNumber,
    EdgeProperty,
    EndId,
    EndProperty,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    Side,
)
from graphtide.pipeline.materialize import matrix as matrix_module
from graphtide.pipeline.materialize import tables as tables_module
from graphtide.pipeline.materialize import write_graph_matrix
from graphtide.pipeline.materialize.files import WORD
from graphtide.pipeline.materialize.tables import DecisionTables

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
VALUES: dict[PropertyType, list[Any]] = {
    PropertyType.INT: [-(2**63), -3, 0, 1, 2, 2**53 + 1, 2**63 - 1],
    PropertyType.FLOAT: [-math.inf, -2.5, -0.0, 0.0, 1.0, 2.0, math.inf, math.nan],
    PropertyType.STRING: ["", "B", "a", "ab", "b", "é", "😀"],
    PropertyType.BOOL: [False, True],
    PropertyType.DATE: [date(1969, 12, 31), date(1970, 1, 1), date(2020, 2, 29)],
    # The outer ones are beyond what 64 bits of nanoseconds hold.
    PropertyType.TIMESTAMP: [
        datetime(1500, 3, 1, tzinfo=UTC),
        EPOCH - timedelta(seconds=1),
        EPOCH,
        EPOCH + timedelta(days=1, microseconds=1),
        datetime(9000, 1, 1, tzinfo=UTC),
    ],
}
PROPERTIES = {f"p_{kind}": kind for kind in PropertyType}
COLUMNS = [
    *(EdgeProperty(name, kind) for name, kind in PROPERTIES.items()),
    *(EndProperty(side, name, kind) for side, (name, kind) in product(Side, PROPERTIES.items())),
    *(EndId(side, PropertyType.STRING) for side in Side),
    EdgeNumber(),
]
# What a literal of another type may be that equals values of the column.
RELATED = {
    PropertyType.INT: [Literal(2.0, PropertyType.FLOAT), Literal(-3.0, PropertyType.FLOAT)],
    PropertyType.FLOAT: [Literal(1, PropertyType.INT), Literal(0, PropertyType.INT)],
    PropertyType.DATE: [Literal(EPOCH, PropertyType.TIMESTAMP)],
    PropertyType.TIMESTAMP: [Literal(EPOCH.date(), PropertyType.DATE)],
}


def comparable(value: Any) -> Any:
    """A value that Python compares as predicates do: instants as times since 1970, NaN after all other floats."""
    if isinstance(value, datetime):
        return value - EPOCH
    if isinstance(value, date):
        return value - EPOCH.date()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (math.isnan(value), 0 if math.isnan(value) else value)
    return value


def true_of(node: Expression, row: Mapping[Expression, Any]) -> bool:
    """Whether a predicate holds in a row, which has a value or None for each column."""

    def value(operand: Expression) -> Any:
        return operand.value if isinstance(operand, Literal) else row[operand]

    def compared(operator: str, left: Expression, right: Expression) -> bool:
        one, other = value(left), value(right)
        if one is None or other is None:
            return False
        a, b = comparable(one), comparable(other)
        return {"=": a == b, "<>": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]

    match node:
        case Comparison(operator, left, right):
            return compared(operator, left, right)
        case In(operand, choices):
            return any(compared("=", operand, choice) for choice in choices)
        case Between(operand, low, high):
            return compared(">=", operand, low) and compared("<=", operand, high)
        case IsNull(operand):
            return value(operand) is None
        case Not(operand):
            return not true_of(operand, row)
        case And(terms):
            return all(true_of(term, row) for term in terms)
        case Or(terms):
            return any(true_of(term, row) for term in terms)
        case _:
            return value(node) is True


def literals(kind: PropertyType) -> st.SearchStrategy[Literal]:
    own = st.sampled_from(VALUES[kind]).map(lambda value: Literal(value, kind))
    return own | st.sampled_from(RELATED[kind]) if kind in RELATED else own


def comparisons() -> st.SearchStrategy[Expression]:
    def on(column: Any) -> st.SearchStrategy[Expression]:
        literal = literals(column.type)
        operator = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
        found = [
            st.builds(lambda sign, other: Comparison(sign, column, other), operator, literal),
            st.builds(lambda sign, other: Comparison(sign, other, column), operator, literal),
            st.lists(literal, min_size=1, max_size=3).map(lambda choices: In(column, tuple(choices))),
            st.builds(lambda low, high: Between(column, low, high), literal, literal),
            st.just(IsNull(column)),
        ]
        if column.type is PropertyType.BOOL:
            found.append(st.just(column))
        return st.one_of(found)

    return st.sampled_from(COLUMNS).flatmap(on) | st.just(ALL)


def predicates() -> st.SearchStrategy[Expression]:
    def more(smaller: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        terms = st.lists(smaller, min_size=1, max_size=3).map(tuple)
        return smaller.map(Not) | terms.map(And) | terms.map(Or)

    return st.recursive(comparisons(), more, max_leaves=5)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[pa.Table, pa.Table]:
    """The stored nodes and edges of a small graph with values missing here and there."""

    def properties(count: int) -> dict[str, pa.Array]:
        return {
            name: pa.array([draw(st.none() | st.sampled_from(VALUES[kind])) for _ in range(count)], kind.arrow)
            for name, kind in PROPERTIES.items()
        }

    ids = sorted(draw(st.sets(st.sampled_from(VALUES[PropertyType.STRING]), min_size=1, max_size=3)))
    count = draw(st.integers(1, 8))
    ends = {
        name: pa.array([draw(st.integers(0, len(ids) - 1)) for _ in range(count)], pa.int64())
        for name in ("_src", "_dst")
    }
    nodes = {"_vertex": pa.array(range(len(ids)), pa.int64()), "_id": pa.array(ids)}
    edges = {"_edge": pa.array(range(count), pa.int64()), **ends}
    return pa.table(nodes | properties(len(ids))), pa.table(edges | properties(count))


def stored(folder: Path, nodes: pa.Table, edges: pa.Table, *, int96: bool = False) -> StoredGraph:
    properties = tuple(Property(name, kind) for name, kind in PROPERTIES.items())
    schema = GraphSchema(PropertyType.STRING, properties, properties)
    graph = StoredGraph("G", folder, schema, len(nodes), len(edges), 0, Source(("test",)))
    for place, table in ((graph.nodes_folder, nodes), (graph.edges_folder, edges)):
        place.mkdir(parents=True)
        half = (len(table) + 1) // 2
        for number, rows in enumerate((table.slice(0, half), table.slice(half))):
            file = place / f"part-{number}.parquet"
            pq.write_table(rows, file, row_group_size=3, use_deprecated_int96_timestamps=int96)
    return graph


def rows_of(nodes: pa.Table, edges: pa.Table) -> list[dict[Expression, Any]]:
    vertices = nodes.to_pylist()
    rows: list[dict[Expression, Any]] = []
    for edge in edges.to_pylist():
        row: dict[Expression, Any] = {EdgeNumber(): edge["_edge"]}
        row |= {EdgeProperty(name, kind): edge[name] for name, kind in PROPERTIES.items()}
        for side in Side:
            node = vertices[edge[f"_{side}"]]
            row[EndId(side, PropertyType.STRING)] = node["_id"]
            row |= {EndProperty(side, name, kind): node[name] for name, kind in PROPERTIES.items()}
        rows.append(row)
    return rows


def masks_in(folder: Path) -> dict[int, int]:
    """Masks by edge."""
    found: dict[int, int] = {}
    for file in folder.glob("*.parquet"):
        for edge, *words in zip(*(column.to_pylist() for column in pq.read_table(file).columns), strict=True):
            assert edge not in found
            found[edge] = sum((word % 2**WORD) << (WORD * w) for w, word in enumerate(words))
    return found


def naive_masks(rows: list[dict[Expression, Any]], dimensions: list[list[Expression]]) -> dict[int, int]:
    found: dict[int, int] = {}
    for edge, row in enumerate(rows):
        sides = [[true_of(predicate, row) for predicate in predicates] for predicates in dimensions]
        mask = sum(1 << j for j, cell in enumerate(product(*sides)) if all(cell))
        found |= {edge: mask} if mask else {}
    return found


def from_tables(graph: StoredGraph, dimensions: list[list[Expression]], folder: Path) -> dict[int, int] | None:
    """What tasks write with decision tables, in this process; None if there are no tables."""
    tables = DecisionTables.of(dimensions)
    if tables is None:
        return None
    folder.mkdir()
    sizes = tuple(map(len, dimensions))
    for part in matrix_module.row_group_parts(graph.edges_folder, 2):
        matrix_module._write_part(part, tables, sizes, graph.nodes_folder, folder)
    return masks_in(folder)


def collections(repeats: tuple[int, ...] = (1,)) -> st.SearchStrategy[list[list[Expression]]]:
    """Predicates for one dimension or two; those that repeat often need several words."""
    some = st.lists(predicates(), min_size=1, max_size=6)
    return st.lists(st.builds(list.__mul__, some, st.sampled_from(repeats)), min_size=1, max_size=2)


@given(graphs(), collections(repeats=(1, 1, 30)), st.booleans())
def test_decision_tables_find_the_views_of_every_edge(
    drawn: tuple[pa.Table, pa.Table], dimensions: list[list[Expression]], as_spark_writes: bool
) -> None:
    with TemporaryDirectory() as name:
        graph = stored(Path(name), *drawn, int96=as_spark_writes)
        assert from_tables(graph, dimensions, Path(name) / "matrix") == naive_masks(rows_of(*drawn), dimensions)


# To shrink an example takes a Spark job for every try.
FOUND_AS_IT_IS = (Phase.explicit, Phase.reuse, Phase.generate)
INT, FLOAT = PropertyType.INT, PropertyType.FLOAT
NUMBER, REAL = EdgeProperty("p_int", INT), EdgeProperty("p_float", FLOAT)
DOUBLED = Comparison("=", Arithmetic("*", NUMBER, Literal(2, INT), INT), Literal(4, INT))
BROKEN = Comparison("<", NUMBER, Literal(2.5, FLOAT))


@pytest.mark.parametrize(
    "predicate",
    [
        DOUBLED,
        Not(And((Comparison("=", NUMBER, Literal(1, INT)), DOUBLED))),
        Comparison("<", NUMBER, Arithmetic("+", NUMBER, Literal(1, INT), INT)),
        BROKEN,
        Comparison("<", REAL, Literal(2**53 + 1, INT)),
        Comparison("<", NUMBER, REAL),
        In(NUMBER, (Literal(1, INT), REAL)),
        IsNull(Arithmetic("/", NUMBER, Literal(0, INT), FLOAT)),
        Like(EdgeProperty("p_string", PropertyType.STRING), "a%"),
        # Sixteen alternatives.
        And((Or((IsNull(NUMBER), IsNull(REAL))),) * 4),
    ],
)
def test_a_predicate_that_does_more_than_compare_with_literals_has_no_tables(predicate: Expression) -> None:
    assert DecisionTables.of([[ALL]]) is not None
    assert DecisionTables.of([[ALL, predicate]]) is None


def test_tables_that_would_grow_too_large_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    views = [Comparison("<", NUMBER, Literal(j, INT)) for j in range(100)]
    assert DecisionTables.of([views]) is not None
    monkeypatch.setattr(tables_module, "_LARGEST", 1000)
    assert DecisionTables.of([views]) is None


@share(4, phases=FOUND_AS_IT_IS)
@given(st.data())
def test_the_matrix_of_a_graph_is_the_same_by_tables_and_by_spark(spark: SparkSession, data: st.DataObject) -> None:
    nodes, edges = data.draw(graphs())
    dimensions = data.draw(collections())
    for has_tables, last in ((True, ALL), (False, BROKEN)):
        asked = [*dimensions[:-1], [*dimensions[-1], last]]
        expected = naive_masks(rows_of(nodes, edges), asked)
        assert (DecisionTables.of(asked) is not None) == has_tables
        with TemporaryDirectory() as name:
            graph = stored(Path(name), nodes, edges)
            assert write_graph_matrix(spark, graph, asked, Path(name) / "matrix") == len(expected)
            assert masks_in(Path(name) / "matrix") == expected


def test_a_graph_with_too_many_vertices_for_a_task_is_joined_by_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = pa.table({"_vertex": [0, 1], "_id": ["a", "b"], **{name: [None, None] for name in PROPERTIES}})
    edges = pa.table({"_edge": [0, 1, 2], "_src": [0, 1, 0], "_dst": [1, 1, 0]})
    graph = stored(tmp_path, nodes, edges)
    asked = [[Comparison("=", EndId(side, PropertyType.STRING), Literal("a", PropertyType.STRING)) for side in Side]]
    assert write_graph_matrix(spark, graph, asked, tmp_path / "tables") == 2
    monkeypatch.setattr(matrix_module, "_MOST_VERTEX_BYTES", 0)
    assert write_graph_matrix(spark, graph, asked, tmp_path / "spark") == 2
    assert masks_in(tmp_path / "tables") == masks_in(tmp_path / "spark") == {0: 0b01, 2: 0b11}


def test_a_graph_without_edges_has_an_empty_matrix(spark: SparkSession, tmp_path: Path) -> None:
    nodes = pa.table({"_vertex": pa.array([], pa.int64()), "_id": pa.array([], pa.string())})
    edges = pa.table({name: pa.array([], pa.int64()) for name in ("_edge", "_src", "_dst")})
    graph = stored(tmp_path, nodes, edges)
    assert write_graph_matrix(spark, graph, [[ALL], [ALL]], tmp_path / "matrix") == 0
    assert masks_in(tmp_path / "matrix") == {}
