"""The types of SQL: those of rows, and decimals, which are ints that know where their point stands.

A DECIMAL(p, s) is carried as an int64 of so many units of 10**-s. Sums and differences have the larger scale,
products the sum of both; what does not fit 64 bits stops the run and never wraps. `None` as a kind is the type
of a bare NULL, which becomes the type of what it stands next to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import ParseError

from graphtide.errors import SchemaError, SqlError
from graphtide.rows import BOOL, DATE, FLOAT, INT, STR, TIMESTAMP, Kind, Type

__all__ = ["DIGITS", "WIDEST", "SqlType", "common", "declared", "named"]

# What 64 bits hold of every number with so many digits.
DIGITS: Final = 18
# The digits that the largest of them have.
WIDEST: Final = 19


@dataclass(frozen=True, slots=True)
class SqlType:
    """A type of SQL, without saying whether NULL may occur: that is the schema's to know."""

    kind: Kind | None
    scale: int | None = None  # of a decimal, whose kind is INT
    precision: int = DIGITS

    @property
    def is_decimal(self) -> bool:
        """Whether it is a DECIMAL."""
        return self.scale is not None

    @property
    def is_number(self) -> bool:
        """Whether one can compute with it."""
        return self.kind in {Kind.INT, Kind.FLOAT}

    @property
    def encoding(self) -> Type:
        """The type of the column that carries it."""
        return _ENCODINGS[self.kind or Kind.INT]

    def to_arrow(self) -> pa.DataType:
        """The Arrow type in which it comes out."""
        return self.encoding.to_arrow() if self.scale is None else pa.decimal128(max(self.precision, 1), self.scale)

    def __str__(self) -> str:
        if self.scale is not None:
            return f"DECIMAL({self.precision}, {self.scale})"
        return "NULL" if self.kind is None else _NAMES[self.kind]


_ENCODINGS: Final = {
    Kind.INT: INT,
    Kind.FLOAT: FLOAT,
    Kind.BOOL: BOOL,
    Kind.STR: STR,
    Kind.DATE: DATE,
    Kind.TIMESTAMP: TIMESTAMP,
}
_NAMES: Final = {
    Kind.INT: "BIGINT",
    Kind.FLOAT: "DOUBLE",
    Kind.BOOL: "BOOLEAN",
    Kind.STR: "VARCHAR",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}


def common(a: SqlType, b: SqlType) -> SqlType | None:
    """The type that holds the values of both, None if there is none.

    >>> str(common(SqlType(Kind.INT), SqlType(Kind.INT, 2, 15)))
    'DECIMAL(19, 2)'
    """
    if a.kind is None or b.kind is None or a == b:
        return b if a.kind is None else a
    if a.is_number and b.is_number:
        if Kind.FLOAT in {a.kind, b.kind}:
            return SqlType(Kind.FLOAT)
        scale = max(a.scale or 0, b.scale or 0)
        whole = max(_whole(a), _whole(b))
        return SqlType(Kind.INT, scale, min(WIDEST, whole + scale))
    if {a.kind, b.kind} == {Kind.DATE, Kind.TIMESTAMP}:
        return SqlType(Kind.TIMESTAMP)
    return a if a.kind is b.kind else None


def _whole(of: SqlType) -> int:
    """Digits before the point."""
    return DIGITS if of.scale is None else of.precision - of.scale


def named(data_type: exp.DataType) -> SqlType:
    """What the name of a type in SQL means."""
    name = data_type.this
    if name == exp.DataType.Type.DECIMAL:
        if len(data_type.expressions) > 2 or not all(each.name.isdecimal() for each in data_type.expressions):
            raise SqlError(
                f"the digits of {data_type.sql(dialect='duckdb')} are not two whole numbers",
                hint="write DECIMAL(p, s), such as DECIMAL(15, 2)",
            )
        given = [int(each.name) for each in data_type.expressions]
        return _decimal(*(given if len(given) == 2 else [*given, 0] if given else [DIGITS, 3]))
    kind = _BY_NAME.get(name)
    # The length of a VARCHAR binds nobody, in DuckDB neither; any other number would change values.
    if kind is None or (data_type.expressions and kind is not Kind.STR):
        known = ", ".join(_NAMES.values())
        raise SqlError(
            f"the type {data_type.sql(dialect='duckdb')} is not supported", hint=f"use one of {known}, DECIMAL(p, s)"
        )
    return SqlType(kind)


_T = exp.DataType.Type
_BY_NAME: Final = {
    **dict.fromkeys((_T.TINYINT, _T.SMALLINT, _T.INT, _T.BIGINT, _T.UTINYINT, _T.USMALLINT, _T.UINT), Kind.INT),
    **dict.fromkeys((_T.FLOAT, _T.DOUBLE), Kind.FLOAT),
    **dict.fromkeys((_T.VARCHAR, _T.CHAR, _T.TEXT, _T.NVARCHAR, _T.NCHAR, _T.BPCHAR), Kind.STR),
    **dict.fromkeys((_T.TIMESTAMP, _T.TIMESTAMPNTZ, _T.DATETIME), Kind.TIMESTAMP),
    _T.BOOLEAN: Kind.BOOL,
    _T.DATE: Kind.DATE,
}


def _decimal(precision: int, scale: int) -> SqlType:
    if not 0 <= scale <= precision or precision > DIGITS:
        raise SqlError(
            f"DECIMAL({precision}, {scale}) does not fit into 64 bits", hint=f"use at most {DIGITS} digits, or DOUBLE"
        )
    return SqlType(Kind.INT, scale, precision)


def declared(annotation: Any, name: str) -> tuple[SqlType, bool]:
    """The type that a column is declared with, and whether it may hold NULL.

    A declaration is a Python type, an Arrow type or field, or a type of SQL in a string.

    >>> declared(str | None, "note"), declared("decimal(15, 2) not null", "price")[1]
    ((SqlType(kind=<Kind.STR: 'str'>, scale=None, precision=18), True), False)
    """
    if isinstance(annotation, str):
        text, required = re.subn(r"\s+not\s+null\s*$", "", annotation, flags=re.IGNORECASE)
        try:
            return named(exp.DataType.build(text, dialect="duckdb")), not required
        except (ParseError, SqlError) as error:
            hint = error.hint if isinstance(error, SqlError) else 'write a type of SQL, such as "decimal(15, 2)"'
            raise SchemaError(f'column "{name}" is declared as "{annotation}"', hint=hint) from None
    if isinstance(annotation, pa.Field):
        return declared(annotation.type, name)[0], annotation.nullable
    if isinstance(annotation, pa.DataType) and pa.types.is_decimal(annotation):
        try:
            return _decimal(annotation.precision, annotation.scale), False
        except SqlError as error:
            raise SchemaError(f'column "{name}": {error.message}', hint=error.hint) from None
    if annotation is Decimal:
        raise SchemaError(f'column "{name}" needs the digits of its decimals', hint='write "decimal(15, 2)"')
    found = Type.of(annotation)
    if found.kind not in _ENCODINGS:
        raise SchemaError(f'column "{name}" is {found.described}, which SQL here does not know', hint="use a scalar")
    return SqlType(found.kind), found.nullable
