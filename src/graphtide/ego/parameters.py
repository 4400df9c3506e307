"""The numbers that say how an overlay is looked for, checked when they are given: kernels take them as they are."""

from __future__ import annotations

from typing import Final

from graphtide.errors import UsageError
from graphtide.rows.misfit import shown

__all__ = ["check_chunk", "check_seed", "check_share", "check_whole"]

_MOST: Final = 2**31 - 1
_MOST_LISTS: Final = 1_000_000


def check_whole(name: str, value: object, least: int, most: int = _MOST) -> None:
    """Raise an error if a parameter is no whole number within limits."""
    if type(value) is not int or not least <= value <= most:
        limits = f"{least} or more" if most == _MOST else f"{least} to {most:,}"
        raise UsageError(f"{name}={shown(value)} is not a whole number within limits", hint=f"give {limits}")


def check_chunk(value: object) -> None:
    """Raise an error if so many lists cannot be mined at once; a single one shares nothing."""
    check_whole("chunk", value, 2, _MOST_LISTS)


def check_seed(value: object) -> None:
    """Raise an error if shingles cannot be drawn by it."""
    check_whole("seed", value, 0)


def check_share(name: str, value: object) -> None:
    """Raise an error if a parameter is no share of a whole."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise UsageError(f"{name}={shown(value)} is not a share", hint="give a number from 0 to below 1")
