"""Which order a run takes: the views as given, as a chain of least differences, or on the lattice of a product.

The estimate is the number of edge differences, and on the lattice a price for each: a key is looked at wherever
changes of two dimensions meet, which a chain has not, and no view of it begins anew. What the price is follows from the
plan of the computation: from its loops, and from how many sums it makes of sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Final

from graphtide.dataflow.kernels import layout
from graphtide.dataflow.kernels.rounds import CLOSED
from graphtide.dataflow.plan import Arrange, Concat, EnterAt, Improve, Join, Linear, Node, Reduce

__all__ = ["LEAST_PRICE", "choose_order", "estimates", "lattice_price"]

# What an edge difference takes, over what it takes along a chain (see docs/design/05-graphs-and-views.md): at least,
LEAST_PRICE: Final = 3.0
# and where keys have long histories: in a loop whose rows set out at rounds of their own, there are more rounds; and
# where aggregates are joined, all times of one meet all of the other, which `kernels.replay` mends for epochs alone.
_LONG_PRICE: Final = 5.0
# Counts, sums and functions of users pass on every change. With so many of them one upon the other, most rows differ in
# most cells, and where a cell differs in both directions a lattice has four differences, a chain two.
_MOST_PASSING: Final = 2
_PASSING: Final = frozenset({layout.COUNT, layout.TOTAL, layout.FUNCTION})


def lattice_price(nodes: Iterable[Node], dimensions: int) -> float:
    """What an edge difference takes on the lattice of a product of so many dimensions, over what it takes on a chain.

    `nodes` are the plan of the computation on one view. One dimension is that of the epochs, as on a chain; each of the
    others is a coordinate more. With more coordinates than reductions can close at once (`kernels.rounds`), every
    look calls for others, and there is no telling how many: such a run has no price, nor has one in which all changes.
    """
    nodes = list(nodes)
    longest = max((node.scope.depth for node in nodes if isinstance(node.operation, Reduce)), default=1)
    if longest + dimensions - 1 > CLOSED or _passing(nodes) > _MOST_PASSING:
        return inf
    # Where nothing is taken back, loops follow no rounds.
    improving = {node.scope for node in nodes if isinstance(node.operation, Improve)}
    is_long = any(
        (isinstance(node.operation, EnterAt) and node.scope not in improving) or _joins_aggregates(node)
        for node in nodes
    )
    return _LONG_PRICE if is_long else LEAST_PRICE


def _passing(nodes: Iterable[Node]) -> int:
    """The most reductions, one upon the other, that pass on every change."""
    below: dict[Node, int] = {}
    for node in nodes:  # inputs come first, feedback excepted
        below[node] = max((below[each] for each in node.inputs), default=0) + _is_passing(node)
    return max(below.values(), default=0)


def _is_passing(node: Node) -> bool:
    return isinstance(node.operation, Reduce) and node.operation.parameters[0] in _PASSING


def _joins_aggregates(node: Node) -> bool:
    return isinstance(node.operation, Join) and all(map(_is_aggregate, node.inputs))


def _is_aggregate(node: Node) -> bool:
    """Whether rows have a count or a sum of their key, perhaps in other columns."""
    return _is_passing(node) or (
        isinstance(node.operation, Linear | Arrange | Concat) and any(map(_is_aggregate, node.inputs))
    )


def estimates(costs: Mapping[str, float], price: float = LEAST_PRICE) -> dict[str, float]:
    """What each order is expected to cost, in edge differences of a chain; one of the lattice costs `price` of them.

    >>> estimates({"given": 900, "chain": 700, "lattice": 200}, price=3)
    {'given': 900.0, 'chain': 700.0, 'lattice': 600.0}
    """
    return {
        name: float(cost * price if name == "lattice" and cost else cost)
        for name, cost in costs.items()
        if name in {"given", "chain", "lattice"}
    }


def choose_order(costs: Mapping[str, float], price: float = LEAST_PRICE) -> str:
    """The order with the least estimate; of equals the first in this order: given, chain, lattice.

    >>> choose_order({"given": 700, "chain": 700})
    'given'
    >>> choose_order({"given": 900, "chain": 700, "lattice": 200}, price=5)
    'chain'
    """
    expected = estimates(costs, price)
    return min(("given", "chain", "lattice"), key=lambda name: expected.get(name, inf))
