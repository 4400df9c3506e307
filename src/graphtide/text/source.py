"""Places in the text of a program, and errors that point at them."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from graphtide.errors import GraphtideError, StatementError

__all__ = ["NOWHERE", "Span", "error_at", "hint_at_nearest", "pointing_at"]

_WIDEST: Final = 100
_BEFORE_CARET: Final = 60
_MOST_NAMES: Final = 12


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text: from the character at `start` to before the one at `end`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The piece.

        >>> Span(7, 11).of("create view v")
        'view'
        """
        return text[self.start : self.end]


NOWHERE: Final = Span(0, 0)


def error_at(text: str, span: Span, message: str, hint: str | None = None) -> StatementError:
    r"""An error that says where it is and underlines the place; a span of several lines is underlined in its first.

    >>> print(error_at("show\n  veiws;", Span(7, 12), 'found "veiws"', hint='did you mean "views"?'))
    line 2, column 3: found "veiws"
      veiws;
      ^^^^^
    hint: did you mean "views"?
    """
    return StatementError(_located(text, span, message), hint=hint)


@contextmanager
def pointing_at(text: str, span: Span) -> Generator[None]:
    r"""Let an error of the block say that it is about a place in a text; it stays of its kind.

    >>> from graphtide.errors import UsageError
    >>> with pointing_at("show\n  veiws;", Span(7, 12)):
    ...     raise UsageError('found "veiws"', hint='did you mean "views"?')
    Traceback (most recent call last):
    graphtide.errors.UsageError: line 2, column 3: found "veiws"
      veiws;
      ^^^^^
    hint: did you mean "views"?
    """
    try:
        yield
    except GraphtideError as error:
        raise type(error)(_located(text, span, error.message), hint=error.hint) from error


def hint_at_nearest(name: str, known: Iterable[str], kind: str) -> str:
    """A hint at the known name that is nearest, or at what there is.

    >>> hint_at_nearest("yaer", ["year", "day"], "edge properties")
    'did you mean "year"?'
    >>> hint_at_nearest("x", ["year", "day"], "edge properties")
    'the edge properties are "year", "day"'
    >>> hint_at_nearest("x", [], "edge properties")
    'there are no edge properties'
    """
    names = list(known)
    nearest = get_close_matches(name, names, n=1) or get_close_matches(name.lower(), names, n=1)
    if nearest:
        return f'did you mean "{nearest[0]}"?'
    if not names:
        return f"there are no {kind}"
    listed = ", ".join(f'"{each}"' for each in names[:_MOST_NAMES])
    return f"the {kind} are {listed}" + (" and others" if len(names) > _MOST_NAMES else "")


def _located(text: str, span: Span, message: str) -> str:
    """A message with the place, and the line with the place underlined."""
    first = text.rfind("\n", 0, span.start) + 1
    last = text.find("\n", span.start)
    line = text[first:] if last < 0 else text[first:last]
    number = text.count("\n", 0, span.start) + 1
    column = span.start - first
    shown, underline = _excerpt(line.rstrip(), column, max(span.end - span.start, 1))
    return f"line {number}, column {column + 1}: {message}\n  {shown}\n  {underline}"


def _excerpt(line: str, column: int, width: int) -> tuple[str, str]:
    """The line without its indentation and, if it is long, without what is far from the caret; and the carets."""
    cut = min(len(line) - len(line.lstrip()), column)
    before, after = "", ""
    if len(line) - cut > _WIDEST:
        start = max(cut, min(column - _BEFORE_CARET, len(line) - _WIDEST))
        before = "..." if start > cut else ""
        after = "..." if start + _WIDEST < len(line) else ""
        cut, line = start, line[: start + _WIDEST]
    # A tab would be as wide as the terminal likes, and the carets would miss.
    shown = f"{before}{line[cut:]}{after}".replace("\t", " ")
    carets = "^" * max(min(width, len(line) - column), 1)
    return shown, " " * (column - cut + len(before)) + carets
