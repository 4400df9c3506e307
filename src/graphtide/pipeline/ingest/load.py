"""From files or tables to a stored graph.

    open        look at names and first lines: formats, columns, declared types
    stage       Spark reads every row into parts, in the order of the source; types are found from all rows
    sort        nodes by id, each id once: now vertices have numbers
    number      edges in the order of the source, their ends by the numbers of vertices
    publish     the manifest, last

Nothing of the graph that was there changes before the last step.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from graphtide.errors import UsageError
from graphtide.graph.schema import GraphSchema, Property, PropertyType
from graphtide.graph.source import Source
from graphtide.graph.store import Draft, Store
from graphtide.graph.stored import StoredGraph
from graphtide.pipeline.ingest.dangling import find_dangling
from graphtide.pipeline.ingest.layout import check_types_used
from graphtide.pipeline.ingest.numbering import write_edges, write_nodes
from graphtide.pipeline.ingest.options import Table, check_heard, read_options
from graphtide.pipeline.ingest.setting_aside import Aside, bad_lines, dangling_edges, duplicate_nodes
from graphtide.pipeline.ingest.sorting import sort_ends, sort_nodes
from graphtide.pipeline.ingest.sources import TableSource, describe, open_sources
from graphtide.pipeline.ingest.stack import Stack
from graphtide.pipeline.ingest.staged import Staged
from graphtide.rows.schema import did_you_mean

__all__ = ["load_graph"]

_ERROR: Final = "error"
_QUARANTINE: Final = "quarantine"


def load_graph(
    spark: SparkSession,
    store: Store,
    name: str,
    edges: Any,
    nodes: Any = None,
    *,
    format: str | None = None,  # noqa: A002 - what everyone calls it
    replace: bool = False,
    on_bad_lines: str = _ERROR,
    **options: Any,
) -> StoredGraph:
    """Read a graph and store it under a name; see `graphtide.pipeline.ingest` for what it can be read from."""
    if on_bad_lines not in (_ERROR, _QUARANTINE):
        raise UsageError(
            f'on_bad_lines cannot be "{on_bad_lines}"', hint=did_you_mean(str(on_bad_lines), [_ERROR, _QUARANTINE])
        )
    said = read_options(format, options)
    with store.writing(name, replace=replace) as draft:
        sources = open_sources(spark, edges, nodes, said)
        check_heard(
            [*options, *([] if format is None else ["format"])],
            {table: source.hears for table, source in sources.items()},
        )
        types = {column for each in said.values() for column in each.types or {}}
        check_types_used(types, [each.layout for each in sources.values()])
        aside = Aside(is_error=on_bad_lines == _ERROR)
        staged = _stage(draft, sources, aside)
        schema = _schema_of(staged)
        node_count = _number_nodes(spark, draft, staged, schema, aside)
        edge_count = _number_edges(spark, draft, staged, schema, aside)
        return draft.publish(
            schema,
            node_count=node_count,
            edge_count=edge_count,
            quarantined=aside.write(draft.quarantine_folder),
            source=Source(describe(edges), describe(nodes)),
        )


def _stage(draft: Draft, sources: dict[Table, TableSource], aside: Aside) -> dict[Table, Staged]:
    staged: dict[Table, Staged] = {}
    for table, source in sources.items():
        each = source.stage(_scratch(draft, table), keeps_bad=not aside.is_error)
        aside.take(each, bad_lines(each), each.bad, "lines cannot be read")
        staged[table] = each
    return staged


def _schema_of(staged: dict[Table, Staged]) -> GraphSchema:
    has_int_ids = all(each.has_int_ids() for each in staged.values())
    nodes, edges = (_properties(staged.get(table)) for table in (Table.NODES, Table.EDGES))
    return GraphSchema(PropertyType.INT if has_int_ids else PropertyType.STRING, nodes, edges)


def _properties(staged: Staged | None) -> tuple[Property, ...]:
    if staged is None:
        return ()
    types = staged.types()
    return tuple(Property(column.title, types[column.name]) for column in staged.properties)


def _number_nodes(
    spark: SparkSession, draft: Draft, staged: dict[Table, Staged], schema: GraphSchema, aside: Aside
) -> int:
    folder = _scratch(draft, "sorted")
    if (nodes := staged.get(Table.NODES)) is None:
        rows = sort_ends(spark, staged[Table.EDGES], schema.id_type, folder).stack
    else:
        found = sort_nodes(spark, nodes, schema.id_type, folder)
        repeated = duplicate_nodes(nodes, found.duplicates)
        aside.take(nodes, repeated, repeated.num_rows, "nodes have an id that is there already")
        rows = found.stack
    write_nodes(spark, rows, schema, draft.nodes_folder)
    return rows.rows


def _number_edges(
    spark: SparkSession, draft: Draft, staged: dict[Table, Staged], schema: GraphSchema, aside: Aside
) -> int:
    edges = staged[Table.EDGES]
    parts = list(edges.parts)
    if Table.NODES in staged:
        found = find_dangling(spark, edges, schema.id_type, draft.nodes_folder)
        dangling = dangling_edges(found)
        aside.take(edges, dangling, dangling.num_rows, "edges have an end that is no node")
        for each in found:
            parts[each.number] = each.rest
    rows = Stack.of((part.path, part.rows) for part in parts)
    write_edges(spark, rows, schema, draft.edges_folder, draft.nodes_folder)
    return rows.rows


def _scratch(draft: Draft, name: str) -> Path:
    folder = draft.scratch_folder / name
    folder.mkdir(parents=True)
    return folder
