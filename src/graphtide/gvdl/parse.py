"""From text to syntax: `parse` a program, `parse_predicate` a condition alone.

The grammar stands in `grammar.lark`. Any text either parses or raises a `StatementError` that points into it.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any, Final

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, VisitError

from graphtide.gvdl import syntax
from graphtide.gvdl.build import build
from graphtide.gvdl.unexpected import unexpected
from graphtide.text import Span, check_characters, error_at

__all__ = ["is_complete", "parse", "parse_predicate"]

# Whoever walks a tree may recurse. Spark's parser takes some twenty frames per level, and its analyzer gives up after a
# hundred rounds, of which a nested modulo takes two.
_DEEPEST: Final = 40

_PIECES: Final = re.compile(
    r"""(?P<blank> [\s\ufeff]+ | --[^\n]* | /\*.*?\*/ )
      | (?P<open> '(?:[^']|'')*\Z | "(?:[^"]|"")*\Z | /\*.* )
      | (?P<end> ; )
      | '(?:[^']|'')*' | "(?:[^"]|"")*" | .""",
    re.VERBOSE | re.DOTALL,
)


def parse(text: str) -> tuple[syntax.Statement, ...]:
    """The statements of a program; the last one may leave out its semicolon.

    >>> parse("show graphs; describe Calls")
    (Show(what='graphs'), Describe(name=Name(text='Calls')))
    """
    return _parse(text, "program")


def parse_predicate(text: str) -> syntax.Expression:
    """A condition, as it stands behind `where`.

    >>> parse_predicate("src.state is null")
    IsNull(value=Property(name='state', end=Name(text='src')))
    """
    return _parse(text, "predicate")


def is_complete(text: str) -> bool:
    """Whether the text ends where a statement ends, or says nothing at all: a shell need not wait for another line.

    >>> is_complete("create view V on Calls"), is_complete("show graphs; -- all of them")
    (False, True)
    """
    last = None
    for piece in _PIECES.finditer(text):
        if piece.lastgroup != "blank":
            last = piece.lastgroup or "inside"
    return last in {None, "end"}


def _parse(text: str, start: str) -> Any:
    check_characters(text)
    try:
        tree = _parser().parse(text, start=start)
    except UnexpectedInput:
        raise unexpected(_parser(), text, start) from None
    _check_depth(tree, text)
    try:
        return build(tree, text)
    except VisitError as error:
        raise error.orig_exc from None


def _check_depth(tree: Tree[Token], text: str) -> None:
    level, depth = [tree], 0
    while level:
        if depth > _DEEPEST:
            meta = level[0].meta
            raise error_at(
                text,
                Span(meta.start_pos, meta.end_pos),
                f"this is nested more than {_DEEPEST} levels deep",
                hint="split the condition over views that stand on one another",
            )
        level = [child for each in level for child in each.children if isinstance(child, Tree)]
        depth += 1


@cache
def _parser() -> Lark:
    grammar = files("graphtide.gvdl").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", start=["program", "predicate"], propagate_positions=True)
