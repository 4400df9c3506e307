"""From text to syntax: `parse` a program, `parse_goal` the atom that a query asks for.

The grammar stands in `grammar.lark`. Any text either parses or raises a `StatementError` that points into it.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, Final

from lark import Lark
from lark.exceptions import UnexpectedInput, VisitError

from graphtide.datalog import syntax
from graphtide.datalog.build import build
from graphtide.errors import StatementError, UsageError
from graphtide.text import END, Phrase, Stop, check_characters, in_words, listed, stop_of, unclosed

__all__ = ["parse", "parse_goal"]

# What is found by a pattern; signs are called by themselves.
_WORDS: Final = {
    END: "the end of the text",
    "AGGREGATE": "an aggregate",
    "FLOAT": "a float",
    "INT": "a number",
    "NAME": "a name",
    "QUALIFIER": 'a word such as "output"',
    "STRING": "a string",
    "WILDCARD": '"_"',
    "_DECL": '".decl"',
    "_INPUT": '".input"',
    "_NOT": '"!"',
    "_NUMBER_TYPE": '".number_type"',
    "_OUTPUT": '".output"',
    "_SYMBOL_TYPE": '".symbol_type"',
    "_TYPE": '".type"',
}
_PHRASES: Final[tuple[Phrase, ...]] = (
    (
        "a clause or a directive",
        {"_DECL", "NAME"},
        {"_TYPE", "_NUMBER_TYPE", "_SYMBOL_TYPE", "_INPUT", "_OUTPUT", END},
    ),
    (
        "a literal",
        {"NAME", "BANG", "LPAR"},
        {"_NOT", "INT", "FLOAT", "STRING", "WILDCARD", "MINUS", "AGGREGATE"},
    ),
    ("a term", {"NAME", "INT", "STRING"}, {"FLOAT", "WILDCARD", "MINUS", "LPAR", "AGGREGATE"}),
    ("a comparison", {"EQUAL", "LESSTHAN", "MORETHAN"}, {"UNEQUAL", "AT_MOST", "AT_LEAST"}),
    ("an operator", {"PLUS", "STAR"}, {"MINUS", "SLASH", "PERCENT"}),
)
_QUOTES: Final = {'"': ("string", "close it with a double quote")}
_DIRECTIVES: Final = (".decl", ".input", ".number_type", ".output", ".printsize", ".symbol_type", ".type")
_MEANT: Final = {
    "\\": 'write != for "not equal"',
    "'": "symbols stand in double quotes",
    "==": "write =",
    "<-": "write :-",
    "&": 'write a comma for "and"',
    "|": 'write a semicolon for "or"',
    "%": "comments begin with //",
    "#": "comments begin with //",
}


def parse(text: str) -> tuple[syntax.Statement, ...]:
    """The clauses and directives of a program.

    >>> (clause,) = parse("tc(X, Z) :- tc(X, Y), edge(Y, Z).")
    >>> print(clause.heads[0], clause.body)
    tc(X, Z) tc(X, Y), edge(Y, Z)
    """
    return _parse(text, "program")


def parse_goal(text: str) -> syntax.Atom:
    """The atom that a query asks for.

    >>> print(parse_goal('likes("ann", _)'))
    likes("ann", _)
    """
    return _parse(text, "goal")


def _parse(text: str, start: str) -> Any:
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"{text!r} is not a {start}", hint=f"pass the text of a {start}")
    check_characters(text)
    try:
        tree = _parser().parse(text, start=start)
    except UnexpectedInput:
        raise _unexpected(text, start) from None
    try:
        return build(tree, text)
    except VisitError as error:
        raise error.orig_exc from None


@cache
def _parser() -> Lark:
    grammar = files("graphtide.datalog").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", start=["program", "goal"], propagate_positions=True)


@cache
def _words() -> dict[str, str]:
    """What each terminal of the grammar is called."""
    signs = {each.name: f'"{each.pattern.value}"' for each in _parser().terminals if each.pattern.type == "str"}
    return signs | _WORDS


def _unexpected(text: str, start: str) -> StatementError:
    stop = stop_of(_parser(), text, start)
    expected = listed(in_words(stop.accepted, _words(), _PHRASES))
    return unclosed(text, stop, _QUOTES) or stop.error(text, expected, _hint(text, stop))


def _hint(text: str, stop: Stop) -> str | None:
    at = stop.at
    for sign, hint in _MEANT.items():
        if text.startswith(sign, at):
            return hint
    word = text[at:].split(maxsplit=1)[0].split("(", 1)[0] if text[at:].strip() else ""
    previous = stop.previous
    if stop.found == "=" and stop.previous == "=":
        return _MEANT["=="]
    if word.startswith(".") and len(word) > 1 and word not in _DIRECTIVES:
        if near := get_close_matches(word, _DIRECTIVES, n=1):
            return f"did you mean {near[0]}?"
        return f"the directives are {', '.join(_DIRECTIVES)}"
    if _can_end(stop.accepted) and previous is not None and (stop.found.type == END or previous == ")"):
        return "end the clause before it with a dot" if stop.found.type != END else "end the clause with a dot"
    return None


def _can_end(accepted: AbstractSet[str]) -> bool:
    return "DOT" in accepted
