"""The outcome of an analytic on a view collection, in the users' own ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from graphtide.errors import CatalogueError, UsageError
from graphtide.rows import Dictionary, Kind, Schema, decode_table
from graphtide.rows.tabular import Tabular
from graphtide.views.execution import Ints
from graphtide.views.origin import Origin
from graphtide.views.report import Report
from graphtide.views.results import Lines, Results

__all__ = ["Run"]


@dataclass(frozen=True, slots=True)
class Run(Tabular):
    """What an analytic found on each view: `table()` in full, `changes()` from view to view, and a `report`."""

    analytic: str  # as it was called, such as `bfs(source = 6)`
    on: str
    names: tuple[str, ...]  # views as the user gave them
    schema: Schema
    report: Report
    _results: Results = field(repr=False)
    _dictionary: Dictionary = field(repr=False)
    _ids: pa.Array = field(repr=False)  # the user's id of each vertex
    _vertices: tuple[str, ...] = field(repr=False)  # the columns that hold vertices
    _origin: Origin = field(repr=False)

    def table(self, view: str | None = None) -> pa.Table:
        """The result on a view, or on all of them with their names in front."""
        if view is not None:
            return self._decoded(self._results.whole(self._number(view)))
        whole = dict(self._results.all_whole())
        return self._joined((v, whole[v]) for v in range(len(self.names)))

    def changes(self, view: str | None = None) -> pa.Table:
        """What a view changes against the one before it in the run, or all changes; `diff` is +1 or -1.

        On a lattice, a cell's changes are against all cells before it in every dimension.
        """
        if view is not None:
            return self._decoded(self._results.changes(self._number(view)), with_diffs=True)
        order = [step.view for step in self.report.steps]
        return self._joined(((v, self._results.changes(v)) for v in order), with_diffs=True)

    def to_spark(self, spark: Any = None) -> Any:
        """All rows as a DataFrame of Spark: of the session that made the run, unless another is passed."""
        return Tabular.to_spark(self, self._origin.spark() if spark is None else spark)

    def to_networkx(self, view: str | None = None) -> Any:
        """A view as a NetworkX MultiDiGraph, in which vertices have what was found as attributes.

        Attributes are called like the columns of the result, most often `value`; a vertex without a result, such as
        one that cannot be reached, has none. Edges and nodes bring their properties, which give way to attributes of
        the same name.

        Without a view, a run on several gives the edges and vertices of all of them together. There, attributes are
        called like the views: `graph.nodes[7]["until_2019"]` is what was found for vertex 7 on that view, a dict if the
        result has several columns.
        """
        if view is None and len(self.names) == 1:
            (view,) = self.names
        if view is not None:
            number = self._number(view)
            return self._origin.networkx(view, number, self._found(view, self._results.whole(number)))
        found: dict[Any, dict[str, Any]] = {}
        for number, lines in self._results.all_whole():
            name = self.names[number]
            for vertex, values in self._found(name, lines).items():
                alone = next(iter(values.values())) if len(values) == 1 else values
                found.setdefault(vertex, {})[name] = alone
        return self._origin.networkx(self.on, None, found)

    def plot(self, file: str | Path | None = None) -> Any:
        """Values, differences and seconds per view as a matplotlib figure, written to a file if one is named."""
        from graphtide.views.plots import plot_run  # noqa: PLC0415 - matplotlib takes a moment

        return plot_run(self, file)

    def values(self, column: str | None = None) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """The values of one column of the result, view by view as the user gave them."""
        chosen = column or self.schema.names[-1]
        whole = dict(self._results.all_whole())
        for v, name in enumerate(self.names):
            yield name, self._decoded(whole[v]).column(chosen)

    def is_measured(self, column: str) -> bool:
        """Whether the values of a column are quantities; those of the others only tell rows apart."""
        return column not in self._vertices and self.schema[column].kind in {Kind.INT, Kind.FLOAT}

    def codes(self, view: int) -> Ints:
        """The result on a view, by its number, as lines of codes: vertices by their numbers."""
        return self._results.whole(view).codes

    def __repr__(self) -> str:
        return f"<Run {self.analytic} on {self.on}: {self.report.summary()}>"

    def _repr_html_(self) -> str:
        return self.report.html()

    def _as_table(self) -> pa.Table:
        return self.table()

    def _number(self, view: str) -> int:
        if view not in self.names:
            close = get_close_matches(view, self.names, n=1)
            hint = f'did you mean "{close[0]}"?' if close else f"it has {', '.join(self.names[:10])}"
            raise CatalogueError(f'"{self.on}" has no view "{view}"', hint=hint)
        return self.names.index(view)

    def _found(self, view: str, lines: Lines) -> dict[Any, dict[str, Any]]:
        """What was found for each vertex, by the columns behind the first."""
        table = self._decoded(lines)
        vertices = table.column(0).to_pylist()
        found = dict(zip(vertices, table.drop_columns(table.column_names[0]).to_pylist(), strict=True))
        if len(found) < len(vertices):
            raise UsageError(
                f'{self.analytic} has several rows for a vertex on "{view}", and a node has one of each attribute',
                hint="take them from table()",
            )
        return found

    def _decoded(self, lines: Lines, *, with_diffs: bool = False) -> pa.Table:
        codes, diffs = lines.codes, lines.diffs
        if not with_diffs and (diffs != 1).any():
            codes = np.repeat(codes, np.maximum(diffs, 0), axis=1)
        table = decode_table(self.schema, self._dictionary, np.ascontiguousarray(codes))
        for name in self._vertices:
            place = table.column_names.index(name)
            table = table.set_column(place, name, self._ids.take(table.column(name).combine_chunks()))
        return table.append_column("diff", pa.array(diffs)) if with_diffs else table

    def _joined(self, parts: Iterator[tuple[int, Lines]], *, with_diffs: bool = False) -> pa.Table:
        tables: list[pa.Table] = []
        lengths: list[int] = []
        views: list[int] = []
        for view, lines in parts:
            tables.append(self._decoded(lines, with_diffs=with_diffs))
            lengths.append(tables[-1].num_rows)
            views.append(view)
        numbers = np.repeat(np.array(views, np.int32), lengths)
        column = pa.DictionaryArray.from_arrays(pa.array(numbers), pa.array(self.names)).dictionary_decode()
        return pa.concat_tables(tables).add_column(0, "view", column)
