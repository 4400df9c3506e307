"""Computations over data that changes, paid for by their differences."""

from graphtide.errors import GraphtideError

__all__ = ["GraphtideError", "__version__"]

__version__ = "0.1.0"
