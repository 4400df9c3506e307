"""Patterns of labels along a path, and the automaton that reads them.

The automaton is Glushkov's: a state for each place of the pattern where a label stands, and one to begin with.
So it has no empty moves, and as many states as the pattern has labels, plus one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken

from graphtide.errors import StatementError, UsageError

__all__ = ["Automaton", "Move", "automaton", "where_unreadable"]

_MOST_STATES = 64


@dataclass(frozen=True, slots=True)
class Move:
    """From a state to a state along an edge with a label (None: with any), or against it."""

    source: int
    target: int
    label: str | None
    is_back: bool


@dataclass(frozen=True, slots=True)
class Automaton:
    """State 0 is where a path begins."""

    states: int
    moves: tuple[Move, ...]
    accepting: frozenset[int]

    @property
    def labels(self) -> frozenset[str]:
        """The labels that the pattern names."""
        return frozenset(move.label for move in self.moves if move.label is not None)


@dataclass(frozen=True, slots=True)
class _Part:
    """Of a part of a pattern: whether it may be empty, where it may begin and end, what may follow what."""

    may_be_empty: bool
    first: frozenset[int]
    last: frozenset[int]
    follow: frozenset[tuple[int, int]]


_EMPTY = _Part(may_be_empty=True, first=frozenset(), last=frozenset(), follow=frozenset())


def automaton(pattern: str) -> Automaton:
    """The automaton of a pattern.

    >>> automaton("knows likes*").states
    3
    >>> sorted(automaton("a? b").accepting)
    [2]
    """
    if not isinstance(pattern, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users say it
        raise UsageError(f"{pattern!r} is no pattern of labels", hint='for example "knows+ likes"')
    unreadable = where_unreadable(pattern)
    if unreadable is not None:
        at, message = unreadable
        raise StatementError(
            f"column {at + 1}: {message}\n  {pattern}\n  {' ' * at}^",
            hint="for example: knows likes* | (^wrote wrote)+",
        )
    tree = _parser().parse(pattern)
    places: list[tuple[str | None, bool]] = []
    part = _part(tree.children[0], places)
    if len(places) >= _MOST_STATES:
        raise StatementError(f"a pattern of {len(places)} labels is too long", hint=f"use fewer than {_MOST_STATES}")
    begins = [(0, place) for place in part.first]
    moves = [Move(source, target, *places[target - 1]) for source, target in sorted({*begins, *part.follow})]
    accepting = part.last | ({0} if part.may_be_empty else set[int]())
    return Automaton(len(places) + 1, tuple(moves), frozenset(accepting))


def where_unreadable(pattern: str) -> tuple[int, str] | None:
    """The place at which a pattern stops making sense, and what is wrong there; None if it can be read.

    >>> where_unreadable("knows (")
    (7, 'a label or a group cannot be read at the end')
    """
    try:
        _parser().parse(pattern)
    except UnexpectedInput as error:
        is_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        at = len(pattern) if is_end or error.pos_in_stream is None else error.pos_in_stream
        found = f'"{pattern[at]}"' if at < len(pattern) else "the end"
        return at, f"a label or a group cannot be read at {found}"
    return None


@cache
def _parser() -> Lark:
    grammar = files("graphtide.frontier").joinpath("pattern.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr")


def _part(node: Any, places: list[tuple[str | None, bool]]) -> _Part:
    assert isinstance(node, Tree)
    match node.data:
        case "label":
            return _place((_name(node), False), places)
        case "back":
            return _place((_name(node.children[0]), True), places)
        case "any":
            return _place((None, False), places)
        case "union":
            return _united([_part(child, places) for child in node.children])
        case "sequence":
            return _chained(_part(child, places) for child in node.children)
        case "maybe":
            return _united([_EMPTY, _part(node.children[0], places)])
        case repeated:
            part = _part(node.children[0], places)
            again = frozenset((end, begin) for end in part.last for begin in part.first)
            may_be_empty = part.may_be_empty or repeated == "star"
            return _Part(may_be_empty, part.first, part.last, part.follow | again)


def _place(place: tuple[str | None, bool], places: list[tuple[str | None, bool]]) -> _Part:
    places.append(place)
    here = frozenset([len(places)])
    return _Part(may_be_empty=False, first=here, last=here, follow=frozenset())


def _united(parts: list[_Part]) -> _Part:
    return _Part(
        any(part.may_be_empty for part in parts),
        frozenset().union(*(part.first for part in parts)),
        frozenset().union(*(part.last for part in parts)),
        frozenset().union(*(part.follow for part in parts)),
    )


def _chained(parts: Iterator[_Part]) -> _Part:
    whole = _EMPTY
    for part in parts:
        joint = frozenset((end, begin) for end in whole.last for begin in part.first)
        whole = _Part(
            whole.may_be_empty and part.may_be_empty,
            whole.first | part.first if whole.may_be_empty else whole.first,
            part.last | whole.last if part.may_be_empty else part.last,
            whole.follow | part.follow | joint,
        )
    return whole


def _name(node: Any) -> str:
    token = node.children[0]
    assert isinstance(token, Token)
    return token[1:-1].replace("''", "'") if token.type == "QUOTED" else str(token)
