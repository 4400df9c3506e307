"""The files behind paths, folders and patterns, and how they begin.

Files must be where the driver and all workers see them under one path. Order: as the paths were given, and sorted by
path within a folder or a pattern. As for Spark, names that start with `_` or `.` are none of a folder's data.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from graphtide.errors import LoadError
from graphtide.rows.schema import did_you_mean

__all__ = ["Head", "as_spark_path", "list_files", "path_of_uri", "read_head"]

_HEAD_BYTES: Final = 1 << 18
_SPARK_PATTERN: Final = re.compile(r"([\[\]{}*?\\])")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True, slots=True)
class Head:
    """The first lines of a file, and the byte that each starts at."""

    lines: tuple[str, ...]
    starts: tuple[int, ...]


def list_files(paths: Iterable[str | Path]) -> list[Path]:
    """The files that paths stand for; each exists, is given once, and has a byte in it."""
    found = [file for path in paths for file in _listed(path)]
    seen: set[Path] = set()
    for file in found:
        if file in seen:
            raise LoadError(f"{file} is given twice", hint="name each file once")
        seen.add(file)
        if _is_hidden(file):
            raise LoadError(f"{file} starts with {file.name[0]}, and Spark reads no such files", hint="rename it")
        if not file.stat().st_size:
            raise LoadError(f"{file} is empty", hint="remove it, or write at least the names of its columns into it")
    return found


def read_head(file: Path) -> Head:
    """The first lines of a text file, compressed or not; the last one may be cut."""
    try:
        with pa.input_stream(str(file), compression="detect") as stream:
            content: bytes = stream.read(_HEAD_BYTES)
    except OSError as error:
        raise LoadError(
            f"{file} cannot be read: {error}", hint="is it whole, and named after its compression?"
        ) from error
    mark = b"\xef\xbb\xbf"
    start = len(mark) if content.startswith(mark) else 0
    lines: list[str] = []
    starts: list[int] = []
    for line in content[start:].splitlines(keepends=True):
        # The byte order mark belongs to the first line, so that one starts at 0.
        starts.append(start if lines else 0)
        lines.append(line.rstrip(b"\r\n").decode(errors="replace"))
        start += len(line)
    return Head(tuple(lines), tuple(starts))


def as_spark_path(file: Path) -> str:
    """A path that Spark does not take for a pattern, whatever characters are in it."""
    return _SPARK_PATTERN.sub(r"\\\1", str(file))


def path_of_uri(uri: str) -> str:
    """The path in what Spark says a row was read from.

    >>> path_of_uri("file:/data/a%5B1%5D.csv")
    '/data/a[1].csv'
    """
    return unquote(urlsplit(uri).path)


def _listed(path: str | Path) -> Sequence[Path]:
    text = str(path).removeprefix("file://")
    if _SCHEME.match(text):
        raise LoadError(
            f"{text} is not a path on this machine",
            hint="read it with Spark, and pass the DataFrame instead of the path",
        )
    # A file may well be called a[1].csv, so it is a pattern only if there is no such file.
    plain = Path(text).absolute()
    if plain.is_file():
        return [plain]
    if plain.is_dir():
        return _inside(plain)
    matches = [Path(each).absolute() for each in sorted(glob.glob(text, recursive=True))]  # noqa: PTH207 - absolute patterns
    if not matches:
        near = [str(each) for each in plain.parent.iterdir()] if plain.parent.is_dir() else []
        hint = did_you_mean(str(plain), near) if near else f"{plain.parent} does not exist"
        raise LoadError(f"there is no file {text}", hint=hint if "did you" in hint or not near else None)
    return [file for match in matches for file in (_inside(match) if match.is_dir() else [match])]


def _inside(folder: Path) -> list[Path]:
    files = [file for file in folder.rglob("*") if file.is_file() and not any(map(_is_hidden, _below(file, folder)))]
    if not files:
        raise LoadError(f"there are no files in {folder}", hint="names that start with _ or . do not count")
    return sorted(files)


def _below(file: Path, folder: Path) -> list[Path]:
    """The file and the folders between it and `folder`."""
    return [file, *(parent for parent in file.parents if folder in parent.parents)]


def _is_hidden(path: Path) -> bool:
    return path.name.startswith((".", "_"))
