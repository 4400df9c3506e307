"""Spark as Graphtide starts it: quiet, on loopback when embedded, with this environment's Python in its workers."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Final

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from graphtide.errors import PlatformError
from graphtide.pipeline.java import find_java
from graphtide.pipeline.master import check_master

__all__ = ["EMBEDDED", "open_spark"]

EMBEDDED: Final = "local[*]"

_ALWAYS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # A view collection has hundreds of predicates; code for all of them in one method is never compiled by
    # the virtual machine, and runs an order of magnitude slower than Spark's interpreter.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.files.ignoreCorruptFiles": "false",
    # Properties may differ in case alone.
    "spark.sql.caseSensitive": "true",
    "spark.python.daemon.module": "graphtide.pipeline.daemon",
    "spark.python.unix.domain.socket.enabled": "true",
}
_WHEN_EMBEDDED: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": str(os.cpu_count() or 2),
}


def open_spark(master: str = EMBEDDED, conf: Mapping[str, str] | None = None) -> SparkSession:
    """The Spark session of this process: the one that is running, or a new one."""
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    check_master(master)
    os.environ["JAVA_HOME"] = str(find_java().home())
    # The workers must find the packages that the driver has.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    is_embedded = master.startswith("local")
    if is_embedded:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    log = files("graphtide.pipeline") / "log4j2.properties"
    level = "off" if os.environ.get("GRAPHTIDE_DEBUG", "") in {"", "0"} else "error"
    quiet = {"spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log} -Dgraphtide.log={level}"}
    settings = {**_ALWAYS, **quiet, **(_WHEN_EMBEDDED if is_embedded else {}), **(conf or {})}
    described = SparkConf().setMaster(master).setAppName("graphtide").setAll(list(settings.items()))
    try:
        # In the main thread a new context takes Ctrl-C for itself, and breaks the call that it comes in (interrupts).
        with ThreadPoolExecutor(1) as starter:
            starter.submit(SparkContext.getOrCreate, described).result()
        return SparkSession.builder.config(conf=described).getOrCreate()
    except (Py4JError, PySparkException) as error:
        # What was left half started would be given to the next session; there is no other way to it.
        left = SparkContext._active_spark_context  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        if left is not None:
            left.stop()
        raise PlatformError(
            f'Spark does not start with the master "{master}": {_reason(error)}',
            hint="correct the address or the settings; what Spark printed may say more",
        ) from error


def _reason(error: Exception) -> str:
    """The sentence in what Java threw, without its class and the calls that led there."""
    thrown = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else str(error)
    return str(thrown).strip().partition("\n")[0]
