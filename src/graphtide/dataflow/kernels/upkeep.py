"""What is done to a machine between runs: compaction, undoing a failed run, dropping operators."""

from __future__ import annotations

from graphtide.dataflow.kernels.calendar import clear_calendar
from graphtide.dataflow.kernels.layout import CALENDAR, CARRY, HELD, PORT, SCOPE_DEPTH, SCRATCH, SPINE
from graphtide.jit import kernel
from graphtide.trace.kernels.heap import NONE, release
from graphtide.trace.kernels.spine import close_spine, end_epoch, forget_from

__all__ = ["advance_since", "drop_operator", "undo"]


@kernel
def advance_since(heap, operators, count, epoch):
    """After a run: let every index be compacted to `epoch`, or to the earlier one that a reader holds."""
    for operator in range(count):
        release(heap, operators[operator, SCRATCH])
        operators[operator, SCRATCH] = NONE
        spine = operators[operator, SPINE]
        if spine != NONE:
            end_epoch(heap, spine, min(epoch, operators[operator, HELD]), epoch + 1)


@kernel
def undo(heap, operators, count, scopes, epoch):
    """Forget what a run from `epoch` on has done: in indexes, calendars and ports."""
    for operator in range(count):
        if operators[operator, SPINE] != NONE:
            forget_from(heap, operators[operator, SPINE], epoch)
        for field in (PORT, CARRY, SCRATCH, SCRATCH + 1):
            release(heap, operators[operator, field])
            operators[operator, field] = NONE
    for scope in range(scopes.shape[0]):
        if scopes[scope, CALENDAR] != NONE:
            clear_calendar(heap, scopes[scope, CALENDAR], scopes[scope, SCOPE_DEPTH])


@kernel
def drop_operator(heap, operators, operator):
    """Free all that an operator holds."""
    for field in (PORT, CARRY, SCRATCH, SCRATCH + 1):
        release(heap, operators[operator, field])
        operators[operator, field] = NONE
    if operators[operator, SPINE] != NONE:
        close_spine(heap, operators[operator, SPINE])
        operators[operator, SPINE] = NONE
