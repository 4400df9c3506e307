"""Syntax errors in the words of the language: what was found, what was expected, what may have been meant."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from typing import Final

from lark import Lark

from graphtide.errors import StatementError
from graphtide.text import END, Phrase, Stop, in_words, listed, stop_of, unclosed

__all__ = ["unexpected"]

# What terminals are called, other than keywords, which are called by their words.
_WORDS: Final = {
    END: "the end of the text",
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
_PHRASES: Final[tuple[Phrase, ...]] = (
    (
        "a statement",
        {"_CREATE", "_LOAD", "_SHOW"},
        {"_DESCRIBE", "_DROP", "_EXPLAIN", "_REGISTER", "_RUN", "SEMICOLON", END},
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
    ('";"', {"SEMICOLON"}, {END}),
)
_STARTERS: Final = ("create", "describe", "drop", "explain", "load", "register", "run", "show")
_MEANT: Final = {"&": "and", "|": "or", "!": "not", "≤": "<=", "≥": ">=", "≠": "<>"}


_QUOTES: Final = {
    "'": ("string", "close it with a single quote; a quote inside a string is written twice"),
    '"': ("name", "close it with a double quote"),
}


def unexpected(parser: Lark, text: str, start: str) -> StatementError:
    """The error for a text that does not parse."""
    stop = stop_of(parser, text, start)
    expected = listed(in_words(stop.accepted, _WORDS, _PHRASES))
    return unclosed(text, stop, _QUOTES) or stop.error(text, expected, _hint(stop))


def _hint(stop: Stop) -> str | None:
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
    return f"statements start with {listed(list(_STARTERS))}" if _PHRASES[0][1] <= stop.accepted else None


def _keywords(terminals: AbstractSet[str]) -> list[str]:
    return sorted(each.removeprefix("_").lower() for each in terminals if each not in _WORDS)
