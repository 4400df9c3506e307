"""What is there of some rows, looked up in the index of an output."""

import numpy as np

from graphtide import Dataflow


def test_rows_in_any_order_are_counted() -> None:
    flow = Dataflow()
    rows = flow.input("rows", a=int, b=int)
    held = rows.output("held")
    rows.insert([(3, 1), (1, 2), (1, 2), (2, 5)])
    flow.commit()
    sought = np.array([[2, 1, 9, 3], [5, 2, 9, 1]], np.int64)
    assert held.counts_of(sought).tolist() == [1, 2, 0, 1]
    assert held.counts_of(sought[:, :0]).tolist() == []
