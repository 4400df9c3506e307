"""Names of columns as files write them: `year`, `year:int`, neo4j-admin's `:START_ID(Person)`, Gremlin's `~from`.

>>> parse_title("year:int")
Title(name='year', type=<PropertyType.INT: 'int'>, mark=None)
>>> parse_title("personId:ID(Person)")
Title(name='personId', type=None, mark='id')
>>> parse_title("~from")
Title(name='from', type=None, mark='src')
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from graphtide.errors import LoadError
from graphtide.graph.schema import PropertyType
from graphtide.rows.schema import did_you_mean

__all__ = ["Mark", "Title", "is_id_of_something", "is_title", "parse_title", "parse_type", "plain_title", "recognise"]

Mark = Literal["id", "src", "dst", "ignore"]

_TYPES: Final = {
    **dict.fromkeys(("int", "integer", "long", "short", "byte", "uint", "bigint", "int32", "int64"), PropertyType.INT),
    **dict.fromkeys(("float", "double", "real", "float32", "float64"), PropertyType.FLOAT),
    **dict.fromkeys(("string", "str", "char", "text"), PropertyType.STRING),
    **dict.fromkeys(("bool", "boolean"), PropertyType.BOOL),
    "date": PropertyType.DATE,
    **dict.fromkeys(("timestamp", "datetime", "localdatetime"), PropertyType.TIMESTAMP),
    # What neo4j-admin knows and no property can be is kept as it is written.
    **dict.fromkeys(("time", "localtime", "duration", "point"), PropertyType.STRING),
}
# What stands for a type in headers of neo4j-admin, and says what the column is.
_NEO4J_MARKS: Final[dict[str, Mark | None]] = {
    "id": "id",
    "start_id": "src",
    "end_id": "dst",
    "ignore": "ignore",
    "type": None,
    "label": None,
}
_GREMLIN_MARKS: Final[dict[str, Mark]] = {"~id": "id", "~from": "src", "~to": "dst"}
# In lower case, without `_`, `-` and blanks, and without "id" at the end.
_NAMES: Final[dict[str, Mark]] = {
    **dict.fromkeys(("src", "source", "from", "start", "origin"), "src"),
    **dict.fromkeys(("dst", "target", "to", "end", "dest", "destination"), "dst"),
    **dict.fromkeys(("", "node", "vertex"), "id"),
}
# LDBC's ways, `Person.id` and `Person1Id`, and `person_id`; `paid` is no id.
_ID_OF: Final = re.compile(r".+([-._ ][iI][dD]|(?<=[a-z0-9])I[dD])")
# `(group)` and `{options}` after the type: ids are one space here, so groups say nothing.
_AFTER_TYPE: Final = re.compile(r"[({].*$")


@dataclass(frozen=True, slots=True)
class Title:
    """What a header says of a column: its name, and its type or its part in the graph if it says so."""

    name: str
    type: PropertyType | None
    mark: Mark | None


def parse_title(text: str) -> Title:
    """Read one field of a header."""
    text = text.strip()
    name, colon, type_text = text.rpartition(":")
    if not colon:
        return Title(text.removeprefix("~"), None, _GREMLIN_MARKS.get(text.lower()))
    word = _AFTER_TYPE.sub("", type_text).strip().lower()
    name = name.strip().removeprefix("~")
    if word in _NEO4J_MARKS:
        return Title(name or word, None, _NEO4J_MARKS[word])
    return Title(name, parse_type(word, f'column "{text}"'), None)


def recognise(name: str) -> Mark | None:
    """What a column is by its name alone.

    >>> recognise("Source_ID"), recognise("to"), recognise("id"), recognise("year")
    ('src', 'dst', 'id', None)
    """
    bare = re.sub("[-_ ]", "", name.lower())
    return _NAMES.get(bare.removesuffix("id")) if bare else None


def is_id_of_something(name: str) -> bool:
    """Whether a name says that a column holds ids, and of what.

    >>> [is_id_of_something(each) for each in ("Person1Id", "Person.id", "person_id", "id", "paid")]
    [True, True, True, False, False]
    """
    return _ID_OF.fullmatch(name) is not None


def is_title(text: str) -> bool:
    """Whether a text says by itself that it names a column.

    >>> [is_title(each) for each in ("year:int", "~label", ":ID", "Person.id", "from", "year", "urn:isbn")]
    [True, True, True, True, True, False, False]
    """
    _, colon, word = text.strip().rpartition(":")
    if colon:
        word = _AFTER_TYPE.sub("", word).strip().lower().removesuffix("[]")
        return word in _NEO4J_MARKS or word in _TYPES
    return text.startswith("~") or text.lower().endswith(".id") or recognise(text) is not None


def plain_title(name: str, type_: PropertyType) -> Title:
    """The name of a column of a table, whose types are known: a colon in it is a colon."""
    mark = _GREMLIN_MARKS.get(name.lower()) or _NEO4J_MARKS.get(name.lower().removeprefix(":"), None)
    return Title(name, type_, mark if name[:1] in {"~", ":"} else None)


def parse_type(word: str, place: str) -> PropertyType:
    """The type that a word stands for.

    >>> parse_type("Double", "here"), parse_type("string[]", "here")
    (<PropertyType.FLOAT: 'float'>, <PropertyType.STRING: 'string'>)
    """
    if word.endswith("[]"):
        return PropertyType.STRING
    found = _TYPES.get(word.lower())
    if found is None:
        known = [each.value for each in PropertyType]
        raise LoadError(f'{place}: "{word}" is not a type', hint=did_you_mean(word, known))
    return found
