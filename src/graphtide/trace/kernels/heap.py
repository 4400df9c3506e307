"""A table of memory blocks that kernels allocate, share and free by slot number.

Every batch, spine and scratch list of the engine is one block of int64 words; a slot is its
number in the heap. Blocks are counted: who stores a slot retains it, who forgets it releases it.
Kernels see a block as a plain array through `words`, so nothing of Python is touched between them.

Blocks of 32 KiB and more are kept for a while when they are freed: memory that is touched for the
first time costs ten times as much to write as memory that was used before.

Invariant: a slot is live while its count is positive; slot 0 is never live and means "none".
"""

from __future__ import annotations

import numpy as np

from graphtide.jit import kernel, leaf
from graphtide.memory import PAGE_WORDS, address_to_words, allocate_pages, copy_words, free, malloc
from graphtide.trace.kernels.radix import bit_length

__all__ = [
    "ADDRESS",
    "COUNT",
    "HEAP_FIELDS",
    "LIVE_WORDS",
    "NONE",
    "OWNER",
    "PEAK_WORDS",
    "ROOM",
    "SIZE",
    "SPARE_WORDS",
    "adopt",
    "allocate",
    "fill",
    "open_heap",
    "owned_words",
    "release",
    "release_all",
    "resize",
    "retain",
    "words",
]

NONE = 0

# Fields of a slot's row in the heap table.
ADDRESS = 0
SIZE = 1  # in words; in a free slot, the next free slot
OWNER = 2  # the operator that answers for the bytes
COUNT = 3
ROOM = 4  # the words there are for it; 0 if the memory belongs to someone else, such as a mapped file
HEAP_FIELDS = 5

# Row 0 is no slot: it holds the heap's own state.
FREE_LIST = 0
NEXT_UNUSED = 1
LIVE_WORDS = 2
PEAK_WORDS = 3
SPARE_WORDS = 4  # in spare blocks, and beyond the size of live ones

# The next rows are no slots either: each holds the address and the words of a spare block.
FIRST_SPARE = 1
SPARES = 127
FIRST_SLOT = FIRST_SPARE + SPARES
# Smaller blocks are the allocator's to keep; of larger ones it gives the last back to the system at once.
LEAST_SPARE = 1 << 12
# Spare blocks may hold this much, or half of what is live.
MOST_SPARE_WORDS = 1 << 24


@kernel
def open_heap(heap):
    """Make a zeroed table an empty heap."""
    heap[0, FREE_LIST] = NONE
    heap[0, NEXT_UNUSED] = FIRST_SLOT


@leaf
def _take_slot(heap):
    slot = heap[0, FREE_LIST]
    if slot != NONE:
        heap[0, FREE_LIST] = heap[slot, SIZE]
        return slot
    slot = heap[0, NEXT_UNUSED]
    if slot >= heap.shape[0]:
        raise MemoryError("the heap has no free slot")
    heap[0, NEXT_UNUSED] = slot + 1
    return slot


@leaf
def _room(size):
    """The words that a new block of `size` is given: a number of few significant bits, so that it fits others later."""
    if size < LEAST_SPARE:
        return max(size, 1)
    unit = PAGE_WORDS if size >= PAGE_WORDS else 1
    units = (size + unit - 1) // unit
    step = 1 << max(0, bit_length(np.uint64(units)) - 4)
    return (units + step - 1) // step * step * unit


