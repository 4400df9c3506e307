"""Users' functions of numbers as machine code, which kernels call by its address.

A kernel that took the function itself would be compiled for each of them, and never be found in the cache. An address
is a word like any other; the call costs a few nanoseconds, and what is compiled lives as long as the process.
"""

from __future__ import annotations

import ctypes
import dis
import inspect
import operator
import re
import threading
import types as python
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import numba
import numpy as np
from numba import types  # pyright: ignore[reportPrivateImportUsage] - it is documented there
from numba.core import cgutils, ir_utils
from numba.core import ir as numba_ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.core.untyped_passes import MakeFunctionToJitFunction
from numba.extending import intrinsic, overload

from graphtide.errors import UsageError

__all__ = [
    "Pointer",
    "State",
    "as_bits",
    "call_at",
    "compile_checked",
    "compile_scalar",
    "made_by",
    "name_of",
    "note_overflow",
    "overflow_flag",
    "overflowed",
    "point_to",
    "point_to_states",
    "state_made_by",
    "takes_up_to",
]

_types: Any = types
_cgutils: Any = cgutils
_Dispatcher: Any = Dispatcher
_njit: Any = numba.njit
_cfunc: Any = numba.cfunc  # pyright: ignore[reportPrivateImportUsage] - it is documented there
_OPTIONS: Final = {"nogil": True, "error_model": "numpy"}


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
        return _njit(**_OPTIONS)(function)

    def call(one: Any, other: Any) -> Any:
        return function(one, other)

    return _njit(**_OPTIONS)(call)


def compile_checked(function: Callable[..., Any]) -> Any:
    """As `compile_scalar`, and `overflowed` tells if a sum, difference, product, power or shift of ints was too long.

    Compiled functions that it calls are checked, too, and so are functions inside of it; but not what is built in, such
    as `sum`.
    """
    source = compile_scalar(function).py_func
    if source not in _made:
        _made[source] = _njit(pipeline_class=_Checked, **_OPTIONS)(source)
    return _made[source]


# Checked functions by their sources: one that calls itself is made once.
_made: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def overflowed() -> bool:
    """Whether an int of a checked function had more than 64 bits in this thread since it last asked."""
    flag = _flags.word
    found = bool(flag[0])
    flag[0] = 0
    return found


def note_overflow() -> None:
    """Let `overflowed` tell of an int that compiled code found to be too long by itself."""
    _flags.word[0] = 1


def overflow_flag() -> int:
    """The address of the word that checked functions set in this thread, for kernels that ask who did."""
    return int(_flags.word.ctypes.data)


def made_by(each: Any, takes: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    """The type of number that a function makes of numbers of these types; it may also make None."""
    signature = tuple(numba.from_dtype(one) for one in takes)
    try:
        each.compile(signature)
    except (NumbaError, TypeError, NotImplementedError, KeyError) as error:
        raise UsageError(
            f"{name_of(each)} cannot be compiled for {_written(signature)}: {_reason(error)}",
            hint="numba compiles it: let it work on numbers alone, with arithmetic, comparisons, min, max and math",
        ) from error
    made = each.overloads[signature].signature.return_type
    if isinstance(made, _types.Optional):
        made = made.type
    if isinstance(made, _types.Integer | _types.Boolean):
        return np.dtype(np.int64)
    if isinstance(made, _types.Float):
        return np.dtype(np.float64)
    raise UsageError(
        f"{name_of(each)} makes {made} of {_written(signature)}", hint="it must give a number, or None for nothing"
    )


def point_to(function: Callable[..., Any], takes: Sequence[np.dtype[Any]], gives: np.dtype[Any]) -> Pointer:
    """Compile a function that is known to compile, as one that `call_at` can call."""
    compiled = _cfunc(numba.from_dtype(gives)(*(numba.from_dtype(one) for one in takes)), **_OPTIONS)(function)
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
    """The bits of a number of eight bytes, as a number of the type that `like` has."""
    signature = like(number, like)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], context.get_value_type(signature.return_type))

    return signature, generate


# A state of a user's making: a number, or a few of them.
State = float | tuple[float, ...]


