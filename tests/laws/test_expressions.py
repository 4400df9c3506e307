"""Kernel against meaning: random typed expressions, each row also computed by plain Python.

A term (`tests.terms`) is an expression together with a function from a row to its value.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share
from tests.term_meanings import Stop, Term
from tests.terms import COLUMNS, SCHEMA, bools, rows, terms

from graphtide.dataflow.expressions import (
    Expression,
    compile_linear,
    type_of,
)
from graphtide.dataflow.kernels.evaluate import linear
from graphtide.errors import ExpressionError
from graphtide.rows import Dictionary, decode_values, encode_rows
from graphtide.trace.kernels.batch import ALL_VARY, ROWS, column, constant, data_width, new_batch, stride
from graphtide.trace.kernels.heap import FIRST_SLOT, HEAP_FIELDS, LIVE_WORDS, open_heap, release, words


def run(data: list[tuple[Any, ...]], outputs: list[Expression], where: Expression | None, sign: int) -> list[Any]:
    """What the kernel makes of the rows: each with the number of its source row and its diff."""
    dictionary = Dictionary()
    plan = compile_linear(SCHEMA, dictionary, {f"c{i}": e for i, e in enumerate(outputs)}, where)
    codes = list(encode_rows(SCHEMA, dictionary, data))
    for call in plan.calls:
        codes.append(call.compute(*(codes[c] for c in call.columns)))
    heap = np.zeros((FIRST_SLOT + 8, HEAP_FIELDS), np.int64)
    open_heap(heap)
    slot = batch_of(heap, codes, len(data))
    result = linear(heap, 0, slot, plan.program, sign)
    if result < 0:
        release(heap, slot)
        assert heap[0, LIVE_WORDS] == 0
        raise plan.failure(result)
    found = []
    if result:
        batch = words(heap, result)
        lines = [batch_column(batch, c) for c in range(data_width(batch) + 2)]
        values = [decode_values(t, dictionary, line) for t, line in zip(plan.schema.types, lines, strict=False)]
        found = list(zip(lines[-2].tolist(), lines[-1].tolist(), zip(*values, strict=True), strict=True))
        release(heap, result)
    release(heap, slot)
    assert heap[0, LIVE_WORDS] == 0
    return found


def batch_of(heap: Any, codes: list[Any], size: int) -> int:
    """A batch whose times number the rows and whose diffs are 1, 2, 3, ...

    A column of equal codes is a constant one.
    """
    columns = [*codes, np.arange(size), np.arange(size) + 1]
    slot = new_batch(heap, 0, len(columns), 1, size, ALL_VARY, 0)
    batch = words(heap, slot)
    batch[ROWS] = size
    for c, line in enumerate(columns):
        if size > 1 and (line == line[0]).all():
            constant(batch, c, line[0])
        else:
            batch[column(batch, c) : column(batch, c) + size] = line
    return slot


def batch_column(batch: Any, c: int) -> Any:
    size, start = batch[ROWS], column(batch, c)
    return batch[start : start + size].copy() if stride(batch, c) else np.full(size, batch[start])


def expected(data: list[tuple[Any, ...]], outputs: list[Term], where: Term | None, sign: int) -> list[Any]:
    found = []
    for i, values in enumerate(data):
        row = dict(zip(COLUMNS, values, strict=True))
        if where is None or where.value(row) is True:
            found.append((i, sign * (i + 1), tuple(term.value(row) for term in outputs)))
    return found


def told_apart(value: Any) -> Any:
    """Equal for equal values of equal types only; 0.0 and -0.0 are one value, and NaN is too."""
    if isinstance(value, tuple | list):
        return tuple(map(told_apart, value))
    return (type(value).__name__, repr(value + 0.0 if isinstance(value, float) else value))


@share(400)
@given(
    rows(),
    st.sampled_from([1, 1, 1, 200]),
    st.lists(terms(3), min_size=1, max_size=3),
    st.none() | bools(2),
    st.sampled_from([1, -1]),
)
def test_every_row_is_what_plain_python_makes_of_it(
    data: list[tuple[Any, ...]], copies: int, outputs: list[Term], where: Term | None, sign: int
) -> None:
    """Copies of the rows fill the vector registers and several chunks."""
    condition = None if where is None else where.expression
    inner = [term.expression for term in outputs]
    try:
        wanted = expected(data, outputs, where, sign)
    except Stop:
        with pytest.raises(ExpressionError):
            run(data * copies, inner, condition, sign)
    else:
        found = run(data * copies, inner, condition, sign)
        size = len(data)
        repeated = [(i + k * size, diff + sign * k * size, row) for k in range(copies) for i, diff, row in wanted]
        assert told_apart(found) == told_apart(repeated)


@share(200)
@given(rows(), terms(3))
def test_none_comes_only_from_what_is_optional(data: list[tuple[Any, ...]], term: Term) -> None:
    try:
        values = [value for _, _, (value,) in expected(data, [term], None, 1)]
    except Stop:
        return
    assert type_of(term.expression, SCHEMA).nullable or None not in values


@share(100)
@given(rows(), terms(2), terms(2))
def test_a_select_of_a_select_is_one_select(data: list[tuple[Any, ...]], inner: Term, outer: Term) -> None:
    """Substituting an expression for a column is the same as computing the column first."""
    found = type_of(inner.expression, SCHEMA).bare
    name = next((name for name in sorted(outer.expression.columns()) if SCHEMA[name].bare == found), None)
    combined = outer.expression.substitute({} if name is None else {name: inner.expression})
    computed = Term(combined, lambda row: outer.value(row if name is None else row | {name: inner.value(row)}))
    try:
        wanted = expected(data, [computed], None, 1)
    except Stop:
        return
    assert told_apart(run(data, [combined], None, 1)) == told_apart(wanted)
