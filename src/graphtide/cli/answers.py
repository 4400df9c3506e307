"""What statements gave, for the terminal and for machines."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from graphtide.frontier import Query
from graphtide.graph.stored import StoredGraph
from graphtide.gvdl.bound import BoundView
from graphtide.pipeline.statements import Answer
from graphtide.views.run import Run
from graphtide.views.stored import StoredCollection

__all__ = ["print_answer", "print_json"]

_SHOWN_ROWS = 20
_SHOWN_OF_A_RESULT = 8


def print_answer(console: Console, answer: Answer) -> None:
    """Print an answer for people."""
    match answer:
        case pa.Table():
            _print_table(console, answer)
        case Run():
            console.print(str(answer.report), markup=False, highlight=False, soft_wrap=True)
            last = answer.names[-1]
            console.print(f"\n{answer.analytic} on {last}:", markup=False, highlight=False)
            _print_table(console, answer.table(last), _SHOWN_OF_A_RESULT)
        case Query():
            console.print(f"registered query {answer.name}: {answer.report}", markup=False, soft_wrap=True)
            _print_table(console, answer.result(), _SHOWN_OF_A_RESULT)
        case StoredGraph():
            aside = f", {answer.quarantined:,} lines set aside" if answer.quarantined else ""
            console.print(f"loaded {answer.name}: {answer.node_count:,} nodes, {answer.edge_count:,} edges{aside}")
        case BoundView():
            console.print(f"created view {answer.name} on {answer.graph}")
        case StoredCollection():
            console.print(f"created view collection {repr(answer).strip('<>')}", markup=False, soft_wrap=True)
        case _:
            console.print(answer, markup=False, soft_wrap=True)


def print_json(answer: Answer) -> None:
    """Print an answer for machines: one JSON value on a line."""
    print(json.dumps(_plain(answer), default=str))


def _plain(answer: Answer) -> dict[str, Any]:
    match answer:
        case pa.Table():
            return {"rows": answer.to_pylist()}
        case Run():
            return {
                "run": answer.analytic,
                "on": answer.on,
                "order": answer.report.order,
                "orders": dict(answer.report.orders),
                "seconds": answer.report.seconds,
                "views": answer.report.table().to_pylist(),
            }
        case Query():
            report = answer.report
            return {
                "query": report.name,
                "kind": report.kind,
                "policy": repr(report.policy),
                "differences": report.differences,
                "bytes": report.bytes,
                "rows": answer.result().to_pylist(),
            }
        case StoredGraph():
            return {
                "graph": answer.name,
                "nodes": answer.node_count,
                "edges": answer.edge_count,
                "quarantined": answer.quarantined,
                "schema": answer.schema.to_json(),
            }
        case BoundView():
            return {"view": answer.name, "graph": answer.graph}
        case StoredCollection():
            return {
                "view collection": answer.name,
                "graph": answer.graph,
                "views": list(answer.views),
                "sizes": list(answer.sizes),
                "order": answer.chosen,
                "orders": dict(answer.costs),
            }
        case _:
            return {"text": answer}


def _print_table(console: Console, rows: pa.Table, most: int = _SHOWN_ROWS) -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for field in rows.schema:
        is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        table.add_column(escape(field.name), justify="right" if is_number else "left")
    for row in rows.slice(0, most).to_pylist():
        table.add_row(*("" if value is None else escape(str(value)) for value in row.values()))
    console.print(table)
    if rows.num_rows > most:
        console.print(f"and {rows.num_rows - most:,} more rows")
