"""How many examples a law is tried on."""

from typing import Any

from hypothesis import settings


def share(percent: int, **more: Any) -> settings:
    """So many of the profile's examples, one at the least: `pytest --hypothesis-profile=deep` looks longer."""
    return settings(max_examples=max(1, settings.default.max_examples * percent // 100), **more)  # type: ignore[union-attr]
