"""How the overlay of a plan came about: what a method found to share, and whether that is what runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["By", "Origin", "Taken"]

Taken = Literal["shared", "flat", "direct"]
By = Literal["decisions", "costs", "trial"]

_SENTENCES: Final[dict[tuple[Taken, By], str]] = {
    ("shared", "decisions"): "that overlay, since decisions were given",
    ("shared", "costs"): "that overlay: one that shares nothing is expected to cost more",
    ("direct", "costs"): "a plan without sharing: it is expected to cost less",
    ("flat", "trial"): "those of its partial aggregates that are worth keeping: that was fastest in a trial",
    ("direct", "trial"): "a plan without sharing: in a trial none that shares was clearly faster",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """The overlay that a method made, and which one was taken by what.

    `taken` is "shared" if it is the method's, "flat" if some of its partial aggregates stand on writers alone, "direct"
    if nothing is shared. That was found `by` "decisions" that were given, expected "costs", or a "trial".
    """

    method: str
    sharing_indices: tuple[float, ...]  # of the method's overlay, after each iteration
    taken: Taken
    by: By

    def __str__(self) -> str:
        """What it is in words, in a line or more.

        >>> print(Origin("AdaptiveMining(chunk=100, seed=0)", (0.25, 0.5), "direct", "trial"))
        made by: AdaptiveMining(chunk=100, seed=0): sharing index 25.0%, 50.0% after each iteration
        taken: a plan without sharing: in a trial none that shares was clearly faster
        hint: decide=MinCut() takes that overlay
        """
        if not self.sharing_indices:
            return f"made by: {self.method}: nothing was found to share"
        indices = ", ".join(f"{index:.1%}" for index in self.sharing_indices)
        lines = [
            f"made by: {self.method}: sharing index {indices} after each iteration",
            f"taken: {_SENTENCES[self.taken, self.by]}",
        ]
        if self.taken != "shared":
            lines.append("hint: decide=MinCut() takes that overlay")
        return "\n".join(lines)
