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
    """Who breaks without some packages, and how many packages need each other in circles."""
    with TemporaryDirectory() as home, gt.Session(home) as session:
        load(session)
        print(session.view_collection("releases"))
        print("packages that break, strictly, in", ", ".join(RELEASES))
        for package in PACKAGES:
            run = session.run("broken_without", on="releases", package=package)
            broken = [run.table(f"{release}_strictly").num_rows for release in RELEASES]
            # The package that is gone is in the answer, unless the release does not have it.
            print(f"without {package}:", ", ".join(f"{max(0, number - 1):,}" for number in broken))
        circles = session.run("scc", on="releases").to_pandas()
        sizes = circles.groupby(["view", "value"]).size()
        for view, sizes_there in sizes[sizes > 1].groupby("view"):
            if view.endswith("_strictly"):
                print(f"{view}: {len(sizes_there)} circles, the largest of {sizes_there.max()} packages")


if __name__ == "__main__":
    main()
