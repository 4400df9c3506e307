"""Andersen's analysis by a worklist over sets of bits: what `points_to.dl` is held to. Nothing of the package is used.

Values and memory cells are nodes of a graph along which sets of objects flow; an edge comes when a pointer that is
loaded from, stored to or called gets a new object. Another algorithm than joins in rounds, and no maintenance.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

Facts = Mapping[str, np.ndarray]
Pairs = set[tuple[int, int]]
# A value by its number, the cell of an object, or what a copy of memory moves.
Node = int | tuple[str, int]


def solve(facts: Facts, kinds: Mapping[int, str]) -> dict[str, np.ndarray]:
    """`points_to`, `holds` and `calls` from scratch, as lines; `kinds` names the kinds of global variables."""
    return _Solver(facts, kinds).run()


@dataclass
class _Solver:
    facts: Facts
    kinds: Mapping[int, str]
    found: dict[Node, int] = field(default_factory=lambda: defaultdict(int))
    fresh: dict[Node, int] = field(default_factory=lambda: defaultdict(int))
    targets: dict[Node, set[Node]] = field(default_factory=lambda: defaultdict(set))
    work: deque[Node] = field(default_factory=deque)
    numbers: dict[int, int] = field(default_factory=dict)
    objects: list[int] = field(default_factory=list)

    def run(self) -> dict[str, np.ndarray]:
        self._name_values()
        self._read()
        while self.work:
            node = self.work.popleft()
            new = self.fresh.pop(node, 0)
            for target in tuple(self.targets[node]):
                self._add(target, new)
            if isinstance(node, int) and node in self.watched:
                for place in _bits(new).tolist():
                    self._meet(node, self.objects[place])
        return self._answer()

    # -- values under one name

    def _name_values(self) -> None:
        taken = [("store", 1), ("assign", 1), ("gep", 1), ("actual", 2), ("retval", 1), ("memcpy", 0), ("memcpy", 1)]
        self.escaping = {value for relation, place in taken for value in self._rows(relation, place)}
        self.locals = set(self._rows("alloc", 0)) - self.escaping
        self.alias = {to: base for to, base, offset in self._tuples("gep") if offset == 0}
        self.alias |= {to: pointer for to, pointer in self._tuples("load") if pointer in self.locals}

    def _value(self, variable: int) -> int:
        while variable in self.alias:
            variable = self.alias[variable]
        return variable

    # -- the graph

    def _read(self) -> None:
        self.functions = set(self._rows("function", 0))
        self.loading: dict[int, list[Node]] = defaultdict(list)
        self.storing: dict[int, list[Node]] = defaultdict(list)
        self.calling: dict[int, list[int]] = defaultdict(list)
        self.calls: Pairs = set()
        self.formals, self.actuals = self._by_first("formal"), self._by_first("actual")
        self.results, self.returned = self._by_first("callret"), self._by_first("retval")
        self.allocated = set(self._rows("heapalloc", 0))
        for to, pointer in self._tuples("load"):
            if pointer not in self.locals:
                self.loading[self._value(pointer)].append(to)
        for pointer, source in self._tuples("store"):
            if pointer in self.locals:
                self._link(self._value(source), pointer)
            else:
                self.storing[self._value(pointer)].append(self._value(source))
        for number, (to, source) in enumerate(self._tuples("memcpy")):
            moved = ("moved", number)
            self.loading[self._value(source)].append(moved)
            self.storing[self._value(to)].append(moved)
        for call, pointer in self._tuples("indirect"):
            self.calling[self._value(pointer)].append(call)
        self.watched = {*self.loading, *self.storing, *self.calling}
        for to, source in self._tuples("assign"):
            self._link(self._value(source), to)
        for call, function in self._tuples("direct"):
            self._call(call, function)
        self._seed()

    def _seed(self) -> None:
        for variable, made in (*self._tuples("alloc"), *self._tuples("heapalloc")):
            if variable not in self.locals:
                self._put(variable, made)
        for own in (*self.functions, *self._rows("extern", 0)):
            self._put(own, own)
        for variable, _, kind in self._tuples("global"):
            if self.kinds[kind] != "string":
                self._put(variable, variable)
        for to, _, offset in self._tuples("gep"):
            if offset:
                self._put(to, offset)

    def _meet(self, pointer: int, target: int) -> None:
        cell = ("cell", target)
        for to in self.loading.get(pointer, ()):
            self._link(cell, to)
        for source in self.storing.get(pointer, ()):
            self._link(source, cell)
        if target in self.functions:
            for call in self.calling.get(pointer, ()):
                self._call(call, target)

    def _call(self, call: int, function: int) -> None:
        if (call, function) in self.calls:
            return
        self.calls.add((call, function))
        for place, variable in self.formals[function]:
            for at, value in self.actuals[call]:
                if at == place:
                    self._link(self._value(value), variable)
        for (to,) in self.results[call]:
            if to not in self.allocated:
                for (value,) in self.returned[function]:
                    self._link(self._value(value), to)

    def _link(self, source: Node, target: Node) -> None:
        if target not in self.targets[source]:
            self.targets[source].add(target)
            self._add(target, self.found[source])

    def _put(self, node: int, target: int) -> None:
        if target not in self.numbers:
            self.numbers[target] = len(self.objects)
            self.objects.append(target)
        self._add(node, 1 << self.numbers[target])

    def _add(self, node: Node, objects: int) -> None:
        new = objects & ~self.found[node]
        if new:
            self.found[node] |= new
            if node not in self.fresh:
                self.work.append(node)
            self.fresh[node] = self.fresh.get(node, 0) | new

    # -- in and out

    def _tuples(self, relation: str) -> list[tuple[int, ...]]:
        return [tuple(row) for row in self.facts[relation].tolist()]

    def _rows(self, relation: str, place: int) -> list[int]:
        return self.facts[relation][:, place].tolist()

    def _by_first(self, relation: str) -> dict[int, list[tuple[int, ...]]]:
        grouped: dict[int, list[tuple[int, ...]]] = defaultdict(list)
        for first, *rest in self._tuples(relation):
            grouped[first].append(tuple(rest))
        return grouped

    def _answer(self) -> dict[str, np.ndarray]:
        objects = np.array(self.objects, np.int64)
        found: dict[str, list[np.ndarray]] = {"points_to": [], "holds": []}
        for node, bits in self.found.items():
            if isinstance(node, int) or node[0] == "cell":
                to = objects[_bits(bits)]
                own = np.full(len(to), node if isinstance(node, int) else node[1])
                found["points_to" if isinstance(node, int) else "holds"].append(np.column_stack([own, to]))
        return {name: np.concatenate(parts) for name, parts in found.items()} | {"calls": np.array([*self.calls])}


def _bits(number: int) -> np.ndarray:
    """The places of the ones."""
    raw = np.frombuffer(number.to_bytes((number.bit_length() + 7) // 8, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(raw, bitorder="little"))
