"""Counts by key: all epochs one by one, as one batch, and for a reader who comes late."""

from __future__ import annotations

from collections import Counter

import pytest

import graphtide as gt

EPOCHS = [
    [((2, 0), 1), ((1, 0), 1), ((1, 3), 1), ((4, 2), 1)],
    [((2, 0), -1), ((1, 0), -1)],
    [((2, 0), 1), ((1, 3), -1)],
    [((1, 0), 1), ((1, 3), 1), ((2, 0), -1), ((4, 2), -1)],
    [((2, 0), 1), ((4, 2), 1), ((1, 3), -1)],
    [((1, 3), 1), ((4, 2), -1)],
]
CHANGES = [
    {(1, 2): 1, (2, 1): 1, (4, 1): 1},
    {(1, 1): 1, (1, 2): -1, (2, 1): -1},
    {(1, 1): -1, (2, 1): 1},
    {(1, 2): 1, (2, 1): -1, (4, 1): -1},
    {(1, 1): 1, (1, 2): -1, (2, 1): 1, (4, 1): 1},
    {(1, 1): -1, (1, 2): 1, (4, 1): -1},
]


class Counted:
    def __init__(self) -> None:
        self.flow = gt.Dataflow()
        self.pairs = self.flow.input("pairs", key=int, value=int)
        self.changes = [Counter[tuple[int, int]]() for _ in EPOCHS]

    def count(self) -> None:
        self.counts = self.pairs.group_by("key").count().output("counts")

    def seal(self, epoch: int) -> None:
        rows, diffs = zip(*EPOCHS[epoch], strict=True)
        self.pairs.change(rows, diffs)
        self.flow.seal()

    def run(self) -> None:
        self.flow.run()
        for row in self.counts.changes().to_pylist():
            self.changes[row["epoch"]][row["key"], row["count"]] += row["diff"]


def test_epoch_by_epoch() -> None:
    counted = Counted()
    counted.count()
    for epoch in range(6):
        counted.seal(epoch)
        counted.run()
    assert counted.changes == CHANGES


def test_as_one_batch() -> None:
    counted = Counted()
    counted.count()
    for epoch in range(6):
        counted.seal(epoch)
    counted.run()
    assert counted.changes == CHANGES


@pytest.mark.parametrize("late", range(1, 6))
def test_for_a_reader_who_comes_late(late: int) -> None:
    counted = Counted()
    arrangement = counted.pairs.arrange("key")
    for epoch in range(late):
        counted.seal(epoch)
        counted.flow.run()
    counted.count()
    for epoch in range(late, 6):
        counted.seal(epoch)
        counted.run()
    arrangement.close()
    assert counted.changes[late + 1 :] == CHANGES[late + 1 :]
    so_far = sum_of(CHANGES[: late + 1])
    assert counted.changes[late] == so_far, "its first run brings what the collection has come to"


def sum_of(changes: list[dict[tuple[int, int], int]]) -> Counter[tuple[int, int]]:
    total = Counter[tuple[int, int]]()
    for each in changes:
        total.update(each)
    return Counter({row: n for row, n in total.items() if n})
