"""Results in folders: a part per view, and all of it or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pcsv
import pytest
from pyspark.sql import SparkSession

import graphtide as gt
from graphtide.errors import CatalogueError, PlatformError, UsageError
from graphtide.pipeline import running, saving

ODD = "a b=%/:[x]{y}\"#'*?^\\é"


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[gt.Session]:
    del spark  # it runs; sessions take the one that does
    with gt.Session(tmp_path_factory.mktemp("home")) as made:
        made.load_graph("G", pa.table({"src": [1, 2, 3], "dst": [2, 3, 4], "year": [2018, 2019, 2020]}))
        views = {"none": "year < 0", "some": "year < 2020", "later": "year > 3000", ODD: "year > 2018"}
        made.create_view_collection("C", on="G", views=views)
        made.create_view_collection("empty", on="G", views={"none": "year < 0", ODD: "year > 3000"})
        yield made


def parts(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if each.is_dir())


@pytest.mark.parametrize("suffix", ["", ".csv"])
def test_every_view_has_a_part(session: gt.Session, tmp_path: Path, suffix: str) -> None:
    run = session.run("wcc", "C", save_to=tmp_path / f"out{suffix}")
    session.run("wcc", "empty", save_to=tmp_path / f"empty{suffix}")
    # Spark names the folder of the view with the odd name in one of them, and we do in the other.
    assert len(parts(tmp_path / f"out{suffix}")) == 4
    assert set(parts(tmp_path / f"empty{suffix}")) < set(parts(tmp_path / f"out{suffix}"))
    for on in ("out", "empty"):
        reader: Any = session.spark.read.option("header", "true").option("inferSchema", "true")
        frame = (reader.csv if suffix else reader.parquet)(str(tmp_path / f"{on}{suffix}"))
        assert sorted(frame.columns) == ["value", "vertex", "view"]
        found = sorted((row["view"], row["vertex"], row["value"]) for row in frame.collect())
        wanted = sorted(zip(*run.table().to_pydict().values(), strict=True))
        assert found == (wanted if on == "out" else [])
    if suffix:
        (empty,) = (tmp_path / "out.csv" / "view=none").glob("*.csv")
        assert pcsv.read_csv(empty).column_names == ["vertex", "value"]


def refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("nothing is computed")


def test_what_cannot_be_written_is_told_before_the_run(
    session: gt.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_run", refuse)
    (tmp_path / "file").write_text("no folder")
    for there in (tmp_path, tmp_path / "file"):
        with pytest.raises(UsageError, match="is there already"):
            session.run("wcc", "G", save_to=there)
    for odd in ("a\0b", "x" * 300, "x" * 300 + "/y", "x" * 250):
        with pytest.raises(UsageError, match="cannot write to") as caught:
            session.run("wcc", "G", save_to=tmp_path / odd)
        assert caught.value.hint == "save to another folder"
    for nowhere in (tmp_path / "file" / "below", Path("/proc/x/y")):
        with pytest.raises(UsageError, match=f'cannot write to "{nowhere}"'):
            session.run("wcc", "G", save_to=nowhere)


@pytest.mark.parametrize("error", [KeyboardInterrupt, CatalogueError])
def test_a_run_that_fails_leaves_no_folder(
    session: gt.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error("in the midst of it")

    with monkeypatch.context() as patched:
        patched.setattr(running, "write_run", fail)
        with pytest.raises(error):
            session.run("wcc", "G", save_to=tmp_path / "deep" / "er")
    assert list(tmp_path.iterdir()) == []
    session.run("wcc", "G", save_to=tmp_path / "deep" / "er")
    assert parts(tmp_path / "deep") == ["er"]


def test_what_spark_cannot_write_is_told_in_a_line(
    session: gt.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing:
        def createDataFrame(self, _table: pa.Table) -> Any:  # noqa: N802 - Spark's name
            return session.spark.sql("select raise_error('no room') as vertex, 'a' as view")

    original = saving.write_run
    monkeypatch.setattr(running, "write_run", lambda _spark, *rest, **more: original(Failing(), *rest, **more))
    with pytest.raises(PlatformError, match="Spark cannot write the results of wcc: ") as caught:
        session.run("wcc", "G", save_to=tmp_path / "out")
    assert "\n" not in caught.value.message
    assert list(tmp_path.iterdir()) == []
