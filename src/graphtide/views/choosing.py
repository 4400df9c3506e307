"""Which order a run takes: the views as given, as a chain of least differences, or on the lattice of a product.

The estimate is the number of edge differences, and on the lattice a price for each: a key is looked at wherever
changes of two dimensions meet, which a chain has not, and no view of it begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["LATTICE_PRICE", "choose_order", "estimates"]

# What an edge difference takes, over what it takes along a chain (see docs/design/05-graphs-and-views.md).
LATTICE_PRICE: Final = 3.0


def estimates(costs: Mapping[str, float]) -> dict[str, float]:
    """What each order is expected to cost, in edge differences of a chain.

    >>> estimates({"given": 900, "chain": 700, "lattice": 200})
    {'given': 900.0, 'chain': 700.0, 'lattice': 600.0}
    """
    return {
        name: cost * (LATTICE_PRICE if name == "lattice" else 1.0)
        for name, cost in costs.items()
        if name in {"given", "chain", "lattice"}
    }


def choose_order(costs: Mapping[str, float]) -> str:
    """The order with the least estimate; of equals the first in this order: given, chain, lattice.

    >>> choose_order({"given": 700, "chain": 700})
    'given'
    """
    expected = estimates(costs)
    return min(("given", "chain", "lattice"), key=lambda name: expected.get(name, float("inf")))
