"""From expressions to steps: what each operation does to codes.

Types come from `infer`, so nothing is refused here. A failure must count only in rows whose value is
needed: what stands behind a condition is lowered under a guard (see `Graph`), which costs
nothing unless a step under it can fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from typing import Any, Final

from graphtide.dataflow.expressions.calling import Calling
from graphtide.dataflow.expressions.expression import Apply, Cast, Column, Expression, Invoke, Literal
from graphtide.dataflow.expressions.infer import Inference, common_type
from graphtide.dataflow.expressions.program import Graph
from graphtide.dataflow.expressions.signatures import UNITS
from graphtide.dataflow.kernels import opcodes as op
from graphtide.errors import ExpressionError, SchemaError
from graphtide.rows import NULL, STR, TIMESTAMP, Dictionary, Kind, Schema, Type, encode_value

__all__ = ["Lowering"]
