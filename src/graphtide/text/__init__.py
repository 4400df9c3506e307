"""Texts that users write: places in them, errors that point there, and where a parser stopped."""

from graphtide.text.source import NOWHERE, Span, error_at, hint_at_nearest, pointing_at
from graphtide.text.stop import END, Phrase, Stop, check_characters, in_words, listed, stop_of, unclosed

__all__ = [
    "END",
    "NOWHERE",
    "Phrase",
    "Span",
    "Stop",
    "check_characters",
    "error_at",
    "hint_at_nearest",
    "in_words",
    "listed",
    "pointing_at",
    "stop_of",
    "unclosed",
]
