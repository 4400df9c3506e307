"""Arrow's functions on columns, which come into being when pyarrow is imported: type checkers know none of them."""

from __future__ import annotations

from typing import Any, Final

import pyarrow.compute

__all__ = ["pc"]

pc: Final[Any] = pyarrow.compute
