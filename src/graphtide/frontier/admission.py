"""Whether a program can be kept on a live graph: its weight, its initial states and its message."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from graphtide.errors import SchemaError
from graphtide.frontier.edges import Edges
from graphtide.frontier.message import CompiledMessage, check_monotone, compile_message
from graphtide.frontier.program import Program
from graphtide.rows.schema import did_you_mean
from graphtide.rows.types import Kind

__all__ = ["admit", "shown_range", "weights_for"]

# Four million of them add up to less than the state of a vertex that is not reached.
_GREATEST_INT: Final = 2**40
# A sample of states and weights, on which a user's function must be monotone.
_FEW_STATES: Final = 16
_FEW_WEIGHTS: Final = 32


def admit(program: Program, name: str, edges: Edges) -> CompiledMessage:
    """The message of a program that can be kept on these edges."""
    if program.weight is not None:
        _check_weight(program, program.weight, name, edges)
    message = _compiled(program, edges)
    for vertex, state in (program.initial or {}).items():
        if message.dtype == np.int64 and (not float(state).is_integer() or abs(state) > _GREATEST_INT):
            raise SchemaError(
                f'query "{name}" cannot begin with {state} at {vertex!r}: its states are ints of at most 2 ** 40',
                hint="take a weight that is a float, or a smaller int",
            )
    if message.pointer is None:
        return message
    if program.begins_with_ids and edges.schema["src"].kind is not Kind.INT:
        hint = "give initial states, for example initial={17: 0}"
        raise SchemaError(f'query "{name}" cannot begin with ids that are {edges.schema["src"]}', hint=hint)
    states = [state * program.sign for state in (program.initial or {}).values()]
    begins = edges.labels[: min(edges.adjacency.vertices, _FEW_STATES)] if program.begins_with_ids else states
    check_monotone(program, message, np.array(begins, message.dtype), _some_weights(program, message, edges))
    return message


def weights_for(program: Program, edges: Edges) -> tuple[float, float]:
    """The weights with which a program settles, and its sums do not overflow."""
    assert program.weight is not None
    is_summed = program.message == "add" and not edges.is_float(program.weight)
    return program.least_weight, min(program.greatest_weight, _GREATEST_INT if is_summed else np.inf)


def shown_range(least: float, greatest: float) -> str:
    """Weights from one to another, as errors speak of them."""
    return f"{least:g} and more" if greatest == np.inf else f"{least:g} to {greatest:g}"


def _compiled(program: Program, edges: Edges) -> CompiledMessage:
    if program.weight is None:
        return compile_message(program)
    return compile_message(program, np.dtype(np.float64 if edges.is_float(program.weight) else np.int64))


def _some_weights(program: Program, message: CompiledMessage, edges: Edges) -> NDArray[Any]:
    """Weights that edges have; 1 if there are none."""
    if program.weight is None or edges.adjacency.edges == 0:
        return np.ones(1, message.weight_dtype)
    weights = edges.slot_weights(program.weight)
    few = weights[edges.adjacency.some_slots(_FEW_WEIGHTS)]
    return np.unique(np.append(few, edges.adjacency.extremes(weights)).astype(message.weight_dtype))


def _check_weight(program: Program, weight: str, name: str, edges: Edges) -> None:
    properties = edges.schema.names[2:]
    if weight not in properties:
        hint = did_you_mean(weight, properties) or f"edges are {edges.schema}"
        raise SchemaError(f'edges have no property "{weight}"', hint=hint)
    if edges.schema[weight].kind not in {Kind.INT, Kind.FLOAT} or edges.schema[weight].nullable:
        raise SchemaError(f'"{weight}" is {edges.schema[weight]}, not a number that every edge has')
    if edges.adjacency.edges == 0:
        return
    least, greatest = edges.adjacency.extremes(edges.slot_weights(weight))
    lower, upper = weights_for(program, edges)
    if not (least >= lower and greatest <= upper):
        bad = greatest if least >= lower else least
        raise SchemaError(
            f'query "{name}" takes no {weight} of {bad}, which an edge has',
            hint=f"it takes {shown_range(lower, upper)}",
        )
