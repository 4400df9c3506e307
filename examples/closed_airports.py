"""Which airports are cut off if others close: a view for each failure, and for each pair of failures.

`python -m examples.closed_airports` loads the flights of the world, closes each of the busiest airports and each
pair of them, and lists what falls apart. docs/examples/closed-airports.md shows what it prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from tempfile import TemporaryDirectory

import pyarrow.compute as pc

import graphtide as gt
from graphtide import datasets

WHOLE = "all_open"


def closures(airports: Sequence[str], together: int = 1) -> dict[str, str]:
    """A view of all flights, and for each choice of airports one of those that touch none of them."""
    views = {WHOLE: "true"}
    for choice in combinations(airports, together):
        codes = ", ".join(f"'{code}'" for code in choice)
        views["_".join(("no", *choice))] = f"not src.id in ({codes}) and not dst.id in ({codes})"
    return views


def cut_off(run: gt.Run) -> dict[str, list[str]]:
    """For each view of a run of `wcc` the airports that fall out of the largest part, without those that are closed.

    A view has the ends of its edges as vertices: an airport whose last route is gone is not in it at all.
    """
    largest: dict[str, set[str]] = {}
    for view in run.names:
        table = run.table(view)
        label = Counter(table["value"].to_pylist()).most_common(1)[0][0]
        largest[view] = set(table.filter(pc.field("value") == label)["vertex"].to_pylist())
    return {
        view: sorted(largest[WHOLE] - airports - set(view.split("_")))
        for view, airports in largest.items()
        if view != WHOLE
    }


def busiest(session: gt.Session, graph: str, count: int) -> list[str]:
    """The airports with most routes."""
    degrees = session.run("degrees", on=graph).to_pandas()
    return degrees.nlargest(count, "out_degree")["vertex"].tolist()


def load(session: gt.Session) -> None:
    """Routes between airports by their codes, each with the airline that flies it."""
    airports = datasets.nodes("openflights")
    assert airports is not None, "its airports have names"
    codes: Mapping[int, str] = {
        row["id"]: row["iata"] or row["icao"] or str(row["id"])
        for row in airports.select(["id", "iata", "icao"]).to_pylist()
    }
    routes = datasets.load("openflights").to_pandas()
    routes["src"], routes["dst"] = routes["src"].map(codes), routes["dst"].map(codes)
    session.load_graph("Flights", edges=routes[["src", "dst", "airline"]])


def main() -> None:
    """Close one airport at a time, then two at a time."""
    with TemporaryDirectory() as home, gt.Session(home) as session:
        load(session)
        hubs = busiest(session, "Flights", 25)
        print("busiest:", ", ".join(hubs))
        for together in (1, 2):
            name = f"closed_{together}"
            session.create_view_collection(name, on="Flights", views=closures(hubs, together))
            run = session.run("wcc", on=name)
            print(f"{together} closed at a time: {run.report.summary()}")
            lost = cut_off(run)
            for view in sorted(lost, key=lambda each: -len(lost[each]))[:3]:
                shown = ", ".join(lost[view][:12]) + (", ..." if len(lost[view]) > 12 else "")
                print(f"{view}: {len(lost[view])} airports cut off: {shown}")


if __name__ == "__main__":
    main()
