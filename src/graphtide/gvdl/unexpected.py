"""Syntax errors in the words of the language: what was found, what was expected, what may have been meant."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from graphtide.errors import StatementError
from graphtide.gvdl.source import Span, error_at

__all__ = ["unexpected"]

_LONGEST: Final = 40
_END: Final = "$END"

# What terminals are called, other than keywords, which are called by their words.
_WORDS: Final = {
    _END: "the end of the text",
    "COLON": '":"',
    "COMMA": '","',
    "COMPARE": "a comparison",
    "DOT": '"."',
    "EQUALS": '"="',
    "FLOAT": "a float",
    "INT": "an int",
    "LPAR": '"("',
    "LSQB": '"["',
    "MINUS": '"-"',
    "NAME": "a name",
    "PERCENT": '"%"',
    "PLUS": '"+"',
    "QUOTED": "a name",
    "RPAR": '")"',
    "RSQB": '"]"',
    "SEMICOLON": '";"',
    "SLASH": '"/"',
    "STAR": '"*"',
    "STRING": "a string in single quotes",
    "TEMPLATE": "a name",
    "VARIABLE": "a variable",
    "_DATE": "a date",
    "_RANGE": '".."',
    "_TIMESTAMP": "a timestamp",
}
# Where the first set is expected, the phrase says it, and the second set with it.
_PHRASES: Final[tuple[tuple[str, AbstractSet[str], AbstractSet[str]], ...]] = (
    (
        "a statement",
        {"_CREATE", "_LOAD", "_SHOW"},
        {"_DESCRIBE", "_DROP", "_EXPLAIN", "_REGISTER", "_RUN", "SEMICOLON", _END},
    ),
    (
        "a condition",
        {"_NOT", "VARIABLE", "STRING"},
        {"FLOAT", "INT", "LPAR", "MINUS", "NAME", "QUOTED", "_DATE", "_FALSE", "_TIMESTAMP", "_TRUE"},
    ),
    (
        "a value",
        {"STRING", "FLOAT", "NAME"},
        {"INT", "LPAR", "LSQB", "MINUS", "QUOTED", "VARIABLE", "_DATE", "_FALSE", "_TIMESTAMP", "_TRUE"},
    ),
    ("an id", {"INT", "STRING"}, {"MINUS"}),
    ("a comparison", {"COMPARE", "_BETWEEN"}, {"EQUALS", "_IN", "_IS", "_LIKE", "_NOT"}),
    ("an operator", {"PLUS", "STAR"}, {"DOT", "MINUS", "PERCENT", "SLASH"}),
    ('";"', {"SEMICOLON"}, {_END}),
)
_STARTERS: Final = ("create", "describe", "drop", "explain", "load", "register", "run", "show")
_MEANT: Final = {"&": "and", "|": "or", "!": "not", "≤": "<=", "≥": ">=", "≠": "<>"}


@dataclass(frozen=True, slots=True)
class _Stop:
    """Where a parse ended: at which token, what was accepted there, and the same of the token before."""

    found: Token
    accepted: AbstractSet[str]
    previous: Token | None
    accepted_before: AbstractSet[str]


def unexpected(parser: Lark, text: str, start: str) -> StatementError:
    """The error for a text that does not parse."""
    stop = _stop(parser, text, start)
    at = stop.found.start_pos
    assert at is not None, "every token has its place in the text"
    expected = _listed(_in_words(stop.accepted))
    if stop.found.type == _END:
        return error_at(text, Span(at, at), f"expected {expected}, found the end of the text", _hint(stop))
    # The slash may have been read as an operator, and the star is found to be one too many.
    for place in (at, at - 1):
        if place >= 0 and text.startswith("/*", place):
            return error_at(text, Span(place, place + 2), "this comment is not closed", hint="close it with */")
    if stop.found == "'":
        hint = "close it with a single quote; a quote inside a string is written twice"
        return error_at(text, Span(at, at + 1), "this string is not closed", hint)
    if stop.found == '"':
        return error_at(text, Span(at, at + 1), "this name is not closed", hint="close it with a double quote")
    shown = stop.found if len(stop.found) <= _LONGEST else f"{stop.found[:_LONGEST]}..."
    return error_at(text, Span(at, at + len(stop.found)), f'expected {expected}, found "{shown}"', _hint(stop))


def _stop(parser: Lark, text: str, start: str) -> _Stop:
    """Parses once more, to see what is accepted where: the parser itself reports states that it has merged."""
    good: list[Token] = []
    try:
        for token in parser.parse_interactive(text, start=start).iter_parse():
            good.append(token)  # noqa: PERF402 - what came before an error is kept
        last = good[-1].end_pos if good else 0
        found = Token(_END, "", start_pos=last)
    except UnexpectedToken as error:
        found = error.token
        if good and good[-1] is found:
            good.pop()
    except UnexpectedCharacters as error:
        found = Token("$SIGN", error.char, start_pos=error.pos_in_stream)
    state = parser.parse_interactive(start=start)
    before: AbstractSet[str] = frozenset()
    for i, token in enumerate(good, start=1):
        if i == len(good):
            before = state.accepts()
        state.feed_token(token)
    return _Stop(found, state.accepts(), good[-1] if good else None, before)


def _hint(stop: _Stop) -> str | None:
    found, previous = stop.found, stop.previous
    word = found.lower()
    if "SEMICOLON" in stop.accepted and previous is not None and previous != ";" and word in _STARTERS:
        return 'end the statement before it with ";"'
    if meant := get_close_matches(word, _keywords(stop.accepted), n=1):
        return f'did you mean "{meant[0]}"?'
    if found in _MEANT:
        return f"write {_MEANT[found]}"
    if word == "null":
        return "write is null or is not null"
    if found.type in {"COMPARE", "EQUALS"}:
        return "a comparison has two sides; write and between two comparisons"
    if previous is not None and previous.type == "STRING" and previous.end_pos == found.start_pos:
        return "a quote inside a string is written twice"
    # A misspelt keyword may pass for a name, and only what follows is out of place.
    if previous is not None and previous.type == "NAME":
        meant = get_close_matches(previous.lower(), _keywords(stop.accepted_before), n=1)
        if meant:
            return f'did you mean "{meant[0]}" instead of "{previous}"?'
    return f"statements start with {_listed(list(_STARTERS))}" if _PHRASES[0][1] <= stop.accepted else None


def _keywords(terminals: AbstractSet[str]) -> list[str]:
    return sorted(each.removeprefix("_").lower() for each in terminals if each not in _WORDS)


def _in_words(accepted: AbstractSet[str]) -> list[str]:
    left, words = set(accepted), list[str]()
    for phrase, core, rest in _PHRASES:
        if core <= left:
            words.append(phrase)
            left -= core | rest
    single = sorted({_WORDS.get(each) or f'"{each.removeprefix("_").lower()}"' for each in left})
    return [*single, *words]


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
