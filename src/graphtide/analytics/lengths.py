"""Edges as ways of a length, and how far one gets on them.

Ints end. A distance that is too far for them is not lost in a computation, since a shorter way may come: it is kept as
the greatest int and stays that, whatever is added. So that this int is a distance too, distances of ints are counted
from -1 while they are computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.expression import Expression
from graphtide.dataflow.expressions.functions import col, least, lit
from graphtide.errors import DataError, SchemaError
from graphtide.rows import Kind

__all__ = ["beginning", "distances", "farthest", "further", "lengths"]

_LARGEST_INT: Final = 2**63 - 1


def lengths(edges: Collection, name: str) -> Collection:
    """(src, dst, weight): the shortest of parallel edges; a weight below 0 or NaN makes the run fail.

    A cycle of negative weight has no shortest path, and a loop would look for one forever. `name` is what the
    user calls the weight.
    """
    if (given := edges.schema["weight"]).kind not in {Kind.INT, Kind.FLOAT}:
        raise SchemaError(
            f'shortest paths need numbers for weights, edge property "{name}" is {given.described}',
            hint="name an int or a float property",
        )

    def refuse(weight: float) -> list[Any]:
        raise DataError(
            f'the edge property "{name}" is {weight} somewhere',
            hint="shortest paths need weights of 0 or more: run on a view that leaves such edges out",
        )

    # NaN is beyond infinity.
    least_length, greatest_length = (0.0, math.inf) if _has_floats(edges) else (0, _LARGEST_INT)
    is_length = col("weight").between(least_length, greatest_length)
    refused = _refused(edges.where(~is_length), "weight", refuse)
    return edges.where(is_length).concat(refused).group_by("src", "dst").min("weight")


def beginning(ways: Collection) -> Expression:
    """How far a vertex is from itself, as distances on these ways are computed."""
    return lit(0.0 if _has_floats(ways) else -1)


def farthest(ways: Collection) -> Expression:
    """A distance that none exceeds while they are computed."""
    return lit(math.inf if _has_floats(ways) else _LARGEST_INT)


def further(ways: Collection) -> Expression:
    """How far the end of a way is, whose `weight` comes behind a distance that is called `value`."""
    if _has_floats(ways):
        return col("value") + col("weight")
    return least("value", _LARGEST_INT - col("weight")) + col("weight")


def distances(found: Collection, ways: Collection, name: str | None) -> Collection:
    """What was computed, with its last column `value` as users know it; one that is too far makes the run fail."""

    def refuse(_value: int) -> list[Any]:
        raise DataError(
            f'a shortest path is longer than {_LARGEST_INT}, the greatest int that the sum of "{name}" can be',
            hint=f'load the graph with "{name}" as a float',
        )

    if _has_floats(ways):
        return found
    fits = col("value") < _LARGEST_INT
    refused = _refused(found.where(~fits), "value", refuse)
    return found.where(fits).with_columns(value=col("value") + 1).concat(refused)


def _refused(rows: Collection, column: str, refuse: Callable[[Any], list[Any]]) -> Collection:
    """No rows, of the same schema, or what `refuse` raises if it is called with what a row has in a column."""
    # Only what is refused gets as far as Python, and not what a loop finds and takes back.
    return rows.select(column).consolidate().flat_map(refuse, **dict(rows.schema.items()))


def _has_floats(edges: Collection) -> bool:
    return edges.schema["weight"].kind is Kind.FLOAT
