"""The values of arguments and options, as Python knows them."""

from __future__ import annotations

from typing import Any

from graphtide.views.gvdl import syntax

__all__ = ["plain_value"]


def plain_value(value: syntax.Value) -> Any:
    """A literal's value; a bare name is a string; lists and tuples of such.

    >>> from graphtide.views.gvdl.parse import parse
    >>> (run,) = parse("run mpsp(pairs = [(1, 'a'), (3, b)]) on calls")
    >>> plain_value(run.arguments[0].value)
    [(1, 'a'), (3, 'b')]
    """
    match value:
        case syntax.Literal():
            return value.value
        case syntax.Name():
            return value.text
        case syntax.ListValue(items):
            return [plain_value(each) for each in items]
        case syntax.TupleValue(items):
            return tuple(plain_value(each) for each in items)
