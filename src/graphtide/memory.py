"""Raw memory for kernels: the C library's allocator, and arrays over an address.

Only `trace.kernels.heap` uses it. An array made from an address owns nothing and counts nothing,
which is what makes it free of cost in a kernel; the heap answers for its lifetime.
"""

from __future__ import annotations

from typing import Any

from numba import carray, types
from numba.extending import intrinsic

from graphtide.jit import kernel

__all__ = ["address_to_words", "copy_words", "free", "malloc"]

malloc = types.ExternalFunction("malloc", types.intp(types.intp))
free = types.ExternalFunction("free", types.void(types.intp))
_memcpy = types.ExternalFunction("memcpy", types.intp(types.intp, types.intp, types.intp))


@intrinsic
def _as_pointer(_context: Any, _address: Any) -> Any:  # noqa: ANN401
    signature = types.CPointer(types.int64)(types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return signature, generate


@kernel
def address_to_words(address, size):
    """The `size` int64 words at `address`, as an array."""
    return carray(_as_pointer(address), size)


@kernel
def copy_words(target, source, size):
    """Copy `size` words from address to address."""
    _memcpy(target, source, size * 8)
