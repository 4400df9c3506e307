"""Hypothesis strategies shared by the tests, one section per layer."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import strategies as st

from graphtide.rows import Kind, Schema, TupleType, Type
from graphtide.time import PRIORITY_LIMIT, ROUND_LIMIT, Antichain, Time

# ------------------------------------------------------------------------------------------ times


def times(depth: int, largest: int = 4) -> st.SearchStrategy[Time]:
    """Times of one scope, close enough together to compare in every possible way."""
    return st.tuples(*[st.integers(0, largest)] * depth)


def antichains(depth: int, largest: int = 4) -> st.SearchStrategy[Antichain]:
    """Frontiers of one scope, the empty one included."""
    return st.lists(times(depth, largest), max_size=5).map(Antichain)


def depths() -> st.SearchStrategy[int]:
    """Numbers of coordinates: the epoch alone, up to three nested loops."""
    return st.integers(1, 4)


def prioritized() -> st.SearchStrategy[tuple[int, int]]:
    """Pairs of priority and round, near each other or anywhere within the limits."""
    near = st.tuples(st.integers(0, 3), st.integers(0, 3))
    anywhere = st.tuples(st.integers(0, PRIORITY_LIMIT - 1), st.integers(0, ROUND_LIMIT - 1))
    return near | anywhere


# ------------------------------------------------------------------------------------------- rows


def odd_floats() -> st.SearchStrategy[float]:
    """Both zeros, NaNs of several signs and payloads, and two plain floats."""
    bits = (0x7FF8 << 48, 0xFFF8 << 48, 2**63 - 1)
    nans = [struct.unpack("=d", struct.pack("=Q", each))[0] for each in bits]
    return st.sampled_from([-0.0, 0.0, 1.5, -1.5, *nans])


_ZONES = st.sampled_from([None, UTC, timezone(timedelta(hours=5, minutes=30)), timezone(-timedelta(hours=8))])
_SCALARS = {
    Kind.INT: st.integers(-3, 3) | st.integers(1 - 2**63, 2**63 - 1),
    Kind.FLOAT: odd_floats() | st.floats(),
    Kind.BOOL: st.booleans(),
    Kind.STR: st.sampled_from(["", "a", "b", "é"]) | st.text(),
    Kind.BYTES: st.sampled_from([b"", b"\0", b"a"]) | st.binary(),
    Kind.DATE: st.dates(),
    # A day from either end of the calendar, where moving to UTC would leave it.
    Kind.TIMESTAMP: st.datetimes(
        datetime.min + timedelta(days=1),  # noqa: DTZ901
        datetime.max - timedelta(days=1),  # noqa: DTZ901
        timezones=_ZONES,
    ),
}


def scalar_types() -> st.SearchStrategy[Type]:
    """Types other than tuples, optional or not."""
    return st.builds(Type, st.sampled_from(sorted(_SCALARS, key=str)), nullable=st.booleans())


def column_types() -> st.SearchStrategy[Type]:
    """Types of every kind, tuples of tuples included."""

    def tuples(elements: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
        several = st.lists(elements, min_size=1, max_size=3).map(tuple)
        fixed = st.builds(TupleType, several, nullable=st.booleans())
        one = st.tuples(elements)
        return fixed | st.builds(TupleType, one, variadic=st.just(value=True), nullable=st.booleans())

    return st.recursive(scalar_types(), tuples, max_leaves=4)


def values_of(column_type: Type) -> st.SearchStrategy[object]:
    """Values that a column of this type accepts."""
    if not isinstance(column_type, TupleType):
        present: st.SearchStrategy[object] = _SCALARS[column_type.kind]
    elif column_type.variadic:
        present = st.lists(values_of(column_type.elements[0]), max_size=3).map(tuple)
    else:
        present = st.tuples(*map(values_of, column_type.elements))
    return st.none() | present if column_type.nullable else present


@st.composite
def columns(draw: st.DrawFn) -> tuple[Type, list[object]]:
    """A type and values of it, of which some are likely to be equal."""
    column_type = draw(column_types())
    return column_type, draw(st.lists(values_of(column_type), max_size=12))


@st.composite
def rows(draw: st.DrawFn, types: st.SearchStrategy[Type]) -> tuple[Schema, list[tuple[object, ...]]]:
    """A schema with columns of the given types, and rows that fit it."""
    name = st.text(min_size=1, max_size=3).filter(lambda text: "\0" not in text)
    names = draw(st.lists(name, min_size=1, max_size=4, unique=True))
    schema = Schema([(name, draw(types)) for name in names])
    row = st.tuples(*map(values_of, schema.types))
    return schema, draw(st.lists(row, max_size=6))


# ------------------------------------------------------------------------------- ego aggregates


@st.composite
def neighbourhood_sets(draw: st.DrawFn, most_writers: int = 12, most_readers: int = 14) -> tuple[int, list[set[int]]]:
    """How many writers there are, and the writers of each reader: copies of few sets, with some more and some less."""
    writers = draw(st.integers(1, most_writers))
    some = st.sets(st.integers(0, writers - 1))
    models = draw(st.lists(some, min_size=1, max_size=3))
    few = st.sets(st.integers(0, writers - 1), max_size=2)
    changed = st.tuples(st.sampled_from(models), few).map(lambda pair: pair[0] ^ pair[1])
    return writers, draw(st.lists(changed | some, max_size=most_readers))
