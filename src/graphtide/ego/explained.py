"""What an overlay with its decisions looks like: in words, and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphtide.ego.decisions import Decisions
from graphtide.ego.origin import Origin
from graphtide.ego.overlay import Overlay

__all__ = ["Explained", "draw"]

_INCHES_TO_A_NODE: Final = 0.16
_MOST_NODES: Final = 200
_PUSH_COLOUR: Final = "#4878a8"
_PULL_COLOUR: Final = "#d9a441"


@dataclass(frozen=True, slots=True)
class Explained:
    """Counts of an overlay's nodes and edges, and what its decisions are expected to cost."""

    writers: int
    readers: int
    partials: int
    pairs: int  # of a writer and a reader
    edges: int
    negative: int  # edges that subtract
    levels: int
    sharing_index: float
    pushed: int  # readers and partial aggregates that are kept
    pulled: int  # and that are computed when they are read
    cost: float  # expected, in the unit of the costs, for the rates that are known
    cost_of_all_push: float
    cost_of_all_pull: float
    flips: int  # decisions that were changed by what was observed
    rebuilds: int
    origin: Origin | None  # how the overlay was made, the last time that it was

    @classmethod
    def of(
        cls, overlay: Overlay, decisions: Decisions, *, pairs: int, flips: int, rebuilds: int, origin: Origin | None
    ) -> Explained:
        """What there is to say."""
        pushed = int(decisions.push[overlay.writers :].sum())
        return cls(
            overlay.writers,
            overlay.readers,
            overlay.partials,
            pairs,
            overlay.edges,
            int((overlay.signs < 0).sum()),
            int(overlay.levels().max(initial=0)),
            1 - overlay.edges / pairs if pairs else 0.0,
            pushed,
            overlay.nodes - overlay.writers - pushed,
            decisions.cost,
            decisions.cost_of_all_push,
            decisions.cost_of_all_pull,
            flips,
            rebuilds,
            origin,
        )

    def __str__(self) -> str:
        nodes = f"{self.writers:,} writers, {self.readers:,} readers, {self.partials:,} partial aggregates"
        edges = f"{self.edges:,} edges for {self.pairs:,} pairs, {self.negative:,} of them negative"
        shares = f"{self._share(self.cost_of_all_push)} of all push, {self._share(self.cost_of_all_pull)} of all pull"
        since = f"{self.flips:,} flipped since, {self.rebuilds} rebuilds"
        lines = [
            f"overlay: {nodes}, {self.levels} levels",
            f"sharing: {edges}: sharing index {self.sharing_index:.1%}",
            f"decisions: {self.pushed:,} push, {self.pulled:,} pull; {since}",
            f"expected cost: {shares} on this overlay",
            *([] if self.origin is None else [str(self.origin)]),
        ]
        return "\n".join(lines)

    def _share(self, other: float) -> str:
        return f"{self.cost / other:.0%}" if other else "100%"


def draw(overlay: Overlay, decisions: Decisions, labels: list[str], file: str | Path | None = None) -> Any:
    """A figure of the overlay: nodes by level, kept ones blue; of a large overlay, how many there are at each level."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - plotting is rare, and importing it is not quick

    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.add_subplot()
    levels = overlay.levels()
    if overlay.nodes <= _MOST_NODES:
        tallest = _draw_nodes(axes, overlay, decisions, levels, labels)
        figure.set_figheight(max(6.0, _INCHES_TO_A_NODE * tallest))
    else:
        _draw_counts(axes, decisions, levels)
    for name, colour in (("push", _PUSH_COLOUR), ("pull", _PULL_COLOUR)):
        axes.scatter([], [], color=colour, label=name)
    # Beside the axes: there is no corner that a large overlay leaves free.
    figure.legend(loc="outside right upper")
    if file is not None:
        figure.savefig(file)
    return figure


def _draw_nodes(axes: Any, overlay: Overlay, decisions: Decisions, levels: Any, labels: list[str]) -> int:
    """Draw all nodes that are on a way from a writer to a reader; how many the tallest column has."""
    is_drawn = np.diff(overlay.starts) > 0
    is_drawn[overlay.inputs] = True
    # Readers stand on the right, where answers are.
    last = max(int(levels.max(initial=0)), 1)
    readers = slice(overlay.writers, overlay.writers + overlay.readers)
    x = levels.astype(np.float64)
    x[readers] = last
    y = np.zeros(overlay.nodes)
    tallest = 0
    for column in np.unique(x):
        here = np.flatnonzero((x == column) & is_drawn)
        y[here] = -(np.arange(len(here)) + 0.5) / len(here)
        tallest = max(tallest, len(here))
    for node in range(overlay.nodes):
        for k in range(overlay.starts[node], overlay.starts[node + 1]):
            ends = [overlay.inputs[k], node]
            axes.plot(x[ends], y[ends], color="#999999", linewidth=0.8, linestyle="-" if overlay.signs[k] > 0 else ":")
    colours = np.where(decisions.push, _PUSH_COLOUR, _PULL_COLOUR)[is_drawn]
    axes.scatter(x[is_drawn], y[is_drawn], c=colours.tolist(), s=60, zorder=2)
    for node, label in enumerate(labels):
        if is_drawn[node]:
            # Away from the edges, which are between the columns.
            away, side = (-7, "right") if node < overlay.writers else (7, "left")
            place = {"xytext": (away, 0), "textcoords": "offset points", "ha": side, "va": "center", "fontsize": 8}
            axes.annotate(label, (x[node], y[node]), **place)
    axes.set_title("writers, partial aggregates of them, readers", fontsize=10)
    axes.set_axis_off()
    return tallest


def _draw_counts(axes: Any, decisions: Decisions, levels: Any) -> None:
    places = np.arange(levels.max() + 1)
    push = np.bincount(levels[decisions.push], minlength=len(places))
    pull = np.bincount(levels[~decisions.push], minlength=len(places))
    axes.bar(places, push, color=_PUSH_COLOUR)
    axes.bar(places, pull, bottom=push, color=_PULL_COLOUR)
    axes.set_ylim(0, 1.05 * (push + pull).max())
    axes.set_xlabel("level")
    axes.set_ylabel("nodes")
    axes.set_xticks(places)
