"""Users' functions of numbers as machine code, which kernels call by its address."""

from __future__ import annotations

from graphtide.functions.checked import compile_checked
from graphtide.functions.compiled import (
    Pointer,
    as_bits,
    call_at,
    compile_scalar,
    made_by,
    name_of,
    point_to,
    takes_up_to,
)
from graphtide.functions.doubt import doubt_flag, doubted, note_doubt
from graphtide.functions.faithful import compile_faithful
from graphtide.functions.states import State, check_keeps_types, point_to_states

__all__ = [
    "Pointer",
    "State",
    "as_bits",
    "call_at",
    "check_keeps_types",
    "compile_checked",
    "compile_faithful",
    "compile_scalar",
    "doubt_flag",
    "doubted",
    "made_by",
    "name_of",
    "note_doubt",
    "point_to",
    "point_to_states",
    "takes_up_to",
]
