"""The demonstration of views in the terminal: load, define, run, compare with recomputing, draw."""

from __future__ import annotations

import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console

from graphtide import datasets
from graphtide.cli.answers import print_answer
from graphtide.cli.demo import make_folder, patience
from graphtide.dataflow.warm import warm
from graphtide.demo import recompute_views
from graphtide.pipeline.progress import ShownProgress
from graphtide.pipeline.session import Session
from graphtide.pipeline.statements import execute
from graphtide.views.run import Run

__all__ = ["demonstrate_views"]

_GRAPH = "CollegeMsg"
_CREATE = """create view collection by_day on Messages
    for d in date '2004-05-15'..date '2004-07-14' step 1 day [until_$d: time < $d]"""
_RUNS = ("run wcc on by_day", "run scc on by_day")


def demonstrate_views(folder: Path) -> bool:
    """Two computations on sixty-one views of a real graph; whether all answers were NetworkX's."""
    make_folder(folder)
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    console = Console()
    console.print(
        f"[bold]{_GRAPH}[/bold]: private messages of students, one view per day, each with all messages before it\n"
    )
    # Kernels are compiled by a process of their own, while Spark starts and loads.
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        Session(home, progress=ShownProgress(console)) as session,
    ):
        compiled = pool.submit(warm)
        console.print("[dim]starting Spark, loading the graph[/dim]")
        print_answer(console, session.load_graph("Messages", edges=datasets.load(_GRAPH)))
        _show_statement(console, _CREATE)
        for answer in execute(session, _CREATE):
            print_answer(console, answer)
        with patience(console):
            compiled.result()
            warm()  # loads them here
        runs: list[Run] = []
        for statement in _RUNS:
            _show_statement(console, statement)
            for answer in execute(session, statement):
                print_answer(console, answer)
                if isinstance(answer, Run):
                    runs.append(answer)
        console.print("\n[dim]the same by NetworkX, every view anew[/dim]")
        agreed = [_compared(console, session, run) for run in runs]
        files = [folder / "wcc.png", folder / "scc.png", folder / "views.png"]
        runs[0].plot(files[0])
        runs[1].plot(files[1])
        session.view_collection("by_day").plot(files[2])
    console.print("pictures: " + ", ".join(f"[bold]{file}[/bold]" for file in files), soft_wrap=True)
    console.print(_NEXT.format(home=home), soft_wrap=True, highlight=False)
    return all(agreed)


def _show_statement(console: Console, statement: str) -> None:
    # Not as markup: views stand in brackets.
    console.print(f"\n{statement};", style="dim", markup=False, highlight=False)


def _compared(console: Console, session: Session, run: Run) -> bool:
    """Recompute every view, and say how both sides fared."""
    theirs = recompute_views(session.graph("Messages"), run)
    ours = run.report.seconds
    verdict = (
        "[bold green]all answers are equal[/bold green]" if theirs.is_equal else "[bold red]answers differ[/bold red]"
    )
    console.print(
        f"{run.analytic}: {len(run.names)} views in {ours:.2f} s, by NetworkX in {theirs.seconds:.2f} s, "
        f"[bold]{theirs.seconds / ours:.1f} times[/bold] as long; {verdict}",
        soft_wrap=True,
    )
    return theirs.is_equal


_NEXT = """try next:
  graphtide shell --home {home}    type statements on this graph, such as: run pagerank on by_day;
  graphtide demo stream             the same engine under a stream: components of a sliding window
  python -m examples.topics         any computation as a dataflow (in a checkout)"""
