"""How the lines of a file of facts are written, as the options of `.input` and `.output` say.

As Soufflé has it: values stand between delimiters as they are, or, with `rfc4180=true`, symbols stand in quotes.
Options that are not supported are refused where they stand, since they would change what is read or written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from graphtide.datalog.syntax import Access, Option
from graphtide.errors import StatementError
from graphtide.text import error_at, hint_at_nearest

__all__ = ["FileFormat", "file_format"]

_NAMES: Final = ("IO", "delimiter", "filename", "headers", "rfc4180", "separator")
_SWITCHES: Final = {"true": True, "false": False}
# As programs for older versions of Soufflé write them.
_SPELT_OUT: Final = {"\\t": "\t", "\\s": " "}


@dataclass(frozen=True, slots=True)
class FileFormat:
    """What stands between values, whether symbols are quoted, and whether the first line has the names of columns."""

    filename: str | None
    delimiter: str
    is_quoted: bool
    has_header: bool


def file_format(access: Access, text: str) -> FileFormat:
    """What the options of a directive come to; options that cannot be followed raise an error at their place."""
    options = {each.name: each for each in access.options}
    for each in access.options:
        if each.name not in _NAMES:
            hint = hint_at_nearest(each.name, _NAMES, "options")
            raise error_at(text, each.span, f'the option "{each.name}" of a file is not supported', hint)
    way = options.get("IO")
    if way is not None and way.value != "file":
        hint = f'leave IO out; rules["{access.relation}"] and insert are there for facts that are not in files'
        raise error_at(
            text, way.span, f'IO="{way.value}" is not supported: facts are read from files and written to files', hint
        )
    is_quoted = _is_on(options, "rfc4180", text)
    chosen = options.get("delimiter", options.get("separator"))
    delimiter = ("," if is_quoted else "\t") if chosen is None else _SPELT_OUT.get(chosen.value, chosen.value)
    if chosen is not None:
        _check_delimiter(chosen, delimiter, text, is_quoted=is_quoted)
    named = options.get("filename")
    return FileFormat(None if named is None else named.value, delimiter, is_quoted, _is_on(options, "headers", text))


def _is_on(options: Mapping[str, Option], name: str, text: str) -> bool:
    option = options.get(name)
    if option is None:
        return False
    if option.value not in _SWITCHES:
        raise error_at(text, option.span, f'"{name}" is "{option.value}"', "write true or false")
    return _SWITCHES[option.value]


def _check_delimiter(option: Option, delimiter: str, text: str, *, is_quoted: bool) -> None:
    def refused(why: str, hint: str) -> StatementError:
        return error_at(text, option.span, why, hint)

    if not delimiter:
        raise refused("the delimiter is empty", 'leave it out for tabs, or write another, as in delimiter=","')
    if "\n" in delimiter or "\r" in delimiter:
        raise refused("the delimiter has a line break, which ends a fact", "take another character")
    if is_quoted and (delimiter == '"' or len(delimiter.encode()) != 1):
        raise refused(
            f'with rfc4180=true the delimiter cannot be "{delimiter}"', "take a comma, a tab or another ASCII character"
        )
