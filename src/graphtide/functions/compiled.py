"""Users' functions of numbers as machine code, which kernels call by its address.

A kernel that took the function itself would be compiled for each of them, and never be found in the cache. An address
is a word like any other; the call costs a few nanoseconds, and what is compiled lives as long as the process.
"""

from __future__ import annotations

import dis
import inspect
import re
import types as python
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numba
import numpy as np
from numba import types  # pyright: ignore[reportPrivateImportUsage] - it is documented there
from numba.core import cgutils
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from graphtide.errors import UsageError

__all__ = [
    "OPTIONS",
    "Pointer",
    "as_bits",
    "call_at",
    "compile_for",
    "compile_scalar",
    "made_by",
    "name_of",
    "point_to",
    "takes_up_to",
]

_types: Any = types
_cgutils: Any = cgutils
_njit: Any = numba.njit
_cfunc: Any = numba.cfunc  # pyright: ignore[reportPrivateImportUsage] - it is documented there
OPTIONS: Final = {"nogil": True, "error_model": "numpy"}


class Pointer(NamedTuple):
    """Where compiled code is, and what keeps it there."""

    address: int
    owner: Any


def takes_up_to(function: Callable[..., Any], most: int) -> int:
    """How many of at most so many arguments a function takes; 0 if it takes none of these numbers.

    >>> takes_up_to(lambda state, weight: state, 3)
    2
    """
    try:
        signature = inspect.signature(getattr(function, "py_func", function))
    except (TypeError, ValueError):
        return min(most, 2)  # built-in functions such as min do not say
    for count in range(most, 0, -1):
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count
    return 0


def compile_scalar(function: Callable[..., Any]) -> Any:
    """A function of numbers that other compiled code can call; it is compiled for the types that it is called with."""
    if hasattr(function, "py_func"):
        return function
    if isinstance(function, python.FunctionType):
        if any(each.opname == "RAISE_VARARGS" for each in dis.get_instructions(function)):
            hint = "return None where there is nothing to say"
            raise UsageError(f"{name_of(function)} may raise an error, which compiled code cannot wait for", hint=hint)
        return _njit(**OPTIONS)(function)

    def call(one: Any, other: Any) -> Any:
        return function(one, other)

    return _njit(**OPTIONS)(call)


def made_by(each: Any, takes: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    """The type of number that a function makes of numbers of these types; it may also make None."""
    signature = tuple(numba.from_dtype(one) for one in takes)
    made = compile_for(each, signature)
    if isinstance(made, _types.Optional):
        made = made.type
    if isinstance(made, _types.Integer | _types.Boolean):
        return np.dtype(np.int64)
    if isinstance(made, _types.Float):
        return np.dtype(np.float64)
    raise UsageError(
        f"{name_of(each)} makes {made} of {_written(signature)}", hint="it must give a number, or None for nothing"
    )


def compile_for(each: Any, signature: tuple[Any, ...]) -> Any:
    """Compile a function for arguments of these types of numba's; the type of what it makes."""
    try:
        each.compile(signature)
    except (NumbaError, TypeError, NotImplementedError, KeyError) as error:
        raise UsageError(
            f"{name_of(each)} cannot be compiled for {_written(signature)}: {_reason(error)}",
            hint="numba compiles it: let it work on numbers alone, with arithmetic, comparisons, min, max and math",
        ) from error
    return each.overloads[signature].signature.return_type


def point_to(function: Callable[..., Any], takes: Sequence[np.dtype[Any]], gives: np.dtype[Any]) -> Pointer:
    """Compile a function that is known to compile, as one that `call_at` can call."""
    compiled = _cfunc(numba.from_dtype(gives)(*(numba.from_dtype(one) for one in takes)), **OPTIONS)(function)
    return Pointer(int(compiled.address), compiled)


@intrinsic
def call_at(_context: Any, _address: Any, arguments: Any) -> Any:
    """Call the function at an address with a tuple of numbers; it gives a number of the type of the first.

    Ints are passed and given in eight bytes, however short they are kept.
    """
    gives = types.int64 if isinstance(arguments[0], _types.Integer) else arguments[0]
    signature = gives(types.int64, arguments)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        whole = context.get_value_type(types.int64)
        passed = [
            builder.sext(each, whole) if isinstance(kind, _types.Integer) and kind.bitwidth < whole.width else each
            for each, kind in zip(_cgutils.unpack_tuple(builder, values[1]), signature.args[1], strict=True)
        ]
        result = context.get_value_type(signature.return_type)
        pointer = builder.inttoptr(values[0], _function_pointer(result, [each.type for each in passed]))
        return builder.call(pointer, passed)

    return signature, generate


@intrinsic
def as_bits(_context: Any, number: Any, like: Any) -> Any:
    """The bits of a number of eight bytes, as a number or a truth value of the type that `like` has."""
    signature = like(number, like)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if isinstance(signature.return_type, _types.Boolean):
            return builder.icmp_signed("!=", values[0], values[0].type(0))
        return builder.bitcast(values[0], context.get_value_type(signature.return_type))

    return signature, generate


def name_of(function: Any) -> str:
    """A function as messages quote it."""
    name = getattr(getattr(function, "py_func", function), "__name__", repr(function))
    return "the function" if name in {"<lambda>", "call"} else f'"{name}"'


def _function_pointer(result: Any, takes: list[Any]) -> Any:
    return _cgutils.ir.FunctionType(result, takes).as_pointer()


def _written(signature: tuple[Any, ...]) -> str:
    return ", ".join("float" if isinstance(each, _types.Float) else "int" for each in signature)


# What stands in numba's messages before the reason.
_PREAMBLE: Final = ("Failed in", "Internal error", "- Resolution failure", "non-precise type")


def _reason(error: Exception) -> str:
    """Numba's reason in a line: its messages have many, and colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    # A checked operation is an operator of the user's.
    text = re.sub(r"Function\(<function (\w+) at 0x[0-9a-f]+>\)", r"\1", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(_PREAMBLE)] or [type(error).__name__]
    following = lines[1].removeprefix(">>> ") if lines[0].endswith(":") and len(lines) > 1 else ""
    return f"{lines[0]} {following}".strip()
