"""One Spark session for all tests that need one: starting it takes seconds."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from graphtide.pipeline.spark import open_spark


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = open_spark("local[2]", {"spark.sql.shuffle.partitions": "2"})
    yield session
    session.stop()
