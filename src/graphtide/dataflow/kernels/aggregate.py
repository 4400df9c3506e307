"""What the built-in reductions make of the content of a key.

Each takes the key's list of (values..., multiplicity) and writes the list of output rows. Values with
a multiplicity that is not positive do not count, except in sums and counts, which are linear.
"""

from __future__ import annotations

from graphtide.dataflow.kernels.layout import COUNT, FIRST, LAST, THRESHOLD
from graphtide.dataflow.kernels.lists import ALL, grow
from graphtide.dataflow.kernels.weigh import total_of_weights
from graphtide.jit import kernel, leaf

__all__ = ["aggregate", "direction", "extent"]

OVERFLOW = -1


@leaf
def extent(parameters):
    """How many rows of the content the reduction needs to see."""
    if parameters[0] == FIRST or parameters[0] == LAST:
        return parameters[1]
    return ALL


@leaf
def direction(parameters):
    """From which end it looks at them: 1 from the least, -1 from the greatest."""
    return -1 if parameters[0] == LAST else 1


@kernel
def aggregate(parameters, content, count, values, out):
    """The output rows for the content; parameters are the kind, then its arguments.

    The number of rows is OVERFLOW when a total does not fit.
    """
    kind = parameters[0]
    if count == 0:
        return out, 0
    if kind == COUNT:
        total = 0
        for i in range(count):
            total += content[i, values]
        out = grow(out, 1)
        out[0, 0] = total
        out[0, 1] = 1
        return out, 0 if total == 0 else 1
    if kind == THRESHOLD:
        out = grow(out, 1)
        out[0, 0] = 1
        return out, 1 if content[0, 0] >= parameters[1] else 0
    if kind == FIRST or kind == LAST:
        return _first(parameters[1], content, count, values, kind == LAST, out)
    return total_of_weights(parameters[1], content, count, out)


@kernel
def _first(most, content, count, values, backwards, out):
    """The first `most` rows of the content, counted with their multiplicity, in ascending order."""
    left = most
    kept = 0
    out = grow(out, count)
    while kept < count and left > 0:
        times = min(left, content[kept, values])
        for c in range(values):
            out[kept, c] = content[kept, c]
        out[kept, values] = times
        left -= times
        kept += 1
    if backwards:
        for k in range(kept // 2):
            for c in range(values + 1):
                out[k, c], out[kept - 1 - k, c] = out[kept - 1 - k, c], out[k, c]
    return out, kept
