"""Where a parse ended, and what would have been accepted there, in words.

Each language brings the words for its terminals, and what may have been meant; the rest is the same for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from graphtide.errors import StatementError
from graphtide.text.source import Span, error_at

__all__ = ["END", "Phrase", "Stop", "check_characters", "in_words", "listed", "stop_of", "unclosed"]

END: Final = "$END"
_LONGEST: Final = 40

# Where the first set of terminals is expected, the phrase says it, and the second set with it.
Phrase = tuple[str, AbstractSet[str], AbstractSet[str]]


@dataclass(frozen=True, slots=True)
class Stop:
    """At which token a parse ended, what was accepted there, and the same of the token before."""

    found: Token
    accepted: AbstractSet[str]
    previous: Token | None
    accepted_before: AbstractSet[str]

    @property
    def at(self) -> int:
        """The place of the token in the text."""
        place = self.found.start_pos
        assert place is not None, "every token has its place in the text"
        return place

    def error(self, text: str, expected: str, hint: str | None) -> StatementError:
        """The error that names what was expected and what was found."""
        if self.found.type == END:
            place, shown = Span(self.at, self.at), "the end of the text"
        else:
            place = Span(self.at, self.at + len(self.found))
            shown = f'"{self.found if len(self.found) <= _LONGEST else f"{self.found[:_LONGEST]}..."}"'
        return error_at(text, place, f"expected {expected}, found {shown}", hint)


def stop_of(parser: Lark, text: str, start: str) -> Stop:
    """Parse once more, to see what is accepted where: the parser itself reports states that it has merged."""
    good: list[Token] = []
    try:
        for token in parser.parse_interactive(text, start=start).iter_parse():
            good.append(token)  # noqa: PERF402 - what came before an error is kept
        last = good[-1].end_pos if good else 0
        found = Token(END, "", start_pos=last)
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
    return Stop(found, state.accepts(), good[-1] if good else None, before)


def unclosed(text: str, stop: Stop, quotes: Mapping[str, tuple[str, str]]) -> StatementError | None:
    """The error for a comment or a quoted piece that has no end; `quotes` says what each sign opens, and a hint."""
    if stop.found.type == END:
        return None
    # The slash may have been read as an operator, and the star is found to be one too many.
    for place in (stop.at, stop.at - 1):
        if place >= 0 and text.startswith("/*", place):
            return error_at(text, Span(place, place + 2), "this comment is not closed", hint="close it with */")
    if stop.found in quotes:
        what, hint = quotes[stop.found]
        return error_at(text, Span(stop.at, stop.at + 1), f"this {what} is not closed", hint)
    return None


def in_words(accepted: AbstractSet[str], words: Mapping[str, str], phrases: Sequence[Phrase]) -> list[str]:
    """What terminals are called; a keyword, which has no word in `words`, by itself."""
    left, said = set(accepted), list[str]()
    for phrase, core, rest in phrases:
        if core <= left:
            said.append(phrase)
            left -= core | rest
    single = sorted({words.get(each) or f'"{each.removeprefix("_").lower()}"' for each in left})
    return [*single, *said]


def listed(words: Sequence[str]) -> str:
    """Words in a sentence.

    >>> listed(["a name", "a number", "a string"])
    'a name, a number or a string'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def check_characters(text: str) -> None:
    """Refuse half of a surrogate pair, which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        printable = text.encode(errors="replace").decode()
        place = Span(error.start, error.end)
        raise error_at(printable, place, "this is no character", hint="save the text as UTF-8") from None
