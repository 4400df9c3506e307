"""How values become codes and back, also for many threads, and what that costs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from graphtide.errors import SchemaError
from graphtide.rows import (
    BYTES,
    STR,
    BytesInterner,
    Dictionary,
    Schema,
    StrInterner,
    Type,
    decode_column,
    encode_column,
    encode_rows,
)


def test_codes_count_first_appearances() -> None:
    words = StrInterner()
    assert words.intern(["b", "a", "b", ""]).tolist() == [0, 1, 0, 2]
    assert words.intern(["", "c"]).tolist() == [2, 3]
    assert words.values(np.array([3, 0])) == ["c", "b"]
    assert len(words) == 4
    words.check_invariants()


@pytest.mark.parametrize(
    "arrow",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.large_string())],
)
def test_every_arrow_layout_of_strings_has_the_same_codes(arrow: pa.DataType) -> None:
    dictionary = Dictionary()
    dictionary.strings.intern(["x", "b"])
    plain = pa.array(["a", "b", None, "a", ""])
    array = plain.dictionary_encode().cast(arrow) if isinstance(arrow, pa.DictionaryType) else plain.cast(arrow)
    codes = encode_column(STR.optional, dictionary, array)
    assert decode_column(STR.optional, dictionary, codes).to_pylist() == ["a", "b", None, "a", ""]
    assert codes[1] == 1
    sliced = encode_column(STR.optional, dictionary, array[1:4])
    assert sliced.tolist() == codes[1:4].tolist()


def test_only_the_used_values_of_an_arrow_dictionary_are_interned() -> None:
    dictionary = Dictionary()
    array = pa.DictionaryArray.from_arrays(pa.array([2, 2, 0]), pa.array(["a", "unused", "c"]))
    assert encode_column(STR, dictionary, array).tolist() == [1, 1, 0]
    assert len(dictionary.strings) == 2


def test_categories_of_polars_and_pandas_are_taken() -> None:
    schema, dictionary, values = Schema({"x": str | None}), Dictionary(), ["b", "a", "b", None]
    for frame in (
        pl.DataFrame({"x": values}, schema={"x": pl.Categorical}),
        pl.DataFrame({"x": values}, schema={"x": pl.Enum(["z", "a", "b"])}),
        pd.DataFrame({"x": pd.Series(values, dtype="category")}),
    ):
        (codes,) = encode_rows(schema, dictionary, frame)
        assert decode_column(STR.optional, dictionary, codes).to_pylist() == values
    assert len(dictionary.strings) == 2


def test_nulls_inside_an_arrow_dictionary_are_none() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array([None, "a"]))
    dictionary = Dictionary()
    codes = encode_column(STR.optional, dictionary, array)
    assert decode_column(STR.optional, dictionary, codes).to_pylist() == [None, "a", None]


def test_ranks_follow_code_points_and_bytes() -> None:
    words = StrInterner()
    values = ["é", "Z", "a", "", "\U0001f600", "\uffff"]
    codes = words.intern(values)
    by_rank = sorted(values, key=lambda v: words.ranks()[codes[values.index(v)]])
    assert by_rank == sorted(values) == ["", "Z", "a", "é", "\uffff", "\U0001f600"]
    raw = BytesInterner()
    assert raw.intern([b"\xff", b"\x00"]).tolist() == [0, 1]
    assert raw.ranks().tolist() == [1, 0]


def test_ranks_are_merged_when_few_values_arrive() -> None:
    words, shuffled = StrInterner(), [f"{i:04}" for i in range(1000)]
    Random(0).shuffle(shuffled)
    words.intern(shuffled[:900])
    words.ranks()
    for value in shuffled[900:]:
        words.intern([value])
        ranks = words.ranks()
    assert [shuffled[code] for code in np.argsort(ranks)] == sorted(shuffled)
    assert not ranks.flags.writeable


def test_a_half_of_a_surrogate_pair_is_refused_and_leaves_no_trace() -> None:
    dictionary = Dictionary()
    with pytest.raises(SchemaError) as caught:
        encode_column(STR, dictionary, ["a", "b", "x\ud800", "c"], "name")
    assert str(caught.value).startswith(
        "row 2, column \"name\": 'x\\ud800' holds half of a surrogate pair, which is no text\nhint: repair"
    )
    assert len(dictionary.strings) == 0
    dictionary.strings.check_invariants()
    assert dictionary.strings.intern(["c"]).tolist() == [0]


def test_bytes_that_are_not_utf8_are_no_strings() -> None:
    buffers = [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"a\xff")]
    broken = pa.Array.from_buffers(pa.string(), 2, buffers)
    for array in (broken, broken.dictionary_encode()):
        with pytest.raises(SchemaError, match=r"row 1, column \"value\": b'\\xff' is not text in UTF-8"):
            encode_column(STR, Dictionary(), array)


def test_reading_a_little_of_a_grown_dictionary_copies_no_more_than_that() -> None:
    dictionary = Dictionary()
    codes = encode_column(BYTES, dictionary, [b"%d" % i for i in range(1000)])
    empty = dictionary.bytestrings.nbytes
    assert decode_column(BYTES, dictionary, codes[:3]).to_pylist() == [b"0", b"1", b"2"]
    assert dictionary.bytestrings.nbytes == empty
    assert decode_column(BYTES, dictionary, codes)[999].as_py() == b"999"
    assert dictionary.bytestrings.nbytes > empty


def test_threads_agree_on_codes() -> None:
    dictionary = Dictionary()
    pair = Type.of(tuple[str, int])

    def work(seed: int) -> list[tuple[list[str], list[int], list[int]]]:
        random, seen = Random(seed), []
        for _ in range(50):
            words = [str(random.randrange(500)) for _ in range(20)]
            codes = encode_column(STR, dictionary, words).tolist()
            dictionary.strings.ranks()
            tuples = encode_column(pair, dictionary, [(word, 0) for word in words]).tolist()
            seen.append((words, codes, tuples))
        return seen

    with ThreadPoolExecutor(8) as pool:
        seen = [each for part in pool.map(work, range(8)) for each in part]
    dictionary.strings.check_invariants()
    assert len({(w, c) for words, codes, _ in seen for w, c in zip(words, codes, strict=True)}) == len(
        dictionary.strings
    )
    assert len({(w, c) for words, _, codes in seen for w, c in zip(words, codes, strict=True)}) == len(
        dictionary.strings
    )


def test_a_dictionary_says_what_it_holds() -> None:
    dictionary = Dictionary()
    before = dictionary.nbytes
    encode_column(Type.of(tuple[str, ...]), dictionary, [("a", "b"), ()])
    assert repr(dictionary) == "Dictionary(strings=2, bytes=0, tuples=2)"
    assert dictionary.nbytes > before + 200


def test_tuples_share_an_interner_whatever_may_be_none() -> None:
    dictionary = Dictionary()
    strict, loose = Type.of(tuple[int, str]), Type.of(tuple[int | None, str | None] | None)
    assert encode_column(strict, dictionary, [(1, "a")]).tolist() == [0]
    assert encode_column(loose, dictionary, [(None, "a"), (1, "a")]).tolist() == [1, 0]
    assert encode_column(Type.of(tuple[int, ...]), dictionary, [(7, 7)]).tolist() == [0]


def test_collected_codes_become_tuples() -> None:
    dictionary = Dictionary()
    words = encode_column(STR, dictionary, ["b", "a"])
    lists = Type.of(tuple[str, ...])
    interner = dictionary.interner(lists)
    codes = dictionary.tuples(lists).intern_codes(words[[0, 1, 0]], np.array([0, 2, 2, 3]))
    assert interner is dictionary.tuples(lists)
    assert decode_column(lists, dictionary, codes).to_pylist() == [["b", "a"], [], ["b"]]
    assert dictionary.order_keys(lists, codes).tolist() == [2, 0, 1]
