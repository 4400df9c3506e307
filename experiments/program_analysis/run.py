"""Program analyses in Datalog over real releases: kept by differences, and equal to another engine after each release.

K-Pg's evaluation, section 6.4, on facts that can be had: redis comes with the package, the kernel's call graph and
Doop's facts are passed by path. Run it from the root of a checkout:

    python experiments/program_analysis/run.py --analyses nulls points_to kernel doop --kernel FOLDER --doop FOLDER
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import matplotlib as mpl
import numpy as np
from analyses import LEFT_OUT, Analysis, Change, doop, kernel, nulls, points_to

import graphtide as gt
from graphtide.dataflow.warm import warm

mpl.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
COLUMNS: tuple[str, ...] = (
    "analysis",
    "step",
    "facts_in",
    "facts_out",
    "result",
    "changed",
    "seconds",
    "peer",
    "peer_seconds",
)


def main() -> None:
    """Follow the releases, remove facts, record, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--analyses", nargs="+", default=["nulls", "points_to"], choices=["nulls", "points_to", "kernel", "doop"]
    )
    parser.add_argument("--left-out", default=LEFT_OUT, help="files of redis that points_to leaves out, a pattern")
    parser.add_argument("--kernel", type=Path, help="the folder of the kernel's call graph")
    parser.add_argument("--doop", type=Path, help="the folder of Doop's facts")
    parser.add_argument("--removals", type=int, default=100, help="how many single facts are removed and put back")
    parser.add_argument("--releases", type=int, default=16, help="how many releases are followed")
    parser.add_argument("--output", type=Path, default=HERE)
    chosen = parser.parse_args()
    makers = {
        "nulls": nulls,
        "points_to": lambda: points_to(chosen.left_out),
        "kernel": lambda: kernel(chosen.kernel),
        "doop": lambda: doop(chosen.doop),
    }
    warm()
    recorded: list[dict[str, Any]] = []
    for name in chosen.analyses:
        recorded += follow(makers[name](), chosen.releases, chosen.removals)
    recorded = kept(chosen.output / "results.csv", chosen.analyses) + recorded
    write(chosen.output / "results.csv", recorded)
    draw(chosen.output / "plot.png", recorded)


def follow(analysis: Analysis, releases: int, removals: int) -> list[dict[str, Any]]:
    """One analysis over its releases, then without single facts; a row for each release and each removal."""
    rules = gt.Datalog(analysis.text)
    for relation, rows in analysis.fixed.items():
        rules.insert(relation, rows)
    recorded: list[dict[str, Any]] = []
    now: dict[str, np.ndarray] = {}
    for number, change in enumerate(analysis.history()):
        if number == releases:
            break
        seconds = apply(rules, change)
        clock = process_time()
        expected = analysis.from_scratch(change.now)
        recorded.append(row(analysis, change, rules, seconds) | {"peer_seconds": process_time() - clock})
        recorded[-1]["result"] = sum(len(rules[name]) for name in analysis.outputs)
        compare(rules, analysis, expected, change.release)
        now = change.now
        print(f"{analysis.name} {change.release}: {told(recorded[-1])}", flush=True)
    recorded += remove(rules, analysis, now, removals)
    return recorded


def apply(rules: gt.Datalog, change: Change) -> float:
    """Let a release take effect; the seconds of the commit."""
    for stage, facts in ((rules.insert, change.coming), (rules.delete, change.going)):
        for relation, rows in facts.items():
            if relation in rules.relations and len(rows):
                stage(relation, rows if rows.dtype != object else list(map(tuple, rows.tolist())))
    clock = process_time()
    rules.commit()
    return process_time() - clock


def remove(rules: gt.Datalog, analysis: Analysis, now: dict[str, np.ndarray], count: int) -> list[dict[str, Any]]:
    """Remove facts one by one, each put back; the last removal is compared with the other engine."""
    rows = now[analysis.removed]
    picked = np.random.default_rng(2018).choice(len(rows), min(count, len(rows)), replace=False).tolist()
    recorded: list[dict[str, Any]] = []
    for number, place in enumerate(picked):
        fact = {analysis.removed: rows[place : place + 1]}
        change = Change(f"removal {number + 1}", {}, fact, now)
        seconds = apply(rules, change)
        recorded.append(row(analysis, change, rules, seconds) | {"peer": "", "peer_seconds": ""})
        if number == len(picked) - 1:
            left = {**now, analysis.removed: np.delete(rows, place, axis=0)}
            compare(rules, analysis, analysis.from_scratch(left), change.release)
        apply(rules, Change("back", fact, {}, now))
    if recorded:
        times = [each["seconds"] for each in recorded]
        print(
            f"{analysis.name}: {len(times)} removals from {analysis.removed}: median {1000 * median(times):.2f} ms, "
            f"most {1000 * max(times):.1f} ms; {max(each['changed'] for each in recorded):,} facts changed at most"
        )
    return recorded


