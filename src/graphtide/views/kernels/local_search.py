"""Making a path cheaper by reversing a part of it (2-opt) and by moving a short part elsewhere (Or-opt).

A path is an array of indices into a symmetric matrix of distances; its first and its last stay where they are. A
path with a free end has an end that is at no distance from anything, a tour ends where it starts.

Each step takes the first move found that lowers the cost, so the cost never rises and the search ends: at a path
that no single reversal or move makes cheaper (Croes 1958; Or 1976).
"""

from __future__ import annotations

from graphtide.jit import kernel, leaf

__all__ = ["improve"]

LONGEST_MOVED = 3


@kernel
def improve(distances, path):
    """Change the order of the path, in place, until no move lowers its cost."""
    while _reverse_parts(distances, path) or _move_parts(distances, path):
        pass


@kernel
def _reverse_parts(distances, path):
    """Go through all parts and reverse each that is cheaper the other way round; whether any was."""
    improved = False
    end = path.shape[0] - 1
    for i in range(1, end):
        for j in range(i + 1, end):
            before, first, last, after = path[i - 1], path[i], path[j], path[j + 1]
            now = distances[before, first] + distances[last, after]
            if distances[before, last] + distances[first, after] < now:
                _reverse(path, i, j)
                improved = True
    return improved


@kernel
def _move_parts(distances, path):
    """Go through all short parts and move each to the first place where it is cheaper; whether any was."""
    improved = False
    end = path.shape[0] - 1
    for length in range(1, LONGEST_MOVED + 1):
        for i in range(1, end - length + 1):
            improved |= _move(distances, path, i, i + length - 1)
    return improved


@kernel
def _move(distances, path, i, j):
    """Move the part from i to j, either way round, to the first place where that lowers the cost; whether one does."""
    before, first, last, after = path[i - 1], path[i], path[j], path[j + 1]
    saved = distances[before, first] + distances[last, after] - distances[before, after]
    for place in range(path.shape[0] - 1):
        if i - 1 <= place <= j:
            continue
        left, right = path[place], path[place + 1]
        allowed = saved + distances[left, right]
        forward = distances[left, first] + distances[last, right]
        backward = distances[left, last] + distances[first, right]
        if min(forward, backward) < allowed:
            start = _swap_with_neighbours(path, i, j, place)
            if backward < forward:
                _reverse(path, start, start + j - i)
            return True
    return False


@kernel
def _swap_with_neighbours(path, i, j, place):
    """Let the part from i to j follow what is at `place`, outside of it; where the part then starts."""
    # Reversing all that changes places, then both pieces of it, swaps the pieces and turns neither.
    if place > j:
        _reverse(path, i, place)
        start = place - (j - i)
        _reverse(path, i, start - 1)
        _reverse(path, start, place)
        return start
    _reverse(path, place + 1, j)
    start = place + 1
    _reverse(path, start, start + j - i)
    _reverse(path, start + j - i + 1, j)
    return start


@leaf
def _reverse(path, i, j):
    while i < j:
        path[i], path[j] = path[j], path[i]
        i += 1
        j -= 1
