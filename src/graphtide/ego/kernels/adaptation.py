"""Decisions that are made anew where they can be: at the push/pull frontier (EAGr, section 4)."""

from __future__ import annotations

from graphtide.jit import kernel

__all__ = ["flip_frontier"]


@kernel
def flip_frontier(starts, inputs, out_starts, outputs, writers, order, pushed, pulled, much, push):
    """Flip nodes that would cost less by the share `much`; how many.

    One that pulls may push if all of its inputs do, one that pushes may pull if none of its outputs pushes. `order` has
    inputs before what stands on them, so that what flips may let its neighbours flip.
    """
    flips = 0
    for v in order:
        if not push[v] and pushed[v] < (1 - much) * pulled[v]:
            may = True
            for k in range(starts[v], starts[v + 1]):
                may = may and push[inputs[k]]
            if may:
                push[v] = True
                flips += 1
    for v in order[::-1]:
        if v >= writers and push[v] and pulled[v] < (1 - much) * pushed[v]:
            may = True
            for k in range(out_starts[v], out_starts[v + 1]):
                may = may and not push[outputs[k]]
            if may:
                push[v] = False
                flips += 1
    return flips
