"""Functions that refuse the data they are called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphtide import Collection, Dataflow, col
from graphtide.errors import DataError


def refuse(*_: Any) -> Any:
    raise DataError("there is a 7", hint="leave it out")


@pytest.mark.parametrize(
    "make",
    [
        lambda edges: edges.flat_map(refuse, q=int),
        lambda edges: edges.map_batches(refuse, q=int),
        lambda edges: edges.group_by("src").reduce(refuse, q=int),
        lambda edges: edges.inspect(refuse),
    ],
)
def test_a_function_that_refuses_its_data_is_not_at_fault(make: Callable[[Collection], Collection]) -> None:
    flow = Dataflow()
    edges = flow.input("edges", src=int, dst=int)
    everything = edges.output("all")
    make(edges.where(col("src") == 7)).output("made")
    edges.insert([(7, 0)])
    with pytest.raises(DataError) as caught:
        flow.commit()
    assert str(caught.value) == "there is a 7\nhint: leave it out"
    assert caught.value.__cause__ is None
    flow.rollback()
    edges.insert([(8, 0)])
    flow.commit()
    assert everything.rows() == [(8, 0)]
