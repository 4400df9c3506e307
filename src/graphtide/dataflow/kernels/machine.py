"""The machine: one kernel that runs a whole dataflow, loops included, and comes back only when it must.

It interprets the instruction list made by `dataflow.assembly`: operators in topological order, with
a HEAD and a TAIL around each loop's body, and a FREE where all have read what an operator put out.
A loop runs its least pending round until nothing is pending, skipping rounds in which nothing happens.
Control returns to Python for functions of the user, and from time to time so that a person can interrupt.

Invariant: when a round begins, every difference of an earlier round (in the lexicographic order of the
loop coordinates) has been put out, and everything for a later one waits in a calendar; in a monotone loop (`support`)
only decisions wait, and differences for later rounds are put out as soon as they are known.
"""

from __future__ import annotations

import numpy as np

from graphtide.dataflow.kernels.appearing import appear, only_appears
from graphtide.dataflow.kernels.beyond import beyond
from graphtide.dataflow.kernels.calendar import due_coordinate, post_batch, split_future, take_due
from graphtide.dataflow.kernels.counting import is_counting, recount
from graphtide.dataflow.kernels.evaluate import linear
from graphtide.dataflow.kernels.extremum import improve, only_improves, only_takes_in
from graphtide.dataflow.kernels.growing import overtake
from graphtide.dataflow.kernels.join import join
from graphtide.dataflow.kernels.layout import (
    AHEAD,
    ARITHMETIC,
    ARRANGE,
    BEYOND,
    BODY,
    BUDGET,
    CALENDAR,
    CALL,
    CALLED,
    CANCEL,
    CANCELLED,
    CARRY,
    CONCAT,
    CONSOLIDATE,
    COORDINATES,
    COUNTER,
    DEPTH,
    DETAIL,
    DONE,
    DOORS,
    DOUBT,
    EMITTED,
    ENTER,
    ENTER_AT,
    EVALUATED,
    EXIT,
    FEEDBACK,
    FIRST_NEW,
    FREE,
    FUNCTION,
    HEAD,
    IMPORT,
    IMPROVE,
    INNER_END,
    INPUT,
    JOIN,
    KIND,
    LATE,
    LEAVE,
    LEAVE_AT,
    LEAVES,
    LINEAR,
    LOWER,
    MONOTONE,
    MOST_ROUNDS,
    NOT_SETTLED,
    PARAMETERS,
    PAUSED,
    PORT,
    REDUCE,
    REDUCE_TOTAL,
    ROUND_MASK,
    ROUNDS,
    RUN,
    SCOPE,
    SCOPE_DEPTH,
    SCRATCH,
    SOURCE,
    SPINE,
    STOPPED_AT,
    TAIL,
    UNUSED,
    UPPER,
    VARIABLE,
    WAITING,
    WEIGH,
    WIDTH,
)
from graphtide.dataflow.kernels.linear import concatenate, delay, enter, enter_at, leave, leave_at, together
from graphtide.dataflow.kernels.reduce import correct, visit
from graphtide.dataflow.kernels.selective import is_selective, reselect
from graphtide.dataflow.kernels.support import GAP, NEVER, next_for_new, support
from graphtide.dataflow.kernels.total import reduce_total
from graphtide.dataflow.kernels.weigh import weigh
from graphtide.jit import inlined, kernel
from graphtide.trace.kernels.batch import WIDTH as BATCH_WIDTH
from graphtide.trace.kernels.batch import range_of, rows_of
from graphtide.trace.kernels.consolidate import consolidate
from graphtide.trace.kernels.heap import NONE, release, retain, words
from graphtide.trace.kernels.spine import everything, set_fresh

__all__ = ["resume", "run"]


@kernel
def run(heap, operators, scopes, code, state):
    """Go on from the counter until the program ends or something is needed; why it stopped."""
    while True:
        at = state[COUNTER]
        what = code[at, 0]
        subject = code[at, 1]
        state[STOPPED_AT] = subject
        if what == RUN:
            reason = _run_operator(heap, operators, scopes, state, subject)
            if reason != DONE:
                return reason
            state[COUNTER] = at + 1
        elif what == HEAD:
            if _enter_scope(heap, operators, scopes, state, subject):
                state[COUNTER] = scopes[subject, BODY]
            else:
                state[COUNTER] = scopes[subject, EXIT]
        elif what == TAIL:
            if state[CANCEL] != 0:
                return CANCELLED
            if not _next_round(heap, operators, scopes, state, subject):
                state[COUNTER] = scopes[subject, EXIT]
            elif _round_number(scopes, state, subject) >= scopes[subject, MOST_ROUNDS]:
                return NOT_SETTLED
            else:
                state[COUNTER] = scopes[subject, BODY]
                state[BUDGET] -= 1
                if state[BUDGET] <= 0:
                    return PAUSED
        elif what == FREE:
            release(heap, operators[subject, PORT])
            operators[subject, PORT] = NONE
            state[COUNTER] = at + 1
        else:
            return DONE


