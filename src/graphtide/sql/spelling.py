"""Parts of a query as text, where they begin, and the error that refuses one."""

from __future__ import annotations

from typing import Final

from sqlglot import Expr as Syntax
from sqlglot import exp
from sqlglot.errors import ErrorLevel

from graphtide.errors import SqlError

__all__ = ["DIALECT", "place_of", "refuse", "spelled"]

DIALECT: Final = "duckdb"


def spelled(node: Syntax) -> str:
    """A part of a query, as text; also if DuckDB does not have it."""
    return node.sql(dialect=DIALECT, unsupported_level=ErrorLevel.IGNORE) or node.sql(dialect="postgres")


def place_of(node: Syntax) -> str:
    """Where a part of a query begins, to stand before what is wrong with it; nothing if that is not known."""
    found = [each.meta for each in node.walk() if "line" in each.meta]
    if not found and isinstance(node.parent, exp.Binary):
        # An interval's text is taken apart when it is read; what it is added to is known.
        return place_of(node.parent)
    # A token is known by its line and the column of its last character.
    places = [(each["line"], each["col"] - each["end"] + each["start"]) for each in found]
    return "line {}, column {}: ".format(*min(places)) if places else ""


def refuse(node: Syntax, hint: str = "rewrite the query without it") -> SqlError:
    """The error of a construct that is not supported."""
    told = f"is not supported: {node.sql(dialect='duckdb')}"
    if isinstance(node, exp.Anonymous):
        return SqlError(f"{node.name.upper()} {told}", hint=hint)
    name = type(node).sql_name() if isinstance(node, exp.Func) else type(node).key.upper()
    return SqlError(f"{name} {told}", hint=hint)
