"""States of a user's making as words, and functions of them by address."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types  # pyright: ignore[reportPrivateImportUsage] - it is documented there
from numba.core import cgutils
from numba.extending import intrinsic

from graphtide.errors import UsageError
from graphtide.functions.compiled import Pointer, as_bits, compile_for, name_of, point_to

__all__ = ["State", "check_keeps_types", "plain", "point_to_states"]

_types: Any = types
_cgutils: Any = cgutils

# A state of a user's making: a number, or a few of them.
State = float | tuple[float, ...]


def check_keeps_types(each: Any, takes: tuple[State, ...], like: State) -> None:
    """Compile a function for arguments such as these; an error if it does not make a state of the types of `like`.

    In Python a state may become a float that was an int; words that are taken for ints stay that.
    """
    made = compile_for(each, tuple(numba.typeof(one) for one in takes))
    if plain(made) != numba.typeof(like):
        raise UsageError(f"{name_of(each)} makes {made}, not a state such as {like}")


def point_to_states(each: Any, like: State, second: State | None = None) -> Pointer:
    """A compiled function of two states, whose arguments are addresses of words: both, and where the result goes.

    With `second` it is one of a state and a number such as that, which is given by its bits.
    """
    if second is None:

        def of_states(one: Any, other: Any, out: Any) -> Any:
            return _store(out, each(_load(one, like), _load(other, like)))  # pyright: ignore[reportCallIssue]

        function = of_states
    else:

        def of_number(one: Any, bits: Any, out: Any) -> Any:
            return _store(out, each(_load(one, like), as_bits(bits, second)))  # pyright: ignore[reportCallIssue]

        function = of_number
    word = np.dtype(np.int64)
    return point_to(function, (word, word, word), word)


def plain(kind: Any) -> Any:
    """The type of a constant's values, and those of a tuple's parts."""
    if isinstance(kind, _types.BaseTuple):
        return _types.BaseTuple.from_types([plain(each) for each in kind])
    return _types.unliteral(kind)


@intrinsic
def _load(_context: Any, _address: Any, like: Any) -> Any:
    """The state at an address, of the types that `like` has."""
    signature = like(types.int64, like)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        made = signature.return_type
        parts = list(made.types) if isinstance(made, _types.BaseTuple) else [made]
        pointer = builder.inttoptr(values[0], context.get_value_type(types.int64).as_pointer())
        found: list[Any] = []
        for k, part in enumerate(parts):
            word = builder.load(_cgutils.gep_inbounds(builder, pointer, k))
            is_truth = isinstance(part, _types.Boolean)
            found.append(
                builder.icmp_signed("!=", word, word.type(0))
                if is_truth
                else builder.bitcast(word, context.get_value_type(part))
            )
        return context.make_tuple(builder, made, found) if isinstance(made, _types.BaseTuple) else found[0]

    return signature, generate


@intrinsic
def _store(_context: Any, _address: Any, state: Any) -> Any:
    """Write a state to an address; 0."""
    signature = types.int64(types.int64, state)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        whole = context.get_value_type(types.int64)
        made = signature.args[1]
        is_tuple = isinstance(made, _types.BaseTuple)
        parts = _cgutils.unpack_tuple(builder, values[1]) if is_tuple else [values[1]]
        pointer = builder.inttoptr(values[0], whole.as_pointer())
        for k, (part, kind) in enumerate(zip(parts, made.types if is_tuple else [made], strict=True)):
            number = context.cast(builder, part, kind, _types.unliteral(kind))
            word = builder.zext(number, whole) if isinstance(kind, _types.Boolean) else builder.bitcast(number, whole)
            builder.store(word, _cgutils.gep_inbounds(builder, pointer, k))
        return context.get_constant(types.int64, 0)

    return signature, generate
