"""Plans as collections of a dataflow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions import Expression, coalesce, col, lit, type_of
from graphtide.dataflow.expressions.expression import Column
from graphtide.sql.columns import needed_columns
from graphtide.sql.conditions import Bound, Equality, all_of, bound, equality
from graphtide.sql.plan import (
    Aggregate,
    Conditions,
    Distinct,
    Filter,
    Join,
    Outer,
    Plan,
    Project,
    Recursion,
    Recursive,
    Scan,
    Semi,
    SetOperation,
    TopK,
    Union,
    Unit,
)
from graphtide.sql.top import top_rows
from graphtide.sql.totals import aggregated
from graphtide.sql.workshop import Workshop, optional, unique

__all__ = ["compiled"]

# A recursion that goes on beyond this is taken for one without an end.
_MOST_ROUNDS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Made:
    """A collection, and which of its columns holds each column of the plan."""

    collection: Collection
    names: Mapping[str, str]

    def column(self, name: str) -> Expression:
        """A column of the plan, as the collection calls it."""
        return col(self.names[name])

    def translated(self, expression: Expression) -> Expression:
        """An expression over the plan, as one over the collection."""
        return expression.substitute({name: col(own) for name, own in self.names.items()})

    def holding(self, conditions: Sequence[Expression]) -> Expression:
        """Whether all conditions over the plan are true; where one is not, those after it are not evaluated."""
        *guards, last = map(self.translated, conditions)
        schema = self.collection.schema
        # What is unknown would ask the next one, which might make it false.
        sure = [coalesce(each, lit(False)) if type_of(each, schema).nullable else each for each in guards]  # noqa: FBT003
        return all_of([*sure, last])


def compiled(plan: Plan, columns: Sequence[str], workshop: Workshop) -> Collection:
    """The collection of a plan, with the given columns in order."""
    made = _Compiler(workshop, needed_columns(plan, columns)).make(plan)
    return workshop.linear(made.collection, [made.column(name) for name in columns])


class _Compiler:
    """Makes the collections of one plan."""

    def __init__(self, workshop: Workshop, needed: Mapping[int, set[str]]) -> None:
        self._shop = workshop
        self._needed = needed
        self._made: dict[int, Made] = {}

    def make(self, plan: Plan) -> Made:
        """The collection of a plan, with the columns that are needed of it."""
        if id(plan) not in self._made:
            self._made[id(plan)] = self._make(plan)
        return self._made[id(plan)]

    def _wanted(self, plan: Plan) -> list[str]:
        needed = self._needed[id(plan)]
        return [name for name in plan.schema if name in needed]

    def _make(self, plan: Plan) -> Made:
        match plan:
            case Scan():
                return Made(plan.source, plan.columns)
            case Unit():
                return Made(self._shop.unit, {})
            case Recursion():
                raise AssertionError("a recursion is made by its loop")
            case Filter():
                return self._linear(plan.input, {name: col(name) for name in self._wanted(plan)}, plan.conditions)
            case Project():
                outputs = {name: plan.outputs[name] for name in self._wanted(plan)}
                if isinstance(plan.input, Filter):
                    return self._linear(plan.input.input, outputs, plan.input.conditions)
                return self._linear(plan.input, outputs, ())
            case Join():
                left, right = plan.parts
                return self._join(left, right, plan.conditions, self._wanted(plan))
            case Outer():
                return self._outer(plan)
            case Semi():
                return self._semi(plan)
            case Aggregate():
                source = self.make(plan.input)
                wanted = self._wanted(plan)
                totals = {name: each for name, each in plan.totals.items() if name in wanted}
                made = aggregated(self._shop, source.collection, source.names, plan.keys, totals)
                return _positional(made, [*plan.keys, *totals])
            case Distinct():
                source = self._picked(plan.input, plan.schema)
                return _positional(self._shop.distinct(source), plan.schema)
            case TopK():
                source = self.make(plan.input)
                made = top_rows(self._shop, source.collection, source.names, plan, self._wanted(plan))
                return _positional(made, self._wanted(plan))
            case Union():
                return self._union(plan)
            case SetOperation():
                return self._set_operation(plan)
            case Recursive():
                return self._recursive(plan)
            case _:
                raise AssertionError(f"{plan} is no plan")

    # -- row by row

    def _linear(self, below: Plan, outputs: Mapping[str, Expression], conditions: Conditions) -> Made:
        source = self.make(below)
        expressions = {name: source.translated(each) for name, each in outputs.items()}
        where = source.holding(conditions) if conditions else None
        return self._picks(source.collection, expressions, where)

    def _picks(self, source: Collection, outputs: Mapping[str, Expression], where: Expression | None) -> Made:
        """Columns in an order that depends on nothing but what they are, so that they are shared; each once."""
        keys = {name: each.key for name, each in outputs.items()}
        places = {name: i for i, name in enumerate(source.schema)}
        plain: dict[object, Column] = {each.key: each for each in outputs.values() if isinstance(each, Column)}
        by_place = sorted(plain.values(), key=lambda each: places[each.name])
        ordered: list[Expression] = [*by_place]
        seen = set(plain)
        for each in outputs.values():
            if each.key not in seen:
                seen.add(each.key)
                ordered.append(each)
        made = self._shop.linear(source, ordered, where)
        columns = {each.key: name for each, name in zip(ordered, made.schema, strict=True)}
        return Made(made, {name: columns[key] for name, key in keys.items()})

    def _picked(self, plan: Plan, names: Iterable[str]) -> Collection:
        """Just these columns of a plan, in order."""
        made = self.make(plan)
        return self._shop.linear(made.collection, [made.column(name) for name in names])

    # -- joins

    def _join(self, left: Plan, right: Plan, conditions: Conditions, wanted: Sequence[str]) -> Made:
        links, rest = _links(conditions, left, right)
        for rows, bounds in ((left, right), (right, left)):
            limit = _limit(rest, rows, bounds)
            if limit is not None and set(wanted) <= set(rows.schema):
                turned = [each if rows is left else each.turned for each in links]
                return self._beyond(rows, bounds, (*turned, limit), wanted, once=False)
        made = self._paired(left, right, links, {*wanted, *(name for each in rest for name in each.columns())})
        if not rest:
            return made
        where = made.holding(rest)
        kept = self._picks(made.collection, {name: made.column(name) for name in wanted}, where)
        if links:
            return kept
        # All rows meet a new total, and most of them fare as they did with the old one: those cancel here.
        return Made(self._shop.consolidated(kept.collection), kept.names)

    def _beyond(
        self, rows: Plan, bounds: Plan, by: tuple[*tuple[Equality, ...], Bound], wanted: Sequence[str], *, once: bool
    ) -> Made:
        """The rows for each bound that they are beyond, by equal links, or `once` if there is any."""
        *_, limit = by
        a, own = self._side(rows, [each.left for each in by], by, set(wanted))
        b, others = self._side(bounds, [each.right for each in by], by, set())
        limits = b.collection
        if once:
            # Who is beyond any of them is beyond the nearest.
            limits = self._shop.nearest(limits, others, limit.comparison)
            others = list(limits.schema)
        *keys, compared = zip(own, others, strict=True)
        made = self._shop.beyond(a.collection, limits, keys, compared, limit.comparison)
        return _positional(self._shop.pick(made, [a.names[name] for name in wanted]), wanted)

    def _paired(self, left: Plan, right: Plan, links: Sequence[Equality], wanted: Iterable[str]) -> Made:
        """Pairs of rows that are equal in the links."""
        columns = set(wanted)
        a, left_keys = self._side(left, [each.left for each in links], links, columns)
        b, right_keys = self._side(right, [each.right for each in links], links, columns)
        sources = [(0, a.names[n], n) for n in left.schema if n in columns]
        sources += [(1, b.names[n], n) for n in right.schema if n in columns]
        keys = list(zip(left_keys, right_keys, strict=True))
        pairs = self._shop.pairs(a.collection, b.collection, keys, [(side, own) for side, own, _ in sources])
        return _positional(pairs, [name for *_, name in sources])

    def _side(
        self, plan: Plan, keys: Sequence[Expression], links: Sequence[Equality | Bound], wanted: set[str]
    ) -> tuple[Made, list[str]]:
        """One side of a join: its keys and the columns that are wanted of it; rows without a key left out."""
        source = self.make(plan)
        own = [source.translated(each) for each in keys]
        outputs = {f"key {i}": each for i, each in enumerate(own)}
        outputs |= {name: source.column(name) for name in plan.schema if name in wanted}
        strict = [each for each, link in zip(own, links, strict=True) if not link.is_null_safe]
        nullable = [each for each in strict if type_of(each, source.collection.schema).nullable]
        made = self._picks(
            source.collection, outputs, all_of(each.is_not_null() for each in nullable) if nullable else None
        )
        return self._with_keys(made, len(keys))

    def _with_keys(self, made: Made, count: int) -> tuple[Made, list[str]]:
        """The columns of so many keys, each one of its own: what is part of a key twice is there twice."""
        keys = [made.names[f"key {i}"] for i in range(count)]
        again = [i for i, key in enumerate(keys) if key in keys[:i]]
        if not again:
            return made, keys
        columns = list(made.collection.schema)
        wider = self._shop.linear(made.collection, [*map(col, columns), *(col(keys[i]) for i in again)])
        for i, name in zip(again, wider.schema.names[len(columns) :], strict=True):
            keys[i] = name
        return Made(wider, made.names), keys

    def _matched_keys(self, left: Plan, right: Plan, conditions: Conditions) -> tuple[Collection, list[Expression]]:
        """The left values for which the right has a row that fits, each once, and what they are of a left row."""
        links, rest = _links(conditions, left, right)
        if not rest:
            made, keys = self._side(right, [each.right for each in links], links, set())
            present = self._shop.distinct(self._shop.pick(made.collection, keys))
            return present, [each.left for each in links]
        read = {name for each in conditions for name in each.columns()}
        made = self._paired(left, right, links, read)
        own = [name for name in left.schema if name in read]
        where = made.holding(rest)
        found = self._shop.linear(made.collection, [made.column(name) for name in own], where)
        return self._shop.distinct(found), [col(name) for name in own]

    def _with_match(self, left: Plan, right: Plan, conditions: Conditions, wanted: Sequence[str]) -> Made:
        """The left rows for which the right has a row that fits."""
        links, rest = _links(conditions, left, right)
        limit = _limit(rest, left, right)
        if limit is not None:
            return self._beyond(left, right, (*links, limit), wanted, once=True)
        present, of_left = self._matched_keys(left, right, conditions)
        source = self.make(left)
        outputs = {f"key {i}": source.translated(each) for i, each in enumerate(of_left)}
        outputs |= {name: source.column(name) for name in wanted}
        rows, of_rows = self._with_keys(self._picks(source.collection, outputs, None), len(of_left))
        # What is present has no NULL where NULL is equal to nothing.
        keys = list(zip(of_rows, present.schema, strict=True))
        kept = self._shop.pairs(rows.collection, present, keys, [(0, rows.names[name]) for name in wanted])
        return _positional(kept, wanted)

    def _without_match(self, left: Plan, right: Plan, conditions: Conditions, wanted: Sequence[str]) -> Collection:
        """The left rows for which the right has no row that fits, as columns in order."""
        kept = self._with_match(left, right, conditions, wanted)
        return self._shop.minus(self._picked(left, wanted), kept.collection)

    def _semi(self, plan: Semi) -> Made:
        wanted = self._wanted(plan)
        if plan.is_anti:
            return _positional(self._without_match(plan.left, plan.right, plan.conditions, wanted), wanted)
        return self._with_match(plan.left, plan.right, plan.conditions, wanted)

    def _outer(self, plan: Outer) -> Made:
        wanted = self._wanted(plan)
        matched = self._join(plan.left, plan.right, plan.conditions, wanted)
        parts = [self._filled(plan, matched.collection, {n: matched.column(n) for n in wanted}, wanted)]
        sides = [(plan.left, plan.right), (plan.right, plan.left)] if plan.is_full else [(plan.left, plan.right)]
        for here, there in sides:
            own = [name for name in here.schema if name in wanted]
            alone = self._without_match(here, there, plan.conditions, own)
            columns = {name: col(c) for name, c in zip(own, alone.schema, strict=True)}
            parts.append(self._filled(plan, alone, columns, wanted))
        return _positional(self._shop.concat(*parts), wanted)

    def _filled(
        self, plan: Outer, source: Collection, columns: Mapping[str, Expression], wanted: Sequence[str]
    ) -> Collection:
        """Rows with all wanted columns, those that they lack NULL."""
        missing = {name: lit(None, found.required) for name, found in plan.schema.items()}
        return self._shop.linear(source, [columns.get(name, missing[name]) for name in wanted])

    # -- collections together

    def _union(self, plan: Union) -> Made:
        places = [i for i, name in enumerate(plan.names) if name in self._needed[id(plan)]]
        parts = [self._picked(each, [each.schema.names[i] for i in places]) for each in plan.inputs]
        return _positional(self._shop.concat(*parts), [plan.names[i] for i in places])

    def _set_operation(self, plan: SetOperation) -> Made:
        shop = self._shop
        left, right = self._picked(plan.left, plan.left.schema), self._picked(plan.right, plan.right.schema)
        if plan.is_all:
            less = self._excess(shop.minus(left, right))
            made = less if plan.is_except else shop.minus(left, less)
        elif plan.is_except:
            made = shop.distinct(shop.minus(shop.distinct(left), shop.distinct(right)))
        else:
            both = shop.concat(shop.distinct(left), shop.distinct(right))
            made = shop.made(("threshold", both.node), lambda: both.threshold(2))
        return _positional(made, plan.schema)

    def _excess(self, counted: Collection) -> Collection:
        """Rows as often as they are counted, those that are counted negatively left out."""
        names = counted.schema

        def make() -> Collection:
            *_, many = unique([*names, "how many"])
            counts = counted.group_by(*names).count(many).where(col(many) > 0)
            return counts.flat_map(_repeated, **dict(names.items()))

        return self._shop.made(("excess", counted.node), make)

    def _recursive(self, plan: Recursive) -> Made:
        columns = list(plan.schema)
        base = self._picked(plan.base, columns)
        wide = [optional(col(own), found) for own, found in zip(base.schema, base.schema.types, strict=True)]
        start = base.linear(dict(zip(columns, wide, strict=True)))
        with self._shop.flow.loop(max_rounds=_MOST_ROUNDS, name=plan.variable.name) as loop:
            variable = loop.variable(start)
            self._made[id(plan.variable)] = Made(variable, {name: name for name in columns})
            all_rows = self._shop.concat(start, self._picked(plan.step, columns))
            result = self._shop.distinct(all_rows) if plan.is_distinct else all_rows
            variable.becomes(result)
            done = loop.leave(result)
        return _positional(done, columns)


def _positional(collection: Collection, names: Iterable[str]) -> Made:
    return Made(collection, dict(zip(names, collection.schema.names, strict=True)))


def _links(conditions: Conditions, left: Plan, right: Plan) -> tuple[list[Equality], list[Expression]]:
    """The equalities between both sides, and the other conditions."""
    links: list[Equality] = []
    rest: list[Expression] = []
    for each in conditions:
        found = equality(each)
        across = None if found is None else found.between(left.schema, right.schema)
        # A column is part of a key once.
        if across is None or any(across.left.equals(e.left) or across.right.equals(e.right) for e in links):
            rest.append(each)
        else:
            links.append(across)
    return links, rest


def _limit(conditions: Sequence[Expression], rows: Plan, bounds: Plan) -> Bound | None:
    """A single condition as a bound of one side on the other, for values of one type whose codes have its order."""
    limit = bound(conditions[0]) if len(conditions) == 1 else None
    limit = None if limit is None else limit.between(rows.schema, bounds.schema)
    if limit is None:
        return None
    found = type_of(limit.left, rows.schema).required
    return limit if found.ordered_by_code and found == type_of(limit.right, bounds.schema).required else None


def _repeated(*row: object) -> list[tuple[object, ...]]:
    *values, count = row
    assert isinstance(count, int)
    return [tuple(values)] * count
