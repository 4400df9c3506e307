"""What breaks without a package, in three releases of Debian: one analytic of our own, six views.

`python -m examples.debian_releases` compares releases, with and without recommendations.
docs/examples/debian-releases.md shows what it prints.
"""

from __future__ import annotations

from tempfile import TemporaryDirectory

import graphtide as gt
from graphtide import datasets

RELEASES = ("bullseye", "bookworm", "trixie")
PACKAGES = ("perl", "python3", "libssl3t64", "systemd")


@gt.analytic
def broken_without(graph: gt.AnalyticGraph, package: gt.Vertex) -> gt.Collection:
    """How many steps of needing lead from each package to one that is gone."""
    gone = graph.nodes.where(gt.col("node") == package).select(vertex="node", value=gt.lit(0))

    def step(broken: gt.Collection) -> gt.Collection:
        needing = broken.join(graph.edges, on={"vertex": "dst"}).select(vertex="src", value=gt.col("value") + 1)
        return needing.concat(gone).group_by("vertex").min("value")

    return gone.iterate(step)


def load(session: gt.Session) -> None:
    """All packages of the three releases as one graph, each dependency with the releases that have it."""
    session.load_graph("Debian", edges=datasets.load("debian"), nodes=datasets.nodes("debian"))
    session.create_view_collection(
        "releases",
        on="Debian",
        dimensions={
            "release": {release: release for release in RELEASES},
            "needs": {"strictly": "kind in ('depends', 'pre-depends')", "with_recommends": "true"},
        },
    )


def main() -> None:
    """Who breaks without some packages, and how many packages depend on each other in circles."""
    with TemporaryDirectory() as home, gt.Session(home) as session:
        load(session)
        print(session.view_collection("releases"))
        for package in PACKAGES:
            run = session.run("broken_without", on="releases", package=package)
            print(f"\nwithout {package} ({run.report.seconds:.2f} s, order {run.report.order}):")
            for view in run.names:
                broken = run.table(view).num_rows
                print(f"  {view}: {max(0, broken - 1):,} packages break")
        circles = session.run("scc", on="releases").to_pandas()
        sizes = circles.groupby(["view", "value"]).size()
        print("\npackages that need each other in circles:")
        print(sizes[sizes > 1].groupby("view").agg(["count", "sum", "max"]))


if __name__ == "__main__":
    main()
