"""Ordered, named, typed columns.

Invariant: names are non-empty texts without duplicates, and there is one type per name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Self

import pyarrow as pa

from graphtide.errors import SchemaError
from graphtide.rows.intern import is_text
from graphtide.rows.types import INT, Type

__all__ = ["Schema", "did_you_mean"]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Schema:
    """The columns of a collection; a type is a `Type` or what `Type.of` understands.

    >>> Schema([("src", int), ("label", str | None)])
    (src: int, label: str | None)
    """

    names: tuple[str, ...]
    types: tuple[Type, ...]
    # Whether every column is an int that is never None: kept, since each insert asks.
    is_all_int: bool = field(compare=False)

    def __init__(self, columns: Mapping[str, object] | Iterable[tuple[str, object]] = ()) -> None:
        pairs = list(columns.items() if isinstance(columns, Mapping) else columns)
        names = tuple(name for name, _ in pairs)
        _check_names(names)
        types = tuple(Type.of(annotation) for _, annotation in pairs)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "types", types)
        object.__setattr__(self, "is_all_int", all(t == INT for t in types))

    @classmethod
    def of(cls, /, **columns: object) -> Self:
        """A schema whose column names are Python identifiers.

        >>> Schema.of(src=int, dst=int)
        (src: int, dst: int)
        """
        return cls(columns)

    @classmethod
    def from_arrow(cls, arrow: pa.Schema) -> Self:
        """The schema of Arrow data; a column is optional if its field is nullable.

        >>> Schema.from_arrow(pa.schema([pa.field("src", pa.int32(), nullable=False)]))
        (src: int)
        """
        types = ((each, Type.from_arrow(each.type)) for each in arrow)
        return cls((each.name, t.optional if each.nullable else t) for each, t in types)

    def to_arrow(self) -> pa.Schema:
        """The Arrow schema in which rows come out; required columns are not nullable."""
        fields = [pa.field(n, t.to_arrow(), nullable=t.nullable) for n, t in self.items()]
        return pa.schema(fields)

    def items(self) -> Iterator[tuple[str, Type]]:
        """The names with their types, in order."""
        return zip(self.names, self.types, strict=True)

    def index(self, name: str) -> int:
        """The place of a column, or an error that proposes the name that was meant."""
        try:
            return self.names.index(name)
        except ValueError:
            raise SchemaError(
                f'column "{name}" does not exist in {self}',
                hint=did_you_mean(name, self.names),
            ) from None

    def select(self, *names: str) -> Self:
        """The given columns, in the given order.

        >>> Schema.of(src=int, dst=int, weight=float).select("weight", "src")
        (weight: float, src: int)
        """
        return type(self)((name, self[name]) for name in names)

    def drop(self, *names: str) -> Self:
        """The columns that are not named."""
        dropped = {self.index(name) for name in names}
        return type(self)(pair for i, pair in enumerate(self.items()) if i not in dropped)

    def rename(self, names: Mapping[str, str]) -> Self:
        """The same columns, some under a new name.

        >>> Schema.of(src=int, dst=int).rename({"src": "dst", "dst": "src"})
        (dst: int, src: int)
        """
        for old in names:
            self.index(old)
        return type(self)((names.get(name, name), type_) for name, type_ in self.items())

    def concat(self, other: Self) -> Self:
        """These columns followed by the other's, which must have other names."""
        for name in other.names:
            if name in self.names:
                raise SchemaError(
                    f'column "{name}" stands in both {self} and {other}',
                    hint=f'rename one of them, for example with rename({{"{name}": "{name}_2"}})',
                )
        return type(self)([*self.items(), *other.items()])

    def __getitem__(self, name: str) -> Type:
        return self.types[self.index(name)]

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"({', '.join(f'{name}: {type_}' for name, type_ in self.items())})"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """A hint at the known name that is nearest, or at all of them.

    >>> did_you_mean("yaer", ["year", "src"]), did_you_mean("x", ["year", "src"])
    ('did you mean "year"?', 'there are "year", "src"')
    """
    names = list(known)
    nearest = get_close_matches(name, names, n=1) if isinstance(name, str) else []
    if nearest:
        return f'did you mean "{nearest[0]}"?'
    listed = ", ".join(f'"{each}"' for each in names)
    return f"there are {listed}" if names else "there are no columns"


def _check_names(names: tuple[object, ...]) -> None:
    for i, name in enumerate(names):
        # Arrow ends a name at its first NUL and holds no half of a surrogate pair.
        if not isinstance(name, str) or not name or "\0" in name or not is_text(name):
            raise SchemaError(
                f"column {i} is named {name!r}",
                hint="a column's name is a non-empty string of text",
            )
        if name in names[:i]:
            raise SchemaError(
                f'column "{name}" stands twice in the schema',
                hint="give each column a name of its own",
            )
