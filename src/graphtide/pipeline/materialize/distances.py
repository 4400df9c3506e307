"""How many edges each two views differ in, counted from the matrix (Graphsurge, section 4)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from graphtide.pipeline.materialize.files import Part, read_masks, row_group_parts
from graphtide.views.ordering.distances import Distances, mask_distances

__all__ = ["distances"]

# Masks that are counted at once: enough for the sums of 4096 views, 134 MB, to be made seldom.
_GATHERED_BYTES: Final = 64 << 20


def distances(spark: SparkSession, matrix: Path, views: int) -> Distances:
    """The distances of a collection's views behind a column of zeros, as `views.ordering` takes them."""
    parts = row_group_parts(matrix, spark.sparkContext.defaultParallelism)
    if not parts or not views:
        return np.zeros((views + 1, views + 1), np.int64)
    tasks = spark.sparkContext.parallelize(parts, len(parts))
    # Adding up in a tree keeps the driver from holding a matrix of every task.
    return tasks.map(partial(_distances_of, views=views)).treeReduce(np.add, depth=3)


def _distances_of(part: Part, views: int) -> Distances:
    """A task: the distances within a part."""
    total = np.zeros((views + 1, views + 1), np.int64)
    gathered: list[NDArray[np.uint64]] = []
    for _, words in read_masks(part, views):
        gathered.append(words)
        if sum(each.nbytes for each in gathered) >= _GATHERED_BYTES:
            total += _counted(gathered, views)
            gathered = []
    return total + _counted(gathered, views) if gathered else total


def _counted(gathered: list[NDArray[np.uint64]], views: int) -> Distances:
    words = np.concatenate(gathered)
    return mask_distances(words, np.ones(len(words), np.int64), views)
