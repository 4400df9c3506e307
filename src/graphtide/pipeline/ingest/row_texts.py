"""Rows as text, where they were no text or are none any more: to show them, and to set them aside."""

from __future__ import annotations

import pyarrow as pa

from graphtide.pipeline.ingest.arrow import pc

__all__ = ["row_texts"]


def row_texts(rows: pa.Table) -> pa.Array:
    """The values of each row between commas.

    >>> row_texts(pa.table({"a": [1, 2], "b": ["x", None]})).to_pylist()
    ['1,x', '2,']
    """
    texts = [column.cast(pa.string()) for column in rows.columns]
    return pc.binary_join_element_wise(*texts, ",", null_handling="replace", null_replacement="")
