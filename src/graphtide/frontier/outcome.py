"""What comes of a change of a live graph besides answers: ego aggregates that are lost, watches to tell, errors.

Invariant: nothing is raised and nobody is called before all that can follow the change has followed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from graphtide.errors import GraphtideError
from graphtide.frontier.ego import Ego
from graphtide.frontier.ego_watch import Notice
from graphtide.frontier.failures import raise_all

__all__ = ["Outcome"]


class Outcome:
    """What is left to do when a change is applied and answers are right."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self._notices: list[Notice] = []

    def follow(self, egos: Iterable[Ego], how: Callable[[Ego], Notice | None]) -> None:
        """Let ego aggregates follow the change; one that fails is in no state to go on, and is dropped."""
        for ego in list(egos):
            try:
                notice = how(ego)
            except Exception as error:  # noqa: BLE001 - it comes out when the others have followed
                ego.drop()
                self.errors.append(_lost(ego.name, error))
            else:
                self._notices += [] if notice is None else [notice]

    def settle(self) -> None:
        """Tell all who watch, and raise what there is to raise."""
        errors = list(self.errors)
        for notice in self._notices:
            errors += notice.tell()
        raise_all(errors)


def _lost(name: str, error: Exception) -> Exception:
    """What is said of an ego aggregate that was dropped."""
    what = f'"{name}" could not follow a change of the graph and was dropped'
    applied = "the change was applied, and all others follow it"
    if not isinstance(error, GraphtideError):
        error.add_note(f"{what}; {applied}")
        return error
    lost = type(error)(f"{what}: {error.message}", hint=applied)
    lost.__cause__ = error
    return lost
