"""A Spark cluster on this machine: a master and two workers, each a process of its own, as they run on many."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyspark
import pytest

import graphtide as gt
from graphtide.pipeline.java import find_java

HOST: Final = "127.0.0.1"
STARTS_WITHIN: Final = 90.0  # seconds


class Cluster:
    """The processes, and where the master listens."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._start(
            "master", "org.apache.spark.deploy.master.Master", "--host", HOST, "--port", "0", "--webui-port", "0"
        )
        self.master = self._wait_for("master", "Starting Spark master at ").split()[0]
        for name in ("worker-1", "worker-2"):
            self.add_worker(name)

    def add_worker(self, name: str) -> None:
        """Let one more worker join, with one core."""
        place = ("--host", HOST, "--webui-port", "0", "--work-dir", str(self._folder / name))
        size = ("--cores", "1", "--memory", "1g")
        self._start(name, "org.apache.spark.deploy.worker.Worker", *place, *size, self.master)
        self._wait_for(name, "Successfully registered with master")

    def kill(self, name: str) -> None:
        """End a process and what it started, as a machine that loses power does."""
        process = self._processes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        """End all processes."""
        for name in list(self._processes):
            self.kill(name)

    def _start(self, name: str, main: str, *arguments: str) -> None:
        home = Path(pyspark.__file__).parent
        environment = {
            **os.environ,
            "JAVA_HOME": str(find_java().home()),
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": HOST,
            "PYSPARK_PYTHON": sys.executable,
        }
        with self._log_of(name).open("wb") as log:
            self._processes[name] = subprocess.Popen(
                [str(home / "bin" / "spark-class"), main, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    def _wait_for(self, name: str, word: str) -> str:
        """What follows a word in the log of a process."""
        end = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < end:
            log = self._log_of(name).read_text()
            if word in log:
                return log.split(word, 1)[1]
            if self._processes[name].poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError(f"{name} did not start: {self._log_of(name).read_text()[-2000:]}")

    def _log_of(self, name: str) -> Path:
        return self._folder / f"{name}.log"


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    yield running
    running.stop()


@pytest.fixture(scope="session")
def session(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[gt.Session]:
    """A session whose Spark work is done by the workers."""
    conf = {
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.executor.memory": "700m",
        "spark.sql.shuffle.partitions": "4",
    }
    with gt.Session(tmp_path_factory.mktemp("home"), master=cluster.master, conf=conf) as opened:
        yield opened
