"""A table of memory blocks that kernels allocate, share and free by slot number.

Every batch, spine and scratch list of the engine is one block of int64 words; a slot is its
number in the heap. Blocks are counted: who stores a slot retains it, who forgets it releases it.
Kernels see a block as a plain array through `words`, so nothing of Python is touched between them.

Blocks of a huge page and more are kept for a while when they are freed: memory that is touched for the
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
    "FOREIGN",
    "HEAP_FIELDS",
    "LIVE_WORDS",
    "NONE",
    "OWNER",
    "PEAK_WORDS",
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
FOREIGN = 4  # 1 if the memory belongs to someone else, such as a mapped file
HEAP_FIELDS = 5

# Row 0 is no slot: it holds the heap's own state.
FREE_LIST = 0
NEXT_UNUSED = 1
LIVE_WORDS = 2
PEAK_WORDS = 3
SPARE_WORDS = 4

# The next rows are no slots either: each holds the address and the pages of a spare block.
FIRST_SPARE = 1
SPARES = 63
FIRST_SLOT = FIRST_SPARE + SPARES
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
def _pages(size):
    """Huge pages for a block: a number with few significant bits, so that a spare one often fits."""
    pages = (size + PAGE_WORDS - 1) // PAGE_WORDS
    step = 1 << max(0, bit_length(np.uint64(pages)) - 4)
    return (pages + step - 1) // step * step


@kernel
def _obtain(heap, size):
    """The address of memory for `size` words."""
    if size < PAGE_WORDS:
        address = malloc(max(size, 1) * 8)
    else:
        pages = _pages(size)
        for spare in range(FIRST_SPARE, FIRST_SLOT):
            if heap[spare, SIZE] == pages:
                heap[spare, SIZE] = 0
                heap[0, SPARE_WORDS] -= pages * PAGE_WORDS
                return heap[spare, ADDRESS]
        address = allocate_pages(pages)
    if address == 0:
        raise MemoryError("the machine has no memory left")
    return address


@kernel
def _give_back(heap, address, size):
    """Free the memory of a block of `size` words, or keep it as a spare one."""
    if size >= PAGE_WORDS:
        pages = _pages(size)
        held = heap[0, SPARE_WORDS] + pages * PAGE_WORDS
        if held <= max(MOST_SPARE_WORDS, heap[0, LIVE_WORDS] // 2):
            for spare in range(FIRST_SPARE, FIRST_SLOT):
                if heap[spare, SIZE] == 0:
                    heap[spare, ADDRESS] = address
                    heap[spare, SIZE] = pages
                    heap[0, SPARE_WORDS] = held
                    return
    free(address)


@leaf
def _enter(heap, owner, address, size, foreign):
    slot = _take_slot(heap)
    heap[slot, ADDRESS] = address
    heap[slot, SIZE] = size
    heap[slot, OWNER] = owner
    heap[slot, COUNT] = 1
    heap[slot, FOREIGN] = foreign
    heap[0, LIVE_WORDS] += size
    heap[0, PEAK_WORDS] = max(heap[0, PEAK_WORDS], heap[0, LIVE_WORDS])
    return slot


@kernel
def allocate(heap, owner, size):
    """A new block of `size` words, its content undefined, counted once."""
    return _enter(heap, owner, _obtain(heap, size), size, 0)


@kernel
def adopt(heap, owner, address, size):
    """A slot for memory that someone else keeps alive and will free."""
    return _enter(heap, owner, address, size, 1)


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
    if heap[slot, FOREIGN] == 0:
        _give_back(heap, heap[slot, ADDRESS], heap[slot, SIZE])
    heap[0, LIVE_WORDS] -= heap[slot, SIZE]
    heap[slot, ADDRESS] = 0
    heap[slot, SIZE] = heap[0, FREE_LIST]
    heap[0, FREE_LIST] = slot


@kernel
def resize(heap, slot, size, keep):
    """Give the slot a block of `size` words, the first `keep` of them as before."""
    address = _obtain(heap, size)
    copy_words(address, heap[slot, ADDRESS], keep)
    _give_back(heap, heap[slot, ADDRESS], heap[slot, SIZE])
    heap[0, LIVE_WORDS] += size - heap[slot, SIZE]
    heap[0, PEAK_WORDS] = max(heap[0, PEAK_WORDS], heap[0, LIVE_WORDS])
    heap[slot, ADDRESS] = address
    heap[slot, SIZE] = size


@kernel
def release_all(heap):
    """Free every block, whoever holds it: the end of the heap."""
    for slot in range(FIRST_SLOT, heap[0, NEXT_UNUSED]):
        if heap[slot, COUNT] > 0:
            heap[slot, COUNT] = 1
            release(heap, slot)
    for spare in range(FIRST_SPARE, FIRST_SLOT):
        if heap[spare, SIZE] != 0:
            free(heap[spare, ADDRESS])
            heap[spare, SIZE] = 0
    heap[0, SPARE_WORDS] = 0


@kernel
def owned_words(heap, totals):
    """Add each live slot's words to `totals[owner]`."""
    for slot in range(FIRST_SLOT, heap[0, NEXT_UNUSED]):
        if heap[slot, ADDRESS] != 0:
            totals[heap[slot, OWNER]] += heap[slot, SIZE]
