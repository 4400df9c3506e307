"""Compiled functions that give what Python gives, or note that they did not.

Invariant: a function is compiled only if each step of it is one that is known to agree with Python for the types that
it is compiled for. What is not known is refused: that is what makes it safe, not a list of what goes wrong.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

from numba import types  # pyright: ignore[reportPrivateImportUsage] - it is documented there
from numba.core import ir as numba_ir
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import UnsupportedError
from numba.core.typed_passes import NopythonTypeInference

from graphtide.functions.agreeing import NAMES, OPERATIONS
from graphtide.functions.checked import CheckedPipeline
from graphtide.functions.states import plain

__all__ = ["compile_faithful"]

_types: Any = types
_ir: Any = numba_ir
_unsupported: Any = UnsupportedError


def compile_faithful(function: Callable[..., Any]) -> Any:
    """As `compile_scalar`, but it gives what Python would give, in value and type, or `doubted` tells.

    Compiling it is refused where that cannot be promised.
    """
    return _Faithful.compiled(function)


class _Faithful(CheckedPipeline):
    operations = OPERATIONS
    names = NAMES
    made: ClassVar[WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()

    def add_passes(self, pipeline: Any) -> None:
        pipeline.add_pass_after(_RefuseOthers, NopythonTypeInference)


# Functions that are called as they are, and operators that are left.
_AGREEING: Final = {*OPERATIONS.values(), *NAMES.values(), bool, operator.not_, operator.truth}
_IDENTITY: Final = {operator.is_, operator.is_not}
# Steps that do nothing but move values, or choose among blocks.
_MOVES: Final = {"static_getitem", "exhaust_iter", "iternext", "pair_first", "pair_second"}
_STATEMENTS: Final = (_ir.Del, _ir.Jump, _ir.Branch, _ir.Return)


@register_pass(mutates_CFG=False, analysis_only=True)
class _RefuseOthers(FunctionPass):
    """Raise an error at a step that is not known to agree with Python."""

    _name = "refuse_others"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> Any:
        for block in state.func_ir.blocks.values():
            for statement in block.body:
                if not _agrees(statement, state.typemap):
                    raise _unsupported(f"{statement} may not do what it does in Python", loc=statement.loc)
        return False


def _agrees(statement: Any, kinds: Any) -> bool:
    if not isinstance(statement, _ir.Assign):
        return isinstance(statement, _STATEMENTS)
    value, made = statement.value, kinds[statement.target.name]
    if isinstance(value, _ir.Var):
        return _same(kinds[value.name], made)
    if isinstance(value, _ir.Arg):
        return _is_state(made)
    if isinstance(value, _ir.Const | _ir.Global | _ir.FreeVar):
        return _is_state(made) or isinstance(
            made, _types.Function | _types.Dispatcher | _types.Module | _types.NumberClass | _types.NoneType
        )
    return isinstance(value, _ir.Expr) and _agrees_as_expression(value, made, kinds)


def _agrees_as_expression(value: Any, made: Any, kinds: Any) -> bool:
    def kind(each: Any) -> Any:
        return kinds[each.name]

    operands = [kind(each) for each in value.list_vars()]
    if value.op == "phi":
        # A name that has no value yet raises in Python.
        return all(each is not _ir.UNDEFINED and _same(kind(each), made) for each in value.incoming_values)
    if value.op == "cast":
        return _same(kind(value.value), made)
    if value.op == "build_tuple":
        return all(_is_state(each) for each in operands) and _same(_types.BaseTuple.from_types(operands), made)
    if value.op == "getattr":
        return isinstance(operands[0], _types.Module) and not isinstance(made, _types.Module)
    if value.op == "getiter":
        return isinstance(made, _types.RangeIteratorType)
    if value.op in _MOVES:
        return _is_state(made) or isinstance(made, _types.Pair)
    if value.op == "call":
        return _calls_what_agrees(value, kind)
    if value.op == "binop":
        return value.fn in _IDENTITY and all(isinstance(each, _types.Boolean) for each in operands)
    return value.op == "unary" and value.fn in _AGREEING and _are_numbers(operands)


def _calls_what_agrees(value: Any, kind: Any) -> bool:
    if value.kws or value.vararg is not None:
        return False
    function, operands = kind(value.func), [kind(each) for each in value.args]
    if isinstance(function, _types.Dispatcher):
        # It was compiled as this one is. One that calls itself, and may do so too often, has another type.
        return function.dispatcher in _Faithful.made.values() and all(map(_is_state, operands))
    if not isinstance(function, _types.Function):
        return False
    if function.typing_key is range:
        return len(operands) <= 2 and all(isinstance(each, _types.Integer) for each in operands)
    return function.typing_key in _AGREEING and _are_numbers(operands)


def _same(one: Any, other: Any) -> bool:
    """Whether values of a type have another one without becoming other values; a constant is one of its type."""
    return plain(one) == plain(other)


def _are_numbers(kinds: list[Any]) -> bool:
    return all(plain(kind) in {types.int64, types.float64, types.boolean} for kind in kinds)


def _is_state(kind: Any) -> bool:
    """Whether values of a type are numbers, or tuples of them."""
    if isinstance(kind, _types.BaseTuple):
        return not isinstance(kind, _types.NamedTuple | _types.NamedUniTuple) and all(map(_is_state, kind))
    return _are_numbers([kind])
