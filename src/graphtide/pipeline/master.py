"""Addresses of Spark masters: what can be said of one before Spark starts, which gives up on it after a minute."""

from __future__ import annotations

import re
import socket
from typing import Final

from graphtide.errors import PlatformError, UsageError

__all__ = ["check_master"]

_KNOWN: Final = re.compile(r"local(\[(\*|[1-9]\d*)(, *\d+)?\])?|local-cluster\[.+\]|yarn|spark://.+|k8s://.+")
_STANDALONE: Final = "spark://"
_ANSWERS_WITHIN: Final = 5.0


def check_master(master: str) -> None:
    """Raise if an address is none that Spark knows, or nobody answers at one of Spark's own.

    >>> check_master("local[*]")
    >>> check_master("sprak://host:7077")
    Traceback (most recent call last):
    graphtide.errors.UsageError: "sprak://host:7077" is not the address of a Spark master
    hint: use local[*], spark://host:7077, yarn or k8s://...
    """
    if _KNOWN.fullmatch(master) is None:
        raise _no_address(master)
    if not master.startswith(_STANDALONE):
        return
    reasons: list[str] = []
    # There may be several, of which one is at work.
    for address in master.removeprefix(_STANDALONE).split(","):
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal():
            raise _no_address(master)
        try:
            socket.create_connection((host.strip("[]"), int(port)), _ANSWERS_WITHIN).close()
        except (OSError, OverflowError) as error:
            reasons.append(f"{address}: {(getattr(error, 'strerror', None) or str(error)).lower()}")
        else:
            return
    raise PlatformError(
        f"no Spark master answers at {'; '.join(reasons)}", hint="start it, or correct the address; local[*] needs none"
    )


def _no_address(master: str) -> UsageError:
    return UsageError(
        f'"{master}" is not the address of a Spark master', hint="use local[*], spark://host:7077, yarn or k8s://..."
    )
