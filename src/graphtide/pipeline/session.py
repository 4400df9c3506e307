"""A session: a home folder, a Spark, and what is loaded, defined and computed with them."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
from pyspark.sql import SparkSession

from graphtide.analytics import names as computation_names
from graphtide.ego import AdaptiveMining
from graphtide.ego.building import Method
from graphtide.frontier import LiveGraph, Query
from graphtide.frontier.maintenance import Maintenance
from graphtide.graph.stored import StoredGraph
from graphtide.gvdl.bound import BoundView
from graphtide.pipeline.catalogue import HomeCatalogue
from graphtide.pipeline.collections import create_collection
from graphtide.pipeline.ingest import load_graph
from graphtide.pipeline.interrupts import interruptible
from graphtide.pipeline.live import LiveGraphs
from graphtide.pipeline.overlays import SparkMining
from graphtide.pipeline.progress import Progress, suited_progress
from graphtide.pipeline.running import run_on
from graphtide.pipeline.spark import EMBEDDED, open_spark
from graphtide.pipeline.statements import Answer, collection_statement, execute, view_statement
from graphtide.rows.tabular import html_table
from graphtide.views.following import Strategy
from graphtide.views.run import Run
from graphtide.views.splitting import DECIDED_AT_ONCE
from graphtide.views.stored import StoredCollection

__all__ = ["Session"]


class Session:
    """Graphs, views and runs in a home folder.

    Spark starts when it is first needed, embedded in this process unless `master` names a cluster whose
    machines see the home folder. Leaving the session stops a Spark that it started.
    """

    def __init__(
        self,
        home: str | Path = "graphtide-home",
        *,
        master: str = EMBEDDED,
        conf: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.home = Path(home).absolute()
        self.catalogue = HomeCatalogue(self.home)
        self.live_graphs = LiveGraphs()
        self.progress = suited_progress() if progress is None else progress
        self._master = master
        self._conf = dict(conf or {})
        self._spark: SparkSession | None = None
        self._started_spark = False

    @property
    def spark(self) -> SparkSession:
        """Spark, started now if it was not."""
        if self._spark is None:
            self._started_spark = SparkSession.getActiveSession() is None
            with interruptible(None):
                self._spark = open_spark(self._master, self._conf)
        return self._spark

    @contextmanager
    def working(self, what: str) -> Generator[None]:
        """While the block has Spark work, show how far it is, and let Ctrl-C end it."""
        with interruptible(self.spark), self.progress.spark(what, self.spark):
            yield

    def close(self) -> None:
        """Stop Spark, if this session started it."""
        if self._spark is not None and self._started_spark:
            with interruptible(None):
                self._spark.stop()
        self._spark = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- graphs

    def load_graph(
        self,
        name: str,
        edges: Any,
        nodes: Any = None,
        *,
        replace: bool = False,
        on_bad_lines: str = "error",
        **options: Any,
    ) -> StoredGraph:
        """Read a graph from files or tables and store it under a name.

        `edges` and `nodes` are paths, lists of them, or tables: Spark, Arrow, pandas or Polars; `edges` may be a
        NetworkX graph, of which an undirected one brings each edge once each way (a loop once). See
        `graphtide.pipeline.ingest` for the formats and their options.
        """
        if not replace or name not in self.catalogue.graphs():
            self.catalogue.check_free(name, "graph")
        self.live_graphs.check_unused(name)
        with self.working(f"loading {name}"):
            loaded = load_graph(
                self.spark,
                self.catalogue.graph_store,
                name,
                edges,
                nodes,
                replace=replace,
                on_bad_lines=on_bad_lines,
                **options,
            )
        self.live_graphs.close(name)
        return loaded

    def graph(self, name: str) -> StoredGraph:
        """A stored graph."""
        return self.catalogue.graph_store.graph(name)

    def graphs(self) -> Sequence[str]:
        """The names of the graphs."""
        return self.catalogue.graphs()

    def live(
        self, graph: str, *, properties: Sequence[str] | None = None, maintain: Maintenance | None = None
    ) -> LiveGraph:
        """A stored graph in memory, to be changed in batches with queries that stay true on it.

        It is read when it is first asked for, with all properties of its edges unless some are named; from then on
        it is the same one, for GVDL too. What `maintain` says holds for queries that come from now on.
        """
        return self.live_graphs.open(self.graph(graph), properties, maintain)

    def mining(self, method: Method | None = None, *, groups: int | None = None) -> SparkMining:
        """How Spark makes the overlay of a large ego aggregate: `live.ego("sum", overlay=session.mining())`.

        Readers are grouped by what they have in common, and each group is mined in a task, adaptively unless `method`
        says otherwise.
        """
        return SparkMining(self.spark, AdaptiveMining() if method is None else method, groups)

    def close_live(self, graph: str) -> None:
        """Let go of the live graph of a stored one, and of all queries on it."""
        self.live_graphs.close(graph)

    def drop_graph(self, name: str) -> None:
        """Remove a graph that no view, view collection or query stands on."""
        self.live_graphs.check_unused(name)
        self.catalogue.drop_graph(name)
        self.live_graphs.close(name)

    def query(self, name: str) -> Query:
        """A query that was registered on one of the live graphs."""
        return self.live_graphs.query(name)[1]

    def queries(self) -> Sequence[str]:
        """The names of the queries on all live graphs."""
        return self.live_graphs.query_names()

    # -- views

    def create_view(self, name: str, *, on: str, where: str) -> BoundView:
        """Name the edges of a graph, or of a view, for which a condition holds."""
        return self.catalogue.add_view(*view_statement(name, on, where))

    def create_view_collection(
        self,
        name: str,
        *,
        on: str,
        views: Mapping[str, str] | None = None,
        dimensions: Mapping[str, Mapping[str, str]] | None = None,
        order: str = "auto",
    ) -> StoredCollection:
        """Create a view collection from conditions by name, or from a product of dimensions.

        The conditions are those of GVDL; see also `execute`.
        """
        return create_collection(self, *collection_statement(name, on, views, dimensions, order))

    def view_collection(self, name: str) -> StoredCollection:
        """A view collection."""
        return self.catalogue.collection_store.collection(name)

    def views(self) -> Sequence[str]:
        """The names of the views."""
        return self.catalogue.views()

    def view_collections(self) -> Sequence[str]:
        """The names of the view collections."""
        return self.catalogue.collections()

    def computations(self) -> Sequence[str]:
        """The names of the computations that can be run."""
        return computation_names()

    # -- GVDL and runs

    def execute(self, text: str) -> list[Answer]:
        """Run GVDL statements one after the other; what each gave."""
        return list(execute(self, text))

    def run(
        self,
        computation: str,
        on: str,
        *,
        strategy: Strategy = "adaptive",
        order: str = "auto",
        decide_at_once: int = DECIDED_AT_ONCE,
        save_to: str | Path | None = None,
        **arguments: Any,
    ) -> Run:
        """Run a computation on a graph, a view, or on all views of a view collection.

        `strategy` says how a view follows from the one before: "adaptive" decides for `decide_at_once` views at a
        time. `order` takes another order than the collection has chosen: "given", "chain" or "lattice".
        With `save_to` the results are written into a new folder too: as CSV if its name ends in .csv, else as
        Parquet, a part per view.
        """
        return run_on(
            self,
            computation,
            on,
            arguments,
            strategy=strategy,
            order=order,
            decide_at_once=decide_at_once,
            save_to=save_to,
        )

    def _named(self) -> Mapping[str, Sequence[str]]:
        return {"graph": self.graphs(), "view": self.views(), "view collection": self.view_collections()}

    def __repr__(self) -> str:
        counts = (f"{len(names)} {kind}{'' if len(names) == 1 else 's'}" for kind, names in self._named().items())
        return f"<Session {self.home}: {', '.join(counts)}>"

    def _repr_html_(self) -> str:
        rows = [(kind, name) for kind, names in self._named().items() for name in names]
        table = pa.table({"kind": [kind for kind, _ in rows], "name": [name for _, name in rows]})
        return html_table(table, repr(self).strip("<>"))
