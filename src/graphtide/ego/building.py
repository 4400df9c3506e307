"""Making an overlay of neighbourhoods: a method is applied until it saves nothing, or for so many iterations."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol, runtime_checkable

from graphtide.ego.aggregates import Function
from graphtide.ego.mining import AdaptiveMining, NegativeMining, Step
from graphtide.ego.neighbourhoods import Neighbourhoods
from graphtide.ego.overlay import Overlay
from graphtide.errors import UsageError
from graphtide.rows.misfit import shown

__all__ = ["Built", "Iteration", "Method", "build", "check_method", "suited_to"]

ITERATIONS: Final = 10


@runtime_checkable
class Method(Protocol):
    """How overlays are made: FixedMining, AdaptiveMining, NegativeMining, OverlappingMining or Incremental."""

    @property
    def subtracts(self) -> bool:
        """Whether there are neighbourhoods whose overlay has negative edges."""
        ...

    @property
    def overlaps(self) -> bool:
        """Whether its overlays may count a writer more than once."""
        ...

    def steps(self, overlay: Overlay) -> Iterator[Step]:
        """Overlays for the same neighbourhoods that have fewer and fewer edges, without end."""
        ...


@dataclass(frozen=True, slots=True)
class Iteration:
    """What one iteration of a method did."""

    sharing_index: float  # after it
    restructured: int  # bicliques that were taken, or nodes that were covered anew
    benefit: int  # edges that it saved
    chunk: int  # lists that were mined at once; 1 if lists are taken one by one
    seconds: float  # of this thread on a processor


@dataclass(frozen=True, slots=True)
class Built:
    """An overlay, and how it came to be."""

    overlay: Overlay
    iterations: tuple[Iteration, ...]


def build(neighbourhoods: Neighbourhoods, method: Method | None = None, iterations: int = ITERATIONS) -> Built:
    """An overlay for neighbourhoods that shares what the method finds; by adaptive mining if none is given.

    It ends before an iteration that would save nothing.

    >>> same = Neighbourhoods.from_sets([{0, 1, 2}] * 3, writer_count=3)
    >>> build(same).overlay
    Overlay(6 edges of 3 writers, 3 readers and 1 partial aggregates)
    """
    overlay = Overlay.direct(neighbourhoods)
    report: list[Iteration] = []
    began = time.thread_time()
    for step in islice((AdaptiveMining() if method is None else method).steps(overlay), iterations):
        benefit = overlay.edges - step.overlay.edges
        if benefit <= 0:
            break
        overlay = step.overlay
        now = time.thread_time()
        shared = overlay.sharing_index(neighbourhoods)
        report.append(Iteration(shared, step.restructured, benefit, step.chunk, now - began))
        began = now
    return Built(overlay, tuple(report))


def check_method(method: object, function: Function) -> None:
    """Raise an error if overlays cannot be made that way, or not for an aggregate, whatever the neighbourhoods are."""
    # A class has the attributes of what it makes.
    if isinstance(method, type) or not isinstance(method, Method):
        raise UsageError(
            f"overlay={shown(method)} does not say how an overlay is made",
            hint="give a method of graphtide.ego, such as AdaptiveMining() or Direct()",
        )
    if method.subtracts and not function.subtracts:
        raise UsageError(f"{method!r} subtracts, which {function!r} cannot", hint="use another overlay=")
    if method.overlaps and not function.duplicate_insensitive:
        raise UsageError(
            f"{method!r} lets values count twice, and {function!r} is not duplicate-insensitive",
            hint="use another overlay=",
        )


def suited_to(function: Function) -> Method:
    """The method that shares most for an aggregate: whole groups less a few of their members, if it subtracts.

    Overlaps, which a duplicate-insensitive aggregate allows, save edges but no time, so they are left to be asked for.

    >>> from graphtide.ego.aggregates import aggregate_of
    >>> suited_to(aggregate_of("sum")), suited_to(aggregate_of("max"))
    (NegativeMining(paths=2, negatives=5, chunk=100, seed=0), AdaptiveMining(chunk=100, seed=0))
    """
    return NegativeMining() if function.subtracts else AdaptiveMining()
