"""A dataflow as a person can read it: as text in the order of running, and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtide.dataflow.kernels import layout
from graphtide.dataflow.label import label_of
from graphtide.dataflow.plan import Feedback, Node

if TYPE_CHECKING:
    from graphtide.dataflow.flow import Dataflow

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True, slots=True)
class Step:
    """One operator in a plan."""

    number: int
    label: str
    depth: int  # loops around it
    loop: str
    inputs: tuple[int, ...]
    readers: int
    is_index: bool
    feeds: int | None  # the variable that a feedback goes to


@dataclass(frozen=True, slots=True)
class Explanation:
    """The operators of a dataflow in the order in which they run."""

    name: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.steps)} operators"]
        loop = ""
        for step in self.steps:
            if step.loop != loop and step.depth:
                lines.append("  " * step.depth + f"loop {step.loop.rsplit('/', 1)[-1]}")
            loop = step.loop
            sources = f" <- {', '.join(map(str, step.inputs))}" if step.inputs else ""
            shared = f"  [index, {step.readers} readers]" if step.is_index and step.readers > 1 else ""
            shared = "  [index]" if step.is_index and step.readers <= 1 else shared
            target = f" -> {step.feeds}" if step.feeds is not None else ""
            lines.append("  " * (step.depth + 1) + f"{step.number:>3} {step.label}{sources}{target}{shared}")
        return "\n".join(lines)

    def plot(self, file: str | Path) -> Path:
        """Draw the operators and what flows between them; the ending of the file's name says how."""
        import matplotlib as mpl  # noqa: PLC0415 - a picture is seldom wanted, and slow to import
        import networkx as nx  # noqa: PLC0415

        mpl.use("Agg", force=False)
        from matplotlib import pyplot as plt  # noqa: PLC0415

        graph: Any = nx.DiGraph()
        for step in self.steps:
            graph.add_node(step.number)
        for step in self.steps:
            graph.add_edges_from((source, step.number) for source in step.inputs)
        for layer, numbers in enumerate(nx.topological_generations(graph)):
            for number in numbers:
                graph.nodes[number]["layer"] = layer
        places = nx.multipartite_layout(graph, subset_key="layer", align="horizontal")
        places = {number: (x, -y) for number, (x, y) in places.items()}
        layers = 1 + max((data["layer"] for _, data in graph.nodes(data=True)), default=0)
        figure, axes = plt.subplots(figsize=(11, max(3, 0.8 * layers)), layout="constrained")
        nx.draw_networkx_edges(graph, places, ax=axes, edge_color="#8a97a8", node_size=1400, arrowsize=9)
        back = nx.DiGraph([(step.number, step.feeds) for step in self.steps if step.feeds is not None])
        nx.draw_networkx_edges(
            back,
            places,
            ax=axes,
            edge_color="#c2571a",
            style="dashed",
            connectionstyle="arc3,rad=0.3",
            node_size=1400,
        )
        for step in self.steps:
            shade = "#dbe9f6" if step.is_index else "#f4f4f4"
            axes.text(
                *places[step.number],
                f"{step.number} {step.label}"[:44],
                ha="center",
                va="center",
                fontsize=8,
                bbox={
                    "boxstyle": "round,pad=0.35",
                    "fc": shade,
                    "ec": "#c2571a" if step.depth else "#5a6b7f",
                },
            )
        axes.set_title(f"{self.name}: blue keeps an index, orange runs in a loop", fontsize=10)
        axes.axis("off")
        axes.margins(0.12)
        path = Path(file)
        figure.savefig(path, dpi=130)
        plt.close(figure)
        return path


def explain(flow: Dataflow) -> Explanation:
    """The plan of a dataflow as it is installed."""
    assembly, machine = flow.assembly, flow.machine
    owner: dict[int, Node] = {}
    for node, numbers in assembly.operators.items():
        for number in numbers:
            owner.setdefault(number, node)
    steps: list[Step] = []
    for what, number in machine.code.tolist():
        if what != layout.RUN:
            continue
        node = owner[number]
        loop = "/".join(scope.name for scope in reversed(list(node.home.outward())[:-1]))
        operation = node.operation
        steps.append(
            Step(
                number=number,
                label=label_of(node),
                depth=node.home.depth - 1,
                loop=loop,
                inputs=assembly.inputs_of(number),
                readers=len(assembly.readers_of(number)),
                is_index=bool(machine.operators[number, layout.SPINE]),
                feeds=assembly.output_of(operation.variable) if isinstance(operation, Feedback) else None,
            )
        )
    return Explanation(flow.name, tuple(steps))
