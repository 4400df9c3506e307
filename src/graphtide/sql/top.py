"""The first rows in an order, kept as rows come and go.

The kernel orders rows by codes, ascending. A descending number is negated; NULL stands where it is asked for by a
column of its own, and so does NaN then. Strings have codes in no order: they are ordered by their first bytes, packed
into ints, and those that are longer by their place among the strings that begin alike, which Python finds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions import Expression, call, col, lit, when
from graphtide.dataflow.expressions.strings import WORD_BYTES
from graphtide.rows import Kind, Type
from graphtide.sql.plan import Order, TopK
from graphtide.sql.workshop import Workshop

__all__ = ["top_rows"]

# Ints that the beginning of a string is packed into.
_WORDS: Final = 3
_LARGEST: Final = 2**63 - 1


def top_rows(
    shop: Workshop, source: Collection, names: Mapping[str, str], plan: TopK, wanted: Sequence[str]
) -> Collection:
    """The first rows of each key, as the wanted columns in order."""
    keys = list(dict.fromkeys(names[key] for key in plan.keys))
    picks = [names[name] for name in wanted]
    ranks: list[Expression] = []
    for each in plan.order:
        column = names[each.column]
        found = source.schema[column]
        place = None
        if found.kind is Kind.STR:
            source, place = _with_places(shop, source, column)
        ranks += _ranks(Order(column, each.is_descending, each.nulls_first), found, place)
    rows = shop.linear(source, [*map(col, keys), *ranks, *map(col, picks)])
    width, deep = len(keys), len(keys) + len(ranks)
    by, grouped, told = rows.schema.names[width:deep], rows.schema.names[:width], rows.schema.names[deep:]

    def first(count: int) -> Collection:
        key = ("top", rows.node, grouped, by, count)
        top = shop.made(key, lambda: rows.group_by(*grouped).first_k(count, by))
        return shop.pick(top, told)

    if plan.limit == 0:
        return shop.linear(rows, [col(name) for name in told], lit(False))  # noqa: FBT003
    # No group has as many rows as there are numbers.
    last = None if plan.limit is None else plan.limit + plan.offset
    upto = shop.pick(rows, told) if last is None or last > _LARGEST else first(last)
    # Ties are broken alike in both, so the one is part of the other.
    return shop.minus(upto, first(plan.offset)) if plan.offset else upto


def _ranks(order: Order, found: Type, place: str | None) -> list[Expression]:
    """Ints that ascend as the order asks for."""
    value = col(order.column)
    numbers: list[Expression] = [value]
    if place is not None:
        numbers = [*(value.order_word(i) for i in range(_WORDS)), col(place)]
    elif found.kind not in {Kind.INT, Kind.FLOAT}:
        numbers = [value.cast(int)]
    result = [-number if order.is_descending else number for number in numbers]
    if found.kind is Kind.FLOAT and order.is_descending:
        # NaN is the greatest, and so is its negative.
        result.insert(0, when(value > lit(math.inf), lit(0)).otherwise(lit(1)))
    if found.nullable:
        first, last = (lit(0), lit(1)) if order.nulls_first else (lit(1), lit(0))
        result.insert(0, when(value.is_null(), first).otherwise(last))
    return result


def _with_places(shop: Workshop, rows: Collection, column: str) -> tuple[Collection, str]:
    """The rows with a column more: the place of a string among those that begin with the same words, 0 if it is one."""
    everything = [col(name) for name in rows.schema]
    is_long = call(_is_long, col(column), returns=bool)
    short = shop.linear(rows, [*everything, lit(0)], is_long.is_null() | ~is_long)
    long = shop.linear(rows, everything, is_long)
    words = [col(column).order_word(i) for i in range(_WORDS)]
    strings = shop.distinct(shop.linear(long, [*words, col(column)]))
    *by, text = strings.schema.names
    places = shop.made(
        ("places", strings.node),
        lambda: strings.group_by(*by).reduce(_places, text=strings.schema[text], place=int),
    )
    outputs = [*((0, name) for name in rows.schema), (1, "place")]
    placed = shop.pairs(long, places, [(column, "text")], outputs)
    both = shop.concat(short, placed)
    return both, both.schema.names[-1]


def _is_long(text: str) -> bool:
    """Whether its first words do not say all of a string."""
    return len(text.encode()) > _WORDS * WORD_BYTES or "\0" in text


def _places(_words: tuple[Any, ...], group: list[tuple[tuple[Any, ...], int]]) -> list[tuple[str, int]]:
    return [(text, place) for place, text in enumerate(sorted(text for (text,), _ in group), 1)]
