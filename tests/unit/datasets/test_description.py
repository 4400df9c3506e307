"""Descriptions: one for each graph, complete, and the same as the README."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from graphtide import datasets
from graphtide.datasets.shipped import data_folder

README = (data_folder() / "README.md").read_text()
POINTS = {"Size", "Edges", "Nodes", "Answers", "Changes", "Made", "Source", "Terms", "Cite"}


def test_the_readme_has_a_section_for_each_graph_in_order() -> None:
    assert re.findall(r"^## (\S+)", README, re.MULTILINE) == datasets.names()


def test_the_readme_makes_no_point_that_descriptions_do_not_know() -> None:
    assert set(re.findall(r"^- (\w+):", README, re.MULTILINE)) == POINTS


@pytest.mark.parametrize("name", datasets.names())
def test_a_description_is_complete_and_its_text_says_all_of_it(name: str) -> None:
    described = datasets.describe(name)
    shown = " ".join(str(described).split())
    section = re.split(r"^## ", README, flags=re.MULTILINE)[datasets.names().index(name) + 1]
    written = " ".join(section.replace("`", "").split())
    for field in fields(described):
        value = getattr(described, field.name)
        if value is None:
            assert field.name in {"nodes", "answers", "changes"}
        else:
            text = f"{value:,}" if isinstance(value, int) else value
            assert text
            assert text in shown
            assert text in written
    assert max(map(len, str(described).splitlines())) <= 100


def test_the_overview_has_a_line_for_each_graph_with_its_sizes() -> None:
    _, *lines = datasets.overview().splitlines()
    for line, name in zip(lines, datasets.names(), strict=True):
        described = datasets.describe(name)
        assert line.split()[:3] == [name, f"{described.node_count:,}", f"{described.edge_count:,}"]
        assert line.endswith(described.about)
