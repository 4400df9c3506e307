"""Memory that every part of a bench finds ready, so that no figure contains the price of new pages.

On a virtual machine the first write to a page that its host has not given it yet can cost more than
all work on it: 30 ns a word were seen, in every new process. That says much about the host and
nothing about the programs that are compared.
"""

from __future__ import annotations

import ctypes

__all__ = ["hold_memory"]

_TRIM_THRESHOLD = -1
_MMAP_MAX = -4
_WANT_HUGE_PAGES = 14
_HUGE_PAGE = 1 << 21


def hold_memory(size: int) -> bool:
    """Touch so many bytes and keep them for what this process allocates next; whether that is possible here."""
    try:
        library = ctypes.CDLL(None)
        # What is freed stays with the process, and no block is so large that it is mapped apart.
        if not (library.mallopt(_TRIM_THRESHOLD, -1) and library.mallopt(_MMAP_MAX, 0)):
            return False
        library.aligned_alloc.restype = ctypes.c_void_p
        address = ctypes.c_void_p(library.aligned_alloc(ctypes.c_size_t(_HUGE_PAGE), ctypes.c_size_t(size)))
    except (AttributeError, OSError):
        return False  # another C library
    if not address:
        return False
    library.madvise(address, ctypes.c_size_t(size), _WANT_HUGE_PAGES)
    ctypes.memset(address, 1, size)
    library.free(address)
    return True
