"""Running a computation on what a session has: a graph, a view, or a view collection in one of its orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from graphtide.analytics import BoundAnalytic, find
from graphtide.errors import CatalogueError, SchemaError, UsageError
from graphtide.graph.schema import DST, EDGE, SRC
from graphtide.graph.stored import StoredGraph
from graphtide.gvdl.bound import BoundView
from graphtide.pipeline.collections import with_order
from graphtide.pipeline.predicates import column_of, edges_with_ends
from graphtide.pipeline.saving import new_folder, write_run
from graphtide.pipeline.vertices import VertexIds
from graphtide.rows import Dictionary
from graphtide.rows.schema import did_you_mean
from graphtide.views.chains import StreamChain, StreamGrid
from graphtide.views.choosing import choose_order, estimates, lattice_price
from graphtide.views.execution import EdgeColumns, Execution, Ints
from graphtide.views.following import Step, Strategy, follow_chain, follow_lattice
from graphtide.views.origin import Origin
from graphtide.views.report import Report
from graphtide.views.results import Results
from graphtide.views.run import Run
from graphtide.views.stored import StoredCollection

if TYPE_CHECKING:
    from graphtide.pipeline.catalogue import HomeCatalogue
    from graphtide.pipeline.session import Session

__all__ = ["check_property", "graph_below", "nothing_to_run_on", "order_for", "prepare", "run_on"]


@dataclass(frozen=True, slots=True)
class _SingleView:
    """A chain of one view."""

    edges: Ints
    order: tuple[int, ...] = (0,)

    @property
    def sizes(self) -> list[int]:
        return [len(self.edges)]

    @property
    def counts(self) -> list[int]:
        return [len(self.edges)]

    def differences(self, position: int) -> tuple[Ints, Ints]:
        assert position == 0, "there is one"
        return self.edges, np.ones(len(self.edges), np.int64)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A computation bound to a graph: everything to begin an execution with."""

    analytic: BoundAnalytic
    graph: StoredGraph
    edges: EdgeColumns
    vertices: VertexIds
    dictionary: Dictionary

    @property
    def is_whole(self) -> bool:
        """Whether vertices without edges count."""
        return self.edges.isolated is not None

    def begin(self, grows: bool = False, dimensions: Sequence[str] = ()) -> Execution:  # noqa: FBT001, FBT002
        """A dataflow that has seen nothing, and will only be fed more edges if it `grows`."""
        number_of = self.vertices.number_of
        return Execution(self.analytic, self.edges, number_of, self.dictionary, dimensions, grows=grows)

    def lattice_price(self, collection: StoredCollection) -> float:
        """What an edge difference takes on the lattice of a product, over what it takes on a chain."""
        if not collection.dimensions:
            return inf
        return lattice_price(self.begin(collection.grows_on_lattice).nodes, len(collection.dimensions))


def prepare(graph: StoredGraph, computation: str, arguments: Mapping[str, Any], *, whole: bool) -> Prepared:
    """Bind a computation to a graph; on a `whole` graph, vertices without edges count too."""
    analytic = find(computation).bind(arguments)
    properties: dict[str, pa.Array] = {}
    for parameter, name in analytic.edge_properties.items():
        check_property(graph, name)
        properties[parameter] = graph.edge_columns(name).column(0).combine_chunks()
    ends = graph.edge_columns(SRC, DST)
    src, dst = (ends.column(c).combine_chunks().to_numpy() for c in range(2))
    isolated = np.arange(graph.node_count) if whole else None
    edges = EdgeColumns(src, dst, properties, isolated, analytic.edge_properties)
    return Prepared(analytic, graph, edges, VertexIds(graph), Dictionary())


def check_property(graph: StoredGraph, name: str) -> None:
    """Refuse an edge property that a graph does not have."""
    if graph.schema.edge(name) is None:
        names = [each.name for each in graph.schema.edges]
        hint = did_you_mean(name, names) if names else "its edges have no properties"
        raise SchemaError(f'edge property "{name}" does not exist in graph "{graph.name}"', hint=hint)


def graph_below(session: Session, on: str) -> StoredGraph:
    """The graph that a graph, a view or a view collection stands on."""
    catalogue = session.catalogue
    if on in catalogue.collections():
        return session.graph(_current(session, on).graph)
    if on in catalogue.views():
        return session.graph(catalogue.view(on).graph)
    if on in catalogue.graphs():
        return session.graph(on)
    raise nothing_to_run_on(catalogue, on)


def order_for(session: Session, computation: str, on: str, arguments: Mapping[str, Any]) -> str:
    """The order that an adaptive run of a computation on a view collection takes by itself."""
    collection = _current(session, on)
    prepared = prepare(session.graph(collection.graph), computation, arguments, whole=False)
    return _How("adaptive", "auto", 1).chosen(prepared, collection)


def run_on(
    session: Session,
    computation: str,
    on: str,
    arguments: Mapping[str, Any],
    *,
    strategy: Strategy,
    order: str,
    decide_at_once: int = 10,
    save_to: str | Path | None = None,
) -> Run:
    """Run a computation and keep what it found on each view.

    A folder to save to is refused before the run if it cannot be written, and not there if the run fails.
    """
    if strategy not in {"adaptive", "differential", "scratch"}:
        raise UsageError(f'there is no strategy "{strategy}"', hint='use "adaptive", "differential" or "scratch"')
    if order not in {"auto", "given", "chain", "lattice"}:
        raise UsageError(f'there is no order "{order}"', hint='use "auto", "given", "chain" or "lattice"')
    if decide_at_once < 1:
        raise UsageError(f"cannot decide for {decide_at_once} views at a time", hint="use a number from 1 on")
    how = _How(strategy, order, decide_at_once)
    if save_to is None:
        return _run(session, computation, on, arguments, how)
    with new_folder(save_to) as folder:
        run = _run(session, computation, on, arguments, how)
        with session.working(f"saving {run.analytic}"):
            write_run(session.spark, run, folder, as_csv=Path(save_to).suffix == ".csv")
    return run


