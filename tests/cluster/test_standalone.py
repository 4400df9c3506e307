"""The same code on a cluster as embedded: loading, views, runs and saving, also when a worker is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from tests.cluster.conftest import Cluster

import graphtide as gt
from graphtide import datasets
from graphtide.errors import LoadError
from graphtide.views.stored import StoredCollection

MAILS = "email-Eu-core-temporal"
WEEK = 7 * 24 * 3600
WEEKS = (1, 2, 4, 8)


@pytest.fixture(scope="module")
def mails(session: gt.Session, tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """A graph that was read from two files of text."""
    table = datasets.load(MAILS)
    folder = tmp_path_factory.mktemp("files")
    half = table.num_rows // 2
    pcsv.write_csv(table.slice(0, half), folder / "part-1.csv")
    pcsv.write_csv(table.slice(half), folder / "part-2.csv")
    loaded = session.load_graph("Mails", edges=[folder / "part-1.csv", folder / "part-2.csv"])
    assert loaded.edge_count == table.num_rows
    return table


def components(edges: pa.Table) -> list[tuple[int, int]]:
    graph = nx.Graph(zip(edges["src"].to_pylist(), edges["dst"].to_pylist(), strict=True))
    return sorted((v, min(part)) for part in nx.connected_components(graph) for v in part)


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(zip(*table.to_pydict().values(), strict=True))


def test_the_workers_do_the_work(session: gt.Session, cluster: Cluster) -> None:
    assert session.spark.sparkContext.master == cluster.master
    assert session.spark.sparkContext.defaultParallelism == 2


def test_growing_weeks(session: gt.Session, mails: pa.Table, tmp_path: Path) -> None:
    time = mails["time"].to_numpy()
    views = {f"weeks_{n}": f"time < {n * WEEK}" for n in WEEKS}
    collection = session.create_view_collection("weeks", on="Mails", views=views)
    run = session.run("wcc", on="weeks", save_to=tmp_path / "labels")
    for n in WEEKS:
        assert rows(run.table(f"weeks_{n}")) == components(mails.filter(pa.array(time < n * WEEK)))
    assert collection.sizes == tuple(int((time < n * WEEK).sum()) for n in WEEKS)
    saved = pq.read_table(tmp_path / "labels", partitioning="hive").to_pydict()
    assert sorted(zip(saved["view"], saved["vertex"], saved["value"], strict=True)) == rows(run.table())


def test_statements_on_a_product(session: gt.Session, mails: pa.Table) -> None:
    (made,) = session.execute(
        f"""create view collection grid on Mails
            dimension until for w in 1..2 [week_$w: time < $w * {WEEK}]
            dimension sender [even_0: src.id % 2 = 0], [odd_1: src.id % 2 = 1]"""
    )
    assert isinstance(made, StoredCollection)
    run = session.run("degrees", on="grid")
    source, time = mails["src"].to_numpy(), mails["time"].to_numpy()
    for name in run.names:
        _, week, _, parity = name.split("_")
        chosen = mails.filter(pa.array((time < int(week) * WEEK) & (source % 2 == int(parity))))
        out = dict.fromkeys([*chosen["src"].to_pylist(), *chosen["dst"].to_pylist()], 0)
        for each in chosen["src"].to_pylist():
            out[each] += 1
        assert [(row["vertex"], row["out_degree"]) for row in run.table(name).to_pylist()] == sorted(out.items())


def test_a_bad_line_is_named(session: gt.Session, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("src,dst,time:int\n1,2,3\n1,2,soon\n")
    with pytest.raises(LoadError, match=r"(?s)bad\.csv.*3.*soon"):
        session.load_graph("Bad", edges=tmp_path / "bad.csv")
    assert "Bad" not in session.graphs()


def test_a_worker_is_lost(session: gt.Session, cluster: Cluster, mails: pa.Table) -> None:
    cluster.kill("worker-1")
    collection = session.create_view_collection("late", on="Mails", views={"late": f"time >= {50 * WEEK}"})
    late = mails.filter(pa.array(mails["time"].to_numpy() >= 50 * WEEK))
    assert collection.sizes == (late.num_rows,)
    assert rows(session.run("wcc", on="late").table("late")) == components(late)
    cluster.add_worker("worker-3")
