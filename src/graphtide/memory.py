"""Raw memory for kernels: the C library's allocator, and arrays over an address.

An array made from an address owns nothing and counts nothing,
which is what makes it free of cost in a kernel; the heap answers for its lifetime.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import carray, types  # pyright: ignore[reportPrivateImportUsage] - it is documented there
from numba.extending import intrinsic

from graphtide.jit import kernel, leaf

__all__ = [
    "PAGE_WORDS",
    "address_to_array",
    "address_to_words",
    "allocate_pages",
    "byte_at",
    "copy_words",
    "free",
    "malloc",
    "prefetch",
    "prefetch_either",
]

# A huge page of x86 and ARM: 2 MiB. Faulting one in costs little more than a small one.
PAGE_WORDS = 1 << 18
_WANT_HUGE_PAGES = 14  # MADV_HUGEPAGE; where there are none the advice is refused, and harmless

malloc = types.ExternalFunction("malloc", types.intp(types.intp))
_aligned_alloc = types.ExternalFunction("aligned_alloc", types.intp(types.intp, types.intp))
_madvise = types.ExternalFunction("madvise", types.int32(types.intp, types.intp, types.int32))
free = types.ExternalFunction("free", types.void(types.intp))
_memcpy = types.ExternalFunction("memcpy", types.intp(types.intp, types.intp, types.intp))


@intrinsic
def _as_pointer(_context: Any, _address: Any) -> Any:
    signature = types.CPointer(types.int64)(types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return signature, generate


@leaf
def address_to_words(address, size):
    """The `size` int64 words at `address`, as an array."""
    return carray(_as_pointer(address), size)  # pyright: ignore[reportCallIssue] - numba fills in the context


@intrinsic
def _as_pointer_like(_context: Any, _address: Any, like: Any) -> Any:
    dtype = like if isinstance(like, types.Number) else like.dtype
    signature = types.CPointer(dtype)(types.int64, like)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return signature, generate


@leaf
def address_to_array(address, size, like):
    """The `size` elements at `address`, as an array of the type that `like`, an array or a number, has or is."""
    return carray(_as_pointer_like(address, like), size)  # pyright: ignore[reportCallIssue] - numba fills in the context


@intrinsic
def byte_at(_context: Any, _address: Any) -> Any:
    """The byte at an address."""
    signature = types.uint8(types.int64)

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))

    return signature, generate


@leaf
def copy_words(target, source, size):
    """Copy `size` words from address to address."""
    _memcpy(target, source, size * 8)


@kernel
def allocate_pages(pages):
    """The address of whole huge pages, 0 if there is no memory; `free` takes it back."""
    address = _aligned_alloc(PAGE_WORDS * 8, pages * PAGE_WORDS * 8)
    if address != 0:
        _madvise(address, pages * PAGE_WORDS * 8, _WANT_HUGE_PAGES)
    return address


def _prefetch(_context: Any, array: Any, index: Any) -> Any:
    """Have a row of an array in the cache soon; a hint, so the row need not be there."""
    signature = types.void(array, index)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _ask_for(builder, _row(context, builder, signature.args, arguments))
        return context.get_dummy_value()

    return signature, generate


prefetch: Any = intrinsic(_prefetch)


def _prefetch_either(_context: Any, which: Any, array: Any, index: Any, other: Any, its_index: Any) -> Any:
    """`prefetch` of a row of the first array if `which` is true, else of the second: chosen without a branch."""
    signature = types.void(which, array, index, other, its_index)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first = _row(context, builder, signature.args[1:3], arguments[1:3])
        second = _row(context, builder, signature.args[3:], arguments[3:])
        chosen = context.cast(builder, arguments[0], signature.args[0], types.boolean)
        chosen = builder.trunc(chosen, ir.IntType(1)) if chosen.type != ir.IntType(1) else chosen
        _ask_for(builder, builder.select(chosen, first, second))
        return context.get_dummy_value()

    return signature, generate


prefetch_either: Any = intrinsic(_prefetch_either)


def _row(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
    """The address of a row, of an array and an index with these types."""
    struct = context.make_array(kinds[0])(context, builder, arguments[0])
    stride = builder.extract_value(struct.strides, 0)
    place = context.cast(builder, arguments[1], kinds[1], types.intp)
    return builder.gep(builder.bitcast(struct.data, ir.IntType(8).as_pointer()), [builder.mul(place, stride)])


def _ask_for(builder: Any, address: Any) -> None:
    hint = ir.FunctionType(ir.VoidType(), [address.type, *[ir.IntType(32)] * 3])
    function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], hint)
    # To be read, kept in all levels, data.
    builder.call(function, [address, *[ir.Constant(ir.IntType(32), each) for each in (0, 3, 1)]])
