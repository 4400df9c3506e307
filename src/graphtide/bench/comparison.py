"""One row of a benchmark: our figure, the alternative's, and whether their answers agree."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Comparison"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Ours and a peer's figure for one task, measured in one process run.

    Less is better, unless the unit is a rate such as "rows/s". A row without a bar is only reported;
    one without a peer, or with a figure of zero to divide by, has no ratio.

    >>> Comparison("join", ours=0.5, peer=2.0, peer_name="polars", unit="s", agree=True, bar=3.0).ratio
    4.0
    """

    name: str
    ours: float
    peer: float | None
    peer_name: str
    unit: str
    agree: bool
    bar: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times ours is better."""
        if self.peer is None:
            return None
        more, less = (self.ours, self.peer) if self.unit.endswith("/s") else (self.peer, self.ours)
        return more / less if less else None

    @property
    def holds(self) -> bool:
        """Whether the bar, if there is one, is reached."""
        return self.bar is None or (self.ratio is not None and self.ratio >= self.bar)

    def as_row(self) -> dict[str, object]:
        """The fields as they are written to JSON."""
        return {
            "name": self.name,
            "ours": self.ours,
            "peer": self.peer,
            "peer_name": self.peer_name,
            "unit": self.unit,
            "ratio": self.ratio,
            "bar": self.bar,
            "holds": self.holds,
            "agree": self.agree,
            "note": self.note,
        }
