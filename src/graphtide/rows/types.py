"""The types of columns, as Python spells them and as Arrow does.

A column's type accepts None only if it says so: `int | None`. Whether it does never changes how
other values are encoded, so `int` and `int | None` share their codes: two columns compare code by
code if and only if their `bare` types are equal.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import Enum
from typing import Final, Self, Union, get_args, get_origin

import pyarrow as pa

from graphtide.errors import SchemaError

__all__ = [
    "BOOL",
    "BYTES",
    "DATE",
    "FLOAT",
    "INT",
    "STR",
    "TIMESTAMP",
    "Kind",
    "TupleType",
    "Type",
    "is_list",
]


class Kind(Enum):
    """What decides a type's encoding: one member per sort of value."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    STR = "str"
    BYTES = "bytes"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TUPLE = "tuple"


_INTERNED: Final = frozenset({Kind.STR, Kind.BYTES, Kind.TUPLE})


@dataclass(frozen=True, slots=True, repr=False)
class Type:
    """The type of a column.

    >>> Type.of(int), Type.of(str | None), Type.of(tuple[int, str]), Type.of(tuple[float, ...])
    (int, str | None, tuple[int, str], tuple[float, ...])
    """

    kind: Kind
    nullable: bool = field(default=False, kw_only=True)

    @staticmethod
    def of(annotation: object) -> Type:
        """The type that a Python annotation, an Arrow type or a `Type` itself means."""
        if isinstance(annotation, Type):
            return annotation
        if isinstance(annotation, pa.DataType):
            return Type.from_arrow(annotation)
        if isinstance(annotation, type) and annotation in _SCALARS:
            return _SCALARS[annotation]
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin in (Union, types.UnionType):
            rest = [argument for argument in arguments if argument is not types.NoneType]
            if len(rest) == 1:
                return Type.of(rest[0]).optional
        if origin is tuple and arguments:
            if arguments[-1] is ...:
                return TupleType((Type.of(arguments[0]),), variadic=True)
            return TupleType(tuple(Type.of(argument) for argument in arguments))
        raise SchemaError(f"{_spelled(annotation)} is not the type of a column", hint=_ACCEPTED)

    @staticmethod
    def from_arrow(arrow: pa.DataType) -> Type:
        """The type that holds an Arrow type's values; elements of lists and structs keep nulls.

        >>> Type.from_arrow(pa.dictionary(pa.int32(), pa.string()))
        str
        >>> Type.from_arrow(pa.list_(pa.int64()))
        tuple[int | None, ...]
        """
        if isinstance(arrow, pa.DictionaryType):
            return Type.from_arrow(arrow.value_type)
        if is_list(arrow):
            return TupleType((_from_field(arrow.value_field),), variadic=True)
        if isinstance(arrow, pa.StructType) and arrow.num_fields:
            fields = [arrow.field(i) for i in range(arrow.num_fields)]
            return TupleType(tuple(map(_from_field, fields)))
        for matches, result in _FROM_ARROW:
            if matches(arrow):
                return result
        raise SchemaError(f"the Arrow type {arrow} has no counterpart here", hint=_ACCEPTED)

    @property
    def optional(self) -> Self:
        """This type, accepting None too."""
        return self if self.nullable else replace(self, nullable=True)

    @property
    def required(self) -> Self:
        """This type, refusing None."""
        return replace(self, nullable=False) if self.nullable else self

    @property
    def bare(self) -> Self:
        """This type without None at any depth: types have one encoding if these are equal."""
        return self.required

    @property
    def is_interned(self) -> bool:
        """Whether a code is a place in a dictionary instead of the value itself."""
        return self.kind in _INTERNED

    @property
    def ordered_by_code(self) -> bool:
        """Whether codes order as values do; if not, the dictionary's `order_keys` do."""
        return self.kind not in _INTERNED

    @property
    def described(self) -> str:
        """The type with its article, for messages.

        >>> INT.described, FLOAT.optional.described, BYTES.described
        ('an int', 'a float', 'a bytes')
        """
        name = repr(self.required)
        return f"an {name}" if name[0] in "aeiou" else f"a {name}"

    def to_arrow(self) -> pa.DataType:
        """The Arrow type in which a column of this type comes out.

        >>> TIMESTAMP.to_arrow()
        TimestampType(timestamp[us])
        """
        return _TO_ARROW[self.kind]

    def __repr__(self) -> str:
        return f"{self.kind.value} | None" if self.nullable else self.kind.value


