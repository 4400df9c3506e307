"""GVDL statements about queries that stay answered, at work on the live graphs of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from graphtide.errors import CatalogueError, StatementError
from graphtide.frontier import LiveGraph, Query
from graphtide.gvdl import syntax
from graphtide.gvdl.bound import BoundQuery
from graphtide.gvdl.show import show
from graphtide.text import error_at
from graphtide.views.questions import bind_query

if TYPE_CHECKING:
    from graphtide.pipeline.session import Session

__all__ = ["describe_query", "explain_query", "register_query", "show_queries"]


def register_query(session: Session, statement: syntax.RegisterQuery, text: str) -> Query:
    """Register a query on the live graph of the graph that the statement names, which is opened if it was not."""
    bound = bind_query(statement, session.catalogue, text)
    _check_free(session, bound.name)
    live = session.live(bound.graph)
    _check_properties(live, bound, text)
    question = bound.question
    try:
        query = _register(live, bound.name, question)
    except StatementError as error:
        # A label that no edge has: the graph knows, not its schema.
        assert isinstance(question, syntax.PathPattern), "other questions are not read again"
        raise error_at(text, question.pattern.span, error.message, error.hint) from None
    session.live_graphs.note_statement(query, show(statement))
    return query


def show_queries(session: Session) -> pa.Table:
    """A row for each query of the session, with what it keeps."""
    tables: list[pa.Table] = []
    for graph, live in session.live_graphs.items():
        memory = live.memory()
        named = memory.filter(memory["name"].is_valid())
        tables.append(named.add_column(1, "graph", pa.array([graph] * named.num_rows, pa.string())))
    if not tables:
        tables = [LiveGraph().memory().slice(0, 0).add_column(1, "graph", pa.array([], pa.string()))]
    table = pa.concat_tables(tables)
    return table.rename_columns(["query", *table.column_names[1:]])


def describe_query(session: Session, name: str) -> pa.Table:
    """A row with what a query asks, on which graph, how many rows its answer has, and what it keeps."""
    graph, query = session.live_graphs.query(name)
    report = query.report
    row: dict[str, Any] = {
        "query": name,
        "graph": graph,
        "statement": session.live_graphs.statement_of(query),
        "kind": report.kind,
        "policy": repr(report.policy),
        "rows": query.result().num_rows,
    }
    counts = ("differences", "bytes", "dropped", "recomputed", "spurious", "product")
    return pa.Table.from_pylist([row | {each: getattr(report, each) for each in counts}])


def explain_query(session: Session, statement: syntax.RegisterQuery, text: str) -> str:
    """What `register query` would do."""
    bound = bind_query(statement, session.catalogue, text)
    open_one = session.live_graphs.get(bound.graph)
    if open_one is not None:
        return f"{show(statement)}\non {open_one!r}, by {open_one.maintain!r}"
    stored = session.graph(bound.graph)
    return (
        f"{show(statement)}\n"
        f"reads graph {bound.graph} into memory: {stored.node_count:,} vertices, {stored.edge_count:,} edges"
    )


def _register(live: LiveGraph, name: str, question: syntax.Question) -> Query:
    match question:
        case syntax.ShortestPath(source, target, weight):
            return live.shortest_path(source.value, target.value, _text(weight), name=name)
        case syntax.ShortestPaths(source, weight):
            return live.sssp(source.value, _text(weight), name=name)
        case syntax.KHop(hops, source):
            assert isinstance(hops.value, int), "the grammar says so"
            return live.k_hop(source.value, hops.value, name=name)
        case syntax.PathPattern(pattern, sources, label):
            assert label is not None, "a bound question has one"
            begin = [source.value for source in sources] or None
            return live.regular_path(str(pattern.value), begin, label=label.text, name=name)
        case syntax.Components():
            return live.wcc(name=name)
        case syntax.PageRank(arguments):
            given = {each.name.text: each.value for each in arguments}
            settings: dict[str, Any] = {
                at: each.value for at, each in given.items() if isinstance(each, syntax.Literal)
            }
            assert len(settings) == len(given), "a bound question has literals alone"
            return live.pagerank(**settings, name=name)


def _text(name: syntax.Name | None) -> str | None:
    return None if name is None else name.text


def _check_free(session: Session, name: str) -> None:
    session.catalogue.check_free(name, "query")
    if name in session.live_graphs.query_names():
        raise CatalogueError(f'there is a query "{name}" already', hint="drop it, or name the query otherwise")


def _check_properties(live: LiveGraph, bound: BoundQuery, text: str) -> None:
    """A program may have opened the graph with some of its properties."""
    for name in (getattr(bound.question, "weight", None), getattr(bound.question, "label", None)):
        if name is not None and name.text not in live.schema.names[2:]:
            raise error_at(
                text,
                name.span,
                f'the live graph of "{bound.graph}" was opened without the property "{name.text}"',
                hint=f'close it first: session.close_live("{bound.graph}")',
            )
