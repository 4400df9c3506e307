"""What the README of the data says about each graph, as values and as text.

The README is the only place where it is written: a section for each graph, its first paragraph says what it is, and
a list of points says the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from textwrap import fill

from graphtide.datasets.shipped import check_name, data_folder, names

__all__ = ["Description", "describe", "overview"]


@dataclass(frozen=True, slots=True)
class Description:
    """What a graph is, what it holds, how it was made, from what and on which terms."""

    name: str
    about: str
    node_count: int
    edge_count: int
    edges: str
    nodes: str | None
    answers: str | None
    changes: str | None
    made: str
    source: str
    terms: str
    citation: str

    def __str__(self) -> str:
        points = {
            "size": f"{self.node_count:,} nodes, {self.edge_count:,} edges",
            "edges": self.edges,
            "nodes": self.nodes,
            "answers": self.answers,
            "changes": self.changes,
            "made": self.made,
            "source": self.source,
            "terms": self.terms,
            "cite": self.citation,
        }
        lines = [f"{self.name}: {self.about}"]
        lines += [f"  {point + ':':<9}{text}" for point, text in points.items() if text is not None]
        return "\n".join(fill(line, 100, subsequent_indent=" " * 11, break_on_hyphens=False) for line in lines)


def describe(name: str) -> Description:
    """What is known of a graph that comes with the package.

    >>> print(describe("email-Eu-core"))
    email-Eu-core: Who wrote e-mails to whom inside a European research institution, with the
               departments of all members as communities.
      size:    1,005 nodes, 25,571 edges
      edges:   src wrote to dst at least once
      nodes:   id, department (0 to 41)
      made:    all rows.
      source:  SNAP, email-Eu-core
      terms:   no licence stated; research use, with citation
      cite:    H. Yin, A. R. Benson, J. Leskovec, D. F. Gleich, "Local Higher-order Graph Clustering",
               KDD 2017
    """
    check_name(name)
    return _descriptions()[name]


def overview() -> str:
    """A table of all graphs that come with the package.

    >>> print(overview())  # doctest: +ELLIPSIS
    name                      nodes      edges  what
    CollegeMsg                1,899     59,835  Private messages among students ...
    """
    described = [describe(name) for name in names()]
    rows = [("name", "nodes", "edges", "what")]
    rows += [(each.name, f"{each.node_count:,}", f"{each.edge_count:,}", each.about) for each in described]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"{name:<{widths[0]}}  {nodes:>{widths[1]}}  {edges:>{widths[2]}}  {what}" for name, nodes, edges, what in rows
    )


@cache
def _descriptions() -> dict[str, Description]:
    readme = (data_folder() / "README.md").read_text(encoding="utf-8").replace("`", "")
    sections = re.split(r"^## (\S+)\n", readme, flags=re.MULTILINE)[1:]
    return {name: _description(name, text) for name, text in zip(sections[::2], sections[1::2], strict=True)}


def _description(name: str, text: str) -> Description:
    about, *listed = re.split(r"^- ", text, flags=re.MULTILINE)
    points = dict(" ".join(point.split()).split(": ", 1) for point in listed)
    sizes = re.fullmatch(r"([\d,]+) nodes, ([\d,]+) edges", points["Size"])
    assert sizes is not None, f"the size of {name} is said as that of the others"
    node_count, edge_count = (int(count.replace(",", "")) for count in sizes.groups())
    return Description(
        name,
        " ".join(about.split()),
        node_count,
        edge_count,
        edges=points["Edges"],
        nodes=points.get("Nodes"),
        answers=points.get("Answers"),
        changes=points.get("Changes"),
        made=points["Made"],
        source=points["Source"],
        terms=points["Terms"],
        citation=points["Cite"],
    )