def state_made_by(each: Any, takes: Sequence[State], like: State) -> State:
    """A state of the types that a function makes of such arguments; a float where it or `like` has one."""
    signature = tuple(numba.typeof(one) for one in takes)
    try:
        each.compile(signature)
    except (NumbaError, TypeError, NotImplementedError, KeyError) as error:
        raise UsageError(f"{name_of(each)} cannot be compiled: {_reason(error)}") from error
    made = each.overloads[signature].signature.return_type
    parts = list(made.types) if isinstance(made, _types.BaseTuple) else [made]
    wanted = like if isinstance(like, tuple) else (like,)
    if isinstance(like, tuple) != isinstance(made, _types.BaseTuple) or len(parts) != len(wanted):
        raise UsageError(f"{name_of(each)} makes {made}, not a state such as {like}")
    joined: list[float] = []
    for part, one in zip(parts, wanted, strict=True):
        if not isinstance(part, _types.Integer | _types.Boolean | _types.Float):
            raise UsageError(f"{name_of(each)} makes {made}, not a state such as {like}")
        joined.append(0.0 if isinstance(part, _types.Float) or isinstance(one, float) else 0)
    return tuple(joined) if isinstance(like, tuple) else joined[0]


def point_to_states(each: Any, like: State, second: State | None = None) -> Pointer:
    """A compiled function of two states, whose arguments are addresses of words: both, and where the result goes.

    With `second` it is one of a state and a number such as that, which is given by its bits.
    """
    if second is None:

        def of_states(one: Any, other: Any, out: Any) -> Any:
            return _store(out, each(_load(one, like), _load(other, like)), like)  # pyright: ignore[reportCallIssue]

        function = of_states
    else:

        def of_number(one: Any, bits: Any, out: Any) -> Any:
            return _store(out, each(_load(one, like), as_bits(bits, second)), like)  # pyright: ignore[reportCallIssue]

        function = of_number
    word = np.dtype(np.int64)
    return point_to(function, (word, word, word), word)


@intrinsic
def _load(_context: Any, _address: Any, like: Any) -> Any:
    """The state at an address, of the types that `like` has."""
    signature = like(types.int64, like)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        made = signature.return_type
        parts = list(made.types) if isinstance(made, _types.BaseTuple) else [made]
        pointer = builder.inttoptr(values[0], context.get_value_type(types.int64).as_pointer())
        found = [
            builder.bitcast(builder.load(_cgutils.gep_inbounds(builder, pointer, k)), context.get_value_type(part))
            for k, part in enumerate(parts)
        ]
        return context.make_tuple(builder, made, found) if isinstance(made, _types.BaseTuple) else found[0]

    return signature, generate


@intrinsic
def _store(_context: Any, _address: Any, state: Any, like: Any) -> Any:
    """Write a state to an address, in the types that `like` has; 0."""
    signature = types.int64(types.int64, state, like)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        whole = context.get_value_type(types.int64)
        _, given, wanted = signature.args
        is_tuple = isinstance(given, _types.BaseTuple)
        parts = _cgutils.unpack_tuple(builder, values[1]) if is_tuple else [values[1]]
        pointer = builder.inttoptr(values[0], whole.as_pointer())
        pairs = zip(given.types, wanted.types, strict=True) if is_tuple else [(given, wanted)]
        for k, (part, (source, target)) in enumerate(zip(parts, pairs, strict=True)):
            number = context.cast(builder, part, source, target)
            builder.store(builder.bitcast(number, whole), _cgutils.gep_inbounds(builder, pointer, k))
        return context.get_constant(types.int64, 0)

    return signature, generate


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


def _set_flag(context: Any, builder: Any) -> None:
    """Note in compiled code that an int was too long; only then is it asked whose word that is."""
    word = context.get_value_type(types.int64)
    key = context.get_constant(types.uint32, _Flags.key.value)
    place = _cgutils.ir.FunctionType(word.as_pointer(), [key.type])
    getter = _cgutils.get_or_insert_function(builder.module, place, "pthread_getspecific")
    own = builder.call(getter, [key])
    unasked = builder.inttoptr(context.get_constant(types.int64, _UNASKED.ctypes.data), word.as_pointer())
    flag = builder.select(_cgutils.is_null(builder, own), unasked, own)
    builder.store(context.get_constant(types.int64, 1), flag)


