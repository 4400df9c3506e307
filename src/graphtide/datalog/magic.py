"""Goal-directed programs: the magic-set transformation, so that rules derive only what a query can use.

For a relation of which some arguments are given, `tc^bf` (b: given, f: free), the transformed program has the relation
of arguments asked for, `tc^bf?`, and rules of `tc^bf` that begin with it. The arguments of a query are a relation of
their own, `ask`, so that further queries of the form are more rows of it (K-Pg, section 6.3; Bancilhon et al., 1986).

What is negated is never asked for by arguments: it must be known in full. So must be what is aggregated, where asking
for it would make the aggregate stand on itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from graphtide.datalog.ordering import bound_by, ordered
from graphtide.datalog.program import Relation, Rule
from graphtide.datalog.strata import check_strata, strata
from graphtide.datalog.syntax import (
    Aggregate,
    Atom,
    Comparison,
    Constant,
    Head,
    Literal,
    Negation,
    Term,
    Variable,
    variables_of,
)
from graphtide.errors import StatementError
from graphtide.text import NOWHERE

__all__ = ["Directed", "directed"]


@dataclass(frozen=True, slots=True)
class Directed:
    """A goal-directed program.

    `ask` takes the given arguments; `goal` holds what follows for them, and for all arguments asked for on the way.
    `origins` says which relation of the program a relation is part of, `full` what must be known in full. Without rules
    the goal is known.
    """

    relations: Mapping[str, Relation]
    rules: tuple[Rule, ...]
    ask: str
    goal: str
    origins: Mapping[str, str]
    full: frozenset[str]


def directed(
    rules: tuple[Rule, ...],
    relations: Mapping[str, Relation],
    goal: str,
    given: tuple[int, ...],
    *,
    known: AbstractSet[str],
    prefix: str,
    copies_full: bool = False,
) -> Directed:
    """The program for a goal with given arguments, over relations that are known; names in it begin with `prefix`.

    With `copies_full` even what must be known in full is derived anew, for its derivations, unless it is negated.
    """
    assert set(given) <= set(relations[goal].keys), "aggregates are never given"
    aggregated = frozenset(name for name, relation in relations.items() if relation.aggregates and name not in known)
    work = _Transformer(rules, relations, known, frozenset(), prefix, copies_full)
    result = work.program(goal, given)
    try:
        check_strata(strata(result.rules), result.relations, "")
    except StatementError:
        work = _Transformer(rules, relations, known, aggregated, prefix, copies_full)
        return work.program(goal, given)
    return result


@dataclass(slots=True)
class _Transformer:
    rules: tuple[Rule, ...]
    relations: Mapping[str, Relation]
    known: AbstractSet[str]
    undirected: AbstractSet[str]
    prefix: str
    copies_full: bool
    made: dict[str, Relation] = field(default_factory=dict[str, Relation])
    origins: dict[str, str] = field(default_factory=dict[str, str])
    full: set[str] = field(default_factory=set[str])
    result: list[Rule] = field(default_factory=list[Rule])
    pending: list[tuple[str, tuple[int, ...] | None]] = field(default_factory=list[tuple[str, tuple[int, ...] | None]])
    seen: set[tuple[str, tuple[int, ...] | None]] = field(default_factory=set[tuple[str, tuple[int, ...] | None]])

    def program(self, goal: str, given: tuple[int, ...]) -> Directed:
        relation = self.relations[goal]
        terms = tuple(Variable(f"#={place}") for place in range(len(relation.columns)))
        asked = tuple(terms[place] for place in given)
        ask = self._relation(f"{self.prefix}ask", self._part(relation, given))
        atom = self._directed(Atom(goal, terms), given)
        if f"{atom.relation}?" in self.made:
            self._add(Rule(Head(f"{atom.relation}?", asked), (Atom(ask, asked),), NOWHERE))
        while self.pending:
            name, places = self.pending.pop()
            for rule in self.rules:
                if rule.head.relation == name:
                    self._rule(rule, places)
        return Directed(self.made, tuple(self.result), ask, atom.relation, self.origins, frozenset(self.full))

    def _directed(self, atom: Atom, places: tuple[int, ...]) -> Atom:
        """An atom as the transformed program has it, with the arguments at the places asked for."""
        name = atom.relation
        if name in self.known:
            return atom
        if not places or name in self.undirected:
            if not self.copies_full:
                self.full.add(name)
                return atom
            return replace(atom, relation=self._adorned(name, None))
        return replace(atom, relation=self._adorned(name, places))

    def _adorned(self, name: str, places: tuple[int, ...] | None) -> str:
        relation = self.relations[name]
        letters = "".join("b" if places and place in places else "f" for place in range(len(relation.columns)))
        adorned = f"{self.prefix}{name}^{letters}"
        if (name, places) not in self.seen:
            self.seen.add((name, places))
            self.pending.append((name, places))
            self._relation(adorned, relation)
            self.origins[adorned] = name
            if places is not None:
                self._relation(f"{adorned}?", self._part(relation, places))
        return adorned

    def _rule(self, rule: Rule, places: tuple[int, ...] | None) -> None:
        adorned = self._adorned(rule.head.relation, places)
        body: list[Literal] = []
        known: set[str] = set()
        if places is not None:
            guard = Atom(f"{adorned}?", tuple(_plain(rule.head.terms[place]) for place in places))
            body.append(guard)
            known = {each.name for each in variables_of(guard)}
        unsure: set[str] = set()  # variables that hold an aggregate, or what follows from one
        for literal in ordered(rule.body, bound=frozenset(known)):
            if isinstance(literal, Atom):
                body.append(self._atom(literal, rule, body, known, unsure))
            elif isinstance(literal, Negation):
                if literal.atom.relation not in self.known:
                    self.full.add(literal.atom.relation)
                body.append(literal)
            else:
                if any(each.name in unsure for each in variables_of(literal)):
                    unsure |= bound_by(literal, known)
                body.append(literal)
            known |= bound_by(literal, known)
        self._add(replace(rule, head=replace(rule.head, relation=adorned), body=tuple(body), is_ordered=True))

    def _atom(self, atom: Atom, rule: Rule, before: list[Literal], known: set[str], unsure: set[str]) -> Atom:
        """An atom of a body; what it asks for follows from what stands before it."""
        relation = self.relations[atom.relation]
        places = tuple(
            place
            for place in relation.keys
            if isinstance(term := atom.terms[place], Constant)
            or (isinstance(term, Variable) and term.name in known and term.name not in unsure)
        )
        result = self._directed(atom, places)
        if result.relation in self.made:
            unsure |= {each.name for place, _ in relation.aggregates for each in variables_of(atom.terms[place])}
        asking = f"{result.relation}?"
        if asking in self.made:
            head = Head(asking, tuple(atom.terms[place] for place in places))
            # An argument that is asked for by itself is asked for already.
            if not any(
                isinstance(each, Atom) and each.relation == asking and each.terms == head.terms for each in before
            ):
                self._add(Rule(head, _without(before, unsure), rule.span, rule.number, is_ordered=True))
        return result

    def _add(self, rule: Rule) -> None:
        if rule not in self.result:
            self.result.append(rule)

    def _relation(self, name: str, like: Relation) -> str:
        self.made[name] = replace(like, name=name)
        return name

    def _part(self, relation: Relation, places: tuple[int, ...]) -> Relation:
        """Some columns of a relation."""
        columns = tuple(relation.columns[place] for place in places)
        return Relation("", columns, tuple(relation.sources[place] for place in places))


def _plain(term: Term | Aggregate) -> Term:
    assert not isinstance(term, Aggregate), "aggregates are never given"
    return term


def _without(body: list[Literal], unsure: set[str]) -> tuple[Literal, ...]:
    """The literals that do not look at an aggregate's value: asking for too much is no harm."""
    return tuple(
        each
        for each in body
        if not (isinstance(each, Comparison | Negation) and any(name.name in unsure for name in variables_of(each)))
    )
