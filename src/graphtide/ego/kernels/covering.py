"""Covering a set of writers by partial aggregates that are there (EAGr, sections 3.2.5 and 3.3)."""

from __future__ import annotations

import numpy as np

from graphtide.ego.kernels.nodes import FLAGS, IN, NEGATIVE, PUSH, SIZE, WRITER, grow_stack
from graphtide.ego.kernels.paths import signed_paths
from graphtide.jit import kernel

__all__ = ["cover_readers", "cover_set", "enter_sets", "partial_sets"]

NONE = -1


@kernel
def partial_sets(starts, inputs, signs, writers, first, overlapping):
    """The writers of each partial aggregate, where these start; none if it has one twice, unless they may overlap."""
    nodes = len(starts) - 1
    set_starts = np.zeros(nodes - first + 1, np.int64)
    sets = np.empty(1024, np.int32)
    counts = np.zeros(writers, np.int64)
    found = np.empty(1024, np.int64)
    at = 0
    for node in range(first, nodes):
        found, met = signed_paths(starts, inputs, signs, writers, node, counts, found)
        if at + met > len(sets):
            longer = np.empty(2 * (at + met), np.int32)
            longer[:at] = sets[:at]
            sets = longer
        is_set = True
        for k in range(met):
            is_set &= counts[found[k]] == 1 or (overlapping and counts[found[k]] > 0)
        for k in range(met):
            counts[found[k]] = 0
            if is_set:
                sets[at] = found[k]
                at += 1
        set_starts[node - first + 1] = at
    return set_starts, sets[:at].copy()


@kernel
def enter_sets(first, end, set_start, set_size, sets, head, after, entry, at):
    """Put some nodes at the head of the list of each of their writers; where the lists' pool ends then."""
    for node in range(first, end):
        for k in range(set_start[node], set_start[node] + set_size[node]):
            entry[at] = node
            after[at] = head[sets[k]]
            head[sets[k]] = at
            at += 1
    return at


@kernel
def cover_set(wanted, set_start, set_size, sets, head, after, entry, left, within, overlap, most_lacks, overlapping):
    """The nodes that make up a set of writers, and their signs: partial aggregates, then writers.

    Again and again the partial aggregate is taken that saves most: all of whose writers are left to be covered; or all
    but `most_lacks`, which are subtracted; or all wanted, if they may overlap. `left`, `within` and `overlap` are
    scratch, zero before and after: by writer, by node, by node.
    """
    nodes = np.empty(len(wanted) + 16, np.int64)
    signs = np.empty(len(wanted) + 16, np.int64)
    touched = np.empty(64, np.int64)
    many = 0
    for writer in wanted:
        left[writer] = 1
        at = head[writer]
        while at != NONE:
            node = entry[at]
            if set_size[node] > 0:
                if within[node] == 0:
                    if many == len(touched):
                        longer = np.empty(2 * many, np.int64)
                        longer[:many] = touched
                        touched = longer
                    touched[many] = node
                    many += 1
                within[node] += 1
                overlap[node] += 1
            at = after[at]
    count = 0
    live = many
    while True:
        best, best_gain = NONE, 0
        kept = 0
        for t in range(live):
            node = touched[t]
            lacks = set_size[node] - (within[node] if overlapping else overlap[node])
            gain = overlap[node] - 1 - lacks
            if gain > 0 and lacks <= most_lacks:
                touched[kept], touched[t] = node, touched[kept]
                kept += 1
                if gain > best_gain and _may_lack(set_start[node], set_size[node], sets, left, overlapping):
                    best, best_gain = node, gain
        live = kept
        if best == NONE:
            break
        nodes[count], signs[count] = best, 1
        count += 1
        for k in range(set_start[best], set_start[best] + set_size[best]):
            writer = sets[k]
            if left[writer] == 1:
                left[writer] = 2
                at = head[writer]
                while at != NONE:
                    overlap[entry[at]] -= set_size[entry[at]] > 0
                    at = after[at]
            elif not overlapping:
                left[writer] = 3 if left[writer] == 2 else 4
                nodes[count], signs[count] = writer, -1
                count += 1
    for writer in wanted:
        if left[writer] == 1:
            nodes[count], signs[count] = writer, 1
            count += 1
    for t in range(many):
        within[touched[t]] = overlap[touched[t]] = 0
    for writer in wanted:
        left[writer] = 0
    for k in range(count):
        if signs[k] < 0:
            left[nodes[k]] = 0
    return nodes[:count], signs[:count]


@kernel
def _may_lack(start, size, sets, left, overlapping):
    """Whether none of a set's writers is subtracted already: it cannot be twice."""
    if overlapping:
        return True
    for k in range(start, start + size):
        if left[sets[k]] > 2:
            return False
    return True


@kernel
def cover_readers(readers, starts, writers, heads, pool, index, scratch, overlapping):
    """The readers, by node, that partial aggregates make up with fewer inputs than they have; where these start; these.

    Reader k has the writers from `starts[k]` on, by node. If what saves most of all of them saves nothing, the inputs
    that are writers are covered by themselves: partial aggregates that the reader has may go well with others. A reader
    that pushes can only use partial aggregates that push.
    """
    covered = np.empty(len(readers), np.int64)
    ends = np.zeros(len(readers) + 1, np.int64)
    inputs = np.empty(64, np.int64)
    many = 0
    for k in range(len(readers)):
        node = readers[k]
        first, size = heads[node, IN], heads[node, IN + SIZE]
        found = _usable_cover(node, writers[starts[k] : starts[k + 1]], heads, index, scratch, overlapping)
        if len(found) >= size:
            singles = np.empty(size, np.int32)
            others = np.empty(size, np.int64)
            single, other, negatives = 0, 0, 0
            for entry in pool[first : first + size]:
                negatives += entry & NEGATIVE
                if heads[entry >> 2, FLAGS] & WRITER:
                    singles[single] = entry >> 2
                    single += 1
                else:
                    others[other] = entry >> 2
                    other += 1
            if negatives > 0:
                continue
            found = _usable_cover(node, singles[:single], heads, index, scratch, overlapping)
            found = np.unique(np.concatenate((others[:other], found)))
        if len(found) < size:
            at = ends[many]
            inputs = grow_stack(inputs, at + len(found))
            inputs[at : at + len(found)] = found
            covered[many] = node
            many += 1
            ends[many] = at + len(found)
    return covered[:many].copy(), ends[: many + 1].copy(), inputs[: ends[many]].copy()


@kernel
def _usable_cover(node, wanted, heads, index, scratch, overlapping):
    """Partial aggregates that a reader can use, and writers, which make up these writers, all by node."""
    set_start, set_size, sets, head, after, entry = index
    left, within, overlap = scratch
    found, _ = cover_set(wanted, set_start, set_size, sets, head, after, entry, left, within, overlap, 0, overlapping)
    if heads[node, FLAGS] & PUSH == 0:
        return found
    size = len(found)
    for each in found:
        size += set_size[each] if heads[each, FLAGS] & PUSH == 0 else 0
    if size == len(found):
        return found
    usable = np.empty(size, np.int64)
    at = 0
    for each in found:
        if heads[each, FLAGS] & PUSH:
            usable[at] = each
            at += 1
        else:
            for k in range(set_start[each], set_start[each] + set_size[each]):
                usable[at] = sets[k]
                at += 1
    return np.unique(usable[:at])
