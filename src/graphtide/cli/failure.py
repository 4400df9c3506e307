"""What a person is told of a command or a statement that failed."""

from __future__ import annotations

import os

from graphtide.errors import GraphtideError

__all__ = ["failure_message", "is_debugging"]


def failure_message(error: Exception) -> str:
    r"""The error and what to do about it.

    >>> failure_message(ZeroDivisionError("by zero\nand more")).partition("\n")[0]
    'unexpected error: ZeroDivisionError: by zero'
    """
    if isinstance(error, GraphtideError):
        return f"error: {error}"
    fact = f"unexpected error: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return f"{fact}\nhint: set GRAPHTIDE_DEBUG=1 for the traceback"


def is_debugging() -> bool:
    """Whether tracebacks are wanted."""
    return os.environ.get("GRAPHTIDE_DEBUG", "") not in {"", "0"}
