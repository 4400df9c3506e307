"""Facts of programs that come with the package: as many as their README says, and releases that follow from changes."""

from __future__ import annotations

import re

import numpy as np
import pytest

from graphtide import datasets
from graphtide.datasets.shipped import data_folder
from graphtide.errors import UsageError

README = (data_folder() / "facts" / "README.md").read_text()


def rows_of(facts: dict[str, np.ndarray]) -> dict[str, set[tuple[int, ...]]]:
    return {name: set(map(tuple, rows.tolist())) for name, rows in facts.items()}


def test_the_readme_has_a_section_for_each_program_with_its_terms() -> None:
    sections = re.split(r"^## ", README, flags=re.MULTILINE)[1:]
    assert [section.split("\n", 1)[0] for section in sections] == ["redis"]
    for section in sections:
        assert set(re.findall(r"^- (\w+):", section, re.MULTILINE)) >= {"Size", "Made", "Source", "Terms", "Cite"}


def test_redis_is_of_the_size_that_the_readme_says() -> None:
    redis = datasets.facts("redis")
    first, last = (redis.at(release) for release in ("7.0.0", "7.0.15"))
    assert len(redis.releases) == 16
    for count in (sum(map(len, first.values())), sum(map(len, last.values())), redis.names.num_rows):
        assert f"{count:,}" in README
    for relation, rows in first.items():
        (columns,) = re.findall(rf"`{relation}\(([^)]*)\)`", README)
        assert rows.shape[1] == len(columns.split(","))
        assert len(np.unique(rows, axis=0)) == len(rows)


def test_every_release_follows_from_the_one_before_it_by_its_changes() -> None:
    redis = datasets.facts("redis")
    now = {name: set[tuple[int, ...]]() for name in redis.at("7.0.0")}
    for release in redis.releases:
        coming, going = map(rows_of, redis.changes(release))
        for name, rows in now.items():
            assert going.get(name, set()) <= rows
            assert not coming.get(name, set()) & rows
            now[name] = (rows - going.get(name, set())) | coming.get(name, set())
        assert now == rows_of(redis.at(release))


def test_what_is_not_there_is_refused_with_what_is() -> None:
    with pytest.raises(UsageError, match='no facts of "postgres"'):
        datasets.facts("postgres")
    with pytest.raises(UsageError, match=r'there is no release "7\.0\.16"'):
        datasets.facts("redis").at("7.0.16")