def _with_overflow(instruction: str) -> Any:
    """An operation on two ints by an instruction of LLVM that says whether the result was too long."""

    def typed(_context: Any, one: Any, other: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            both = getattr(builder, instruction)(*values)
            with builder.if_then(builder.extract_value(both, 1), likely=False):
                _set_flag(context, builder)
            return builder.extract_value(both, 0)

        return types.int64(one, other), generate

    return intrinsic(typed)


_sum: Any = _with_overflow("sadd_with_overflow")
_difference: Any = _with_overflow("ssub_with_overflow")
_product: Any = _with_overflow("smul_with_overflow")


def _are_ints(*kinds: Any) -> bool:
    return all(isinstance(kind, _types.Boolean) or (isinstance(kind, _types.Integer) and kind.signed) for kind in kinds)


def _add(one: Any, other: Any) -> Any:
    return one + other


def _subtract(one: Any, other: Any) -> Any:
    return one - other


def _multiply(one: Any, other: Any) -> Any:
    return one * other


def _raise_to(one: Any, other: Any) -> Any:
    return one**other


def _shift(one: Any, other: Any) -> Any:
    return one << other


def _check(plain: Any, checked: Any) -> None:
    """Let compiled code take `checked` for `plain` if both operands are ints."""

    def chosen(one: Any, other: Any) -> Any:
        return checked if _are_ints(one, other) else plain

    overload(plain, strict=False)(chosen)  # strict compares annotations, too


def _power(one: Any, other: Any) -> Any:
    if other < 0:
        return one**other
    power = np.int64(1)
    # More factors say no more: all but -1, 0 and 1 are too long by then, and -1 is odd or even.
    for _ in range(min(other, 64 + (other & 1))):
        power = _product(power, np.int64(one))
    return power


_check(_add, lambda one, other: _sum(np.int64(one), np.int64(other)))
_check(_subtract, lambda one, other: _difference(np.int64(one), np.int64(other)))
_check(_multiply, lambda one, other: _product(np.int64(one), np.int64(other)))
_check(_shift, lambda one, other: _product(np.int64(one), np.int64(1) << np.int64(other)))
_check(_raise_to, _power)

_CHECKED: Final = {
    operator.add: _add,
    operator.sub: _subtract,
    operator.mul: _multiply,
    operator.pow: _raise_to,
    operator.lshift: _shift,
}


@register_pass(mutates_CFG=False, analysis_only=False)
class _CheckedArithmetic(FunctionPass):
    """Put calls of checked operations in the place of operators, and checked functions in that of others."""

    _name = "checked_arithmetic"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> Any:
        function: Any = state.func_ir
        for block in function.blocks.values():
            body: list[Any] = []
            for statement in block.body:
                value: Any = getattr(statement, "value", None)
                name = getattr(value, "op", "")
                named = _named(function, value)
                if isinstance(named, _Dispatcher):
                    statement.value = numba_ir.Global(name_of(named), compile_checked(named), statement.loc)
                elif name in {"binop", "inplace_binop"}:
                    wanted = _CHECKED.get(value.fn if name == "binop" else value.immutable_fn)
                    if wanted is not None:
                        called = numba_ir.Var(block.scope, ir_utils.mk_unique_var("checked"), statement.loc)
                        body.append(
                            numba_ir.Assign(
                                numba_ir.Global(wanted.__name__, wanted, statement.loc), called, statement.loc
                            )
                        )
                        statement.value = numba_ir.Expr.call(called, [value.lhs, value.rhs], (), statement.loc)
                body.append(statement)
            block.body = body
        function._definitions = ir_utils.build_definitions(function.blocks)  # noqa: SLF001 - numba's passes do so
        return True


def _named(function: Any, value: Any) -> Any:
    """What a name or a name in a module stands for; None if the value is neither."""
    if isinstance(value, numba_ir.Global | numba_ir.FreeVar):
        return value.value
    if getattr(value, "op", "") == "getattr":
        owner = ir_utils.guard(ir_utils.find_const, function, value.value)
        return getattr(owner, value.attr, None) if isinstance(owner, python.ModuleType) else None
    return None


class _Checked(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        pipeline: Any = DefaultPassBuilder.define_nopython_pipeline(self.state)
        # Functions inside of others have been put in their places by then, or have become compiled ones.
        pipeline.add_pass_after(_CheckedArithmetic, MakeFunctionToJitFunction)
        pipeline.finalize()
        return [pipeline]


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
    for each in _CHECKED.values():
        text = re.sub(rf"\b{each.__name__}\b", each.__name__.lstrip("_"), text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(_PREAMBLE)] or [type(error).__name__]
    following = lines[1].removeprefix(">>> ") if lines[0].endswith(":") and len(lines) > 1 else ""
    return f"{lines[0]} {following}".strip()
