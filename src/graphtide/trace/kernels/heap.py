"""A table of memory blocks that kernels allocate, share and free by slot number.

Every batch, spine and scratch list of the engine is one block of int64 words; a slot is its
number in the heap. Blocks are counted: who stores a slot retains it, who forgets it releases it.
Kernels see a block as a plain array through `words`, so nothing of Python is touched between them.

Invariant: a slot is live while its count is positive; slot 0 is never live and means "none".
"""

from __future__ import annotations

from graphtide.jit import kernel
from graphtide.memory import address_to_words, copy_words, free, malloc

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


@kernel
def open_heap(heap):
    """Make a zeroed table an empty heap."""
    heap[0, FREE_LIST] = NONE
    heap[0, NEXT_UNUSED] = 1


@kernel
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


@kernel
def allocate(heap, owner, size):
    """A new block of `size` words, its content undefined, counted once."""
    slot = _take_slot(heap)
    address = malloc(max(size, 1) * 8)
    if address == 0:
        raise MemoryError("the machine has no memory left")
    heap[slot, ADDRESS] = address
    heap[slot, SIZE] = size
    heap[slot, OWNER] = owner
    heap[slot, COUNT] = 1
    heap[slot, FOREIGN] = 0
    heap[0, LIVE_WORDS] += size
    heap[0, PEAK_WORDS] = max(heap[0, PEAK_WORDS], heap[0, LIVE_WORDS])
    return slot


@kernel
def adopt(heap, owner, address, size):
    """A slot for memory that someone else keeps alive and will free."""
    slot = _take_slot(heap)
    heap[slot, ADDRESS] = address
    heap[slot, SIZE] = size
    heap[slot, OWNER] = owner
    heap[slot, COUNT] = 1
    heap[slot, FOREIGN] = 1
    heap[0, LIVE_WORDS] += size
    heap[0, PEAK_WORDS] = max(heap[0, PEAK_WORDS], heap[0, LIVE_WORDS])
    return slot


@kernel
def words(heap, slot):
    """The block as an array; valid until the slot is released or resized."""
    return address_to_words(heap[slot, ADDRESS], heap[slot, SIZE])


@kernel
def fill(heap, slot, values):
    """Write words from the block's beginning on."""
    words(heap, slot)[: values.shape[0]] = values


@kernel
def retain(heap, slot):
    """Count one more holder of the slot, and return it."""
    if slot != NONE:
        heap[slot, COUNT] += 1
    return slot


@kernel
def release(heap, slot):
    """One holder less; the last one frees the block."""
    if slot == NONE:
        return
    heap[slot, COUNT] -= 1
    if heap[slot, COUNT] > 0:
        return
    if heap[slot, FOREIGN] == 0:
        free(heap[slot, ADDRESS])
    heap[0, LIVE_WORDS] -= heap[slot, SIZE]
    heap[slot, ADDRESS] = 0
    heap[slot, SIZE] = heap[0, FREE_LIST]
    heap[0, FREE_LIST] = slot


@kernel
def resize(heap, slot, size, keep):
    """Give the slot a block of `size` words, the first `keep` of them as before."""
    address = malloc(max(size, 1) * 8)
    if address == 0:
        raise MemoryError("the machine has no memory left")
    copy_words(address, heap[slot, ADDRESS], keep)
    free(heap[slot, ADDRESS])
    heap[0, LIVE_WORDS] += size - heap[slot, SIZE]
    heap[0, PEAK_WORDS] = max(heap[0, PEAK_WORDS], heap[0, LIVE_WORDS])
    heap[slot, ADDRESS] = address
    heap[slot, SIZE] = size


@kernel
def release_all(heap):
    """Free every block, whoever holds it: the end of the heap."""
    for slot in range(1, heap[0, NEXT_UNUSED]):
        if heap[slot, COUNT] > 0:
            heap[slot, COUNT] = 1
            release(heap, slot)


@kernel
def owned_words(heap, totals):
    """Add each live slot's words to `totals[owner]`."""
    for slot in range(1, heap[0, NEXT_UNUSED]):
        if heap[slot, ADDRESS] != 0:
            totals[heap[slot, OWNER]] += heap[slot, SIZE]