@kernel
def resume(heap, operators, state):
    """After Python has written the wanted rows of a FUNCTION into the operator's scratch: correct the output."""
    operator = state[STOPPED_AT]
    _finish_reduce(heap, operators, operator, state, operators[operator, SCRATCH], operators[operator, SCRATCH + 1])
    operators[operator, SCRATCH] = NONE
    operators[operator, SCRATCH + 1] = NONE


@inlined
def _put_out(heap, operators, operator, batch):
    """Set the port, which takes the caller's count."""
    operators[operator, PORT] = batch
    operators[operator, EMITTED] += rows_of(heap, batch)


@inlined
def _index(heap, operators, operator, batch, state):
    """Give the operator's spine its fresh batch, which is also what it puts out."""
    set_fresh(heap, operators[operator, SPINE], batch, state[LOWER], state[UPPER])
    _put_out(heap, operators, operator, retain(heap, batch))


@inlined
def _run_operator(heap, operators, scopes, state, operator):
    kind = operators[operator, KIND]
    if kind == SOURCE:
        return DONE
    if kind == LEAVE or kind == LEAVE_AT:
        source = operators[operators[operator, INPUT], PORT]
        if source != NONE:
            gathered = operators[operator, PORT]
            if kind == LEAVE:
                operators[operator, PORT] = leave(heap, operator, gathered, source)
            else:
                operators[operator, PORT] = leave_at(heap, operator, gathered, source)
        return DONE
    release(heap, operators[operator, PORT])
    operators[operator, PORT] = NONE
    source = operators[operators[operator, INPUT], PORT]
    calendar = scopes[operators[operator, SCOPE], CALENDAR]
    if kind == LINEAR:
        if source != NONE:
            parameters = words(heap, operators[operator, PARAMETERS])
            result = linear(heap, operator, source, parameters[1:], parameters[0])
            if result < 0:
                state[DETAIL] = result
                return ARITHMETIC
            _put_out(heap, operators, operator, result)
    elif kind == ARRANGE:
        fresh = consolidate(heap, operator, source, words(heap, operators[operator, PARAMETERS]))
        _index(heap, operators, operator, fresh, state)
    elif kind == JOIN:
        result = join(heap, operators, operator, state)
        # In a monotone loop only decisions need to wait for their rounds.
        if scopes[operators[operator, SCOPE], AHEAD] == 0:
            result = split_future(heap, operators, operator, calendar, state, result)
        _put_out(heap, operators, operator, _with_carry(heap, operators, operator, result))
    elif kind == BEYOND:
        _put_out(heap, operators, operator, beyond(heap, operators, operator, state))
    elif kind == IMPROVE:
        set_fresh(heap, operators[operator, SPINE], NONE, 0, 0)
        _index(heap, operators, operator, overtake(heap, operators, operator, state), state)
    elif (
        kind == REDUCE and only_improves(heap, operators, operator) and only_takes_in(heap, operators, operator, state)
    ):
        # The batch of the last activation is history now.
        set_fresh(heap, operators[operator, SPINE], NONE, 0, 0)
        _index(heap, operators, operator, improve(heap, operators, operator, state), state)
    elif (
        kind == REDUCE
        and only_appears(heap, operators, operator)
        and only_takes_in(heap, operators, operator, state)
        and _is_for_new(scopes, operators[operator, SCOPE], state)
    ):
        set_fresh(heap, operators[operator, SPINE], NONE, 0, 0)
        _index(heap, operators, operator, appear(heap, operators, operator, state), state)
    elif kind == REDUCE and scopes[operators[operator, SCOPE], MONOTONE] == 1:
        set_fresh(heap, operators[operator, SPINE], NONE, 0, 0)
        _index(heap, operators, operator, support(heap, operators, operator, calendar, state, scopes), state)
    elif kind == REDUCE and is_counting(heap, operators, operator, state):
        set_fresh(heap, operators[operator, SPINE], NONE, 0, 0)
        _index(heap, operators, operator, recount(heap, operators, operator, calendar, state), state)
    elif kind == REDUCE and is_selective(heap, operators, operator, state):
        set_fresh(heap, operators[operator, SPINE], NONE, 0, 0)
        _index(heap, operators, operator, reselect(heap, operators, operator, calendar, state), state)
    elif kind == REDUCE:
        visits, wanted = visit(heap, operators, operator, calendar, state)
        if visits < 0:
            return ARITHMETIC
        if visits != NONE and words(heap, operators[operator, PARAMETERS])[0] == FUNCTION:
            operators[operator, SCRATCH] = visits
            operators[operator, SCRATCH + 1] = wanted
            return EVALUATED
        _finish_reduce(heap, operators, operator, state, visits, wanted)
    elif kind == REDUCE_TOTAL:
        result = reduce_total(heap, operators, operator, state)
        if result < 0:
            return ARITHMETIC
        _put_out(heap, operators, operator, result)
    elif kind == WEIGH:
        if source != NONE:
            _put_out(heap, operators, operator, weigh(heap, operators, operator, source))
    elif kind == CONCAT:
        _put_out(heap, operators, operator, concatenate(heap, operators, operator))
    elif kind == CONSOLIDATE:
        _put_out(
            heap,
            operators,
            operator,
            consolidate(heap, operator, source, np.arange(operators[operator, WIDTH])),
        )
    elif kind == VARIABLE:
        _put_out(heap, operators, operator, _with_carry(heap, operators, operator, NONE))
    elif kind == FEEDBACK:
        _feed_back(heap, operators, scopes, operator, calendar, state, source)
    elif kind == ENTER or kind == ENTER_AT:
        if source != NONE and _is_first_round(operators, operator, state):
            if kind == ENTER:
                result = enter(heap, operators, operator, source)
            else:
                result = enter_at(heap, operator, source)
                if result < 0:
                    state[DETAIL] = result
                    return ARITHMETIC
                result = split_future(heap, operators, operator, calendar, state, result)
            _put_out(heap, operators, operator, _with_carry(heap, operators, operator, result))
        else:
            _put_out(heap, operators, operator, _with_carry(heap, operators, operator, NONE))
    elif kind == IMPORT:
        _import(heap, operators, operator, state)
    elif kind == CALL and source != NONE:
        return CALLED
    return DONE


