"""The join of two arrangements: new differences on one side meet the history of the other.

Bilinear, so what is put out is (new left x right with what is new) + (left without what is new x new
right), at the least upper bound of the two times. Keys are found by alternating seeks, so the cost
follows the smaller side (K-Pg, section 5.3.1). A key that changes at many epochs on both sides is
replayed in their order (`replay`); otherwise all pairs are counted first, so that the output is one allocation.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.layout import (
    COORDINATES,
    DEPTH,
    INPUT,
    KEYS,
    LATE,
    LOWER,
    PARAMETERS,
    SECOND,
    SPINE,
    WIDTH,
)
from graphtide.dataflow.kernels.linear import together
from graphtide.dataflow.kernels.replay import is_worth_replaying, replay
from graphtide.jit import inlined, kernel
from graphtide.trace.kernels import batch as layout
from graphtide.trace.kernels.batch import (
    ROWS,
    column,
    constant,
    new_batch,
    row_mask,
    rows_of,
    stride,
    value,
    with_column,
)
from graphtide.trace.kernels.heap import NONE, release, words
from graphtide.trace.kernels.index import FEW, group_end, seek, seek_all
from graphtide.trace.kernels.spine import FRESH, RUNS, everything, run_slot
from graphtide.trace.kernels.times import coordinate, coordinate_stride
from graphtide.trace.kernels.waiting import ROWS_OF_A_LOOK, gather_for

__all__ = ["join"]

# A match: rows [first, last) of the new batch meet rows [low, high) of a run of the other side.
MATCH_FIELDS = 5

# Parameters: per output column the side (0 left, 1 right) and the column there.


@kernel
def join(heap, operators, operator, state):
    """The differences that this activation adds to the join; slot 0 if there are none."""
    left = operators[operator, INPUT]
    right = operators[operator, SECOND]
    depth = operators[operator, DEPTH]
    spine_left = words(heap, operators[left, SPINE])
    spine_right = words(heap, operators[right, SPINE])
    late = operators[operator, LATE] == 1
    operators[operator, LATE] = 0
    new_left = spine_left[FRESH] if _is_new(operators, left, depth, state) else NONE
    new_right = spine_right[FRESH] if _is_new(operators, right, depth, state) else NONE
    if late:
        # Everything on the left is new to this operator, everything on the right is there already.
        new_left = everything(heap, operators[left, SPINE], operator, state[LOWER : LOWER + 1])
        new_right = NONE
    if new_left == NONE and new_right == NONE:
        return NONE
    gather_for(heap, operators[right, SPINE], ROWS_OF_A_LOOK * rows_of(heap, new_left))
    gather_for(heap, operators[left, SPINE], ROWS_OF_A_LOOK * rows_of(heap, new_right))
    matches = np.empty(16 * MATCH_FIELDS, np.int64)
    replayed = NONE
    count = 0
    total = 0
    if new_left != NONE:
        for r in range(spine_right[RUNS] + 1):
            run = spine_right[FRESH] if r == spine_right[RUNS] else run_slot(spine_right, r)
            replayed, matches, count, total = _match(
                heap, operators, operator, new_left, run, True, replayed, matches, count, total
            )
    from_left = count
    if new_right != NONE:
        for r in range(spine_left[RUNS] + 1):
            run = spine_left[FRESH] if r == spine_left[RUNS] else run_slot(spine_left, r)
            # What is fresh on the left but not new here came in an earlier round: it is history.
            if r < spine_left[RUNS] or new_left == NONE:
                replayed, matches, count, total = _match(
                    heap, operators, operator, new_right, run, False, replayed, matches, count, total
                )
    paired = NONE
    if total > 0:
        paired = _emit(heap, operators, operator, new_left, new_right, matches, from_left, count, total)
    if late:
        release(heap, new_left)
    return together(heap, operator, paired, replayed)


@inlined
def _is_new(operators, arrangement, depth, state):
    """What an arrangement outside the loop brings is new in the loop's very first round only."""
    for d in range(operators[arrangement, DEPTH], depth):
        if state[COORDINATES + d] != 0:
            return False
    return True


