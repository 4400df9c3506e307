"""Parquet files as they are written here: whole or not at all, and equal whenever their rows are.

A task may run twice, at the same time even, so it writes beside and moves. `write_final` waits for the disk, because
a manifest may name the file next.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["FILE_ROWS", "GROUP_ROWS", "write_final", "write_scratch"]

# Tasks read row groups on their own, so these are what the work on a graph is divided into.
GROUP_ROWS: Final = 1 << 18
FILE_ROWS: Final = 1 << 20


def write_scratch(file: Path, table: pa.Table) -> None:
    """A file that is read once or twice and then removed."""
    beside = _beside(file)
    pq.write_table(table, beside, compression="lz4", use_dictionary=False, write_statistics=False)
    beside.replace(file)


def write_final(file: Path, schema: pa.Schema, groups: Iterable[pa.Table], *, numbered: str | None = None) -> int:
    """A file of a stored graph, a row group per table; `numbered` is a column that counts up. How many rows it has."""
    beside = _beside(file)
    rows = 0
    texts: Any = [field.name for field in schema if pa.types.is_string(field.type)]
    encodings = None if numbered is None else {numbered: "DELTA_BINARY_PACKED"}
    with pq.ParquetWriter(
        beside, schema, compression="zstd", use_dictionary=texts or False, column_encoding=encodings
    ) as writer:
        for group in groups:
            writer.write_table(group, row_group_size=GROUP_ROWS)
            rows += group.num_rows
    descriptor = os.open(beside, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    beside.replace(file)
    return rows


def _beside(file: Path) -> Path:
    # A name that readers of the folder pass over, should it stay behind.
    return file.with_name(f".{file.name}.{secrets.token_hex(4)}")
