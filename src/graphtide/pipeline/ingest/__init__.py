"""Loading graphs: from files or tables to a stored graph, through Spark.

`load_graph(spark, store, name, edges, nodes)` takes for `edges` and `nodes` a path, a list of paths (folders and
patterns too), or a Spark, Arrow, pandas or Polars table; `edges` may be a NetworkX graph. Without nodes, the ends of
the edges are the nodes. Parallel edges and loops are kept. Several files of one table may have different columns.
Edges have a direction. An undirected NetworkX graph brings each edge once each way, and a loop once.

Formats, told from names and first lines unless `format=` says them:

    csv             with or without a header, of plain names, `year:int`, neo4j-admin's `:START_ID` or Gremlin's `~from`
    parquet         folders such as year=2019 below the one that was given are columns
    snap            blanks or tabs, comments that start with #
    ldbc            csv with | between values, a header and no quotes
    graphalytics    .v and .e files, a weight in the third column of the latter

Options, for edges and nodes, or with `edge_` or `node_` in front for one of them:

    separator       one character, or "tab"
    header          whether the first line names the columns
    quote           the character around values; "" for none
    comment         what starts lines that are no rows; "" for nothing
    null            what stands for a missing value, beside nothing at all
    columns         types by name, {"year": "int"}; or all columns in order, ["src", "dst", "year:int"]
    src, dst, id    the columns with the ends or the id, by name or place; else by their names (src, to, ...), else the
                    two that are called ids (Person1Id, Person2Id) if two are, else the first

Types are int, float, string, bool, date and timestamp. Those that are not declared are found from all values. Ids are
ints if all of them are, in both tables, and text otherwise; `007`, `+7` and what does not fit 64 bits is text.
Empty values are missing, quoted or not; blanks around ids and around values that are no text do not count.

A line that cannot be read, a node whose id is there already and an edge without a node at one end are errors, unless
`on_bad_lines="quarantine"` sets them aside: `StoredGraph.quarantine()` has them. A value with a line break in it needs
Spark's own reader: pass `spark.read.csv(path, multiLine=True)` instead of the path.
"""

from graphtide.pipeline.ingest.load import load_graph

__all__ = ["load_graph"]
