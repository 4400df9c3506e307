"""Widest and most reliable routes through a network that changes: two programs, whose messages are functions.

`python -m examples.best_routes` asks for the best routes through a small network of links, and cuts one of them.
"""

from __future__ import annotations

import graphtide as gt

LINKS = [
    ("oslo", "bergen", 10, 0.99),
    ("oslo", "stockholm", 40, 0.95),
    ("stockholm", "helsinki", 30, 0.97),
    ("oslo", "helsinki", 5, 0.999),
    ("helsinki", "tallinn", 20, 0.9),
    ("stockholm", "tallinn", 8, 0.98),
]


def narrowest(capacity: int, link: int) -> int:
    """A route has the capacity of its narrowest link."""
    return min(capacity, link)


def works(chance: float, link: float) -> float:
    """A route works if all its links do."""
    return chance * link


def widest(start: str) -> gt.Program:
    """The greatest capacity of a route to every place."""
    return gt.ife(narrowest, aggregate="max", initial={start: 1_000}, weight="capacity", state="capacity")


def most_reliable(start: str) -> gt.Program:
    """The greatest chance that a route to every place works."""
    return gt.ife(works, aggregate="max", initial={start: 1.0}, weight="works", state="works")


def main() -> None:
    """Print the best routes to Tallinn, before and after a link is cut."""
    live = gt.LiveGraph(ids=str, capacity=int, works=float)
    live.apply(insert=LINKS)
    queries = [live.ife(widest("oslo"), name="widest"), live.ife(most_reliable("oslo"), name="most reliable")]
    show(queries)
    changes = live.apply(delete=[("oslo", "stockholm")])
    print("without oslo - stockholm, changed:", {name: table.num_rows for name, table in changes.items()})
    show(queries)


def show(queries: list[gt.Query]) -> None:
    """A line for each query: its route to Tallinn and what it is worth."""
    for query in queries:
        rows = query.result().to_pylist()
        (best,) = (row[query.column] for row in rows if row["vertex"] == "tallinn")
        print(f"{query.name}: {' - '.join(query.path('tallinn'))}, {best:.4g}")


if __name__ == "__main__":
    main()
