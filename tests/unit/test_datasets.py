"""Data sets that come with the package: they are what their README says."""

from __future__ import annotations

import re
from importlib.resources import files

import pyarrow.compute as pc
import pytest

from graphtide import datasets
from graphtide.errors import UsageError

# Rows and vertices as their publishers give them.
SIZES = {
    "CollegeMsg": (59_835, 1_899),
    "air-routes": (50_637, 3_476),
    "email-Eu-core-temporal": (332_334, 986),
    "higgs-mentions": (171_237, 116_408),
    "icews14": (90_730, 7_128),
}


def test_names_are_those_of_the_files_and_of_the_readme() -> None:
    assert datasets.names() == sorted(SIZES)
    readme = (files("graphtide") / "data/README.md").read_text()
    assert sorted(re.findall(r"^## (\S+)", readme, re.MULTILINE)) == sorted(SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_a_data_set_is_whole(name: str) -> None:
    table = datasets.load(name)
    vertices = set(table["src"].unique().to_pylist()) | set(table["dst"].unique().to_pylist())
    assert (table.num_rows, len(vertices)) == SIZES[name]
    assert all(column.null_count == 0 for column in table.columns)


@pytest.mark.parametrize(
    ("name", "column"),
    [("CollegeMsg", "time"), ("email-Eu-core-temporal", "time"), ("higgs-mentions", "time"), ("icews14", "day")],
)
def test_a_temporal_one_is_sorted(name: str, column: str) -> None:
    times = datasets.load(name)[column].combine_chunks()
    assert pc.all(pc.less_equal(times[:-1], times[1:])).as_py()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("collegemsg", 'did you mean "CollegeMsg"'),
        ("air-rutes", 'did you mean "air-routes"'),
        ("x", "there are CollegeMsg"),
    ],
)
def test_an_unknown_name_is_refused_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f'there is no data set "{name}"\nhint: {hint}'):
        datasets.load(name)
