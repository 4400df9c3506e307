"""Draws from a power law between two bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["lower_bound_for", "power_law"]

Floats = NDArray[np.float64]


def power_law(shares: Floats, exponent: float, low: float, high: float) -> Floats:
    """Where these shares of a density x ** -exponent on [low, high] lie below; the exponent is above 1.

    >>> power_law(np.array([0.0, 0.5, 1.0]), exponent=2, low=1, high=3).round(3).tolist()
    [1.0, 1.5, 3.0]
    """
    power = 1 - exponent
    return (low**power + shares * (high**power - low**power)) ** (1 / power)


def lower_bound_for(mean: float, exponent: float, high: float) -> float:
    """The lower bound, 1 or more, that gives the power law this mean; below 1 if there is none."""
    shares = (np.arange(10_000) + 0.5) / 10_000
    low, above = 0.5, high
    for _ in range(50):
        middle = (low + above) / 2
        if power_law(shares, exponent, middle, high).mean() < mean:
            low = middle
        else:
            above = middle
    return above
