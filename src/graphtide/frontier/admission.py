"""What a graph must have for a program to be kept on it: the weight that it asks for, in a range that settles."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from graphtide.errors import SchemaError
from graphtide.frontier.edges import Edges, written_range
from graphtide.frontier.message import CompiledMessage, check_monotone, compile_message
from graphtide.frontier.program import Program
from graphtide.frontier.sum_program import CompiledSum, SumProgram, compile_sum
from graphtide.rows.schema import did_you_mean
from graphtide.rows.types import Kind

__all__ = ["admit", "admit_sum", "compiled_on", "range_of"]

# Four million of them add up to less than the state of a vertex that is not reached.
_GREATEST_INT: Final = 2**40
# A sample of states and weights, on which a user's function must be monotone.
_FEW_STATES: Final = 16
_FEW_WEIGHTS: Final = 32


def admit(edges: Edges, program: Program, name: str, most: float = np.inf) -> CompiledMessage:
    """The message of a selective program that can be kept on these edges; or an error that names the query.

    No weight may be greater than `most`.
    """
    _check_weight(edges, program, name, most)
    message = compiled_on(edges, program)
    _check_beginnings(program, message, name)
    if message.pointer is None:
        return message
    ids = edges.schema["src"]
    if program.begins_with_ids and ids.kind is not Kind.INT:
        hint = "give initial states, for example initial={17: 0}"
        raise SchemaError(f'query "{name}" cannot begin with ids that are {ids}', hint=hint)
    states = [state * program.sign for state in program.beginnings.values()]
    begins = edges.labels[: min(edges.adjacency.vertices, _FEW_STATES)] if program.begins_with_ids else states
    check_monotone(program, message, np.array(begins, message.dtype), _some_weights(edges, program, message))
    return message


def admit_sum(edges: Edges, program: SumProgram, name: str) -> CompiledSum:
    """The functions of a program that sums and can be kept on these edges; or an error that names the query."""
    _check_weight(edges, program, name)
    message = compile_sum(program, _weight_dtype(edges, program))
    _check_beginnings(program, message, name)
    return message


def compiled_on(edges: Edges, program: Program) -> CompiledMessage:
    """The message of a program that is known to fit."""
    return compile_message(program, _weight_dtype(edges, program))


def range_of(edges: Edges, program: Program | SumProgram) -> tuple[float, float]:
    """The weights with which a program settles, and its sums do not overflow."""
    if isinstance(program, SumProgram):
        return -np.inf, np.inf
    assert program.weight is not None
    is_summed = program.message == "add" and not edges.is_float(program.weight)
    return program.least_weight, min(program.greatest_weight, _GREATEST_INT if is_summed else np.inf)


def _weight_dtype(edges: Edges, program: Program | SumProgram) -> np.dtype[Any] | None:
    """The type of the weights that a program asks for."""
    if program.weight is None:
        return None
    return np.dtype(np.float64 if edges.is_float(program.weight) else np.int64)


def _check_weight(edges: Edges, program: Program | SumProgram, name: str, most: float = np.inf) -> None:
    weight, schema = program.weight, edges.schema
    if weight is None:
        return
    properties = schema.names[2:]
    if weight not in properties:
        hint = did_you_mean(weight, properties) or f"edges are {schema}"
        raise SchemaError(f'edges have no property "{weight}"', hint=hint)
    if schema[weight].kind not in {Kind.INT, Kind.FLOAT} or schema[weight].nullable:
        raise SchemaError(f'"{weight}" is {schema[weight]}, not a number that every edge has')
    if edges.adjacency.edges == 0:
        return
    least, greatest = edges.adjacency.extremes(edges.slot_weights(weight))
    lower, upper = range_of(edges, program)
    upper = min(upper, most)
    if not (least >= lower and greatest <= upper):
        bad = greatest if least >= lower else least
        hint = f"it takes {written_range(lower, upper)}"
        raise SchemaError(f'query "{name}" takes no {weight} of {bad}, which an edge has', hint=hint)


def _check_beginnings(program: Program | SumProgram, message: CompiledMessage, name: str) -> None:
    for vertex, state in program.beginnings.items():
        if message.dtype == np.int64 and (not float(state).is_integer() or abs(state) > _GREATEST_INT):
            raise SchemaError(
                f'query "{name}" cannot begin with {state} at {vertex!r}: its states are ints of at most 2 ** 40',
                hint="take a weight that is a float, or a smaller int",
            )


def _some_weights(edges: Edges, program: Program, message: CompiledMessage) -> NDArray[Any]:
    """Weights that edges have; 1 if there are none."""
    if program.weight is None or edges.adjacency.edges == 0:
        return np.ones(1, message.weight_dtype)
    weights = edges.slot_weights(program.weight)
    few = weights[edges.adjacency.some_slots(_FEW_WEIGHTS)]
    return np.unique(np.append(few, edges.adjacency.extremes(weights)).astype(message.weight_dtype))
