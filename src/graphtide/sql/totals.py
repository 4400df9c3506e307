"""Aggregates as reductions: one for each total, put together by their key.

Sums and counts are kept by adding, so a change costs the same whatever the size of its group. Every
total has a row for exactly the keys that have rows, so the joins that put them together lose nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions import Expression, col, lit, when
from graphtide.sql.plan import Total
from graphtide.sql.spread import spread
from graphtide.sql.workshop import Workshop, unique

__all__ = ["aggregated"]

# What a mean is made of where its sum is there anyway.
_OF_MEAN: Final = ("sum", "count")


def aggregated(
    shop: Workshop,
    source: Collection,
    names: Mapping[str, str],
    keys: Sequence[str],
    totals: Mapping[str, Total],
) -> Collection:
    """The keys and the totals, as columns in that order; without keys, one row always."""
    # A key that stands twice is grouped by once, and told twice.
    own = list(dict.fromkeys(names[key] for key in keys))
    parts = {each: _total(shop, source, own, each, names) for each in _needed(totals)}
    if not parts:
        return shop.linear(shop.distinct(shop.pick(source, own)), [col(names[k]) for k in keys]) if keys else shop.unit
    # Counts of columns without NULL are all the same one.
    different = list(dict.fromkeys(each.node for each in parts.values()))
    made, *rest = [next(each for each in parts.values() if each.node is node) for node in different]
    width = len(own)
    for each in rest:
        pairs = list(zip(made.schema.names[:width], each.schema.names[:width], strict=True))
        outputs = [(0, name) for name in made.schema] + [(1, each.schema.names[-1])]
        made = shop.pairs(made, each, pairs, outputs)
    by_key = dict(zip(own, made.schema.names[:width], strict=True))
    by_part = dict(zip(different, made.schema.names[width:], strict=True))

    def told_as(total: Total) -> Expression:
        if total in parts:
            return col(by_part[parts[total].node])
        sums, counts = (told_as(replace(total, function=each)) for each in _OF_MEAN)
        return sums.cast(float) / counts.cast(float)

    columns = [col(by_key[names[key]]) for key in keys] + [told_as(each) for each in totals.values()]
    told = shop.linear(made, columns)
    if keys:
        return told
    nothing = shop.minus(shop.unit, shop.distinct(shop.pick(source, [])))
    empty = [_on_nothing(each, found.required) for each, found in zip(totals.values(), told.schema.types, strict=True)]
    return shop.concat(told, shop.linear(nothing, empty))


def _needed(totals: Mapping[str, Total]) -> list[Total]:
    """What is reduced: a mean whose sum is told, too, is that sum by a count, which takes less than a mean."""
    given = list(dict.fromkeys(totals.values()))
    result: dict[Total, None] = {}
    for each in given:
        is_derived = each.function == "avg" and replace(each, function="sum") in given
        made = [replace(each, function=name) for name in _OF_MEAN] if is_derived else [each]
        result |= dict.fromkeys(made)
    return list(result)


def _on_nothing(total: Total, found: object) -> Expression:
    return lit(0) if total.function == "count" else lit(None, found)


def _total(
    shop: Workshop, source: Collection, keys: Sequence[str], total: Total, names: Mapping[str, str]
) -> Collection:
    """The keys and one total."""
    column = None if total.column is None else names[total.column]
    is_distinct = total.is_distinct and total.function in {"count", "sum", "avg"}
    counts_rows = total.function == "count" and not is_distinct
    if column is None or (counts_rows and not source.schema[column].nullable):
        return _counted(shop, shop.pick(source, keys))
    values = shop.linear(source, [*map(col, keys), col(column)])
    grouped, value = values.schema.names[:-1], values.schema.names[-1]
    if is_distinct:
        values = shop.distinct(values)
    found = values.schema[value]
    if total.function == "count":
        if not found.nullable:
            return _counted(shop, shop.pick(values, grouped))
        known = when(col(value).is_null(), lit(0)).otherwise(lit(1))
        values = shop.linear(values, [*map(col, grouped), known])
        grouped, value = values.schema.names[:-1], values.schema.names[-1]
    if total.function == "spread":
        return spread(shop, values)
    key = (total.function, values.node)
    by_key = values.group_by(*grouped)
    if total.function == "min":
        return shop.made(key, lambda: by_key.min(value))
    if total.function == "max":
        return shop.made(key, lambda: by_key.max(value))
    if total.function == "avg":
        return shop.made(key, lambda: by_key.avg(value))
    return shop.made((*key, "sum"), lambda: by_key.sum(value))


def _counted(shop: Workshop, rows: Collection) -> Collection:
    """Each row once, and how often it is there."""
    *_, name = unique([*rows.schema, "count"])
    return shop.made(("count", rows.node), lambda: rows.group_by(*rows.schema).count(name))
