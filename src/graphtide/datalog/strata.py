"""Strata: the relations in an order in which each comes after those it stands on; what recurs together is one stratum.

What is negated or aggregated must be known in full, so it may not stand on what uses it. Least and greatest values
are the exception: where every use of them is monotone, a better value never takes away what a worse one gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

import rustworkx as rx

from graphtide.datalog.monotone import refuse_unless_monotone
from graphtide.datalog.program import Relation, Rule
from graphtide.datalog.syntax import Atom, Head
from graphtide.errors import StatementError
from graphtide.text import error_at

__all__ = ["Stratum", "check_strata", "strata"]


@dataclass(frozen=True, slots=True)
class Stratum:
    """Relations that are computed together, and their rules."""

    relations: tuple[str, ...]
    rules: tuple[Rule, ...]
    is_recursive: bool

    def recurs(self, rule: Rule) -> bool:
        """Whether a rule of it stands on the stratum itself."""
        return self.is_recursive and any(atom.relation in self.relations for atom in rule.atoms)


def strata(rules: Iterable[Rule]) -> tuple[Stratum, ...]:
    """The strata of rules, each after those it stands on; relations without rules are in none."""
    rules = tuple(rules)
    heads = dict.fromkeys(rule.head.relation for rule in rules)
    graph: rx.PyDiGraph[str, None] = rx.PyDiGraph()
    numbers = {name: graph.add_node(name) for name in heads}
    for rule in rules:
        for atom in (*rule.atoms, *rule.negated):
            if atom.relation in numbers:
                graph.add_edge(numbers[atom.relation], numbers[rule.head.relation], None)
    components = [tuple(sorted(each)) for each in rx.strongly_connected_components(graph)]
    home = {node: component for component in components for node in component}
    order: TopologicalSorter[tuple[int, ...]] = TopologicalSorter({each: [] for each in sorted(components)})
    for source, target in graph.edge_list():
        if home[source] != home[target]:
            order.add(home[target], home[source])
    made: list[Stratum] = []
    for component in order.static_order():
        names = tuple(graph[node] for node in component)
        own = tuple(rule for rule in rules if rule.head.relation in names)
        is_recursive = len(names) > 1 or graph.has_edge(component[0], component[0])
        made.append(Stratum(names, own, is_recursive))
    return tuple(made)


def check_strata(found: Iterable[Stratum], relations: Mapping[str, Relation], text: str) -> None:
    """Refuse negation and aggregates through recursion, but for least and greatest values that are monotone."""
    for stratum in found:
        if not stratum.is_recursive:
            continue
        for rule in stratum.rules:
            for atom in rule.negated:
                if atom.relation in stratum.relations:
                    # Where an aggregate in a body has no solutions is found by a negation that nobody wrote.
                    if relations[atom.relation].is_inner:
                        raise _recurring(atom, relations[atom.relation], text)
                    raise error_at(
                        text,
                        atom.span,
                        f'"{rule.head.relation}" stands on the negation of "{atom.relation}", '
                        f"which stands on it: {_cycle(stratum, rule.head.relation, atom)}",
                        hint="what is negated must be known before; take one of them out of the recursion",
                    )
            if not relations[rule.head.relation].is_extreme and stratum.recurs(rule):
                raise _recurring(rule.head, relations[rule.head.relation], text)
            refuse_unless_monotone(rule, stratum.relations, relations, text)


def _recurring(place: Head | Atom, relation: Relation, text: str) -> StatementError:
    """The error for an aggregate that stands on itself."""
    kinds = ", ".join(kind for _, kind in relation.aggregates)
    if relation.is_inner:
        return error_at(
            text,
            place.span,
            f"this {kinds} stands on itself",
            hint="what it looks at, and what gives its variables their values, must be known before the recursion",
        )
    return error_at(
        text,
        place.span,
        f'"{place.relation}" aggregates by {kinds} what stands on itself',
        hint="only min and max may recur, since a better value replaces a worse one",
    )


def _cycle(stratum: Stratum, head: str, atom: Atom) -> str:
    """The relations from a head over a negated atom back to the head."""
    steps: dict[str, str] = {}
    pending = [head]
    while pending and atom.relation not in steps:
        name = pending.pop(0)
        for rule in stratum.rules:
            if name in {each.relation for each in (*rule.atoms, *rule.negated)} and rule.head.relation not in steps:
                steps[rule.head.relation] = name
                pending.append(rule.head.relation)
    path = [atom.relation]
    while path[-1] != head and path[-1] in steps:
        path.append(steps[path[-1]])
    return " <- ".join([head, *(f"!{n}" if i == 0 else n for i, n in enumerate(path))])