@kernel
def _obtain(heap, size):
    """The address of memory for `size` words and how many are there: the least spare block that fits, or a new one."""
    room = _room(size)
    if size >= LEAST_SPARE:
        best = 0
        for spare in range(FIRST_SPARE, FIRST_SLOT):
            held = heap[spare, ROOM]
            if held >= size and held <= 2 * room and (best == 0 or held < heap[best, ROOM]):
                best = spare
        if best != 0:
            room = heap[best, ROOM]
            heap[best, ROOM] = 0
            heap[0, SPARE_WORDS] -= size
            return heap[best, ADDRESS], room
    address = malloc(room * 8) if room < PAGE_WORDS else allocate_pages(room // PAGE_WORDS)
    if address == 0:
        raise MemoryError("the machine has no memory left")
    heap[0, SPARE_WORDS] += room - size
    return address, room


@kernel
def _give_back(heap, slot):
    """Free the memory of a block, or keep it as a spare one."""
    address = heap[slot, ADDRESS]
    room = heap[slot, ROOM]
    if room >= LEAST_SPARE and heap[0, SPARE_WORDS] + heap[slot, SIZE] <= max(
        MOST_SPARE_WORDS, heap[0, LIVE_WORDS] // 2
    ):
        for spare in range(FIRST_SPARE, FIRST_SLOT):
            if heap[spare, ROOM] == 0:
                heap[spare, ADDRESS] = address
                heap[spare, ROOM] = room
                heap[0, SPARE_WORDS] += heap[slot, SIZE]
                return
    heap[0, SPARE_WORDS] -= room - heap[slot, SIZE]
    free(address)


@leaf
def _enter(heap, owner, address, size, room):
    slot = _take_slot(heap)
    heap[slot, ADDRESS] = address
    heap[slot, SIZE] = size
    heap[slot, OWNER] = owner
    heap[slot, COUNT] = 1
    heap[slot, ROOM] = room
    heap[0, LIVE_WORDS] += size
    heap[0, PEAK_WORDS] = max(heap[0, PEAK_WORDS], heap[0, LIVE_WORDS])
    return slot


@kernel
def allocate(heap, owner, size):
    """A new block of `size` words, its content undefined, counted once."""
    address, room = _obtain(heap, size)
    return _enter(heap, owner, address, size, room)


@kernel
def adopt(heap, owner, address, size):
    """A slot for memory that someone else keeps alive and will free."""
    return _enter(heap, owner, address, size, 0)


@leaf
def words(heap, slot):
    """The block as an array; valid until the slot is released or resized."""
    return address_to_words(heap[slot, ADDRESS], heap[slot, SIZE])


@kernel
def fill(heap, slot, values):
    """Write words from the block's beginning on."""
    words(heap, slot)[: values.shape[0]] = values


@leaf
def retain(heap, slot):
    """Count one more holder of the slot, and return it."""
    if slot != NONE:
        heap[slot, COUNT] += 1
    return slot


@leaf
def release(heap, slot):
    """One holder less; the last one frees the block."""
    if slot == NONE:
        return
    heap[slot, COUNT] -= 1
    if heap[slot, COUNT] > 0:
        return
    if heap[slot, ROOM] != 0:
        _give_back(heap, slot)
    heap[0, LIVE_WORDS] -= heap[slot, SIZE]
    heap[slot, ADDRESS] = 0
    heap[slot, SIZE] = heap[0, FREE_LIST]
    heap[0, FREE_LIST] = slot


@kernel
def resize(heap, slot, size, keep):
    """Give the slot a block of `size` words, the first `keep` of them as before."""
    address, room = _obtain(heap, size)
    copy_words(address, heap[slot, ADDRESS], keep)
    _give_back(heap, slot)
    heap[0, LIVE_WORDS] += size - heap[slot, SIZE]
    heap[0, PEAK_WORDS] = max(heap[0, PEAK_WORDS], heap[0, LIVE_WORDS])
    heap[slot, ADDRESS] = address
    heap[slot, SIZE] = size
    heap[slot, ROOM] = room


@kernel
def release_all(heap):
    """Free every block, whoever holds it: the end of the heap."""
    for slot in range(FIRST_SLOT, heap[0, NEXT_UNUSED]):
        if heap[slot, COUNT] > 0:
            heap[slot, COUNT] = 1
            release(heap, slot)
    for spare in range(FIRST_SPARE, FIRST_SLOT):
        if heap[spare, ROOM] != 0:
            free(heap[spare, ADDRESS])
            heap[spare, ROOM] = 0
    heap[0, SPARE_WORDS] = 0


@kernel
def owned_words(heap, totals):
    """Add each live slot's words to `totals[owner]`."""
    for slot in range(FIRST_SLOT, heap[0, NEXT_UNUSED]):
        if heap[slot, ADDRESS] != 0:
            totals[heap[slot, OWNER]] += heap[slot, SIZE]
