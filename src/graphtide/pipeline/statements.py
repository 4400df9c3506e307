"""GVDL statements at work in a session, and statements made from what a program passes instead of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import pyarrow as pa

from graphtide.analytics import find, names
from graphtide.errors import CatalogueError, UsageError
from graphtide.frontier import Query
from graphtide.graph.stored import StoredGraph
from graphtide.gvdl import syntax
from graphtide.gvdl.bound import BoundView
from graphtide.gvdl.parse import parse, parse_predicate
from graphtide.gvdl.show import show
from graphtide.pipeline.collections import create_collection
from graphtide.pipeline.explain import explain
from graphtide.pipeline.ingest.options import check_option
from graphtide.pipeline.queries import describe_query, register_query, show_queries
from graphtide.pipeline.running import check_property, graph_below, run_on
from graphtide.rows.schema import did_you_mean
from graphtide.text import pointing_at
from graphtide.views.run import Run
from graphtide.views.stored import StoredCollection

if TYPE_CHECKING:
    from graphtide.pipeline.session import Session

__all__ = ["Answer", "collection_statement", "execute", "values_of", "view_statement"]

_Thing = TypeVar("_Thing")

# What a statement gives: what was made, a table of what there is, or a sentence.
Answer: TypeAlias = StoredGraph | BoundView | StoredCollection | Run | Query | pa.Table | str


def execute(session: Session, text: str) -> Iterator[Answer]:
    """Carry out the statements of a text one after the other; nothing is done if it does not parse."""
    for statement in parse(text):
        yield _carry_out(session, statement, text)


def view_statement(name: str, on: str, where: str) -> tuple[syntax.CreateView, str]:
    """`create view`, and the text that its errors point into."""
    made = syntax.CreateView(syntax.Name(name), syntax.Name(on), parse_predicate(where))
    text = show(made)
    (statement,) = parse(text)
    assert isinstance(statement, syntax.CreateView), "it was shown as one"
    return statement, text


def collection_statement(
    name: str,
    on: str,
    views: Mapping[str, str] | None,
    dimensions: Mapping[str, Mapping[str, str]] | None,
    order: str,
) -> tuple[syntax.CreateCollection, str]:
    """`create view collection`, and the text that its errors point into."""
    if (views is None) == (dimensions is None):
        raise UsageError("a view collection has either views or dimensions", hint="pass one of them")
    if order not in {"auto", "given"}:
        raise UsageError(f'there is no order "{order}" to create with', hint='use "auto" or "given"')
    made = syntax.CreateCollection(
        syntax.Name(name),
        syntax.Name(on),
        None if views is None else _views(views),
        tuple(syntax.Dimension(syntax.Name(each), _views(of)) for each, of in (dimensions or {}).items()),
        "given" if order == "given" else "auto",
    )
    text = show(made)
    (statement,) = parse(text)
    assert isinstance(statement, syntax.CreateCollection), "it was shown as one"
    return statement, text


def _views(conditions: Mapping[str, str]) -> syntax.Views:
    if not conditions:
        raise UsageError("there are no views in it", hint="pass a condition for each view")
    return syntax.Views(
        tuple(syntax.ViewDefinition(syntax.Name(name), parse_predicate(where)) for name, where in conditions.items())
    )


def _carry_out(session: Session, statement: syntax.Statement, text: str) -> Answer:
    catalogue = session.catalogue
    match statement:
        case syntax.LoadGraph():
            return _load(session, statement, text)
        case syntax.CreateView():
            return catalogue.add_view(statement, text)
        case syntax.CreateCollection():
            return create_collection(session, statement, text)
        case syntax.Run():
            return _run(session, statement, text)
        case syntax.RegisterQuery():
            return register_query(session, statement, text)
        case syntax.Show("queries"):
            return show_queries(session)
        case syntax.Show(what):
            return _show(session, what)
        case syntax.Describe(name):
            with pointing_at(text, name.span):
                return _describe(session, name.text)
        case syntax.Drop(kind, name):
            drop = {
                "graph": session.drop_graph,
                "view": catalogue.drop_view,
                "view collection": catalogue.collection_store.drop,
                "query": lambda query: session.query(query).drop(),
            }[kind]
            with pointing_at(text, name.span):
                drop(name.text)
            return f'dropped {kind} "{name.text}"'
        case syntax.Explain(inner):
            return explain(session, inner, text)


def _load(session: Session, statement: syntax.LoadGraph, text: str) -> StoredGraph:
    """Carry out `load graph`; a word that is no option is told where it stands, and before anything is read."""
    for each in statement.options:
        if each.name.text not in {"replace", "on_bad_lines"}:
            with pointing_at(text, each.span):
                check_option(each.name.text)
    nodes = list(statement.nodes) or None
    return session.load_graph(statement.name.text, list(statement.edges), nodes, **values_of(statement.options))


def _run(session: Session, statement: syntax.Run, text: str) -> Run:
    """Carry out `run`; what is wrong with a name or an argument is told there, and before anything runs."""
    computation, on = statement.computation, statement.on
    with pointing_at(text, on.span):
        graph = graph_below(session, on.text)
    with pointing_at(text, computation.span):
        analytic = find(computation.text)
    for each in statement.arguments:
        with pointing_at(text, each.span):
            analytic.accepted(each.name.text, _value(each.value))
    values = values_of(statement.arguments)
    with pointing_at(text, computation.span):
        properties = analytic.bind(values).edge_properties
    for each in statement.arguments:
        if each.name.text in properties:
            with pointing_at(text, each.value.span):
                check_property(graph, properties[each.name.text])
    with pointing_at(text, statement.span):
        return run_on(
            session,
            computation.text,
            on.text,
            values,
            strategy=statement.strategy or "adaptive",
            order=statement.order or "auto",
            save_to=statement.save_to,
        )


def values_of(arguments: tuple[syntax.Argument, ...]) -> dict[str, Any]:
    """Arguments as plain values; a bare name is a string."""
    return {each.name.text: _value(each.value) for each in arguments}


def _value(value: syntax.Value) -> Any:
    match value:
        case syntax.Literal():
            return value.value
        case syntax.Name():
            return value.text
        case syntax.ListValue():
            return [_value(each) for each in value.items]
        case syntax.TupleValue():
            return tuple(_value(each) for each in value.items)


def _show(session: Session, what: str) -> pa.Table:
    catalogue = session.catalogue
    if what == "graphs":
        return _listed(
            "graph",
            catalogue.graphs(),
            catalogue.graph_store.graph,
            {
                "nodes": (pa.int64(), lambda each: each.node_count),
                "edges": (pa.int64(), lambda each: each.edge_count),
                "source": (pa.string(), lambda each: str(each.source)),
            },
        )
    if what == "views":
        return _listed(
            "view", catalogue.views(), catalogue.statement_of, {"statement": (pa.string(), lambda statement: statement)}
        )
    if what == "view collections":
        return _listed(
            "view collection",
            catalogue.collections(),
            catalogue.collection_store.collection,
            {
                "graph": (pa.string(), lambda each: each.graph),
                "views": (pa.int64(), lambda each: len(each.views)),
                "order": (pa.string(), lambda each: each.chosen),
                "differences": (pa.int64(), lambda each: int(each.costs[each.chosen])),
            },
        )
    known = [find(name) for name in names()]
    return pa.table(
        {
            "computation": pa.array([each.signature for each in known], pa.string()),
            "what it finds": pa.array([each.description for each in known], pa.string()),
        }
    )


def _listed(
    what: str,
    names: Sequence[str],
    read: Callable[[str], _Thing],
    columns: Mapping[str, tuple[pa.DataType, Callable[[_Thing], Any]]],
) -> pa.Table:
    """A row for each thing of a kind; what cannot be read has nothing but its name, and a column that says why."""
    things: list[_Thing | None] = []
    problems: list[str | None] = []
    for name in names:
        try:
            things.append(read(name))
            problems.append(None)
        except CatalogueError as error:
            things.append(None)
            problems.append(error.message)
    made = {what: pa.array(names, pa.string())}
    for column, (type_, of) in columns.items():
        made[column] = pa.array([None if each is None else of(each) for each in things], type_)
    if any(problems):
        made["problem"] = pa.array(problems, pa.string())
    return pa.table(made)


def _describe(session: Session, name: str) -> pa.Table:
    """The properties of a graph, the statement of a view, the views of a view collection, what a query keeps."""
    catalogue = session.catalogue
    if name in catalogue.graphs():
        return session.graph(name).properties_table()
    if name in catalogue.views():
        view = catalogue.view(name)
        return pa.table({"view": [name], "graph": [view.graph], "statement": [catalogue.statement_of(name)]})
    if name in catalogue.collections():
        return session.view_collection(name).views_table()
    if name in session.queries():
        return describe_query(session, name)
    known = [*catalogue.graphs(), *catalogue.views(), *catalogue.collections(), *session.queries()]
    hint = did_you_mean(name, known) if known else "nothing has been loaded yet"
    raise CatalogueError(f'there is no graph, view, view collection or query "{name}"', hint=hint)
