"""What an analytic can be told: the kinds of its parameters, by their annotations, and the check of arguments.

A user names vertices by their ids and edge properties by their names. The function of an analytic gets vertices
as dense ints; a property's values it finds in the column of `graph.edges` that is called like the parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import index
from types import NoneType, UnionType
from typing import Any, Final, NewType, Union, get_args, get_origin

from graphtide.errors import UsageError
from graphtide.rows.misfit import shown

__all__ = ["EdgeProperty", "Parameter", "ParameterKind", "Vertex", "VertexPairs"]

# Annotations of an analytic's parameters; the types are those of the values that its function gets.
Vertex = NewType("Vertex", int)
VertexPairs = NewType("VertexPairs", list[tuple[int, int]])
EdgeProperty = NewType("EdgeProperty", str)


class ParameterKind(StrEnum):
    """What an argument is, in the words of a signature."""

    VERTEX = "vertex"
    VERTEX_PAIRS = "vertex pairs"
    EDGE_PROPERTY = "edge property"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    STRING = "string"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an analytic; an optional one may be None, one that is not required has a default.

    >>> str(Parameter("rounds", ParameterKind.INT, required=False, default=10))
    'rounds: int = 10'
    """

    name: str
    kind: ParameterKind
    optional: bool = False
    required: bool = True
    default: Any = None

    @classmethod
    def of(cls, name: str, annotation: Any, *default: Any) -> Parameter:
        """A parameter as a function declares it; `UsageError` if no kind has that annotation.

        >>> Parameter.of("weight", EdgeProperty | None, None).optional
        True
        """
        plain, optional = _without_none(annotation)
        if plain not in _KINDS:
            raise UsageError(
                f'parameter "{name}" is annotated as {annotation!r}, which no argument can be',
                hint="annotate it as Vertex, VertexPairs, EdgeProperty, int, float, bool or str",
            )
        made = cls(name, _KINDS[plain], optional)
        return replace(made, required=False, default=made.accepted(default[0])) if default else made

    def accepted(self, value: Any) -> Any:
        """An argument as it is kept, or a `UsageError` that says what it should be."""
        if value is None and self.optional:
            return None
        try:
            return _ACCEPT[self.kind](value)
        except (TypeError, ValueError, OverflowError):
            wanted = f"{_WANTED[self.kind]} or none" if self.optional else _WANTED[self.kind]
            raise UsageError(f'"{self.name}" is {shown(value)}, not {wanted}') from None

    def vertices(self, value: Any) -> Iterator[Any]:
        """The users' ids in an accepted argument."""
        if value is not None and self.kind is ParameterKind.VERTEX:
            yield value
        elif value is not None and self.kind is ParameterKind.VERTEX_PAIRS:
            for pair in value:
                yield from pair

    def numbered(self, value: Any, numbers: Mapping[Any, int]) -> Any:
        """An accepted argument as the function gets it: with the numbers of vertices for their ids."""
        if value is not None and self.kind is ParameterKind.VERTEX:
            return numbers[value]
        if value is not None and self.kind is ParameterKind.VERTEX_PAIRS:
            return [(numbers[one], numbers[other]) for one, other in value]
        return value

    def __str__(self) -> str:
        return f"{self.name}: {self.kind}" + ("" if self.required else f" = {self.written(self.default)}")

    def written(self, value: Any) -> str:
        """An argument as GVDL writes it."""
        if self.kind is ParameterKind.EDGE_PROPERTY and value is not None:
            return value if value.isidentifier() else '"' + value.replace('"', '""') + '"'
        return _written(value)


_KINDS: Final[dict[Any, ParameterKind]] = {
    Vertex: ParameterKind.VERTEX,
    VertexPairs: ParameterKind.VERTEX_PAIRS,
    EdgeProperty: ParameterKind.EDGE_PROPERTY,
    int: ParameterKind.INT,
    float: ParameterKind.FLOAT,
    bool: ParameterKind.BOOL,
    str: ParameterKind.STRING,
}

_WANTED: Final = {
    ParameterKind.VERTEX: "the id of a vertex",
    ParameterKind.VERTEX_PAIRS: "a list of pairs of ids",
    ParameterKind.EDGE_PROPERTY: "the name of an edge property",
    ParameterKind.INT: "an int",
    ParameterKind.FLOAT: "a number",
    ParameterKind.BOOL: "true or false",
    ParameterKind.STRING: "a string",
}


def _without_none(annotation: Any) -> tuple[Any, bool]:
    """An annotation, and whether it allows None beside itself."""
    if get_origin(annotation) in {Union, UnionType}:
        others = [each for each in get_args(annotation) if each is not NoneType]
        if len(others) == 1:
            return others[0], True
    return annotation, False


def _int(value: Any) -> int:
    # A bool is an int to Python, but whoever passes one meant something else.
    if isinstance(value, bool):
        raise TypeError
    return index(value)


def _float(value: Any) -> float:
    if isinstance(value, bool | str | bytes):
        raise TypeError
    return float(value)


def _bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _vertex(value: Any) -> int | str:
    return value if isinstance(value, str) else _int(value)


def _pair(value: Any) -> tuple[int | str, int | str]:
    # A string of two letters is no pair, though it can be taken apart like one.
    if isinstance(value, str):
        raise TypeError
    one, other = value
    return _vertex(one), _vertex(other)


def _pairs(value: Any) -> tuple[tuple[int | str, int | str], ...]:
    return tuple(map(_pair, value))


_ACCEPT: Final[dict[ParameterKind, Callable[[Any], Any]]] = {
    ParameterKind.VERTEX: _vertex,
    ParameterKind.VERTEX_PAIRS: _pairs,
    ParameterKind.EDGE_PROPERTY: _str,
    ParameterKind.INT: _int,
    ParameterKind.FLOAT: _float,
    ParameterKind.BOOL: _bool,
    ParameterKind.STRING: _str,
}


def _written(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, tuple):
        return "[" + ", ".join(f"({_written(one)}, {_written(other)})" for one, other in value) + "]"
    return str(value)
