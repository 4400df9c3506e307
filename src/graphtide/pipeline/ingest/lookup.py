"""From users' ids to the numbers of vertices, by the files of nodes.

One file of nodes is held at a time, so a task's memory does not grow with the graph.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from graphtide.graph.schema import ID
from graphtide.pipeline.ingest.arrow import pc

__all__ = ["ABSENT", "look_up"]

ABSENT = -1


def look_up(ids: pa.ChunkedArray, nodes_folder: Path) -> NDArray[np.int64]:
    """The number of each id, `ABSENT` where there is no such node."""
    found = np.full(len(ids), ABSENT, np.int64)
    before = 0
    for file in sorted(nodes_folder.glob("[!.]*.parquet")):
        known = pq.ParquetFile(file).read(columns=[ID]).column(0)
        places = pc.fill_null(pc.index_in(ids, value_set=known), ABSENT).to_numpy()
        is_here = places != ABSENT
        found[is_here] = places[is_here] + before
        before += len(known)
    return found
