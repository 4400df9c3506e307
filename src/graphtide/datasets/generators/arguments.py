"""Checks of what a generator is asked for: a wrong number is refused before any memory is taken."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from graphtide.errors import UsageError

__all__ = ["check_number", "check_share", "check_whole", "seeded"]


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Refuse anything but an integer from `least` to `most`.

    >>> check_whole("scale", 0, least=1)
    Traceback (most recent call last):
    ...
    graphtide.errors.UsageError: "scale" is 0
    hint: give a whole number of at least 1
    """
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < least or (most is not None and value > most):
        raise UsageError(f'"{name}" is {value!r}', hint=f"give a whole number {bounds}")


def check_number(name: str, value: Any, least: float, most: float | None = None) -> None:
    """Refuse anything but a finite number from `least` to `most`."""
    bounds = f"of at least {least:g}" if most is None else f"from {least:g} to {most:g}"
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not isfinite(value) or value < least or (most is not None and value > most):
        raise UsageError(f'"{name}" is {value!r}', hint=f"give a number {bounds}")


def check_share(name: str, value: Any) -> None:
    """Refuse anything but a number from 0 to 1."""
    check_number(name, value, 0, 1)


def seeded(seed: Any) -> np.random.Generator:
    """The source of all of a generator's chances."""
    check_whole("seed", seed, 0)
    return np.random.default_rng(seed)
