"""Compiled functions whose operations are others that note what Python would do otherwise."""

from __future__ import annotations

import types as python
from collections.abc import Callable, Mapping
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numba
from numba.core import ir as numba_ir
from numba.core import ir_utils
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.untyped_passes import MakeFunctionToJitFunction

from graphtide.functions.compiled import OPTIONS, compile_scalar, name_of
from graphtide.functions.operations import CHECKED

__all__ = ["CheckedPipeline", "ReplaceOperations", "compile_checked"]

_Dispatcher: Any = Dispatcher
_njit: Any = numba.njit


def compile_checked(function: Callable[..., Any]) -> Any:
    """As `compile_scalar`, and `doubted` tells of an int of more than 64 bits, and of a division by 0.

    Compiled functions that it calls are checked, too, and so are functions inside of it; but not what is built in, such
    as `sum`.
    """
    return _Checked.compiled(function)


@register_pass(mutates_CFG=False, analysis_only=False)
class ReplaceOperations(FunctionPass):
    """Put calls of other operations in the place of operators, and functions compiled alike in that of others.

    A pipeline says which: those of `operations` by operators, and with `names` also by name.
    """

    _name = "replace_operations"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> Any:
        """Change a function; that it was changed."""
        function: Any = state.func_ir
        pipeline = state.pipeline
        for block in function.blocks.values():
            body: list[Any] = []
            for statement in block.body:
                value: Any = getattr(statement, "value", None)
                named = _named(function, value)
                if isinstance(named, _Dispatcher):
                    named = pipeline.compiled(named)
                    statement.value = numba_ir.Global(name_of(named), named, statement.loc)
                elif (wanted := _found(pipeline.names, named)) is not None:
                    statement.value = numba_ir.Global(wanted.__name__, wanted, statement.loc)
                elif (wanted := _found(pipeline.operations, _operator(value))) is not None:
                    called = numba_ir.Var(block.scope, ir_utils.mk_unique_var("checked"), statement.loc)
                    known = numba_ir.Global(wanted.__name__, wanted, statement.loc)
                    body.append(numba_ir.Assign(known, called, statement.loc))
                    operands = [value.value] if value.op == "unary" else [value.lhs, value.rhs]
                    statement.value = numba_ir.Expr.call(called, operands, (), statement.loc)
                body.append(statement)
            block.body = body
        function._definitions = ir_utils.build_definitions(function.blocks)  # noqa: SLF001 - numba's passes do so
        return True


def _found(operations: Mapping[Any, Any], named: Any) -> Any:
    """What stands for a function; a name may also mean a value that no mapping has as a key."""
    return operations.get(named) if callable(named) else None


def _operator(value: Any) -> Any:
    op = getattr(value, "op", "")
    if op == "inplace_binop":
        return value.immutable_fn
    return value.fn if op in {"binop", "unary"} else None


def _named(function: Any, value: Any) -> Any:
    """What a name or a name in a module stands for; None if the value is neither."""
    if isinstance(value, numba_ir.Global | numba_ir.FreeVar):
        return value.value
    if getattr(value, "op", "") == "getattr":
        owner = ir_utils.guard(ir_utils.find_const, function, value.value)
        return getattr(owner, value.attr, None) if isinstance(owner, python.ModuleType) else None
    return None


class CheckedPipeline(CompilerBase):
    """How functions are compiled whose operations are replaced; each kind of them has its own `made`."""

    operations: ClassVar[Mapping[Any, Any]]
    names: ClassVar[Mapping[Any, Any]] = {}
    # Compiled functions by their sources: one that calls itself is made once.
    made: ClassVar[WeakKeyDictionary[Any, Any]]

    @classmethod
    def compiled(cls, function: Callable[..., Any]) -> Any:
        """A function that is compiled in this way when it is called."""
        source = compile_scalar(function).py_func
        if source not in cls.made:
            cls.made[source] = _njit(pipeline_class=cls, **OPTIONS)(source)
        return cls.made[source]

    def define_pipelines(self) -> list[Any]:
        """Numba's passes, and ours."""
        pipeline: Any = DefaultPassBuilder.define_nopython_pipeline(self.state)
        # Functions inside of others have been put in their places by then, or have become compiled ones.
        pipeline.add_pass_after(ReplaceOperations, MakeFunctionToJitFunction)
        self.add_passes(pipeline)
        pipeline.finalize()
        return [pipeline]

    def add_passes(self, pipeline: Any) -> None:
        """No more."""


class _Checked(CheckedPipeline):
    operations = CHECKED
    made: ClassVar[WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()
