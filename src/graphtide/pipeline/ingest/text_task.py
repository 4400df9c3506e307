"""What a task does with lines of text: it cuts them into fields, and stages the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.pipeline.ingest.dialect import Dialect
from graphtide.pipeline.ingest.files import path_of_uri
from graphtide.pipeline.ingest.lines import cut_lines, data_lines
from graphtide.pipeline.ingest.part import Origin, Part
from graphtide.pipeline.ingest.runs import Piece, pieces
from graphtide.pipeline.ingest.stage import Rows, Staging, stage

__all__ = ["TextFile", "TextTask"]


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file of text."""

    number: int
    fields: tuple[str | None, ...]  # the names under which they are staged
    header: tuple[int, str] | None  # the line that names the columns, and the byte that it starts at


@dataclass(frozen=True, slots=True)
class TextTask:
    """Stages the lines of the files of one table; `files` are found by their paths."""

    staging: Staging
    dialect: Dialect
    files: Mapping[str, TextFile]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Part]:
        """Write the parts of the lines, whose column is the last one of the batches."""
        for piece in pieces(batches):
            yield self._stage(piece, self.files[path_of_uri(piece.file)])

    def _stage(self, piece: Piece, file: TextFile) -> Part:
        lines = piece.table.column(0).combine_chunks()
        numbers = data_lines(lines, self.dialect)
        if file.header is not None and piece.number == 0:
            numbers = _without_header(lines, numbers, piece.start, *file.header)
        cut = cut_lines(lines, numbers, self.dialect, len(file.fields))
        columns = {name: column for name, column in zip(file.fields, cut.columns, strict=True) if name is not None}

        def texts(wanted: list[int]) -> list[str]:
            return [
                line.decode(errors="replace") for line in lines.take(pa.array(wanted)).cast(pa.binary()).to_pylist()
            ]

        rows = Rows(columns, cut.lines, len(lines), cut.bad, texts)
        return stage(self.staging, Origin(file.number, piece.start, piece.number), rows)


def _without_header(
    lines: pa.Array, numbers: NDArray[np.int64], start: int, header_start: int, header: str
) -> NDArray[np.int64]:
    """The lines of a block without the one that names the columns, if it is in this block.

    Hadoop gives a line to the block before if it starts on the boundary. Comments in front can push the
    header out of the first block.
    """
    if not len(numbers) or start > max(0, header_start - 1):
        return numbers
    first = lines.slice(int(numbers[0]), 1).cast(pa.binary())[0].as_py()
    return numbers[1:] if header_start == 0 or first == header.encode() else numbers
