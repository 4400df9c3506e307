"""Probes: how far a collection has come, for those who wait in another thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphtide.dataflow.flow import Dataflow

__all__ = ["Probe"]


class Probe:
    """Tells which epochs of a collection are complete."""

    def __init__(self, flow: Dataflow) -> None:
        self._flow = flow

    @property
    def frontier(self) -> int:
        """The first epoch that may still change."""
        return self._flow.epoch

    def is_done(self, epoch: int) -> bool:
        """Whether nothing at or before the epoch will change any more."""
        return epoch < self._flow.epoch

    def wait(self, epoch: int, timeout: float | None = None) -> bool:
        """Wait until the epoch is complete; False if the time, in seconds, is over first."""
        with self._flow.progressed:
            return self._flow.progressed.wait_for(lambda: self.is_done(epoch), timeout)
