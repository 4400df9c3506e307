"""Where the bytes are: what each operator keeps, to the byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from graphtide.dataflow.kernels import layout
from graphtide.dataflow.label import label_of
from graphtide.trace.kernels.spine import spine_rows

if TYPE_CHECKING:
    from graphtide.dataflow.flow import Dataflow

__all__ = ["Memory", "OperatorMemory", "measure"]


@dataclass(frozen=True, slots=True)
class OperatorMemory:
    """What one operator keeps."""

    operator: int
    label: str
    differences: int  # kept in its index
    bytes: int
    readers: int  # operators that read it


@dataclass(frozen=True, slots=True)
class Memory:
    """All bytes of a dataflow, by who answers for them.

    `shared` is what belongs to no operator: the tables of the machine and memory kept for reuse.
    """

    operators: tuple[OperatorMemory, ...]
    dictionary_bytes: int
    staged_bytes: int
    shared_bytes: int

    @property
    def bytes(self) -> int:
        """All of them."""
        return (
            sum(each.bytes for each in self.operators) + self.dictionary_bytes + self.staged_bytes + self.shared_bytes
        )

    @property
    def differences(self) -> int:
        """All differences that are kept."""
        return sum(each.differences for each in self.operators)

    def table(self) -> pa.Table:
        """A row per operator."""
        return pa.table(
            {
                "operator": [each.operator for each in self.operators],
                "label": [each.label for each in self.operators],
                "differences": [each.differences for each in self.operators],
                "bytes": [each.bytes for each in self.operators],
                "readers": [each.readers for each in self.operators],
            }
        )

    def __iter__(self) -> Iterator[OperatorMemory]:
        return iter(self.operators)

    def __str__(self) -> str:
        rows = sorted(self.operators, key=lambda each: -each.bytes)
        lines = [f"{'bytes':>14} {'differences':>12}  operator"]
        lines += [f"{each.bytes:>14,} {each.differences:>12,}  {each.operator} {each.label}" for each in rows]
        rest = (
            ("dictionary", self.dictionary_bytes),
            ("staged", self.staged_bytes),
            ("shared", self.shared_bytes),
        )
        lines += [f"{size:>14,} {'':>12}  {name}" for name, size in rest]
        return "\n".join([*lines, f"{self.bytes:>14,} {self.differences:>12,}  in all"])


def measure(flow: Dataflow) -> Memory:
    """Count the bytes of a dataflow."""
    machine, assembly = flow.machine, flow.assembly
    owned = machine.heap.bytes_by_owner(machine.count)
    operators: list[OperatorMemory] = []
    seen: set[int] = set()
    for node, numbers in assembly.operators.items():
        for number in numbers:
            if number in seen:
                continue
            seen.add(number)
            spine = int(machine.operators[number, layout.SPINE])
            kept = int(spine_rows(machine.heap.table, spine)) if spine else 0
            operators.append(
                OperatorMemory(number, label_of(node), kept, int(owned[number]), len(assembly.readers_of(number)))
            )
    shared = int(owned[0]) + machine.heap.spare_bytes + machine.nbytes
    staged = sum(each.nbytes for each in flow.inputs)
    return Memory(tuple(operators), flow.dictionary.nbytes, staged, shared)
