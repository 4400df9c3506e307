"""What landmarks say of a distance without a search (docs/design/07).

Row v of `near` has for landmark l the distance from it to v (column 2l) and from v to it (column 2l + 1). `slip`,
of the states' type, is what a sum may have lost to rounding, relative to itself: 0 for ints.
"""

from __future__ import annotations

from graphtide.jit import leaf

__all__ = ["lower", "shrunk", "upper"]


@leaf
def lower(near, v, t, slip, nothing):
    """No way from `v` to `t` is shorter; `nothing` if there is none at all.

    Of each landmark l two triangles count: d(l,t) <= d(l,v) + d(v,t), d(v,l) <= d(v,t) + d(t,l). If d(l,v), or d(t,l)
    in the second, is infinite, they say nothing. If it is finite and the left side is not, d(v,t) is infinite.
    """
    best = slip - slip
    for c in range(near.shape[1]):
        if c & 1:
            whole, part = near[v, c], near[t, c]
        else:
            whole, part = near[t, c], near[v, c]
        if part == nothing:
            continue
        if whole == nothing:
            return nothing
        if whole > part:
            best = max(best, whole - part - slip * (whole + part))
    return best


@leaf
def upper(near, s, t, slip, nothing):
    """Some way from `s` to `t` over a landmark is no longer; `nothing` if there is none."""
    best = nothing
    for c in range(0, near.shape[1], 2):
        to, on = near[s, c + 1], near[t, c]
        if to != nothing and on != nothing:
            best = min(best, to + on + slip * (to + on))
    return best


@leaf
def shrunk(length, slip, nothing):
    """What a sum of that length may be after rounding, at the least."""
    return length if length == nothing else length - slip * length
