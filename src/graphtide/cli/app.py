"""The commands, and what a person sees when one of them fails."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from graphtide import __version__
from graphtide.cli.failure import failure_message, is_debugging
from graphtide.errors import UsageError

__all__ = ["app", "main"]


class Guarded(TyperGroup):
    """Commands whose failures become a message on the error stream and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the arguments name."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort, typer.TyperException, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(130) from None
        except Exception as error:
            if is_debugging():
                raise
            typer.echo(failure_message(error), err=True)
            raise typer.Exit(2 if isinstance(error, UsageError) else 1) from None


app = typer.Typer(
    cls=Guarded,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line of this process."""
    app()


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"graphtide {__version__}")
        raise typer.Exit


@app.callback()
def graphtide(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Computations over data that changes, paid for by their differences."""
    del version


@app.command()
def doctor(*, json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False) -> None:
    """Show what Graphtide runs on here: versions, memory, kernel cache."""
    from graphtide.cli import doctor

    facts = doctor.examine()
    (doctor.print_json if json else doctor.print_table)(facts)


@app.command()
def warm() -> None:
    """Compile all kernels now, so that the first answer is a quick one."""
    import time

    from graphtide.cli.warm import compile_all

    typer.echo("compiling kernels: a few minutes the first time, a moment when they are there")
    clock = time.perf_counter()
    for name, seconds in compile_all():
        typer.echo(f"{name}: {seconds:.1f} s")
    typer.echo(f"ready after {time.perf_counter() - clock:.1f} s")


@app.command()
def demo(
    what: Annotated[str, typer.Argument(help='"views" of a graph through Spark, or a "stream" of messages.')] = "views",
    *,
    data: Annotated[str, typer.Option("--data", help="The stream of messages to slide over.")] = "CollegeMsg",
    days: Annotated[float, typer.Option("--days", help="The width of the window.")] = 28,
    minutes: Annotated[float, typer.Option("--minutes", help="How far the window slides each time.")] = 60,
    windows: Annotated[int, typer.Option("--windows", help="How often it slides.")] = 240,
    skip: Annotated[float, typer.Option("--skip", help="Days of the stream to pass over first.")] = 14,
    output: Annotated[Path, typer.Option("--output", help="The folder for the picture.")] = Path("demo-output"),
) -> None:
    """See it work on real messages, next to recomputing; the options are those of the stream."""
    from graphtide.cli import demo, demo_views

    if what not in {"views", "stream"}:
        raise UsageError(f'there is no demonstration of "{what}"', hint='say "views" or "stream"')
    if what == "views":
        if not demo_views.demonstrate_views(output):
            raise typer.Exit(1)
        return
    if not demo.demonstrate(data, output, days=days, minutes=minutes, windows=windows, skip=skip):
        raise typer.Exit(1)


_Home = Annotated[Path, typer.Option("--home", help="The folder that graphs, views and results live in.")]
_Master = Annotated[str, typer.Option("--master", help="The Spark master; local[*] runs it in this process.")]


@app.command()
def run(
    file: Annotated[str, typer.Argument(help="A file of GVDL statements; - reads the standard input.")],
    *,
    home: _Home = Path("graphtide-home"),
    master: _Master = "local[*]",
    json: Annotated[bool, typer.Option("--json", help="Print a line of JSON per statement, for machines.")] = False,
) -> None:
    """Carry out a file of GVDL statements."""
    from graphtide.cli.run import run_file

    run_file(file, home, master, json=json)


@app.command()
def shell(*, home: _Home = Path("graphtide-home"), master: _Master = "local[*]") -> None:
    """Type GVDL statements and see what they give; from a pipe or a file they are taken as by run -."""
    if not sys.stdin.isatty():
        from graphtide.cli.run import run_file

        run_file("-", home, master, json=False)
        return
    from graphtide.cli.shell import shell

    shell(home, master)


@app.command()
def bench(
    name: Annotated[str | None, typer.Argument(help="The bench to run; without it, they are listed.")] = None,
    *,
    json: Annotated[Path | None, typer.Option("--json", help="Write the results to this file.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Shrink the data to a smoke test.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 also if a bar is missed.")] = False,
) -> None:
    """Measure Graphtide side by side with its alternatives."""
    from graphtide.cli import bench

    if name is None:
        bench.print_subjects()
        return
    report = bench.measure(name, json, quick=quick)
    failures = report.failures if strict else report.disagreements
    if failures:
        typer.echo(bench.complaint(failures), err=True)
        raise typer.Exit(1)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def experiment(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="The experiment to run; without it, they are listed.")] = None,
) -> None:
    """Reproduce a paper's table or figure on real data, in a checkout; what follows the name is the experiment's."""
    from graphtide.cli.experiment import print_experiments, run_experiment

    if name is None:
        print_experiments()
    elif code := run_experiment(name, context.args):
        raise typer.Exit(code)