@kernel
def _finish_reduce(heap, operators, operator, state, visits, wanted):
    # The batch of the last activation is history now.
    set_fresh(heap, operators[operator, SPINE], NONE, 0, 0)
    fresh = correct(heap, operators, operator, state, visits, wanted)
    release(heap, visits)
    release(heap, wanted)
    _index(heap, operators, operator, fresh, state)


@inlined
def _with_carry(heap, operators, operator, batch):
    """What is put out now together with what was put out for now in earlier rounds."""
    carry = operators[operator, CARRY]
    operators[operator, CARRY] = NONE
    return together(heap, operator, carry, batch)


@inlined
def _feed_back(heap, operators, scopes, operator, calendar, state, source):
    """Let the differences wait for their variable in the next round, or in the next one for new rows."""
    settled = consolidate(heap, operator, source, np.arange(operators[operator, WIDTH]))
    if settled == NONE:
        return
    depth = operators[operator, DEPTH]
    delayed = delay(heap, operator, settled)
    coordinates = np.empty(depth - 1, np.int64)
    for d in range(1, depth):
        coordinates[d - 1] = state[COORDINATES + d]
    coordinates[depth - 2] += 1
    scope = operators[operator, SCOPE]
    if scopes[scope, MONOTONE] == 1 and coordinates[0] > scopes[scope, FIRST_NEW]:
        coordinates[0] = next_for_new(coordinates[0])
    variable = words(heap, operators[operator, PARAMETERS])[0]
    post_batch(heap, calendar, depth, coordinates, variable, delayed)
    operators[operator, EMITTED] += rows_of(heap, delayed)


@inlined
def _is_for_new(scopes, scope, state):
    """Whether new rows may come in the round in progress."""
    return scopes[scope, MONOTONE] == 0 or state[COORDINATES + 1] >= scopes[scope, FIRST_NEW]