def row(analysis: Analysis, change: Change, rules: gt.Datalog, seconds: float) -> dict[str, Any]:
    """What a step came to."""
    own = set(rules.relations)
    return {
        "analysis": analysis.name,
        "step": change.release,
        "facts_in": sum(len(rows) for name, rows in change.coming.items() if name in own),
        "facts_out": sum(len(rows) for name, rows in change.going.items() if name in own),
        "result": "",
        "changed": sum(rules[name].changes().num_rows for name in analysis.outputs),
        "seconds": seconds,
        "peer": analysis.peer,
    }


def compare(rules: gt.Datalog, analysis: Analysis, expected: dict[str, np.ndarray], step: str) -> None:
    """Stop unless all compared relations equal the other engine's."""
    for name in analysis.outputs:
        ours = rules[name].table()
        if expected[name].dtype == object:
            equal = sorted(zip(*ours.to_pydict().values(), strict=True)) == sorted(map(tuple, expected[name].tolist()))
        else:
            lines = np.column_stack([column.to_numpy() for column in ours.itercolumns()])
            equal = np.array_equal(in_order(lines), in_order(expected[name]))
        if not equal:
            raise SystemExit(f"{analysis.name}, {step}: {name} differs from that of {analysis.peer}")


def in_order(rows: np.ndarray) -> np.ndarray:
    """Lines sorted by all columns; pairs of numbers that are not negative and below 2^31 as one number each."""
    if rows.shape[1] == 2 and rows.min(initial=0) >= 0 and rows.max(initial=0) < 1 << 31:
        return np.sort(rows[:, 0] << 32 | rows[:, 1])
    return rows[np.lexsort(rows.T[::-1])]


def told(step: dict[str, Any]) -> str:
    """A step in words."""
    return (
        f"+{step['facts_in']:,} -{step['facts_out']:,} facts, {step['changed']:,} of {step['result']:,} changed in "
        f"{step['seconds']:.3f} s; {step['peer']} from scratch {step['peer_seconds']:.2f} s, equal"
    )


def kept(file: Path, made_anew: list[str]) -> list[dict[str, Any]]:
    """What was recorded of other analyses, so that each can be run by itself."""
    if not file.is_file():
        return []
    with file.open() as stream:
        rows = [each for each in csv.DictReader(stream) if each["analysis"] not in made_anew]
    return [{**each, "changed": int(each["changed"]), "seconds": float(each["seconds"])} for each in rows]


def write(file: Path, recorded: list[dict[str, Any]]) -> None:
    """Record the steps."""
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for each in recorded:
            rounded = {name: round(value, 5) if isinstance(value, float) else value for name, value in each.items()}
            writer.writerow(rounded)


def draw(file: Path, recorded: list[dict[str, Any]]) -> None:
    """Plot the seconds by the facts that changed."""
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for name, color in (("nulls", "#1f6f8b"), ("points_to", "#c2571a"), ("kernel", "#5b2a86"), ("doop", "#3a9d5d")):
        own = [each for each in recorded if each["analysis"] == name]
        steps = {
            "first": own[:1],
            "release": [each for each in own[1:] if not each["step"].startswith("removal")],
            "one fact": [each for each in own[1:] if each["step"].startswith("removal")],
        }
        for (kind, rows), marker in zip(steps.items(), ("s", "o", "."), strict=True):
            if rows:
                x = [max(each["changed"], 0.5) for each in rows]
                label = f"{name}, {kind}"
                axes.scatter(x, [each["seconds"] for each in rows], marker=marker, color=color, label=label, alpha=0.7)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("facts that changed in the result")
    axes.set_ylabel("seconds")
    axes.legend(frameon=False)
    axes.grid(color="#e3e7eb", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    main()
