"""Addresses of Spark masters are looked at before Spark is started."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from graphtide.errors import PlatformError, UsageError
from graphtide.pipeline.master import check_master


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def closed() -> int:
    """A port at which nobody listens any more."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.mark.parametrize(
    "master", ["local", "local[2]", "local[*]", "local[*,3]", "local-cluster[1,1,1024]", "yarn", "k8s://https://h:443"]
)
def test_addresses_that_nobody_can_be_asked_at_are_taken(master: str) -> None:
    check_master(master)


@pytest.mark.parametrize("master", ["", "nonsense", "local[x]", "local[0]", "spark://", "spark://host", "spark://h:p"])
def test_what_is_no_address_is_refused(master: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a Spark master") as caught:
        check_master(master)
    assert caught.value.hint is not None


def test_a_master_that_answers_is_taken(listening: int, closed: int) -> None:
    check_master(f"spark://127.0.0.1:{listening}")
    check_master(f"spark://127.0.0.1:{closed},127.0.0.1:{listening}")


def test_a_master_that_does_not_answer_is_named_with_the_reason(closed: int) -> None:
    with pytest.raises(PlatformError) as caught:
        check_master(f"spark://127.0.0.1:{closed},127.0.0.1:99999")
    assert f"no Spark master answers at 127.0.0.1:{closed}: connection refused; 127.0.0.1:99999: " in str(caught.value)