@dataclass(frozen=True, slots=True, repr=False)
class TupleType(Type):
    """A tuple with a type per place, or of any length with one type for all (`variadic`).

    >>> TupleType((INT, STR.optional)).optional
    tuple[int, str | None] | None
    """

    kind: Kind = field(default=Kind.TUPLE, init=False)
    elements: tuple[Type, ...]
    variadic: bool = False

    def __post_init__(self) -> None:
        assert self.elements, "a tuple type has elements"
        assert not self.variadic or len(self.elements) == 1, self.elements

    @property
    def bare(self) -> Self:
        """This type without None at any depth."""
        elements = tuple(element.bare for element in self.elements)
        return replace(self, elements=elements, nullable=False)

    def to_arrow(self) -> pa.DataType:
        """A list if the tuple is variadic, else a struct whose fields Spark would call the same.

        Elements are nullable in Arrow even if required here: several of its functions refuse a
        missing tuple whose elements may not be missing.

        >>> TupleType((INT, STR)).to_arrow().names
        ['_1', '_2']
        """
        if self.variadic:
            return pa.list_(self.elements[0].to_arrow())
        return pa.struct([(f"_{i}", e.to_arrow()) for i, e in enumerate(self.elements, start=1)])

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, self.elements)) + (", ..." if self.variadic else "")
        return f"tuple[{inside}] | None" if self.nullable else f"tuple[{inside}]"


INT: Final = Type(Kind.INT)
FLOAT: Final = Type(Kind.FLOAT)
BOOL: Final = Type(Kind.BOOL)
STR: Final = Type(Kind.STR)
BYTES: Final = Type(Kind.BYTES)
DATE: Final = Type(Kind.DATE)
TIMESTAMP: Final = Type(Kind.TIMESTAMP)

_ACCEPTED: Final = (
    "use int, float, bool, str, bytes, date, datetime, tuple[int, str] or tuple[int, ...], "
    "each with `| None` if values may be missing"
)

_SCALARS: Final[dict[type, Type]] = {
    int: INT,
    float: FLOAT,
    bool: BOOL,
    str: STR,
    bytes: BYTES,
    date: DATE,
    datetime: TIMESTAMP,
}

_TO_ARROW: Final[dict[Kind, pa.DataType]] = {
    Kind.INT: pa.int64(),
    Kind.FLOAT: pa.float64(),
    Kind.BOOL: pa.bool_(),
    Kind.STR: pa.string(),
    Kind.BYTES: pa.binary(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}

_FROM_ARROW: Final[tuple[tuple[Callable[[pa.DataType], bool], Type], ...]] = (
    (pa.types.is_integer, INT),
    (pa.types.is_floating, FLOAT),
    (pa.types.is_boolean, BOOL),
    (pa.types.is_string, STR),
    (pa.types.is_large_string, STR),
    (pa.types.is_string_view, STR),
    (pa.types.is_binary, BYTES),
    (pa.types.is_large_binary, BYTES),
    (pa.types.is_binary_view, BYTES),
    (pa.types.is_fixed_size_binary, BYTES),
    (pa.types.is_date, DATE),
    (pa.types.is_timestamp, TIMESTAMP),
)


def is_list(arrow: pa.DataType) -> bool:
    """Whether an Arrow type is a list in one of its layouts."""
    tests = (
        pa.types.is_list,
        pa.types.is_large_list,
        pa.types.is_fixed_size_list,
        pa.types.is_list_view,
        pa.types.is_large_list_view,
    )
    return any(matches(arrow) for matches in tests)


def _from_field(arrow: pa.Field) -> Type:
    result = Type.from_arrow(arrow.type)
    return result.optional if arrow.nullable else result


def _spelled(annotation: object) -> str:
    return annotation.__name__ if isinstance(annotation, type) else repr(annotation)
