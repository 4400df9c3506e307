"""Arrays by node and by writer, which lie in memory as operations need them.

A row that spans two cache lines takes two looks; where NumPy puts an array, that is half of all heads or none, by
chance. What one operation looks at in several arrays should not compete for the same few sets of a cache, of which a
page has each once: so each array begins elsewhere in a page. Large arrays lie in huge pages: then it is no chance
either which addresses compete for the sets of larger caches, and there are fewer pages to be found. So a plan takes
more nearly the same time wherever it lies.
"""

from __future__ import annotations

import math
import mmap
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["COUNTS", "HEADS", "LISTS", "STATES", "WINDOWS", "grown", "lined_up"]

_PAGE: Final = 4096
_HUGE_PAGE: Final = 1 << 21
# An array of so many bytes takes huge pages: no more than twice the memory.
_LARGE: Final = 1 << 20

# Where in a page arrays begin, in bytes: at a line.
HEADS: Final = 0
LISTS: Final = 640
STATES: Final = 1280
COUNTS: Final = 1920
WINDOWS: Final = 2560

_Element = TypeVar("_Element", bound=np.generic)


def lined_up(shape: tuple[int, ...], dtype: type[_Element], begins: int, fill: Any = 0) -> NDArray[_Element]:
    """An array that begins there in a page."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room, page = (_huge_pages(size), _HUGE_PAGE) if size >= _LARGE else (np.zeros(size + _PAGE, np.uint8), _PAGE)
    first = (begins - room.ctypes.data) % page
    array = room[first : first + size].view(dtype).reshape(shape)
    if fill:
        array[...] = fill
    return array


def grown(array: NDArray[_Element], size: int, fill: Any = 0) -> NDArray[_Element]:
    """A longer array that begins as this one, and there in a page."""
    longer = lined_up((size, *array.shape[1:]), array.dtype.type, array.ctypes.data % _PAGE, fill)
    longer[: len(array)] = array
    return longer


def _huge_pages(size: int) -> NDArray[np.uint8]:
    """Zeros, from some byte on so many of them in huge pages where there are such."""
    room = mmap.mmap(-1, size + _HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        room.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(room, np.uint8)
