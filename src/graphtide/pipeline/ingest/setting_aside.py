"""Rows that a graph is loaded without: lines that cannot be read, nodes that are there already, edges without a node.

They are collected as tables of part, line, text and reason, and become an error that shows the first one, or the
quarantine of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.errors import LoadError
from graphtide.graph.schema import ID
from graphtide.pipeline.ingest.dangling import Dangling
from graphtide.pipeline.ingest.part import LINE
from graphtide.pipeline.ingest.sorted_range import FIRST_LINE, FIRST_PART, PART
from graphtide.pipeline.ingest.staged import Staged
from graphtide.pipeline.ingest.writing import write_final

__all__ = ["Aside", "bad_lines", "dangling_edges", "duplicate_nodes"]

_SHOWN: Final = 200


class Aside:
    """What a graph is loaded without, or the error that the first of it is."""

    def __init__(self, *, is_error: bool) -> None:
        self.is_error = is_error
        self._taken: list[pa.Table] = []

    def take(self, staged: Staged, rows: pa.Table, count: int, what: str) -> None:
        """Set rows of a table aside; there are `count` of them, and `what` says what they have in common."""
        if count and self.is_error:
            raise _first_fault(staged, rows, count, what)
        self._taken.append(_placed(staged, rows))

    def write(self, folder: Path) -> int:
        """Write everything down, nodes first, each table in the order of its source; how much it is."""
        order = [("table", "descending"), ("_file", "ascending"), ("line", "ascending")]
        rows = pa.concat_tables(self._taken).sort_by(order).drop_columns(["_file"])
        if rows.num_rows:
            folder.mkdir()
            write_final(folder / "000000.parquet", rows.schema, [rows])
        return rows.num_rows


def bad_lines(staged: Staged) -> pa.Table:
    """The lines that could not be read; only one of each part if the others were not wanted."""
    found = [
        _rows(pq.ParquetFile(part.bad_path).read(), number)
        for number, part in enumerate(staged.parts)
        if part.bad_path is not None
    ]
    return pa.concat_tables([_NONE, *found])


def duplicate_nodes(nodes: Staged, duplicates: pa.Table | None) -> pa.Table:
    """The nodes whose id an earlier one has."""
    if duplicates is None:
        return _NONE
    firsts = zip(duplicates.column(FIRST_PART).to_pylist(), duplicates.column(FIRST_LINE).to_pylist(), strict=True)
    reasons = [
        f"the node {id_} is there already, in {nodes.place(part, line)}"
        for id_, (part, line) in zip(duplicates.column(ID).to_pylist(), firsts, strict=True)
    ]
    return duplicates.select([PART, LINE, "text"]).append_column("reason", pa.array(reasons, pa.string())).cast(_SCHEMA)


def dangling_edges(found: Iterable[Dangling]) -> pa.Table:
    """The edges without a node at one end."""
    return pa.concat_tables([_NONE, *(_rows(each.rows, each.number) for each in found)])


_SCHEMA: Final = pa.schema([(PART, pa.int32()), (LINE, pa.int64()), ("text", pa.string()), ("reason", pa.string())])
_NONE: Final = _SCHEMA.empty_table()


def _rows(rows: pa.Table, part: int) -> pa.Table:
    number = pa.repeat(pa.scalar(part, pa.int32()), rows.num_rows)
    return rows.select([LINE, "text", "reason"]).add_column(0, PART, number).cast(_SCHEMA)


def _placed(staged: Staged, rows: pa.Table) -> pa.Table:
    """Rows with the file and the line that they came from."""
    parts = rows.column(PART).to_numpy()
    before = np.array(staged.first_lines, np.int64)
    files = np.array([part.origin.file for part in staged.parts], np.int32)
    return pa.table(
        {
            "table": pa.repeat(pa.scalar(staged.table.value), rows.num_rows),
            "_file": files[parts],
            "file": pa.array(staged.files, pa.string()).take(pa.array(files[parts])),
            "line": before[parts] + rows.column(LINE).to_numpy(),
            "text": rows.column("text"),
            "reason": rows.column("reason"),
        }
    )


def _first_fault(staged: Staged, rows: pa.Table, count: int, what: str) -> LoadError:
    first = rows.sort_by([(PART, "ascending"), (LINE, "ascending")]).slice(0, 1).to_pylist()[0]
    text = first["text"] if len(first["text"]) <= _SHOWN else f"{first['text'][:_SHOWN]}..."
    together = f"{count} {what}" if count > 1 else "it is the only one"
    return LoadError(
        f"{staged.place(first[PART], first[LINE])}: {first['reason']}\n  {text}",
        hint=f'{together}; on_bad_lines="quarantine" sets such rows aside and loads the rest',
    )
