"""Memory that every part of a bench finds ready, so that no figure contains the price of new pages.

On a virtual machine the first write to a page that its host has not given it yet can cost more than
all work on it: 30 ns a word were seen, in every new process. That says much about the host and
nothing about the programs that are compared.
"""

from __future__ import annotations

import ctypes
import ctypes.util

import numpy as np

__all__ = ["hold_memory"]

_TRIM_THRESHOLD = -1
_MMAP_MAX = -4


def hold_memory(size: int) -> bool:
    """Touch so many bytes and keep them for what this process allocates next; whether that is possible here."""
    library = ctypes.util.find_library("c")
    if library is None or not hasattr(ctypes.CDLL(library), "mallopt"):
        return False
    mallopt = ctypes.CDLL(library).mallopt
    # What is freed stays with the process, and no block is so large that it is mapped apart.
    if not (mallopt(_TRIM_THRESHOLD, -1) and mallopt(_MMAP_MAX, 0)):
        return False
    np.empty(size, np.uint8).fill(1)
    return True
