"""How types are spelled, and what they become in Arrow."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Optional, Union

import pyarrow as pa
import pytest

from graphtide.errors import SchemaError
from graphtide.rows import BOOL, BYTES, DATE, FLOAT, INT, STR, TIMESTAMP, TupleType, Type


@pytest.mark.parametrize(
    ("annotation", "wanted", "spelled"),
    [
        (int, INT, "int"),
        (float, FLOAT, "float"),
        (bool, BOOL, "bool"),
        (str, STR, "str"),
        (bytes, BYTES, "bytes"),
        (date, DATE, "date"),
        (datetime, TIMESTAMP, "timestamp"),
        (int | None, INT.optional, "int | None"),
        (Optional[str], STR.optional, "str | None"),  # noqa: UP045
        (Union[None, str], STR.optional, "str | None"),  # noqa: UP007
        (tuple[int, str], TupleType((INT, STR)), "tuple[int, str]"),
        (tuple[int | None, ...], TupleType((INT.optional,), variadic=True), "tuple[int | None, ...]"),
        (tuple[tuple[int], str] | None, None, "tuple[tuple[int], str] | None"),
        (INT, INT, "int"),
        (pa.int8(), INT, "int"),
    ],
)
def test_an_annotation_is_read_and_written(annotation: object, wanted: Type | None, spelled: str) -> None:
    found = Type.of(annotation)
    assert repr(found) == spelled
    assert wanted is None or found == wanted


@pytest.mark.parametrize(
    "annotation",
    [list[int], list, tuple, tuple[()], int | str, None, Any, "int", complex, tuple[int, object]],
)
def test_other_annotations_are_refused(annotation: object) -> None:
    with pytest.raises(SchemaError, match=r"is not the type of a column\nhint: use int, float"):
        Type.of(annotation)


@pytest.mark.parametrize(
    ("arrow", "spelled"),
    [
        (pa.uint64(), "int"),
        (pa.float16(), "float"),
        (pa.large_string(), "str"),
        (pa.string_view(), "str"),
        (pa.dictionary(pa.int8(), pa.string()), "str"),
        (pa.binary(4), "bytes"),
        (pa.binary_view(), "bytes"),
        (pa.date64(), "date"),
        (pa.timestamp("ns", "UTC"), "timestamp"),
        (pa.list_(pa.field("item", pa.int64(), nullable=False), 2), "tuple[int, ...]"),
        (pa.large_list(pa.string()), "tuple[str | None, ...]"),
        (pa.struct([("a", pa.int64()), ("b", pa.bool_())]), "tuple[int | None, bool | None]"),
    ],
)
def test_arrow_types_are_read(arrow: pa.DataType, spelled: str) -> None:
    assert repr(Type.from_arrow(arrow)) == spelled


@pytest.mark.parametrize("arrow", [pa.null(), pa.decimal128(5, 2), pa.duration("s"), pa.struct([])])
def test_arrow_types_without_counterpart_are_refused(arrow: pa.DataType) -> None:
    with pytest.raises(SchemaError, match="has no counterpart here"):
        Type.from_arrow(arrow)


@pytest.mark.parametrize("column_type", [INT, FLOAT, BOOL, STR, BYTES, DATE, TIMESTAMP])
def test_scalar_types_come_back_from_arrow(column_type: Type) -> None:
    assert Type.from_arrow(column_type.to_arrow()) == column_type


def test_bare_types_forget_none_at_any_depth() -> None:
    deep = Type.of(tuple[tuple[int | None, ...] | None, str | None] | None)
    assert repr(deep.bare) == "tuple[tuple[int, ...], str]"
    assert repr(deep.required) == "tuple[tuple[int | None, ...] | None, str | None]"
    assert INT.optional.optional is INT.optional or INT.optional.optional == INT.optional


def test_types_are_values() -> None:
    assert hash(Type.of(tuple[int, str])) == hash(TupleType((INT, STR)))
    assert TupleType((INT,)) != TupleType((INT,), variadic=True)
    assert INT.optional != INT
    with pytest.raises(AttributeError):
        INT.nullable = True  # type: ignore[misc]