def _run(session: Session, computation: str, on: str, arguments: Mapping[str, Any], how: _How) -> Run:
    catalogue, graph = session.catalogue, graph_below(session, on)
    prepared = prepare(graph, computation, arguments, whole=on in catalogue.graphs())
    if on in catalogue.collections():
        return _run_on_collection(session, prepared, _current(session, on), how)
    _check_one_has(how.order, on)
    if on in catalogue.views():
        return _run_on_one(session, prepared, on, _edges_of(session, graph, catalogue.view(on)))
    return _run_on_one(session, prepared, on, np.arange(graph.edge_count))


def nothing_to_run_on(catalogue: HomeCatalogue, on: str) -> CatalogueError:
    """The error that no graph, view or view collection has a name."""
    known = [*catalogue.collections(), *catalogue.views(), *catalogue.graphs()]
    hint = did_you_mean(on, known) if known else "load a graph first"
    return CatalogueError(f'there is no graph, view or view collection "{on}"', hint=hint)


def _check_one_has(order: str, on: str) -> None:
    """A graph or a view is a chain of one view, whichever way; but it is no lattice."""
    if order == "lattice":
        raise CatalogueError(f'"{on}" has no lattice: it is one view', hint="leave out the order")


def _run_on_one(session: Session, prepared: Prepared, on: str, edges: Ints) -> Run:
    with session.progress.views(f"{prepared.analytic.name} on {on}", 1) as advance:
        steps, results = follow_chain(
            _SingleView(edges), len(prepared.edges), prepared.begin, strategy="scratch", told=lambda _step: advance()
        )
    origin = Origin(prepared.graph, lambda _view: edges, lambda: session.spark, is_whole=prepared.is_whole)
    return _finished(prepared, on, Report((on,), steps, "given", {}, {}), results, origin)


@dataclass(frozen=True, slots=True)
class _How:
    """What the user says of the way."""

    strategy: Strategy
    order: str
    decide_at_once: int

    def chosen(self, prepared: Prepared, collection: StoredCollection) -> str:
        """The order to take."""
        if self.order != "auto":
            return self.order
        if collection.chosen != "lattice":
            return collection.chosen
        # Who asks for a way from view to view asks for a chain of them.
        price = prepared.lattice_price(collection) if self.strategy == "adaptive" else inf
        return choose_order(collection.costs, price)


def _current(session: Session, name: str) -> StoredCollection:
    """A view collection, if it still speaks of its graph as it is."""
    collection = session.view_collection(name)
    if session.graph(collection.graph).folder.name != collection.graph_version:
        raise CatalogueError(
            f'graph "{collection.graph}" was loaded again since view collection "{name}" was created',
            hint=f"drop view collection {name} and create it again",
        )
    return collection


def _run_on_collection(session: Session, prepared: Prepared, collection: StoredCollection, how: _How) -> Run:
    chosen = how.chosen(prepared, collection)
    collection = with_order(session, collection, chosen)
    stored = collection.orders[chosen]
    folder = collection.stream_folder(chosen)
    steps: list[Step]
    results: Results
    with session.progress.views(f"{prepared.analytic.name} on {collection.name}", len(collection.views)) as advance:
        if chosen == "lattice":
            grid = StreamGrid(
                folder, tuple(each.order for each in collection.dimensions), collection.sizes, stored.counts
            )
            names = [each.name for each in collection.dimensions]
            steps, results = follow_lattice(
                grid,
                lambda inside, grows: prepared.begin(grows, [names[axis] for axis in inside]),
                told=lambda _step: advance(),
            )
        else:
            sizes = tuple(collection.sizes[v] for v in stored.views)
            chain = StreamChain(folder, stored.views, sizes, stored.counts)
            steps, results = follow_chain(
                chain,
                len(prepared.edges),
                prepared.begin,
                strategy=how.strategy,
                decide_at_once=how.decide_at_once,
                told=lambda _step: advance(),
            )
    expected = estimates(collection.costs, prepared.lattice_price(collection))
    report = Report(collection.views, steps, chosen, collection.costs, expected)
    origin = Origin(prepared.graph, collection.edges_of, lambda: session.spark)
    return _finished(prepared, collection.name, report, results, origin)


def _finished(prepared: Prepared, on: str, report: Report, results: Results, origin: Origin) -> Run:
    analytic = prepared.analytic
    schema = prepared.begin().schema
    vertices = (schema.names[0], *analytic.vertex_columns)
    ids, dictionary = prepared.vertices.ids, prepared.dictionary
    return Run(str(analytic), on, tuple(report.names), schema, report, results, dictionary, ids, vertices, origin)


def _edges_of(session: Session, graph: StoredGraph, view: BoundView) -> Ints:
    """The numbers of a view's edges, in order."""
    spark = session.spark
    with session.working(f"filtering {view.name}"):
        edges = spark.read.parquet(str(graph.edges_folder))
        nodes = spark.read.parquet(str(graph.nodes_folder))
        chosen = edges_with_ends(edges, nodes, [view.predicate]).where(column_of(view.predicate)).select(EDGE)
        return np.sort(chosen.toArrow().column(0).to_numpy())
