"""A picture of the demonstration: what the window held, and what each position cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from graphtide.demo.maintained import Step
from graphtide.demo.recomputed import Recomputed

__all__ = ["draw"]

_OURS, _THEIRS, _WINDOW = "#1f6f8b", "#c2571a", "#7a8794"


def draw(file: Path, steps: Sequence[Step], recomputed: Sequence[Recomputed], title: str) -> None:
    """Draw maintained steps next to their recomputation; the first step, which fills the window, is left out."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to import

    mpl.use("Agg", force=False)
    from matplotlib import pyplot as plt  # noqa: PLC0415
    from matplotlib.dates import ConciseDateFormatter  # noqa: PLC0415

    steps, recomputed = steps[1:], recomputed[1:]
    ends = [datetime.fromtimestamp(step.slide.end, UTC) for step in steps]
    ours = [1000 * step.seconds for step in steps]
    theirs = [1000 * each.seconds for each in recomputed]
    figure, (above, below) = plt.subplots(2, sharex=True, figsize=(9, 6), layout="constrained")

    above.plot(ends, [len(each.components) for each in recomputed], color=_WINDOW, label="people in the window")
    above.plot(ends, [step.largest for step in steps], color=_OURS, label="in the largest strong component")
    above.set_ylim(bottom=0)
    above.set_ylabel("people")

    below.plot(ends, theirs, color=_THEIRS, label=f"recomputed by NetworkX, median {median(theirs):.1f} ms")
    below.plot(
        ends, ours, ".", markersize=3, color=_OURS, label=f"maintained by Graphtide, median {median(ours):.1f} ms"
    )
    below.set_yscale("log")
    below.set_ylabel("milliseconds per window")
    below.set_xlabel("end of the window")
    below.xaxis.set_major_formatter(ConciseDateFormatter(below.xaxis.get_major_locator()))
    figure.suptitle(title, x=0.01, ha="left", fontsize=12)
    for axes in (above, below):
        axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.2, markerscale=3)
        axes.grid(color="#e3e7eb", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=130)
    plt.close(figure)
