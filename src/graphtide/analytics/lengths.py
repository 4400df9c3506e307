"""Edges as ways of a length, and the ends of the scale that lengths are on."""

from __future__ import annotations

import math
from typing import Final

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.expression import Expression
from graphtide.dataflow.expressions.functions import col, lit
from graphtide.errors import SchemaError, UsageError
from graphtide.rows import Kind

__all__ = ["infinity", "lengths", "zero"]

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

    def refuse(weight: float) -> list[tuple[int, int, float]]:
        raise UsageError(
            f'the edge property "{name}" is {weight} somewhere', hint="shortest paths need weights of 0 or more"
        )

    # NaN is beyond infinity. Only what is refused gets as far as Python.
    is_length = col("weight").between(zero(edges), infinity(edges))
    refused = edges.where(~is_length).select("weight").flat_map(refuse, **dict(edges.schema.items()))
    return edges.where(is_length).concat(refused).group_by("src", "dst").min("weight")


def zero(edges: Collection) -> Expression:
    """The least length, of the type that weights have."""
    return lit(0.0 if _has_floats(edges) else 0)


def infinity(edges: Collection) -> Expression:
    """A length that none exceeds."""
    return lit(math.inf if _has_floats(edges) else _LARGEST_INT)


def _has_floats(edges: Collection) -> bool:
    return edges.schema["weight"].kind is Kind.FLOAT
