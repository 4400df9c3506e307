"""Operators that are made once: the same operation on the same collections is the same collection.

A view that computes what another one does, or one that reads a common table twice, thus shares operators and
indexes. Columns go by names that depend on nothing but the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions import Expression, col, lit, when
from graphtide.dataflow.expressions.expression import Column
from graphtide.dataflow.flow import Dataflow
from graphtide.dataflow.plan import Comparison, Node
from graphtide.rows import Type

__all__ = ["Workshop", "optional", "unique"]


def optional(expression: Expression, found: Type) -> Expression:
    """The same value, in a column that may hold NULL."""
    return when(lit(True), expression).otherwise(lit(None, found.required))  # noqa: FBT003


class Workshop:
    """Makes collections of a dataflow, and knows those that it has made."""

    def __init__(self, flow: Dataflow) -> None:
        self.flow = flow
        self._made: dict[Hashable, Collection] = {}
        # One row without columns, for what is there even if all tables are empty.
        one = flow.input("one row", number=int)
        one.arrange("number")
        one.insert([(0,)])
        self.unit = self.linear(one, [])

    def made(self, key: Hashable, make: Callable[[], Collection]) -> Collection:
        """What an operation gives: made now, or before."""
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = make()
        return found

    def forget(self) -> None:
        """Let go of collections that are no longer part of the dataflow."""
        alive: set[Node] = set(self.flow.builder.nodes)
        self._made = {key: each for key, each in self._made.items() if each.node in alive}

    def linear(self, source: Collection, outputs: Sequence[Expression], where: Expression | None = None) -> Collection:
        """The given expressions for the rows in which a condition is true, as columns in that order."""
        if where is None and _is_all_of(source, outputs):
            return source
        key = ("linear", source.node, tuple(each.key for each in outputs), None if where is None else where.key)
        names = _names(outputs)
        return self.made(key, lambda: source.linear(dict(zip(names, outputs, strict=True)), where))

    def pick(self, source: Collection, names: Sequence[str]) -> Collection:
        """Some columns."""
        return self.linear(source, [col(name) for name in names])

    def pairs(
        self, left: Collection, right: Collection, keys: Sequence[tuple[str, str]], outputs: Sequence[tuple[int, str]]
    ) -> Collection:
        """Pairs of rows with equal keys, NULL equal to NULL: columns of either side, in that order."""
        key = ("pairs", left.node, right.node, tuple(keys), tuple(outputs))
        names = unique([name for _, name in outputs])
        return self.made(key, lambda: left.pairs(right, keys, dict(zip(names, outputs, strict=True))))

    def beyond(
        self,
        rows: Collection,
        bounds: Collection,
        keys: Sequence[tuple[str, str]],
        compared: tuple[str, str],
        comparison: Comparison,
    ) -> Collection:
        """Each row once for every bound of an equal key that it is beyond."""
        key = ("beyond", rows.node, bounds.node, tuple(keys), compared, comparison)
        return self.made(key, lambda: rows.beyond(bounds, keys, compared, comparison))

    def nearest(self, bounds: Collection, names: Sequence[str], comparison: Comparison) -> Collection:
        """Of each key the bound that is the easiest to be beyond; the last of the names is that of the bounds."""
        *keys, bound = names
        is_above = comparison.startswith(">")

        def make() -> Collection:
            groups = self.pick(bounds, names).group_by(*keys)
            return groups.min(bound) if is_above else groups.max(bound)

        return self.made(("nearest", bounds.node, tuple(names), is_above), make)

    def distinct(self, source: Collection) -> Collection:
        """Each row once."""
        return self.made(("distinct", source.node), source.distinct)

    def consolidated(self, source: Collection) -> Collection:
        """The same rows, their differences added up before they go on."""
        return self.made(("consolidated", source.node), source.consolidate)

    def concat(self, *sources: Collection) -> Collection:
        """All rows, column by column, under the first one's names."""
        names = sources[0].schema.names
        alike = [self._named(each, names) for each in sources]
        key = ("concat", *(each.node for each in alike))
        return self.made(key, lambda: alike[0].concat(*alike[1:]))

    def minus(self, source: Collection, other: Collection) -> Collection:
        """Rows counted less those of another collection, column by column."""
        alike = self._named(other, source.schema.names)
        return self.made(("minus", source.node, alike.node), lambda: source.except_(alike))

    def having(self, left: Collection, right: Collection, keys: Sequence[tuple[str, str]]) -> Collection:
        """The left rows that have an equal key on the right, NULL equal to NULL."""
        present = self.distinct(self.pick(right, sorted({b for _, b in keys})))
        return self.pairs(left, present, keys, [(0, name) for name in left.schema])

    def _named(self, source: Collection, names: Sequence[str]) -> Collection:
        if tuple(source.schema.names) == tuple(names):
            return source
        outputs = dict(zip(names, map(col, source.schema.names), strict=True))
        return self.made(("named", source.node, tuple(names)), lambda: source.linear(outputs))


def _is_all_of(source: Collection, outputs: Sequence[Expression]) -> bool:
    names = [each.name if isinstance(each, Column) else None for each in outputs]
    return names == list(source.schema.names)


def _names(outputs: Sequence[Expression]) -> list[str]:
    return unique([each.name if isinstance(each, Column) else "value" for each in outputs])


def unique(names: Sequence[str]) -> list[str]:
    """The names, each with a number where it has come before."""
    taken: set[str] = set()
    result: list[str] = []
    for name in names:
        unique, number = name, 1
        while unique in taken:
            number += 1
            unique = f"{name}_{number}"
        taken.add(unique)
        result.append(unique)
    return result
