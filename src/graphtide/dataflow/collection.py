"""Collections: what a user computes with.

A collection is a multiset of rows that changes; a method makes another one from it. Nothing is
computed until the dataflow runs, and then only what has changed. Collections from outside a loop
may be used inside it as they are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from graphtide.dataflow import python_rows
from graphtide.dataflow.builder import deepest, order_of
from graphtide.dataflow.expressions.expression import Expression, Operand, as_expression
from graphtide.dataflow.expressions.functions import col, lit
from graphtide.dataflow.plan import (
    Comparison,
    Concat,
    Consolidate,
    Join,
    Linear,
    Node,
    Python,
)
from graphtide.dataflow.probe import Probe
from graphtide.errors import PlanError
from graphtide.rows import Schema, TupleType, did_you_mean

if TYPE_CHECKING:
    from graphtide.dataflow.arrangement import Arrangement
    from graphtide.dataflow.flow import Dataflow
    from graphtide.dataflow.group import Grouped
    from graphtide.dataflow.output import Output

__all__ = ["Collection", "On"]

On: TypeAlias = str | Sequence[str] | Mapping[str, str]
_COMPARED: Final[dict[Comparison, Callable[[Expression, Expression], Expression]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


class Collection:
    """A multiset of rows that changes over time.

    `flow` and `node` are its dataflow and its place in the plan, for code that extends Graphtide.
    """

    def __init__(self, flow: Dataflow, node: Node) -> None:
        self.flow = flow
        self.node = node

    @property
    def schema(self) -> Schema:
        """The names and types of the columns."""
        return self.node.schema

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.node.name or ''}{self.schema}>".replace("  ", " ")

    # -- row by row

    def select(self, *names: str, **columns: Operand) -> Collection:
        """The named columns, then the given expressions; a string is a column's name."""
        outputs: dict[str, Expression] = {name: col(name) for name in names}
        outputs |= {name: as_expression(expression) for name, expression in columns.items()}
        return self.linear(outputs)

    def with_columns(self, **columns: Operand) -> Collection:
        """All columns, with the given ones added or replaced."""
        outputs: dict[str, Expression] = {name: col(name) for name in self.schema}
        outputs |= {name: as_expression(expression) for name, expression in columns.items()}
        return self.linear(outputs)

    def rename(self, **names: str) -> Collection:
        """The same rows, columns renamed: `rename(src="node")` calls "src" "node"."""
        schema = self.schema.rename(names)
        return self.linear({new: col(old) for new, old in zip(schema, self.schema, strict=True)})

    def drop(self, *names: str) -> Collection:
        """All columns but the named ones."""
        return self.select(*self.schema.drop(*names))

    def where(self, condition: Operand) -> Collection:
        """The rows for which the condition is true."""
        return self.linear({name: col(name) for name in self.schema}, as_expression(condition))

    def negate(self) -> Collection:
        """Each row as often as it was, counted negatively."""
        return self.linear({name: col(name) for name in self.schema}, sign=-1)

    def linear(self, outputs: Mapping[str, Expression], where: Expression | None = None, sign: int = 1) -> Collection:
        """The given columns for the rows in which a condition is true: what select, where and negate are made of."""
        operation = Linear(outputs, where, sign)
        schema = self.flow.builder.plan_linear(self.schema, operation).schema
        return self._make(operation, (self.node,), schema)

    def map_batches(self, function: Callable[[Any], Any], **columns: Any) -> Collection:
        """Rows through a function of Arrow tables, which gives as many rows in the same order.

        The columns of the result are given as names with types.
        """
        schema = Schema(columns) if columns else self.schema
        transform = python_rows.map_batches(function, self.schema, schema, self.flow.dictionary)
        return self._make(Python(transform, f"map_batches {python_rows.name_of(function)}"), (self.node,), schema)

    def flat_map(self, function: Callable[..., Iterable[Any]], **columns: Any) -> Collection:
        """Each row to any number of rows: the function takes a row's values and gives rows of the columns."""
        schema = Schema(columns)
        transform = python_rows.flat_map(function, self.schema, schema, self.flow.dictionary)
        return self._make(Python(transform, f"flat_map {python_rows.name_of(function)}"), (self.node,), schema)

    def explode(self, column: str) -> Collection:
        """A row for each element of a tuple, which takes the tuple's place."""
        found = self.schema[column]
        if not isinstance(found, TupleType):
            raise PlanError(
                f'column "{column}" of {self.schema} is not a tuple, and cannot be exploded',
                hint="use flat_map to make several rows of one",
            )
        element = python_rows.element_type(found, column)
        schema = Schema((name, element if name == column else kind) for name, kind in self.schema.items())
        transform = python_rows.explode(self.schema, column, self.flow.dictionary)
        return self._make(Python(transform, f"explode {column}"), (self.node,), schema)

    def inspect(self, function: Callable[[tuple[Any, ...], tuple[int, ...], int], None]) -> Collection:
        """The same collection; the function sees each (row, time, diff) that passes."""
        operation = Python(_unchanged, f"inspect {python_rows.name_of(function)}", function)
        inspected = self._make(operation, (self.node,), self.schema)
        self.flow.keep(inspected.node)
        return inspected

    # -- collections together

    def concat(self, *others: Collection) -> Collection:
        """All rows of all the collections, as often as they are in each."""
        for other in others:
            self._check_same_schema(other, "concat")
        scope = deepest(self.node, *(each.node for each in others))
        nodes = tuple(self.flow.builder.entered(each.node, scope) for each in (self, *others))
        return self._make(Concat(), nodes, _widest(each.schema for each in (self, *others)))

    def except_(self, other: Collection) -> Collection:
        """These rows less the other's, counted: a row that is only in the other comes out negative."""
        self._check_same_schema(other, "except_")
        return self.concat(other.negate())

    def consolidate(self) -> Collection:
        """The same collection, its differences added up before they go on."""
        return self._make(Consolidate(), (self.node,), self.schema)

    def arrange(self, *keys: str, keep: int | None = 1) -> Arrangement:
        """Keep an index by the key columns, for later computations to start from and to be read."""
        from graphtide.dataflow.arrangement import Arrangement  # noqa: PLC0415 - it is a collection itself

        self._check_outside()
        index = self.flow.builder.arranged(self.node, [self.schema.index(key) for key in keys])
        return Arrangement(self.flow, self.node, index, keep)

    def join(self, other: Collection, on: On, *, where: Operand | None = None) -> Collection:
        """Pairs of rows with equal keys: these columns, then the other's without its key.

        A None in a key is equal to nothing. `where` is a condition on the columns of the result.
        """
        left_keys, right_keys = self._keys(other, on)
        rest = [name for i, name in enumerate(other.schema) if i not in right_keys]
        for name in rest:
            if name in self.schema:
                raise PlanError(
                    f'column "{name}" stands on both sides of the join: {self.schema} and {other.schema}',
                    hint=f'rename it on one side, as in rename({name}="{name}_2")',
                )
        outputs = {name: (0, name) for name in self.schema} | {name: (1, name) for name in rest}
        joined = self._joined(other, left_keys, right_keys, outputs)
        return joined if where is None else joined.where(where)

    def join_columns(
        self, other: Collection, on: On, *, left: Mapping[str, str], right: Mapping[str, str]
    ) -> Collection:
        """As `join`, with the columns that are given alone: new names to names on the left, then on the right.

        Nothing else is written, and both sides are read by the indexes they have, whatever their columns are called.
        """
        left_keys, right_keys = self._keys(other, on)
        outputs = {name: (0, old) for name, old in left.items()} | {name: (1, old) for name, old in right.items()}
        return self._joined(other, left_keys, right_keys, outputs)

    def _joined(
        self, other: Collection, left_keys: list[int], right_keys: list[int], outputs: Mapping[str, tuple[int, str]]
    ) -> Collection:
        left, right = self._without_null_keys(left_keys), other._without_null_keys(right_keys)
        names = ([each.schema.names[i] for i in keys] for each, keys in ((left, left_keys), (right, right_keys)))
        return left.pairs(right, list(zip(*names, strict=True)), outputs)

    def pairs(
        self, other: Collection, keys: Sequence[tuple[str, str]], outputs: Mapping[str, tuple[int, str]]
    ) -> Collection:
        """Pairs of rows with equal keys, None equal to None, as the given columns of side 0 or 1.

        It is what `join` is made of. Without keys it gives all pairs.
        """
        sides = (self, other)
        indexes = [
            self.flow.builder.arranged(side.node, [side.schema.index(pair[i]) for pair in keys])
            for i, side in enumerate(sides)
        ]
        places = [_inverse(order_of(index)) for index in indexes]
        picked = tuple((i, places[i][sides[i].schema.index(name)]) for i, name in outputs.values())
        schema = Schema((name, sides[i].schema[column]) for name, (i, column) in outputs.items())
        node = Node(Join(len(keys), picked), (indexes[0], indexes[1]), deepest(self.node, other.node), schema)
        return Collection(self.flow, self.flow.builder.add(node))

    def beyond(
        self, bounds: Collection, keys: Sequence[tuple[str, str]], compared: tuple[str, str], comparison: Comparison
    ) -> Collection:
        """Each row once for every row of `bounds` with equal keys, None equal to None, that it compares so with.

        Compared are a column of each side, of the same type; None is beyond nothing. Outside of loops a bound that
        moves costs what lies between where it was and where it is now.
        """
        own, bound = compared
        types = self.schema[own], bounds.schema[bound]
        if types[0].required != types[1].required or not types[0].ordered_by_code:
            raise PlanError(
                f'"{own}" is {types[0]} and its bound "{bound}" is {types[1]}',
                hint="numbers, dates and times can be compared with bounds of the same type; cast one side",
            )
        rows = self._without_null_keys([self.schema.index(own)])
        limits = bounds._without_null_keys([bounds.schema.index(bound)])
        scope = deepest(rows.node, limits.node)
        if scope.depth > 1:
            outputs = {name: (0, name) for name in self.schema} | {"bound ": (1, bound)}
            met = rows.pairs(limits, keys, outputs)
            return met.where(_COMPARED[comparison](col(own), col("bound "))).drop("bound ")
        sides = ((rows, [key for key, _ in keys], own), (limits, [key for _, key in keys], bound))
        indexes = [
            self.flow.builder.arranged(side.node, [side.schema.index(name) for name in (*own_keys, last)])
            for side, own_keys, last in sides
        ]
        places = _inverse(order_of(indexes[0]))
        picked = tuple((0, places[c]) for c in range(len(self.schema)))
        node = Node(Join(len(keys), picked, comparison), (indexes[0], indexes[1]), scope, self.schema)
        return Collection(self.flow, self.flow.builder.add(node))

    def semijoin(self, other: Collection, on: On) -> Collection:
        """The rows whose key is in the other collection, each as often as it was here."""
        left_keys, right_keys = self._keys(other, on)
        present = other.select(**{f"_{k}": other.schema.names[i] for k, i in enumerate(right_keys)}).distinct()
        pairs = {self.schema.names[i]: f"_{k}" for k, i in enumerate(left_keys)}
        return self.join(present, on=pairs).select(*self.schema)

    def antijoin(self, other: Collection, on: On) -> Collection:
        """The rows whose key is not in the other collection."""
        return self.except_(self.semijoin(other, on))

    def left_join(self, other: Collection, on: On) -> Collection:
        """The join, and the rows without a partner, whose missing columns are None."""
        joined = self.join(other, on)
        _, right_keys = self._keys(other, on)
        rest = [name for i, name in enumerate(other.schema) if i not in right_keys]
        missing = {name: lit(None, other.schema[name].optional) for name in rest}
        return joined.concat(self.antijoin(other, on).select(*self.schema, **missing))

    # -- by key

    def group_by(self, *keys: str) -> Grouped:
        """The rows of equal key together, for an aggregate."""
        from graphtide.dataflow.group import Grouped  # noqa: PLC0415 - it makes collections itself

        return Grouped(self, keys)

    def distinct(self) -> Collection:
        """Each row that is there, once."""
        return self.threshold(1)

    def threshold(self, least: int) -> Collection:
        """Each row that is there at least `least` times, once."""
        if least < 1:
            raise PlanError(f"a threshold of {least} would count rows that are not there", hint="use 1 or more")
        return self.group_by(*self.schema).at_least(least)

    # -- loops

    def iterate(self, body: Callable[[Collection], Collection], *, max_rounds: int | None = None) -> Collection:
        """The fixed point of `body`, from this collection on: body(body(...)) until nothing changes."""
        from graphtide.dataflow.loop import loop_from  # noqa: PLC0415 - a loop's variable is a collection itself

        with loop_from(self, body, max_rounds) as loop:
            variable = loop.variable(self)
            return variable.becomes_fixed_point(loop, body(variable))

    def iterate_prioritized(
        self,
        body: Callable[[Collection, Collection], Collection],
        *,
        priority: Operand,
        max_rounds: int | None = None,
    ) -> Collection:
        """The fixed point of `body(x, arriving)`, where x is nothing at first and this collection arrives by priority.

        The rows of one priority, a small int from 0 on, come in when the loop has settled without them. That
        is right for bodies whose fixed point does not depend on it, such as the least label that
        reaches a vertex, and it can save most of the work.
        """
        from graphtide.dataflow.loop import loop_from  # noqa: PLC0415

        with loop_from(self, body, max_rounds) as loop:
            variable = loop.empty_variable(self.schema)
            arriving = loop.enter(self, priority=as_expression(priority))
            return variable.becomes_fixed_point(loop, body(variable, arriving))

    # -- results

    def probe(self) -> Probe:
        """What tells how far the collection has come."""
        self.flow.keep(self.node)
        return Probe(self.flow)

    def output(self, name: str, *, keep: int | None = 1, on_negative: str = "allow") -> Output:
        """Make the collection readable from outside under a name."""
        from graphtide.dataflow.output import Output  # noqa: PLC0415 - it reads what collections make

        self._check_outside()
        if on_negative not in {"allow", "error"}:
            raise PlanError(f'on_negative is "{on_negative}"', hint='use "allow" or "error"')
        index = self.flow.builder.arranged(self.node, list(range(len(self.schema))))
        made = Output(self.flow, name, index, self.schema, keep)
        self.flow.enter_output(made, is_checked=on_negative == "error")
        return made

    # -- inside

    def _check_outside(self) -> None:
        if self.node.scope.depth > 1:
            raise PlanError("a collection of a loop cannot be read from outside", hint="return it from the loop first")

    def _make(self, operation: Any, inputs: tuple[Node, ...], schema: Schema) -> Collection:
        node = Node(operation, inputs, inputs[0].scope, schema)
        return Collection(self.flow, self.flow.builder.add(node))

    def _keys(self, other: Collection, on: On) -> tuple[list[int], list[int]]:
        pairs = {on: on} if isinstance(on, str) else dict(on) if isinstance(on, Mapping) else {k: k for k in on}
        left = [self.schema.index(name) for name in pairs]
        right = [other.schema.index(name) for name in pairs.values()]
        for i, j in zip(left, right, strict=True):
            a, b = self.schema.types[i], other.schema.types[j]
            if a.required != b.required:
                raise PlanError(
                    f'cannot join "{self.schema.names[i]}" ({a}) with "{other.schema.names[j]}" ({b})',
                    hint="cast one of them to the other's type",
                )
        return left, right

    def _without_null_keys(self, keys: Iterable[int]) -> Collection:
        names = [self.schema.names[i] for i in keys if self.schema.types[i].nullable]
        result = self
        for name in names:
            result = result.where(col(name).is_not_null())
        return result

    def _check_same_schema(self, other: Collection, what: str) -> None:
        if other.schema.names != self.schema.names or any(
            a.required != b.required for a, b in zip(self.schema.types, other.schema.types, strict=True)
        ):
            hint = "bring the columns into the same order with select"
            for name in other.schema:
                if name not in self.schema:
                    hint = did_you_mean(name, self.schema)
            raise PlanError(f"cannot {what} {self.schema} and {other.schema}", hint=hint)


def _unchanged(codes: Any) -> Any:
    return codes, None


def _inverse(order: Sequence[int]) -> list[int]:
    inverse = [0] * len(order)
    for place, column in enumerate(order):
        inverse[column] = place
    return inverse


def _widest(schemas: Iterable[Schema]) -> Schema:
    """The common schema: a column is optional if it is so anywhere."""
    all_schemas = list(schemas)
    types = [
        kinds[0].required.optional if any(k.nullable for k in kinds) else kinds[0]
        for kinds in zip(*(schema.types for schema in all_schemas), strict=True)
    ]
    return Schema(zip(all_schemas[0].names, types, strict=True))