@kernel
def _match(heap, operators, operator, new, run, is_left, replayed, matches, count, total):
    """Append the key groups that a new batch and a run share, but replay those with a long history on both sides.

    All keys are looked up at once, or by alternating seeks.
    """
    if run == NONE:
        return replayed, matches, count, total
    keys = operators[operator, KEYS]
    a = words(heap, new)
    b = words(heap, run)
    i = 0
    j = 0
    rows_a = a[ROWS]
    rows_b = b[ROWS]
    found = seek_all(b, keys, a) if rows_b > FEW * rows_a else np.empty(0, np.int64)
    while i < rows_a:
        j = found[i] if found.shape[0] > 0 else seek(b, keys, a, i, j)
        if j == rows_b:
            break
        same = True
        for c in range(keys):
            if value(a, c, i) != value(b, c, j):
                same = False
                break
        if not same:
            i = seek(a, keys, b, j, i) if found.shape[0] == 0 else i + 1
            continue
        end_a = group_end(a, keys, i)
        end_b = group_end(b, keys, j)
        if is_worth_replaying(a, i, end_a, b, j, end_b):
            replayed = replay(heap, operators, operator, replayed, new, i, end_a, run, j, end_b, is_left)
            i = end_a
            j = end_b
            continue
        if count * MATCH_FIELDS == matches.shape[0]:
            grown = np.empty(2 * matches.shape[0], np.int64)
            grown[: matches.shape[0]] = matches
            matches = grown
        at = count * MATCH_FIELDS
        matches[at] = i
        matches[at + 1] = end_a
        matches[at + 2] = run
        matches[at + 3] = j
        matches[at + 4] = end_b
        count += 1
        total += (end_a - i) * (end_b - j)
        i = end_a
        j = end_b
    return replayed, matches, count, total


@inlined
def _emit(heap, operators, operator, new_left, new_right, matches, from_left, count, total):
    depth = operators[operator, DEPTH]
    data = operators[operator, WIDTH]
    width = data + depth + 1
    outputs = words(heap, operators[operator, PARAMETERS])
    varying = 0
    for c in range(data):
        varying = with_column(varying, c)
    uniform = np.empty(depth, np.int64)
    for d in range(depth):
        same, uniform[d] = _uniform(heap, new_left, new_right, matches, from_left, count, d)
        if not same:
            varying = with_column(varying, data + d)
    same, product = _uniform_product(heap, new_left, new_right, matches, from_left, count)
    if not same:
        varying = with_column(varying, width - 1)
    result = new_batch(heap, operator, width, depth, total, varying, 0)
    out = words(heap, result)
    for c in range(data):
        side = outputs[2 * c]
        source = outputs[2 * c + 1]
        start = column(out, c)
        start = _spread(heap, new_left, matches, 0, from_left, side == 0, source, out, start)
        _spread(heap, new_right, matches, from_left, count, side == 1, source, out, start)
    for d in range(depth):
        if stride(out, data + d) == 0:
            constant(out, data + d, uniform[d])
        else:
            start = _spread_join(heap, new_left, matches, 0, from_left, d, out, column(out, data + d))
            _spread_join(heap, new_right, matches, from_left, count, d, out, start)
    if stride(out, width - 1) == 0:
        constant(out, width - 1, product)
    else:
        start = _spread_product(heap, new_left, matches, 0, from_left, out, column(out, width - 1))
        _spread_product(heap, new_right, matches, from_left, count, out, start)
    out[ROWS] = total
    return result


