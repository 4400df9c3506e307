"""A select and a where over one schema, made ready to run.

A linear operator's plan is a list of calls, which Python makes first, and a program for the kernel,
which does the rest. Both share what expressions have in common, and neither touches a column
that nothing needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphtide.dataflow.expressions.calls import Call
from graphtide.dataflow.expressions.evaluation import evaluate
from graphtide.dataflow.expressions.expression import Expression
from graphtide.dataflow.expressions.infer import too_deep
from graphtide.dataflow.expressions.lowering import Lowering
from graphtide.dataflow.expressions.program import COLUMN, write_program
from graphtide.errors import ExpressionError, GraphtideError
from graphtide.rows import Dictionary, Kind, Schema

__all__ = ["LinearPlan", "compile_linear"]


@dataclass(frozen=True, slots=True, eq=False)
class LinearPlan:
    """What `dataflow.kernels.evaluate.linear` runs, and what comes before it.

    The calls append one column each behind the input's data columns, in order; the program reads
    the batch with all of them. A plan that only picks columns has their places in `projection`, and
    needs neither.
    """

    schema: Schema
    calls: tuple[Call, ...]
    program: NDArray[np.int64]
    projection: tuple[int, ...] | None
    _failures: Callable[[int], GraphtideError] = field(repr=False)

    def over(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The outputs for rows that stand in no batch: one line per column, in and out.

        >>> from graphtide.dataflow.expressions.functions import col
        >>> plan = compile_linear(Schema.of(x=int), Dictionary(), {"y": col("x") * 2}, col("x") > 1)
        >>> plan.over(np.array([[1, 2, 3]]))
        array([[4, 6]])
        """
        columns = [*codes]
        for call in self.calls:
            columns.append(call.compute(*(columns[c] for c in call.columns)))
        result, failed = evaluate(self.program, columns, codes.shape[1])
        if failed:
            raise self.failure(failed)
        return result

    def failure(self, status: int) -> GraphtideError:
        """The error behind a negative result of the kernel, which is -(1 + step)."""
        return self._failures(-1 - status)


def compile_linear(
    schema: Schema, dictionary: Dictionary, outputs: Mapping[str, Expression], where: Expression | None = None
) -> LinearPlan:
    """The plan of the given output columns for the rows in which `where` is true.

    >>> from graphtide.dataflow.expressions.functions import col
    >>> compile_linear(Schema.of(x=int, y=int), Dictionary(), {"a": col("y"), "b": col("x")}).projection
    (1, 0)
    """
    try:
        return _compiled(Lowering(schema, dictionary), outputs, where)
    except RecursionError:
        raise too_deep() from None


def _compiled(low: Lowering, outputs: Mapping[str, Expression], where: Expression | None) -> LinearPlan:
    schema = low.types.schema
    result = Schema((name, low.types.type_of(expression)) for name, expression in outputs.items())
    condition = None if where is None else _condition(low, where)
    with low.under(condition):
        numbers = [low.lower(expression) for expression in outputs.values()]
    numbers = [low.computed(number) for number in numbers]
    condition = None if condition is None else low.computed(condition)
    calls, place = low.calls(numbers if condition is None else [condition, *numbers])
    program = write_program(low.graph, numbers, condition, place, len(schema))
    is_projection = condition is None and all(low.graph.nodes[number].op == COLUMN for number in numbers)
    return LinearPlan(
        schema=result,
        calls=calls,
        program=program.words,
        projection=tuple(map(place, numbers)) if is_projection else None,
        _failures=low.failures(program.steps),
    )


def _condition(low: Lowering, where: Expression) -> int | None:
    """The node of the condition, None if it always holds."""
    found = low.types.type_of(where)
    if found.kind is not Kind.BOOL:
        raise ExpressionError(
            f"where needs a bool, and {where} is {found.required.described}",
            hint="write a comparison, such as x != 0",
        )
    number = low.lower(where)
    return None if low.graph.code(number) == 1 else number
