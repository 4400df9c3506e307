"""Numbers of vertices: given once, and in a table for as many as there are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import graphtide as gt
from graphtide.frontier.numbers import Numbers


@given(parts=st.lists(st.lists(st.integers(0, 4000), max_size=3000), max_size=3))
def test_numbers_are_in_the_order_in_which_codes_came(parts: list[list[int]]) -> None:
    numbers = Numbers()
    known: dict[int, int] = {}
    for codes in parts:
        expected = [known.setdefault(code, len(known)) for code in codes]
        assert numbers.of_new(np.array(codes, np.int64)).tolist() == expected
        assert numbers.names[: len(numbers)].tolist() == list(known)
    found, missing = numbers.of(np.array([*known, -1], np.int64))
    assert found.tolist() == [*known.values(), -1]
    assert missing == len(known)


@given(parts=st.lists(st.tuples(st.lists(st.integers(0, 3000), max_size=2000), st.integers(1, 5)), max_size=6))
def test_numbers_of_codes_that_go_are_given_again(parts: list[tuple[list[int], int]]) -> None:
    numbers = Numbers()
    known: dict[int, int] = {}
    most = 0
    for codes, every in parts:
        found = numbers.of_new(np.array(codes, np.int64)).tolist()
        assert all(known.setdefault(code, number) == number for code, number in zip(codes, found, strict=True))
        most = max(most, len(known))
        assert len(set(known.values())) == len(known)
        assert len(numbers) == most
        there = numbers.are_there()
        assert np.flatnonzero(there).tolist() == sorted(known.values())
        gone = list(known)[::every]
        numbers.remove(np.array([known.pop(code) for code in gone], np.int64))
        assert numbers.of(np.array([*known, *gone], np.int64))[0].tolist() == [*known.values(), *[-1] * len(gone)]


def test_codes_that_come_often_take_no_more_room() -> None:
    once, often = Numbers(), Numbers()
    codes = np.arange(5000)
    once.of_new(codes)
    often.of_new(np.tile(codes, 100))
    assert often.nbytes == once.nbytes


def test_a_large_batch_between_few_vertices_takes_no_more_room_for_ids() -> None:
    def ids(live: gt.LiveGraph) -> int:
        return next(row["bytes"] for row in live.memory().to_pylist() if row["kind"] == "ids")

    live = gt.LiveGraph()
    live.apply(insert=[(n, n + 1) for n in range(2000)])
    before = ids(live)
    live.apply(insert=np.stack([np.arange(50_000) % 2000, np.arange(50_000) % 1999], 1))
    assert ids(live) == before


def test_a_batch_brings_more_vertices_than_there_is_room_for() -> None:
    live = gt.LiveGraph()
    live.apply(insert=[(n, n + 1) for n in range(100)])
    near = live.sssp(0)
    live.apply(insert=[(n, n + 1) for n in range(100, 9000)])
    assert live.vertices == 9001
    assert near.result().column("vertex").to_pylist() == list(range(9001))
    assert near.result().column("distance").to_pylist() == list(range(9001))
