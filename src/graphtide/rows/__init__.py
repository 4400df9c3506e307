"""Schemas of typed columns, and the int64 encoding of every type.

Everything above this layer computes on int64 codes: a row is a column of a C-contiguous array
with one line per column of its schema. Equal values have equal codes, `NULL` is None and comes
first, and codes order as values do for every type that is not interned; for those that are, the
`Dictionary` has the order.
"""

from graphtide.rows.codes import NULL, code_of_float, codes_of_floats, floats_of_codes
from graphtide.rows.decode import decode_column, decode_value, decode_values
from graphtide.rows.dictionary import Dictionary
from graphtide.rows.encode import encode_column, encode_value
from graphtide.rows.exchange import decode_rows, decode_table, encode_rows
from graphtide.rows.intern import BytesInterner, Interner, StrInterner
from graphtide.rows.schema import Schema, did_you_mean
from graphtide.rows.tuples import TupleInterner
from graphtide.rows.types import (
    BOOL,
    BYTES,
    DATE,
    FLOAT,
    INT,
    STR,
    TIMESTAMP,
    Kind,
    TupleType,
    Type,
)

__all__ = [
    "BOOL",
    "BYTES",
    "DATE",
    "FLOAT",
    "INT",
    "NULL",
    "STR",
    "TIMESTAMP",
    "BytesInterner",
    "Dictionary",
    "Interner",
    "Kind",
    "Schema",
    "StrInterner",
    "TupleInterner",
    "TupleType",
    "Type",
    "code_of_float",
    "codes_of_floats",
    "decode_column",
    "decode_rows",
    "decode_table",
    "decode_value",
    "decode_values",
    "did_you_mean",
    "encode_column",
    "encode_rows",
    "encode_value",
    "floats_of_codes",
]
