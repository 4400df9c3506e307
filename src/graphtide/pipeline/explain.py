"""What a statement would do, without doing it."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING

from graphtide.gvdl import syntax
from graphtide.gvdl.bind import bind
from graphtide.gvdl.predicate import Predicate, names_used
from graphtide.gvdl.show import show
from graphtide.pipeline.predicates import column_of, edges_with_ends
from graphtide.pipeline.queries import explain_query

if TYPE_CHECKING:
    from graphtide.pipeline.session import Session

__all__ = ["explain"]


def explain(session: Session, statement: syntax.Statement, text: str) -> str:
    """The plan of a statement, for people to read."""
    match statement:
        case syntax.CreateView():
            bound = bind(statement, session.catalogue, text)
            return "\n".join(
                [
                    show(statement),
                    *_reads(bound.graph, [bound.predicate]),
                    _spark_plan(session, bound.graph, bound.predicate),
                ]
            )
        case syntax.CreateCollection():
            bound = bind(statement, session.catalogue, text)
            shape = " x ".join(str(len(each.views)) for each in bound.dimensions)
            orders = "given, chain and lattice" if bound.dimensions else "given and chain"
            chosen = "the given order is kept" if bound.order == "given" else f"the cheapest of {orders} is chosen"
            return "\n".join(
                [
                    show(statement),
                    f"{len(bound.views)} views" + (f" ({shape})" if shape else "") + f", {chosen}",
                    *_reads(bound.graph, [view.predicate for view in bound.views]),
                    "one pass over the edges: a bit per view; then distances, order, difference stream",
                ]
            )
        case syntax.Run():
            return _run_plan(session, statement)
        case syntax.RegisterQuery():
            return explain_query(session, statement, text)
        case syntax.Explain(inner):
            return explain(session, inner, text)
        case _:
            return show(statement)


def _reads(graph: str, predicates: list[Predicate]) -> list[str]:
    edge, src, dst = (set[str](), set[str](), set[str]())
    for predicate in predicates:
        for known, more in zip((edge, src, dst), names_used(predicate), strict=True):
            known.update(more)
    parts = [("edge", edge), ("source", src), ("target", dst)]
    used = "; ".join(f"{what} properties {', '.join(sorted(names))}" for what, names in parts if names)
    joins = "; joins the nodes for them" if src or dst else ""
    return [f"reads graph {graph}: {used or 'no properties'}{joins}"]


def _spark_plan(session: Session, graph: str, predicate: Predicate) -> str:
    stored, spark = session.graph(graph), session.spark
    edges, nodes = (spark.read.parquet(str(folder)) for folder in (stored.edges_folder, stored.nodes_folder))
    chosen = edges_with_ends(edges, nodes, [predicate]).where(column_of(predicate))
    with redirect_stdout(StringIO()) as printed:
        chosen.explain()
    return printed.getvalue().strip()


def _run_plan(session: Session, statement: syntax.Run) -> str:
    from graphtide.pipeline.running import nothing_to_run_on, prepare  # noqa: PLC0415 - it imports this module's users
    from graphtide.pipeline.statements import values_of  # noqa: PLC0415

    on, catalogue = statement.on.text, session.catalogue
    lines = [show(statement)]
    if on in catalogue.collections():
        collection = session.view_collection(on)
        graph = collection.graph
        lines.append(repr(collection))
    elif on in catalogue.views():
        graph = catalogue.view(on).graph
    elif on in catalogue.graphs():
        graph = on
    else:
        raise nothing_to_run_on(catalogue, on)
    prepared = prepare(
        session.graph(graph), statement.computation.text, values_of(statement.arguments), whole=graph == on
    )
    return "\n".join([*lines, str(prepared.begin().explain())])
