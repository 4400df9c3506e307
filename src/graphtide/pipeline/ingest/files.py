"""The files behind paths, folders and patterns, and how they begin.

Files must be where the driver and all workers see them under one path. Order: as the paths were given, and sorted by
path within a folder or a pattern. As for Spark, names that start with `_` or `.` are none of a folder's data.
"""

from __future__ import annotations

import codecs
import glob
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from os.path import isdir, isfile
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from graphtide.errors import LoadError

__all__ = ["DataFile", "Head", "as_spark_path", "list_files", "path_of_uri", "read_head"]

_HEAD_BYTES: Final = 1 << 18
_SPARK_PATTERN: Final = re.compile(r"([\[\]{}*?\\])")
_OTHERWISE_PACKED: Final = re.compile(r"\.(tar|tgz|zip|xz|7z|lz4|snappy|br|rar)(\.gz|\.bz2|\.zst)?$", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file, and the folder that it was found in if a folder was given."""

    path: Path
    root: Path | None = None

    def __str__(self) -> str:
        return str(self.path)

    @property
    def folders(self) -> tuple[str, ...]:
        """The names of the folders between the one that was given and the file."""
        return () if self.root is None else self.path.relative_to(self.root).parts[:-1]


@dataclass(frozen=True, slots=True)
class Head:
    """The first lines of a file, and the byte that each starts at."""

    lines: tuple[str, ...]
    starts: tuple[int, ...]


def list_files(paths: Iterable[str | Path]) -> list[DataFile]:
    """The files that paths stand for; each exists, is given once, and has a byte in it."""
    found = [file for path in paths for file in _listed(path)]
    seen: set[Path] = set()
    for file in found:
        if file.path in seen:
            raise LoadError(f"{file} is given twice", hint="name each file once")
        seen.add(file.path)
        if _is_hidden(file.path.name):
            raise LoadError(f"{file} starts with {file.path.name[0]}, and Spark reads no such files", hint="rename it")
        if not file.path.stat().st_size:
            raise LoadError(f"{file} is empty", hint="remove it, or write at least the names of its columns into it")
    return found


def read_head(file: Path) -> Head:
    """The first lines of a text file, compressed or not; they are whole, but for one that is longer than a head."""
    if _OTHERWISE_PACKED.search(file.name):
        raise LoadError(
            f"{file} is packed in a way that Spark does not read", hint="unpack it, or use gzip, bzip2 or zstd"
        )
    try:
        with pa.input_stream(str(file), compression="detect") as stream:
            content: bytes = stream.read(_HEAD_BYTES)
            goes_on = bool(stream.read(1))
    except OSError as error:
        raise LoadError(
            f"{file} cannot be read: {error}", hint="is it whole, and named after its compression?"
        ) from error
    _check_encoding(file, content)
    mark = b"\xef\xbb\xbf"
    start = len(mark) if content.startswith(mark) else 0
    lines: list[str] = []
    starts: list[int] = []
    for line in content[start:].splitlines(keepends=True):
        # The byte order mark belongs to the first line, so that one starts at 0.
        starts.append(start if lines else 0)
        lines.append(line.rstrip(b"\r\n").decode(errors="replace"))
        start += len(line)
    # Nothing can be told from half a line, where there are whole ones.
    whole = slice(-1) if goes_on and len(lines) > 1 else slice(None)
    return Head(tuple(lines[whole]), tuple(starts[whole]))


def as_spark_path(file: Path) -> str:
    """A path that Spark does not take for a pattern, whatever characters are in it."""
    return _SPARK_PATTERN.sub(r"\\\1", str(file))


def path_of_uri(uri: str) -> str:
    """The path in what Spark says a row was read from.

    >>> path_of_uri("file:/data/a%5B1%5D.csv")
    '/data/a[1].csv'
    """
    return unquote(urlsplit(uri).path)


def _check_encoding(file: Path, content: bytes) -> None:
    """Raise if a file begins as one whose characters are of two or four bytes."""
    is_marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
    # Without a mark, it shows in the other byte of each plain letter.
    if is_marked or content.count(0) * 4 > len(content):
        raise LoadError(
            f"{file} is UTF-16 or UTF-32, not UTF-8",
            hint="convert it, for example with iconv -f UTF-16 -t UTF-8",
        )


def _listed(path: str | Path) -> list[DataFile]:
    text = path_of_uri(str(path)) if str(path).startswith("file:") else str(path)
    if _SCHEME.match(text):
        raise LoadError(
            f"{text} is not a path on this machine",
            hint="read it with Spark, and pass the DataFrame instead of the path",
        )
    if "\0" in text:
        raise LoadError(f"there is no file {text!r}", hint="no path has a NUL in it")
    # A file may well be called a[1].csv, so it is a pattern only if there is no such file.
    plain = _absolute(text)
    if isfile(plain):  # noqa: PTH113 - `Path.is_file` raises if a pattern is too long for a name
        return [DataFile(plain)]
    if isdir(plain):  # noqa: PTH112 - as above
        return _inside(plain)
    found = [_absolute(each) for each in sorted(glob.glob(text, recursive=True))]  # noqa: PTH207 - may be absolute
    shown = [each for each in found if not _is_hidden(each.name)]
    if not shown:
        raise LoadError(f"there is no file {text}", hint=_hint_at_neighbours(plain))
    return [file for each in shown for file in (_inside(each) if each.is_dir() else [DataFile(each)])]


def _inside(folder: Path) -> list[DataFile]:
    files = [DataFile(path, folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    shown = [file for file in files if not any(map(_is_hidden, (*file.folders, file.path.name)))]
    if not shown:
        raise LoadError(f"there are no files in {folder}", hint="names that start with _ or . do not count")
    return shown


def _absolute(text: str) -> Path:
    # As Spark does it: `..` goes, symbolic links stay.
    return Path(os.path.abspath(text))  # noqa: PTH100 - `Path.absolute` keeps `..`, `Path.resolve` follows links


def _hint_at_neighbours(file: Path) -> str | None:
    try:
        names = [each.name for each in file.parent.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return f"{file.parent} does not exist"
    except OSError as error:
        return f"{file.parent} cannot be looked into: {error.strerror}"
    near = get_close_matches(file.name, names, n=1)
    return f'did you mean "{file.parent / near[0]}"?' if near else None


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))
