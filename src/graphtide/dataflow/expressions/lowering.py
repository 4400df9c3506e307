"""From expressions to nodes: steps for the kernel, calls for what it cannot do.

Types come from `infer`, so nothing is refused here. A failure must count only in rows whose value is
needed: what stands behind a condition is lowered under a guard, which costs nothing unless
something under it can fail.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

import numpy as np

from graphtide.dataflow.expressions.calls import (
    Call,
    Compute,
    ElementOf,
    Evaluated,
    Guarded,
    MemoByCode,
    MemoByRow,
    TupleOf,
    ValueFunction,
)
from graphtide.dataflow.expressions.conversions import cast, convert
from graphtide.dataflow.expressions.expression import Apply, Cast, Column, Expression, Invoke, Literal
from graphtide.dataflow.expressions.infer import Inference
from graphtide.dataflow.expressions.operations import OPERATIONS
from graphtide.dataflow.expressions.program import (
    CALLED,
    COLUMN,
    CONSTANT,
    Graph,
    closure,
    failure,
    write_program,
)
from graphtide.dataflow.expressions.rowwise import Rowwise
from graphtide.dataflow.kernels.opcodes import AND, CHOOSE
from graphtide.errors import ExpressionError, GraphtideError, SchemaError
from graphtide.rows import NULL, Dictionary, Kind, Schema, TupleType, Type, decode_value, encode_value

__all__ = ["Lowering"]

Operand: TypeAlias = tuple[int, Type | None]


@dataclass(frozen=True, slots=True, eq=False)
class _PlannedCall:
    """A call before its columns have their places."""

    expression: Expression
    operands: tuple[int, ...]
    compute: Compute


class Lowering:
    """The nodes of many expressions over one schema, which share what they have in common."""

    def __init__(self, schema: Schema, dictionary: Dictionary) -> None:
        self.types = Inference(schema)
        self.graph = Graph()
        self._dictionary = dictionary
        self._planned: list[_PlannedCall] = []
        self._call_numbers: dict[tuple[object, ...], int] = {}
        self._columns: dict[int, int] = {}
        # Nodes are kept with their numbers: an id is a name only while its object lives.
        self._lowered: dict[tuple[int, int | None], tuple[Expression, int]] = {}

    # ------------------------------------------------------------------------- expressions

    def lower(self, node: Expression) -> int:
        """The number of the node that computes an expression."""
        # What is needed under a weaker guard is there already.
        keys = [(id(node), guard) for guard in self.graph.guards]
        known = next((self._lowered[key] for key in keys if key in self._lowered), None)
        if known is None:
            known = self._lowered[keys[-1]] = (node, self._lower(node))
        return known[1]

    def lower_as(self, node: Expression, wanted: Type | None) -> int:
        """The number of the node that computes an expression in another type."""
        return convert(self, self.lower(node), self.types.part_type(node), wanted, node)

    def kind(self, node: Expression) -> Kind | None:
        """The kind of an expression's type, None for an untyped None."""
        found = self.types.part_type(node)
        return None if found is None else found.kind

    def step(self, op: int, *operands: int, origin: Expression, pool: Sequence[int] = ()) -> int:
        """The number of a step over nodes."""
        return self.graph.step(op, *operands, origin=origin, pool=pool)

    def constant(self, code: int) -> int:
        """The number of a constant."""
        return self.graph.constant(code)

    @contextmanager
    def under(self, guard: int | None) -> Generator[None]:
        """Lower what is needed only in rows in which `guard` is true, too."""
        if guard is None or self.graph.code(guard) == 1:
            yield
            return
        outer = self.guard
        both = guard if outer is None else self.step(AND, outer, guard, origin=Literal(True))  # noqa: FBT003
        self.graph.guards.append(both)
        try:
            yield
        finally:
            self.graph.guards.pop()

    @property
    def guard(self) -> int | None:
        """The node that says in which rows a failure counts; None for all."""
        return self.graph.guards[-1]

    def _lower(self, node: Expression) -> int:
        if isinstance(node, Column):
            return self.graph.column(self.types.schema.index(node.name))
        if isinstance(node, Literal):
            return self._literal(node)
        if isinstance(node, Cast):
            return cast(self, node)
        if isinstance(node, Invoke):
            return self._invoke(node)
        assert isinstance(node, Apply)
        return OPERATIONS[node.operation](self, node)

    def _literal(self, literal: Literal) -> int:
        if literal.value is None:
            return self.constant(NULL)
        if isinstance(literal.value, timedelta):
            return self.constant(literal.value // timedelta(microseconds=1))
        try:
            return self.constant(encode_value(self.types.type_of(literal), self._dictionary, literal.value))
        except SchemaError as error:
            raise ExpressionError(error.message, hint=error.hint) from None

    # ------------------------------------------------------------------------------- calls

    def operands(self, *parts: Expression) -> list[Operand]:
        """Expressions as nodes with their types."""
        return [(self.lower(part), self.types.part_type(part)) for part in parts]

    def function(
        self,
        origin: Expression,
        name: object,
        function: Callable[..., Any],
        operands: Sequence[Operand],
        returns: Type,
        *,
        may_fail: bool = False,
    ) -> int:
        """The number of a Python function over nodes; `name` tells the function from others."""
        codes = [self.graph.code(number) for number, _ in operands]
        if NULL in codes:
            return self._null(origin, [number for number, _ in operands])
        types = [found for _, found in operands if found is not None]
        constants = {
            i: decode_value(types[i], self._dictionary, code) for i, code in enumerate(codes) if code is not None
        }
        if len(constants) == len(codes):
            values = ValueFunction(function, types, returns, self._dictionary, origin)
            try:
                result = values.of_values(*constants.values())
                return self.constant(encode_value(returns.optional, self._dictionary, result))
            except GraphtideError:
                if self.guard is None:
                    raise
                constants = {}
        free = [i for i in range(len(codes)) if i not in constants]
        bound = _bound(function, constants, len(codes))
        compute = ValueFunction(bound, [types[i] for i in free], returns, self._dictionary, origin)
        by_code = len(free) == 1 and types[free[0]].is_interned
        key = (name, returns, *(code if i in constants else None for i, code in enumerate(codes)))
        memo = MemoByCode(compute) if by_code else MemoByRow(compute)
        return self._call(key, origin, [operands[i][0] for i in free], memo, may_fail=may_fail)

    def make_tuple(self, node: Apply) -> int:
        """The number of a tuple of the arguments."""
        numbers = [self.lower(part) for part in node.arguments]
        codes = [self.graph.code(number) for number in numbers]
        found = self.types.type_of(node)
        assert isinstance(found, TupleType)
        if None not in codes:
            compute = TupleOf(found, (None,) * len(codes), self._dictionary)
            return self.constant(_of_constants(compute, codes))
        free = [number for number, code in zip(numbers, codes, strict=True) if code is None]
        return self._call(("tuple_", found.bare, *codes), node, free, TupleOf(found, tuple(codes), self._dictionary))

    def take_element(self, node: Apply) -> int:
        """The number of an element of a tuple."""
        whole, index = node.arguments
        found = self.types.type_of(whole)
        assert isinstance(found, TupleType)
        assert isinstance(index, Literal)
        number = self.lower(whole)
        code = self.graph.code(number)
        compute = ElementOf(found, index.value, self._dictionary)
        if code is not None:
            return self.constant(NULL if code == NULL else _of_constants(compute, [code]))
        return self._call(("[]", found.bare, index.value), node, [number], MemoByCode(compute))

    def _invoke(self, node: Invoke) -> int:
        numbers = [self.lower(part) for part in node.arguments]
        codes = [self.graph.code(number) for number in numbers]
        if NULL in codes:
            return self._null(node, numbers)
        types = [self.types.type_of(part) for part in node.arguments]
        if None not in codes:
            try:
                compute = Rowwise(node, types, (None,) * len(codes), self._dictionary)
                return self.constant(_of_constants(compute, codes))
            except GraphtideError:
                if self.guard is None:
                    raise
                codes = [None] * len(codes)
        free = [number for number, code in zip(numbers, codes, strict=True) if code is None]
        compute = Rowwise(node, types, tuple(codes), self._dictionary)
        return self._call((node.function, node.returns, *codes), node, free, compute, may_fail=True)

    def _call(
        self,
        key: tuple[object, ...],
        node: Expression,
        operands: Sequence[int],
        compute: Compute,
        *,
        may_fail: bool = False,
    ) -> int:
        columns = tuple(self.as_column(operand) for operand in operands)
        if may_fail and self.guard is not None:
            columns = (self.as_column(self.guard), *columns)
            compute = Guarded(compute)
            key = (Guarded, *key)
        number = self._call_numbers.setdefault((key, columns), len(self._planned))
        if number == len(self._planned):
            self._planned.append(_PlannedCall(node, columns, compute))
        return self.graph.called(number, columns)

    def _null(self, origin: Expression, numbers: Sequence[int]) -> int:
        """None, after computing all operands: those next to a None may fail too."""
        result = self.constant(NULL)
        for number in numbers:
            if self.graph.nodes[number].op not in {COLUMN, CONSTANT}:
                result = self.step(CHOOSE, self.constant(0), number, result, origin=origin)
        return result

    def as_column(self, number: int) -> int:
        """The node of a column with this node's codes, if need be one that a call computes."""
        if self.graph.is_column(number):
            return number
        if number not in self._columns:
            known = self.graph.origins[number]
            origin = Literal(None) if known is None else known
            # A constant needs some column to know the number of rows.
            sources = [n for n in closure(self.graph, [number]) if self.graph.is_column(n)] or [self.graph.column(0)]
            program = write_program(self.graph, [number], None, sources.index, 0)
            compute = Evaluated(program.words, self.failures(program.steps))
            self._columns[number] = self._call(("program", number), origin, sources, compute)
        return self._columns[number]

    def computed(self, number: int) -> int:
        """The column that holds a node's codes if a call needed one anyway, else the node."""
        return self._columns.get(number, number)

    def failures(self, steps: Sequence[int]) -> Callable[[int], GraphtideError]:
        """What the steps of a program have to say if they fail, by their place in it."""
        kept = [(self.graph.nodes[number].op, self.graph.origins[number]) for number in steps]

        def failed(step: int) -> GraphtideError:
            op, origin = kept[step]
            assert origin is not None, "a step has an origin"
            return failure(op, origin)

        return failed

    def calls(self, wanted: Sequence[int]) -> tuple[tuple[Call, ...], Callable[[int], int]]:
        """The calls that some nodes need, in order, and the place of each column that is there then."""
        graph, width = self.graph, len(self.types.schema)
        needed = [n for n in closure(graph, wanted, through_calls=True) if graph.is_column(n)]
        made = [n for n in needed if graph.nodes[n].op == CALLED]
        places = {n: graph.nodes[n].words[0] for n in needed if graph.nodes[n].op == COLUMN}
        places |= {n: width + i for i, n in enumerate(made)}
        planned = [self._planned[graph.nodes[n].words[0]] for n in made]
        calls = (Call(each.expression, tuple(places[n] for n in each.operands), each.compute) for each in planned)
        return tuple(calls), places.__getitem__


def _bound(function: Callable[..., Any], constants: dict[int, Any], arity: int) -> Callable[..., Any]:
    """The function of the other arguments."""
    if not constants:
        return function

    def bound(*values: Any) -> Any:
        rest = iter(values)
        return function(*(constants[i] if i in constants else next(rest) for i in range(arity)))

    return bound


def _of_constants(compute: Compute, codes: Sequence[int | None]) -> int:
    return int(compute(*(np.array([code], np.int64) for code in codes))[0])
