"""Aggregates over the rows of a key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from graphtide.dataflow import python_rows
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.expression import Refusal
from graphtide.dataflow.expressions.functions import col
from graphtide.dataflow.kernels import layout
from graphtide.dataflow.plan import Node, Reduce, RowsOf, Weigh
from graphtide.errors import PlanError
from graphtide.rows import FLOAT, INT, Kind, Schema, TupleType

__all__ = ["Grouped"]


class Grouped:
    """The rows of a collection by key; each method gives one collection of (key..., result...).

    Counts and sums are linear in multiplicities; the others look at rows that are there, those with a
    positive one. None is a key like any other, and is passed over by sum, avg, min and max, which
    are None where they find nothing else.
    """

    def __init__(self, collection: Collection, keys: tuple[str, ...]) -> None:
        self._collection = collection
        self._flow = collection.flow
        self._keys = keys
        for k, key in enumerate(keys):
            collection.schema.index(key)
            if key in keys[:k]:
                raise PlanError(f'"{key}" stands twice in the key', hint="name each key column once")

    def count(self, name: str = "count") -> Collection:
        """How many rows a key has."""
        only_keys = self._collection.select(*self._keys)
        return self._reduce(only_keys, self._key_schema((name, INT)), (layout.COUNT,), "count", derivable=True)

    def at_least(self, least: int) -> Collection:
        """Each key that has at least `least` rows, once."""
        only_keys = self._collection.select(*self._keys)
        parameters = (layout.THRESHOLD, least)
        return self._reduce(only_keys, self._key_schema(), parameters, f"threshold {least}", derivable=True)

    def sum(self, column: str, name: str | None = None, *, refuse: Refusal | None = None) -> Collection:
        """The exact sum of a column: a float sum is rounded once, and does not depend on any order.

        `refuse` makes the error for a sum beyond 64 bits, where ours would not say who asked for it.
        """
        made = self._total(column, name or column, mean=False)
        if refuse is not None:
            made.node.extra["failure"] = lambda _detail: refuse("does not fit into 64 bits")
        return made

    def avg(self, column: str, name: str | None = None) -> Collection:
        """The mean of a column, a float."""
        return self._total(column, name or column, mean=True)

    def weights(self, column: str) -> Collection:
        """What the exact sum of a column is made of, as columns `tag` and `weight` behind the key.

        A few rows for each key, whatever the number of its rows; `kernels.weigh` says what tags stand for.
        """
        weighed = self._weighed(column, "tag")
        return Grouped(weighed, (*self._keys, "tag")).count("weight")

    def min(self, *columns: str) -> Collection:
        """The least value; of several columns, the row that is least by the first, then the next."""
        return self._extreme(columns, layout.FIRST, "min")

    def max(self, *columns: str) -> Collection:
        """The greatest value; of several columns, the row that is greatest by the first, then the next."""
        return self._extreme(columns, layout.LAST, "max")

    def top_k(self, k: int, by: str | Iterable[str], *, descending: bool = True) -> Collection:
        """The first `k` rows of each key in the order of `by`, ties in the order of the other columns."""
        if k < 1:
            raise PlanError(f"the top {k} rows are none", hint="use k=1 or more")
        first = [by] if isinstance(by, str) else list(by)
        rest = [name for name in self._collection.schema if name not in self._keys and name not in first]
        values = [*first, *rest]
        parameters = (layout.LAST if descending else layout.FIRST, k)
        return self._ordered(values, parameters, f"top {k}").select(*self._collection.schema)

    def first_k(self, k: int, by: Iterable[str]) -> Collection:
        """Some `k` rows of each key that come first in ascending order of `by`.

        Which of the rows that are equal there is not said, but it is always the same ones: the order of the other
        columns is that of their codes, so no string is ever looked at.
        """
        if k < 1:
            raise PlanError(f"the first {k} rows are none", hint="use k=1 or more")
        first = list(by)
        for name in first:
            found = self._collection.schema[name]
            if not found.ordered_by_code:
                raise PlanError(f'"{name}" is {found.described}, whose codes have no order', hint="use top_k")
        rest = [name for name in self._collection.schema if name not in self._keys and name not in first]
        source = self._collection.select(*self._keys, *first, *rest)
        return self._reduce(source, source.schema, (layout.FIRST, k), f"first {k}").select(*self._collection.schema)

    def distinct_count(self, *columns: str, name: str = "count") -> Collection:
        """How many distinct values, or combinations of values, a key has."""
        return Grouped(self._collection.select(*self._keys, *columns).distinct(), self._keys).count(name)

    def collect(self, column: str, name: str | None = None) -> Collection:
        """All values of a column as one tuple, sorted, each as often as it is there."""
        element = self._collection.schema[column]
        schema = self._key_schema((name or column, TupleType((element,), variadic=True)))
        function = python_rows.collect(element, schema.types[-1], self._flow.dictionary)
        return self._function([column], schema, function, f"collect {column}")

    def reduce(self, function: Callable[..., Iterable[Any]], **columns: Any) -> Collection:
        """Rows by a function of your own: it takes a key and a list of (row, multiplicity), and gives rows.

        Key and rows are tuples; the rows it gives have the given columns, which stand behind the key.
        It must depend on nothing else, and gets the rows sorted.
        """
        values = [name for name in self._collection.schema if name not in self._keys]
        given = self._collection.schema.select(*self._keys), self._collection.schema.select(*values)
        result = Schema(columns)
        compiled = python_rows.reduce(function, *given, result, self._flow.dictionary)
        schema = given[0].concat(result)
        return self._function(values, schema, compiled, f"reduce {python_rows.name_of(function)}")

    # -- inside

    def _key_schema(self, *results: tuple[str, Any]) -> Schema:
        keys = self._collection.schema.select(*self._keys)
        for name, _ in results:
            if name in keys:
                raise PlanError(
                    f'the result "{name}" would have the name of a key column',
                    hint='give it another one, as in count("rows")',
                )
        return Schema([*keys.items(), *results])

    def _reduce(
        self,
        source: Collection,
        schema: Schema,
        parameters: tuple[int, ...],
        label: str,
        *,
        derivable: bool = False,
        function: RowsOf | None = None,
    ) -> Collection:
        keys = [source.schema.index(key) for key in self._keys]
        index = self._flow.builder.arranged(source.node, keys)
        operation = Reduce(len(keys), parameters, function, label, derivable)
        node = Node(operation, (index,), index.scope, schema)
        return Collection(self._flow, self._flow.builder.add(node))

    def _function(self, values: list[str], schema: Schema, function: RowsOf, label: str) -> Collection:
        source = self._collection.select(*self._keys, *values)
        return self._reduce(source, schema, (layout.FUNCTION,), label, function=function)

    def _total(self, column: str, name: str, *, mean: bool) -> Collection:
        found = self._collection.schema[column]
        if found.kind not in {Kind.INT, Kind.FLOAT, Kind.BOOL}:
            what = "avg" if mean else "sum"
            raise PlanError(
                f'cannot take the {what} of "{column}", which is {found.described}',
                hint="cast it to a number",
            )
        is_float = found.kind is Kind.FLOAT
        weighed = self._weighed(column, name)
        what = (
            (layout.MEAN_OF_FLOATS if is_float else layout.MEAN_OF_INTS)
            if mean
            else (layout.SUM_OF_FLOATS if is_float else layout.SUM_OF_INTS)
        )
        result = FLOAT if is_float or mean else INT
        schema = self._key_schema((name, result.optional if found.nullable else result))
        label = f"{'avg' if mean else 'sum'} {column}"
        return self._reduce(weighed, schema, (layout.TOTAL, what), label, derivable=True)

    def _weighed(self, column: str, name: str) -> Collection:
        """The rows of each key as weights, with the tags under the given name."""
        numbers = self._collection.select(*self._keys, **{name: column})
        tagged = Schema([*numbers.schema.drop(name).items(), (name, INT)])
        is_float = self._collection.schema[column].kind is Kind.FLOAT
        node = Node(Weigh(is_float), (numbers.node,), numbers.node.scope, tagged)
        return Collection(self._flow, self._flow.builder.add(node))

    def _extreme(self, columns: tuple[str, ...], kind: int, label: str) -> Collection:
        if not columns:
            raise PlanError(f"{label} of no column", hint=f'name one, as in {label}("weight")')
        source = self._collection
        first = source.schema[columns[0]]
        if not first.nullable:
            return self._ordered(list(columns), (kind, 1), f"{label} {', '.join(columns)}")
        # None is passed over, unless there is nothing else: it goes behind (before, for max) all values.
        grouped = Grouped(source.with_columns(_none=col(columns[0]).is_null()), self._keys)
        if kind == layout.LAST:
            grouped = Grouped(source.with_columns(_none=col(columns[0]).is_not_null()), self._keys)
        least = grouped._ordered(["_none", *columns], (kind, 1), f"{label} {', '.join(columns)}")
        return least.drop("_none")

    def _ordered(self, values: list[str], parameters: tuple[int, ...], label: str) -> Collection:
        """The first rows by the order of the values, which come after the key in that order."""
        source = self._collection.select(*self._keys, *values)
        if all(source.schema[name].ordered_by_code for name in values):
            return self._reduce(source, source.schema, parameters, label)
        function = python_rows.first_rows(
            source.schema.select(*values),
            parameters[1],
            self._flow.dictionary,
            from_end=parameters[0] == layout.LAST,
        )
        return self._reduce(source, source.schema, (layout.FUNCTION,), label, function=function)
