"""View collections made from edges: the edge boolean matrix, distances of views, difference streams.

    edges, predicates -> matrix -> distances -> (an order) -> difference stream

Spark schedules; its tasks read and write Parquet with pyarrow and run kernels on it. Only predicates that do more than
compare properties with literals are evaluated by Spark itself (docs/design/05-graphs-and-views.md).
"""

from graphtide.pipeline.materialize.columns import write_matrix
from graphtide.pipeline.materialize.differences import count_chain, count_lattice, write_lattice, write_stream
from graphtide.pipeline.materialize.distances import distances
from graphtide.pipeline.materialize.matrix import write_graph_matrix

__all__ = [
    "count_chain",
    "count_lattice",
    "distances",
    "write_graph_matrix",
    "write_lattice",
    "write_matrix",
    "write_stream",
]
