"""Every error that Graphtide raises on purpose.

    GraphtideError
    ├── SchemaError                  a row or a column does not fit its schema
    ├── ExpressionError              an expression is malformed or does not type
    ├── PlanError                    a dataflow is put together wrongly
    ├── NotConvergedError            a loop reached its limit of rounds
    ├── CancelledRunError            a run was cancelled between rounds
    ├── UserFunctionError            a user's function raised
    ├── DataError                    a computation cannot take a value that its data holds or leads to
    ├── NegativeMultiplicityError    more copies of a row were deleted than there were
    ├── CompactedError               the history that a read needs has been compacted
    ├── CapacityError                memory, slots or a coordinate's bits ran out
    ├── LoadError                    a source cannot be read as a graph
    ├── StatementError               a GVDL statement does not parse, or does not fit the graph
    ├── SqlError                     a query in SQL does not parse, fit its tables, or asks for what is not supported
    ├── CatalogueError               a graph, view or computation of that name is not there, or already is
    ├── PlatformError                Java or Spark is not there, or does not start
    └── UsageError                   a command was called wrongly

A message starts in lower case and quotes the facts; the hint says what to do about them. Our own
mistakes are assertions, not members of this tree.
"""

from __future__ import annotations

__all__ = [
    "CancelledRunError",
    "CapacityError",
    "CatalogueError",
    "CompactedError",
    "DataError",
    "ExpressionError",
    "GraphtideError",
    "LoadError",
    "NegativeMultiplicityError",
    "NotConvergedError",
    "PlanError",
    "PlatformError",
    "SchemaError",
    "SqlError",
    "StatementError",
    "UsageError",
    "UserFunctionError",
]


class GraphtideError(Exception):
    """What went wrong, and a hint at what to do.

    >>> print(GraphtideError('column "yaer" does not exist', hint='did you mean "year"?'))
    column "yaer" does not exist
    hint: did you mean "year"?
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        # Both go into `args`, which is what pickle and copy rebuild an exception from.
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def add_hint(self, more: str) -> None:
        """Say more about what to do, or what was done."""
        self.hint = more if self.hint is None else f"{self.hint}; {more}"
        self.args = (self.message, self.hint)

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class SchemaError(GraphtideError):
    """A row has the wrong arity or type, or a column does not exist."""


class ExpressionError(GraphtideError):
    """An expression is malformed, or its operands' types do not fit its operator."""


class PlanError(GraphtideError):
    """A dataflow is put together wrongly: for example, a loop's body returns another schema."""


class NotConvergedError(GraphtideError):
    """A loop still changes after its limit of rounds."""


class CancelledRunError(GraphtideError):
    """A run was cancelled; the committed state is the one before it."""


class UserFunctionError(GraphtideError):
    """A user's function raised; its own exception is the `__cause__`."""


class DataError(GraphtideError):
    """A computation cannot take a value that its data holds or leads to.

    Functions that a dataflow calls with rows may raise it: the data is at fault then, and it comes through as it is.
    """


class NegativeMultiplicityError(GraphtideError):
    """A row's count fell below zero where only multisets make sense."""


class CompactedError(GraphtideError):
    """A time cannot be read any more, because its history has been compacted."""


class CapacityError(GraphtideError):
    """Something finite ran out: memory, slots, or the bits of a coordinate."""


class LoadError(GraphtideError):
    """A source cannot be read as a graph: a bad line, a missing column, a duplicate node, a dangling edge."""


class StatementError(GraphtideError):
    """A GVDL statement does not parse, or names something that the graph does not have."""


class SqlError(GraphtideError):
    """A query in SQL does not parse, does not fit its tables, or uses what is not supported."""


class CatalogueError(GraphtideError):
    """A graph, view, view collection or computation of that name is not there, or already is."""


class PlatformError(GraphtideError):
    """Java or Spark is not there, is too old, or does not start."""


class UsageError(GraphtideError):
    """A command was called wrongly; the command line exits with 2."""
