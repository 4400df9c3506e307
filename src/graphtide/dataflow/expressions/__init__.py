"""Expressions over columns: what users write in select and where, and how it runs.

`expression`, `numbers`, `text`, `moments` and `functions` are the language, `infer` and `signatures` its
types. `compile` makes a plan: `lowering` turns expressions into the steps of a `program` for
the kernel and into `calls` for what only Python can do.
"""

from graphtide.dataflow.expressions.calls import Call
from graphtide.dataflow.expressions.compile import LinearPlan, compile_linear
from graphtide.dataflow.expressions.expression import Expression, Operand, as_expression, as_operand
from graphtide.dataflow.expressions.functions import (
    Func,
    When,
    call,
    coalesce,
    col,
    concat,
    func,
    greatest,
    hash_of,
    least,
    lit,
    tuple_,
    when,
)
from graphtide.dataflow.expressions.infer import type_of

__all__ = [
    "Call",
    "Expression",
    "Func",
    "LinearPlan",
    "Operand",
    "When",
    "as_expression",
    "as_operand",
    "call",
    "coalesce",
    "col",
    "compile_linear",
    "concat",
    "func",
    "greatest",
    "hash_of",
    "least",
    "lit",
    "tuple_",
    "type_of",
    "when",
]
