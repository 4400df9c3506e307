"""Draws from a power law, compared with its density summed up in small steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtide.datasets.generators.power_law import lower_bound_for, power_law

exponents = st.floats(1.05, 6)


def density(exponent: float, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Points, equally many at each scale, and how much of the density lies at each."""
    bounds = np.geomspace(low, high, 20_001)
    points = (bounds[1:] + bounds[:-1]) / 2
    weights = points**-exponent * np.diff(bounds)
    return points, weights / weights.sum()


@given(exponents, st.floats(1, 100), st.floats(1.1, 1_000), st.floats(0.01, 0.99))
def test_a_share_of_the_density_lies_below_what_is_drawn_for_it(
    exponent: float, low: float, factor: float, share: float
) -> None:
    points, weights = density(exponent, low, low * factor)
    drawn = power_law(np.array([share]), exponent, low, low * factor).item()
    assert weights[points < drawn].sum() == pytest.approx(share, abs=1e-3)


@given(exponents, st.floats(1, 50), st.floats(2, 200))
def test_the_lower_bound_is_found_again_from_the_mean(exponent: float, low: float, factor: float) -> None:
    points, weights = density(exponent, low, low * factor)
    assert lower_bound_for((points * weights).sum(), exponent, low * factor) == pytest.approx(low, rel=0.01)


def test_a_mean_that_needs_a_bound_below_1_has_none() -> None:
    assert lower_bound_for(1.2, exponent=2.5, high=100) < 1