@kernel
def _spread(heap, new, matches, low, high, from_new, source, out, start):
    """Write one data column of the output: of the new rows, or of the runs they meet."""
    if low == high:
        return start
    a = words(heap, new)
    own = np.uint64(column(a, source))
    own_mask = row_mask(a, source)
    # Unsigned, since a signed place may count from the end.
    place = np.uint64(start)
    one = np.uint64(1)
    for m in range(low, high):
        at = m * MATCH_FIELDS
        i_low = np.uint64(matches[at])
        i_end = np.uint64(matches[at + 1])
        j_low = np.uint64(matches[at + 3])
        j_end = np.uint64(matches[at + 4])
        if from_new:
            while i_low < i_end:
                v = a[own + (i_low & own_mask)]
                for _ in range(j_end - j_low):
                    out[place] = v
                    place += one
                i_low += one
        else:
            b = words(heap, matches[at + 2])
            theirs = np.uint64(column(b, source))
            mask = row_mask(b, source)
            while i_low < i_end:
                j = j_low
                while j < j_end:
                    out[place] = b[theirs + (j & mask)]
                    place += one
                    j += one
                i_low += one
    return np.int64(place)


@kernel
def _uniform(heap, new_left, new_right, matches, from_left, count, d):
    """Whether coordinate `d` is the same in all output rows, and which it is then."""
    first = 0
    checked = NONE
    for m in range(count):
        at = m * MATCH_FIELDS
        # Matches with one run follow each other; where neither side varies, the first speaks for all.
        if matches[at + 2] == checked and m != from_left:
            continue
        a = words(heap, new_left if m < from_left else new_right)
        b = words(heap, matches[at + 2])
        checked = matches[at + 2] if coordinate_stride(a, d) + coordinate_stride(b, d) == 0 else NONE
        i_end = matches[at + 1] if coordinate_stride(a, d) == 1 else matches[at] + 1
        j_end = matches[at + 4] if coordinate_stride(b, d) == 1 else matches[at + 3] + 1
        if m == 0:
            first = max(coordinate(a, d, matches[at]), coordinate(b, d, matches[at + 3]))
        for i in range(matches[at], i_end):
            t = coordinate(a, d, i)
            for j in range(matches[at + 3], j_end):
                if max(t, coordinate(b, d, j)) != first:
                    return False, 0
    return True, first


@inlined
def _uniform_product(heap, new_left, new_right, matches, from_left, count):
    """Whether all diffs are constants with one product, and the product."""
    first = 0
    checked = NONE
    for m in range(count):
        if matches[m * MATCH_FIELDS + 2] == checked and m != from_left:
            continue
        checked = matches[m * MATCH_FIELDS + 2]
        a = words(heap, new_left if m < from_left else new_right)
        b = words(heap, checked)
        last_a = a[layout.WIDTH] - 1
        last_b = b[layout.WIDTH] - 1
        if stride(a, last_a) == 1 or stride(b, last_b) == 1:
            return False, 0
        product = value(a, last_a, 0) * value(b, last_b, 0)
        if m == 0:
            first = product
        elif product != first:
            return False, 0
    return True, first


@kernel
def _spread_join(heap, new, matches, low, high, d, out, start):
    """Write coordinate `d` of the least upper bounds."""
    for m in range(low, high):
        at = m * MATCH_FIELDS
        a = words(heap, new)
        b = words(heap, matches[at + 2])
        for i in range(matches[at], matches[at + 1]):
            t = coordinate(a, d, i)
            for j in range(matches[at + 3], matches[at + 4]):
                out[start] = max(t, coordinate(b, d, j))
                start += 1
    return start


@kernel
def _spread_product(heap, new, matches, low, high, out, start):
    """Write the products of the diffs."""
    for m in range(low, high):
        at = m * MATCH_FIELDS
        a = words(heap, new)
        b = words(heap, matches[at + 2])
        last_a = a[layout.WIDTH] - 1
        last_b = b[layout.WIDTH] - 1
        for i in range(matches[at], matches[at + 1]):
            t = value(a, last_a, i)
            for j in range(matches[at + 3], matches[at + 4]):
                out[start] = t * value(b, last_b, j)
                start += 1
    return start
