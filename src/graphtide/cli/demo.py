"""The demonstration in the terminal: progress, a line per day, the comparison, a picture."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Timer
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from graphtide.demo import Maintained, Recomputed, Slide, Step, Stream, draw, recompute, slides
from graphtide.errors import UsageError

__all__ = ["demonstrate", "make_folder", "patience"]

# Kernels load from the cache in a few seconds; whatever takes longer compiles them.
_LOADING_SECONDS = 6.0
_MOST_LINES = 12
_DAY = 86_400

# The labels of nodes by component and by strong component.
Answer: TypeAlias = tuple[dict[int, int], dict[int, int]]


def demonstrate(data: str, folder: Path, *, days: float, minutes: float, windows: int, skip: float) -> bool:
    """Slide, recompute, compare and draw; whether all answers were equal."""
    if days <= 0 or minutes <= 0 or windows < 1 or skip < 0:
        raise UsageError("a window needs a width, a step and at least one slide", hint="use numbers above 0")
    make_folder(folder)  # said now rather than after all the work
    console = Console()
    stream = Stream.load(data)
    begin = int(stream.times[0]) + round(skip * _DAY)
    positions = list(slides(stream, begin, round(days * _DAY), round(minutes * 60), windows))
    title = f"{data}: a window of {_span(days * 1440)} that slides by {_span(minutes)}"
    console.print(f"[bold]{title}[/bold]")
    console.print("maintained: connected and strongly connected components (two loops in a loop)\n")

    with patience(console):
        Maintained(stream).slide(positions[0])
    with _progress(console) as progress:
        steps, answers = _maintain(stream, progress.track(positions, description="maintaining"))
        theirs = list(progress.track(recompute(stream, positions), len(positions), description="recomputing"))
    wrong = [
        slide
        for slide, answer, other in zip(positions, answers, theirs, strict=True)
        if answer != (other.components, other.strong)
    ]
    console.print(_table(steps, theirs))
    file = folder / "sliding-components.png"
    draw(file, steps, theirs, title)
    _conclude(console, steps, theirs, wrong)
    console.print(f"\npicture: [bold]{file}[/bold]")
    console.print(_next_steps(data), soft_wrap=True)
    return not wrong


def _maintain(stream: Stream, positions: Iterable[Slide]) -> tuple[list[Step], list[Answer]]:
    maintained = Maintained(stream)
    steps: list[Step] = []
    answers: list[Answer] = []
    for slide in positions:
        steps.append(maintained.slide(slide))
        answers.append((maintained.components.copy(), maintained.strong.copy()))
    return steps, answers


@contextmanager
def patience(console: Console) -> Generator[None]:
    """Say why it takes so long, if it does."""
    with console.status("loading kernels") as status:

        def explain() -> None:
            status.update("compiling kernels, once: about a minute")
            if not console.is_terminal:
                console.print("compiling kernels, once: about a minute")

        timer = Timer(_LOADING_SECONDS, explain)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _progress(console: Console) -> Progress:
    columns = (TextColumn("{task.description:>12}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)


def _table(steps: list[Step], theirs: list[Recomputed]) -> Table:
    """A line per stretch of slides: what the window is at its end, and what the stretch cost."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("window to", no_wrap=True)
    for name in ("slides", "edges", "in", "out", "parts", "largest strong", "differ- ences", "ours ms", "NetworkX ms"):
        table.add_column(name.replace(" ", "\n"), justify="right", no_wrap=True)
    length = max(1, -(-(len(steps) - 1) // _MOST_LINES))
    bounds = [0, 1, *range(1 + length, len(steps), length), len(steps)] if len(steps) > 1 else [0, 1]
    for low, high in pairwise(bounds):
        part, last = steps[low:high], steps[high - 1]
        table.add_row(
            last.slide.until,
            "first" if low == 0 else str(len(part)),
            f"{last.messages:,}",
            f"{sum(step.arriving for step in part):,}",
            f"{sum(step.leaving for step in part):,}",
            f"{last.components:,}",
            f"{last.largest:,}",
            f"{sum(step.differences for step in part):,}",
            f"{1000 * sum(step.seconds for step in part):,.0f}",
            f"{1000 * sum(each.seconds for each in theirs[low:high]):,.0f}",
        )
    return table


def _conclude(console: Console, steps: list[Step], theirs: list[Recomputed], wrong: list[Slide]) -> None:
    ours, others = sum(step.seconds for step in steps), sum(each.seconds for each in theirs)
    count = len(steps)
    console.print(f"\n{count} windows maintained in {ours:.1f} s, {1000 * ours / count:.1f} ms each")
    console.print(f"{count} windows recomputed by NetworkX in {others:.1f} s, {1000 * others / count:.1f} ms each")
    if wrong:
        console.print(f"[bold red]answers differ in {len(wrong)} windows[/bold red], first in that to {wrong[0].until}")
        return
    ratio = f"{others / ours:.1f} times less" if others >= ours else f"{ours / others:.1f} times more"
    console.print(f"[bold green]all answers are equal[/bold green], and maintaining took [bold]{ratio}[/bold] time")


def make_folder(folder: Path) -> None:
    """A folder for the pictures, or a word on why it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "choose another with --output"
        raise UsageError(f'cannot write into "{folder}": {error.strerror}', hint) from error


def _next_steps(data: str) -> str:
    other = "--data higgs-mentions --days 1 --skip 3 --minutes 0.5 --windows 30" if data == "CollegeMsg" else ""
    return "\n".join(
        (
            "try next:",
            "  graphtide demo stream --minutes 10    smaller steps: less to do for each",
            "  graphtide demo stream --minutes 1440  day by day: the more changes, the less it saves",
            f"  graphtide demo stream {other}".rstrip(),
            "  python -m examples.topics             what components talk about (in a checkout)",
        )
    )


def _span(minutes: float) -> str:
    for unit, size in (("day", 1440), ("hour", 60), ("minute", 1)):
        if minutes >= size:
            count = minutes / size
            return f"1 {unit}" if count == 1 else f"{count:g} {unit}s"
    return f"{60 * minutes:g} seconds"
