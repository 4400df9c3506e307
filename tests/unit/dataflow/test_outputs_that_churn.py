"""An output whose rows go again after a while keeps little more than what is there."""

from __future__ import annotations

import numpy as np

import graphtide as gt

ROWS = 50  # that come with each commit
LIFE = 100  # commits after which they go again
COMMITS = 6_000
# Of what is there at once, which comes and goes in every run of the index: as many runs as are worth the merges.
MOST_TIMES = 16


def test_rows_that_came_and_went_do_not_pile_up() -> None:
    flow = gt.Dataflow()
    numbers = flow.input("numbers", x=int)
    out = numbers.output("out")
    batches = np.random.default_rng(1).integers(0, 2**40, (COMMITS, ROWS, 1))
    most = 0
    for commit, batch in enumerate(batches):
        numbers.insert(batch)
        if commit >= LIFE:
            numbers.remove(batches[commit - LIFE])
        flow.commit()
        if commit % 50 == 0:
            most = max(most, *(each.differences for each in flow.memory()))
    assert len(out) == LIFE * ROWS
    assert most <= 2 * LIFE * ROWS * MOST_TIMES
