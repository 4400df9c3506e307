"""An analytic at work on one view after the other, or on a grid of views, in a dataflow of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphtide.analytics import AnalyticGraph, BoundAnalytic
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.dimension import Dimension
from graphtide.dataflow.explain import Explanation
from graphtide.dataflow.expressions.functions import col
from graphtide.dataflow.flow import Dataflow
from graphtide.dataflow.kernels import layout
from graphtide.dataflow.plan import Node
from graphtide.errors import DataError, SchemaError
from graphtide.rows import Dictionary, Schema
from graphtide.rows.codes import NULL

__all__ = ["EdgeColumns", "Execution", "Ints", "Outcome"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EdgeColumns:
    """The edges of a graph by their number: ends, and the properties that an analytic asks for, by its parameters.

    An edge that lacks such a property is not part of the analytic's graph.
    """

    src: Ints
    dst: Ints
    properties: Mapping[str, pa.Array] = field(default_factory=dict[str, pa.Array])
    isolated: Ints | None = None  # vertices to count in beside the ends of edges, on a whole graph
    titles: Mapping[str, str] = field(default_factory=dict[str, str])  # what users call the properties

    def __len__(self) -> int:
        return len(self.src)

    def usable(self) -> NDArray[np.bool_] | None:
        """Which edges have all properties; None if all have."""
        lacking = [values for values in self.properties.values() if values.null_count]
        return np.all([values.is_valid().to_numpy(zero_copy_only=False) for values in lacking], 0) if lacking else None

    def rows(self, edges: Ints) -> pa.Table:
        """The rows of some usable edges, as an analytic sees them."""
        columns: dict[str, Any] = {"src": pa.array(self.src[edges]), "dst": pa.array(self.dst[edges])}
        for name, values in self.properties.items():
            columns[name] = values.take(pa.array(edges))
            if values.type == pa.int64() and (columns[name].to_numpy() == NULL).any():
                raise SchemaError(
                    f'edge property "{self.titles.get(name, name)}" is {NULL} somewhere, '
                    "the one int that no computation can hold",
                    hint="use views without such edges, or load it as a float or a string",
                )
        return pa.table(columns)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an epoch changed: lines of codes of the result, then of its coordinates, innermost first."""

    codes: Ints
    diffs: Ints
    work: int  # differences that all operators put out


class Execution:
    """A dataflow that an analytic was built in; each epoch is a view.

    With `dimensions`, an epoch is a row of cells: edges are fed with further coordinates, and the
    result comes with them as its last columns.
    """

    def __init__(
        self,
        analytic: BoundAnalytic,
        edges: EdgeColumns,
        number_of: Callable[[Any], int | None],
        dictionary: Dictionary,
        dimensions: Sequence[str] = (),
        *,
        grows: bool = False,
    ) -> None:
        """An execution that has seen nothing; one that `grows` is only ever fed more edges."""
        self._analytic = analytic
        self._edges = edges
        self._usable = edges.usable()
        self._axes = [f"_{name}" for name in dimensions]
        self._flow = Dataflow(analytic.name, dictionary=dictionary)
        types = {name: values.type for name, values in edges.properties.items()}
        axes = dict.fromkeys(self._axes, int)
        new_input = self._flow.growing_input if grows else self._flow.input
        self._input = new_input("edges", src=int, dst=int, **types, **axes)
        self._isolated = new_input("isolated", node=int) if edges.isolated is not None else None

        def build(inside: Collection) -> Collection:
            ends = inside.select(node="src").concat(inside.select(node="dst"))
            nodes = ends if self._isolated is None else ends.concat(self._isolated)
            return analytic.build(AnalyticGraph(nodes.distinct(), inside), number_of)

        result = self._within(self._input, list(self._axes), build)
        self.schema = Schema({name: kind for name, kind in result.schema.items() if name not in self._axes})
        self._output = result.output("result")
        self._emitted = 0

    def feed(self, edges: Ints, diffs: Ints | int, *coordinates: Ints) -> Self:
        """Change the graph in the current epoch."""
        diffs = np.full(len(edges), diffs) if isinstance(diffs, int) else diffs
        if self._usable is not None:
            kept = self._usable[edges]
            edges, diffs, coordinates = edges[kept], diffs[kept], tuple(values[kept] for values in coordinates)
        table = self._edges.rows(edges)
        for name, values in zip(self._axes, coordinates, strict=True):
            table = table.append_column(name, pa.array(values))
        self._input.change(table, diffs)
        if self._isolated is not None and self._flow.epoch == self._flow.sealed == 0:
            self._isolated.insert(pa.table({"node": pa.array(self._edges.isolated)}))
        return self

    def seal(self) -> None:
        """End the epoch."""
        self._flow.seal()

    def run_epoch(self) -> Outcome:
        """End the epoch and run it."""
        self.seal()
        return self.run_epochs(1)[0]

    def run_epochs(self, count: int) -> list[Outcome]:
        """Run all epochs that were ended since the last run, of which there are `count`; what each changed."""
        first = self._flow.epoch
        try:
            self._flow.run()
        except DataError as error:
            raise DataError(f"{self._analytic}: {error.message}", hint=error.hint) from error
        emitted = int(self._flow.machine.operators[:, layout.EMITTED].sum())
        work, self._emitted = emitted - self._emitted, emitted
        lines = self._output.change_codes()
        width = lines.shape[0] - 2
        outcomes: list[Outcome] = []
        for epoch in range(first, first + count):
            rows = slice(None) if count == 1 else np.flatnonzero(lines[width] == epoch)
            # The work of epochs that ran together cannot be told apart; the last of them carries it.
            done = work if epoch == first + count - 1 else 0
            outcomes.append(Outcome(lines[:width, rows], lines[width + 1, rows], done))
        return outcomes

    def explain(self) -> Explanation:
        """The plan of the dataflow."""
        return self._flow.explain()

    @property
    def nodes(self) -> Sequence[Node]:
        """The plan as the dataflow has it."""
        return self._flow.builder.nodes

    def _within(self, collection: Collection, axes: list[str], build: Callable[[Collection], Collection]) -> Collection:
        """What `build` makes of a collection inside all dimensions, the outermost first."""
        if not axes:
            return build(collection)
        name, *inner = axes
        with Dimension(self._flow, name) as dimension:
            entered = dimension.enter(collection, at=col(name)).drop(name)
            return dimension.leave(self._within(entered, inner, build), at=name)
