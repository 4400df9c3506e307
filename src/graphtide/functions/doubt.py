"""A word of each thread, in which compiled functions note that their result is not what Python's would be."""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Final

import numpy as np
from numba import types  # pyright: ignore[reportPrivateImportUsage] - it is documented there
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["doubt", "doubt_flag", "doubted", "note_doubt", "set_flag"]

_cgutils: Any = cgutils


def doubted() -> bool:
    """Whether a checked function noted something in this thread since it last asked."""
    flag = _flags.word
    found = bool(flag[0])
    flag[0] = 0
    return found


def note_doubt() -> None:
    """Let `doubted` tell of an int that compiled code found to be too long by itself."""
    _flags.word[0] = 1


def doubt_flag() -> int:
    """The address of the word that checked functions set in this thread, for kernels that ask who did."""
    return int(_flags.word.ctypes.data)


_pthread: Any = ctypes.CDLL(None)
# Set in threads that have not asked yet: none is missed, and the first that asks gets it.
_UNASKED: Final = np.zeros(1, np.int64)


class _Flags(threading.local):
    """A word of each thread, which checked functions find by what the C library keeps for the thread."""

    key: Final = ctypes.c_uint()

    def __init__(self) -> None:
        self.word = _UNASKED.copy()
        _UNASKED[0] = 0
        _pthread.pthread_setspecific(self.key, ctypes.c_void_p(self.word.ctypes.data))


_pthread.pthread_key_create(ctypes.byref(_Flags.key), None)
_flags: Final = _Flags()


def set_flag(context: Any, builder: Any) -> None:
    """Note in compiled code what must not be; only then is it asked whose word that is."""
    word = context.get_value_type(types.int64)
    key = context.get_constant(types.uint32, _Flags.key.value)
    place = _cgutils.ir.FunctionType(word.as_pointer(), [key.type])
    getter = _cgutils.get_or_insert_function(builder.module, place, "pthread_getspecific")
    own = builder.call(getter, [key])
    unasked = builder.inttoptr(context.get_constant(types.int64, _UNASKED.ctypes.data), word.as_pointer())
    flag = builder.select(_cgutils.is_null(builder, own), unasked, own)
    builder.store(context.get_constant(types.int64, 1), flag)


@intrinsic
def doubt(_context: Any) -> Any:
    """Note in compiled code that what it makes is not to be trusted; 0."""

    def generate(context: Any, builder: Any, _signature: Any, _values: Any) -> Any:
        set_flag(context, builder)
        return context.get_constant(types.int64, 0)

    return types.int64(), generate
