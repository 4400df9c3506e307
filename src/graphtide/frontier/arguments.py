"""Arguments of queries, checked before anything is done with them: what is wrong is told in the user's terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, Final, get_args

from graphtide.errors import UsageError
from graphtide.frontier.maintenance import Maintenance
from graphtide.rows.misfit import shown

__all__ = ["check_along", "check_count", "check_name", "check_number", "ids_of", "policy_of"]

_SIDES: Final = ("out", "in", "both")


def policy_of(maintain: Maintenance | None, otherwise: Maintenance) -> Maintenance:
    """How a query is kept: as it is said, or else as the graph says."""
    if maintain is None:
        return otherwise
    if not isinstance(maintain, get_args(Maintenance)):
        hint = "for example gt.JoinOnDemand(), gt.Scratch() or gt.Budget('2GB')"
        raise UsageError(f"maintain={shown(maintain)} does not say how a query is kept", hint=hint)
    return maintain


def check_name(name: Any) -> None:
    """Raise if a query cannot be called so."""
    if name is not None and not isinstance(name, str):
        raise UsageError(f"a query cannot be called {shown(name)}", hint="take a string, or leave out name=")


def check_along(along: Any) -> None:
    """Raise if there is no such way to go along edges."""
    if not isinstance(along, str) or along not in _SIDES:
        raise UsageError(f"cannot go along {shown(along)}", hint='go along "out", "in" or "both" sorts of edges')


def check_count(count: Any, what: str) -> None:
    """Raise if something is not a whole number; how large it may be is for others to say."""
    if isinstance(count, bool) or not isinstance(count, Integral):
        raise UsageError(f"{what}={shown(count)} is not a whole number", hint=f"for example {what}=3")


def check_number(number: Any, what: str) -> None:
    """Raise if something is not a number."""
    if isinstance(number, bool) or not isinstance(number, Real):
        raise UsageError(f"{what} {shown(number)}, which is not a number", hint="take an int or a float")


def ids_of(ids: Any, what: str) -> list[Any]:
    """Ids that are given as a list or the like; a string is one id."""
    if isinstance(ids, str | bytes | Mapping) or not isinstance(ids, Iterable):
        raise UsageError(f"{what}={shown(ids)} is not a list of ids", hint=f"for example {what}=[17]")
    return list(ids)
