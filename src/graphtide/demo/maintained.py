"""The components of a sliding window, kept up to date by their differences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from time import perf_counter

from graphtide.dataflow.flow import Dataflow
from graphtide.dataflow.kernels import layout
from graphtide.dataflow.output import Output
from graphtide.demo.program import components, strong_components
from graphtide.demo.window import Slide, Stream

__all__ = ["Maintained", "Step"]


@dataclass(frozen=True, slots=True)
class Step:
    """What a slide of the window came to."""

    slide: Slide
    messages: int
    arriving: int
    leaving: int
    components: int
    largest: int  # of the strongly connected components
    differences: int  # that all operators put out
    seconds: float


class Maintained:
    """Labels of nodes by component, changed by what the dataflow says has changed and by nothing else."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._flow = Dataflow("sliding components")
        self._edges = self._flow.input("edges", src=int, dst=int)
        once = self._edges.distinct()
        self._components = components(once).output("components")
        self._strong = strong_components(once).output("strong components")
        self._emitted = 0
        self.components: dict[int, int] = {}
        self.strong: dict[int, int] = {}

    def slide(self, slide: Slide) -> Step:
        """Move the window."""
        began = perf_counter()
        self._edges.insert(self._stream.edges[slide.arriving])
        self._edges.remove(self._stream.edges[slide.leaving])
        self._flow.commit()
        _follow(self.components, self._components)
        _follow(self.strong, self._strong)
        seconds = perf_counter() - began
        return Step(
            slide,
            messages=slide.held.stop - slide.held.start,
            arriving=slide.arriving.stop - slide.arriving.start,
            leaving=slide.leaving.stop - slide.leaving.start,
            components=len(set(self.components.values())),
            largest=max(Counter(self.strong.values()).values(), default=0),
            differences=self._differences(),
            seconds=seconds,
        )

    def _differences(self) -> int:
        """How many differences the operators put out since the last call."""
        before, self._emitted = self._emitted, int(self._flow.machine.operators[:, layout.EMITTED].sum())
        return self._emitted - before


def _follow(labels: dict[int, int], output: Output) -> None:
    changes = output.changes().sort_by("diff").to_pydict()  # what goes comes before what takes its place
    for node, label, diff in zip(changes["node"], changes["label"], changes["diff"], strict=True):
        if diff > 0:
            labels[node] = label
        else:
            del labels[node]