@inlined
def _is_first_round(operators, operator, state):
    outside = operators[operators[operator, INPUT], DEPTH]
    for d in range(outside, operators[operator, DEPTH]):
        if state[COORDINATES + d] != 0:
            return False
    return True


@inlined
def _import(heap, operators, operator, state):
    """The whole of an arranged collection the first time, then what is new in it."""
    arrangement = operators[operator, INPUT]
    if operators[operator, LATE] == 0:
        _put_out(heap, operators, operator, retain(heap, operators[arrangement, PORT]))
        return
    operators[operator, LATE] = 0
    rows = everything(heap, operators[arrangement, SPINE], operator, state[LOWER : LOWER + 1])
    _put_out(heap, operators, operator, rows)


@inlined
def _enter_scope(heap, operators, scopes, state, scope):
    """Begin a scope's first pending round; False if it has nothing to do."""
    leaves = words(heap, scopes[scope, LEAVES])
    for k in range(leaves.shape[0]):
        release(heap, operators[leaves[k], PORT])
        operators[leaves[k], PORT] = NONE
    depth = scopes[scope, SCOPE_DEPTH]
    state[COORDINATES + depth - 1] = -1
    doors = words(heap, scopes[scope, DOORS])
    if scopes[scope, MONOTONE] == 1:
        scopes[scope, FIRST_NEW] = next_for_new(scopes[scope, UNUSED])
        brings, takes = _signs(heap, operators, doors)
        scopes[scope, WAITING] = -1 if takes else scopes[scope, FIRST_NEW]
        # Where rows are replaced, what goes and what comes cancels if it is put out in the same round.
        scopes[scope, AHEAD] = not (brings and takes)
        scopes[scope, DOUBT] = NEVER
    for k in range(doors.shape[0]):
        if operators[doors[k], PORT] != NONE and _is_door_open(operators[doors[k], DEPTH], depth, state):
            return _begin_round(heap, operators, scopes, state, scope, 0)
    return _next_round(heap, operators, scopes, state, scope)


@inlined
def _signs(heap, operators, doors):
    """Whether something comes at the doors of a scope, and whether something goes."""
    brings = False
    takes = False
    for k in range(doors.shape[0]):
        least, most = _range_of_diffs(heap, operators[doors[k], PORT])
        if least < 0 < most:
            # What a join puts out may cancel: of an edge that goes, a join of edges with themselves brings a pair back.
            settled = consolidate(heap, doors[k], operators[doors[k], PORT], np.arange(operators[doors[k], WIDTH]))
            release(heap, operators[doors[k], PORT])
            operators[doors[k], PORT] = settled
            least, most = _range_of_diffs(heap, settled)
        brings |= most > 0
        takes |= least < 0
    return brings, takes


@kernel
def _range_of_diffs(heap, slot):
    """The least and the greatest diff of a batch; 0 if there is none."""
    if rows_of(heap, slot) == 0:
        return 0, 0
    batch = words(heap, slot)
    return range_of(batch, batch[BATCH_WIDTH] - 1)


@inlined
def _is_door_open(outside, depth, state):
    for d in range(outside, depth - 1):
        if state[COORDINATES + d] != 0:
            return False
    return True


@kernel
def _begin_round(heap, operators, scopes, state, scope, coordinate):
    depth = scopes[scope, SCOPE_DEPTH]
    state[COORDINATES + depth - 1] = coordinate
    scopes[scope, UNUSED] = max(scopes[scope, UNUSED], coordinate + 1)
    state[ROUNDS] += 1
    take_due(heap, scopes[scope, CALENDAR], depth, state, operators, CARRY)
    return True


@kernel
def _next_round(heap, operators, scopes, state, scope):
    """Begin the least round for which the scope or one inside it has something waiting; False if none has."""
    depth = scopes[scope, SCOPE_DEPTH]
    least = -1
    for inner in range(scope, scopes[scope, INNER_END]):
        due = due_coordinate(heap, scopes[inner, CALENDAR], depth - 1, state)
        if due >= 0 and (least < 0 or due < least):
            least = due
    if least < 0:
        return False
    return _begin_round(heap, operators, scopes, state, scope, least)


@inlined
def _round_number(scopes, state, scope):
    if scopes[scope, MONOTONE] == 1:
        return (state[COORDINATES + 1] - scopes[scope, FIRST_NEW]) // GAP
    return state[COORDINATES + scopes[scope, SCOPE_DEPTH] - 1] & ROUND_MASK
