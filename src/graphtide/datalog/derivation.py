"""Derivations: for a fact, steps from inserted facts to it, each an instance of a rule.

Invariant: the premises of a step stand before it, so a derivation is finite and rests on facts alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphtide.dataflow.plan import Codes
from graphtide.datalog.functions import compare, evaluate
from graphtide.datalog.heights import is_attained
from graphtide.datalog.ordering import bound_by, ordered
from graphtide.datalog.outer import is_outer
from graphtide.datalog.program import Relation, Rule
from graphtide.datalog.syntax import Aggregate, Atom, Comparison, Constant, Count, Literal, Negation, Term, Variable
from graphtide.rows import decode_rows, encode_value

if TYPE_CHECKING:
    from graphtide.datalog.rules import Datalog

__all__ = ["Derivation", "Prover", "Step"]

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A fact, and the clause and the premises that it follows from; an inserted fact has none.

    `absent` are the facts that must not be there, where a rule negates.
    """

    relation: str
    values: Row
    rule: str | None = None
    premises: tuple[tuple[str, Row], ...] = ()
    absent: tuple[str, ...] = ()

    @property
    def fact(self) -> str:
        """The fact as it is written in a program."""
        return str(Atom(self.relation, tuple(map(Constant, self.values))))


@dataclass(frozen=True, slots=True)
class Derivation:
    """The steps to a fact, which is the last one."""

    steps: tuple[Step, ...]

    def __str__(self) -> str:
        numbers = {(step.relation, step.values): number for number, step in enumerate(self.steps, start=1)}
        lines: list[str] = []
        for number, step in enumerate(self.steps, start=1):
            if step.rule is None:
                lines.append(f"{number}. {step.fact}: a fact")
                continue
            premises = [str(numbers[each]) for each in step.premises]
            premises += [f"no {each}" for each in step.absent]
            source = " and ".join([", ".join(premises[:-1]), premises[-1]]) if len(premises) > 1 else "".join(premises)
            lines.append(f"{number}. {step.fact}: from {source or 'nothing'}, by {step.rule}")
        return "\n".join(lines)


class Prover:
    """Finds derivations in relations with heights, each fact from premises of less height."""

    def __init__(
        self, datalog: Datalog, rules: Sequence[Rule], relations: Mapping[str, Relation], origins: Mapping[str, str]
    ) -> None:
        self._datalog = datalog
        self._relations = relations
        self._origins = origins
        self._rules: dict[str, list[Rule]] = {}
        for rule in rules:
            self._rules.setdefault(rule.head.relation, []).append(rule)
        self._tables: dict[str, _Table] = {}

    def derivation(self, relation: str, values: Row) -> Derivation | None:
        """A derivation of a fact; None if it does not hold."""
        if relation not in self._origins:
            if not list(self._table(relation).rows(dict(enumerate(values)))):
                return None
            return Derivation((Step(_public(relation), values),))
        goal = next(self._table(relation).rows(dict(enumerate(values))), None)
        if goal is None:
            return None
        steps: dict[tuple[str, Row], tuple[int, Step]] = {}
        seen = {(relation, goal)}
        pending = [(relation, goal)]
        while pending:
            name, row = pending.pop()
            step, premises = self._step(name, row)
            height = row[-1] if name in self._origins else 0
            fact = (step.relation, step.values)
            # A fact may come under several names; the lowest keeps every premise before what follows from it.
            if fact not in steps or height < steps[fact][0]:
                steps[fact] = (height, step)
            for premise in premises:
                if premise not in seen:
                    seen.add(premise)
                    pending.append(premise)
        return Derivation(_needed(steps, (self._name(relation), goal[:-1])))

    def _step(self, name: str, row: Row) -> tuple[Step, list[tuple[str, Row]]]:
        if name not in self._origins:
            return Step(_public(name), row), []
        solutions = self._solutions(name, row)
        relation = self._datalog.program.relations[self._origins[name]]
        if is_attained(relation):
            solutions = [solutions[0]]
        premises = list(dict.fromkeys(each for _, found, _ in solutions for each in found))
        absent = tuple(dict.fromkeys(each for _, _, missing in solutions for each in missing))
        text = self._datalog.program.text
        rule = solutions[0][0].span.of(text)
        public = tuple((self._name(each), self._values(each, values)) for each, values in premises)
        own = " ".join(rule.split())
        return Step(self._name(name), row[:-1], own, tuple(dict.fromkeys(public)), absent), premises

    def _solutions(self, name: str, row: Row) -> list[tuple[Rule, list[tuple[str, Row]], list[str]]]:
        """The instances of rules that a fact follows from: one, or for aggregates of all solutions, all."""
        is_one = is_attained(self._datalog.program.relations[self._origins[name]])
        found: list[tuple[Rule, list[tuple[str, Row]], list[str]]] = []
        for rule in self._rules[name]:
            start = self._start(rule, row, is_one=is_one)
            if start is None:
                continue
            body = [each for each in rule.body if not (isinstance(each, Atom) and self._only_asks(each.relation))]
            for solution in self._extended(ordered(body, bound=start.keys()), start):
                premises = [
                    (each.relation, tuple(_value(term, solution) for term in each.terms))
                    for each in body
                    if isinstance(each, Atom)
                ]
                absent = [str(_instance(each.atom, solution)) for each in body if isinstance(each, Negation)]
                found.append((rule, premises, absent))
                if is_one:
                    return found
        assert found, "every fact with a height has a derivation"
        return found

    def _only_asks(self, name: str) -> bool:
        """Whether a relation says what is wanted, and not what holds."""
        return name.endswith("?") or is_outer(self._origins.get(name, name))

    def _start(self, rule: Rule, row: Row, *, is_one: bool) -> dict[str, Any] | None:
        """The values that a fact gives to the variables of a rule's head; None if it cannot be an instance."""
        values: dict[str, Any] = {}
        arity = len(rule.head.terms)
        for place, term in enumerate(rule.head.terms):
            parts: list[tuple[Term, int]] = []
            if not isinstance(term, Aggregate):
                parts = [(term, place)]
            elif is_one:
                parts = [(each, place if k == 0 else arity) for k, each in enumerate(term.terms)]
            for each, where in parts:
                if isinstance(each, Constant):
                    if each.value != row[where]:
                        return None
                elif isinstance(each, Variable) and values.setdefault(each.name, row[where]) != row[where]:
                    return None
        return values

    def _extended(self, body: Sequence[Literal], values: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """All ways to give the variables of literals values with which they hold."""
        if not body:
            yield values
            return
        literal, rest = body[0], body[1:]
        match literal:
            case Comparison(operator=operator, left=left, right=right):
                assert not isinstance(left, Count), "rules are normalised"
                assert not isinstance(right, Count), "rules are normalised"
                if new := bound_by(literal, values.keys()):
                    (name,) = new
                    value = evaluate(right if isinstance(left, Variable) and left.name == name else left, values)
                    if value is not None:
                        yield from self._extended(rest, {**values, name: value})
                    return
                a, b = evaluate(left, values), evaluate(right, values)
                if a is not None and b is not None and compare(operator, a, b):
                    yield from self._extended(rest, values)
            case Negation(atom=atom):
                if next(self._matches(atom, values), None) is None:
                    yield from self._extended(rest, values)
            case Atom():
                for more in self._matches(literal, values):
                    yield from self._extended(rest, more)
            case _:
                raise AssertionError("rules are normalised")

    def _matches(self, atom: Atom, values: dict[str, Any]) -> Iterator[dict[str, Any]]:
        given: dict[int, Any] = {}
        for place, term in enumerate(atom.terms):
            if isinstance(term, Constant):
                given[place] = term.value
            elif isinstance(term, Variable) and term.name in values:
                given[place] = values[term.name]
        for row in self._table(atom.relation).rows(given):
            more = dict(values)
            if all(
                not isinstance(term, Variable) or more.setdefault(term.name, row[place]) == row[place]
                for place, term in enumerate(atom.terms)
            ):
                yield more

    def _values(self, name: str, row: Row) -> Row:
        return row[:-1] if name in self._origins else row

    def _name(self, name: str) -> str:
        return _public(self._origins.get(name, name))

    def _table(self, name: str) -> _Table:
        if name not in self._tables:
            self._datalog.ensure([name] if name in self._datalog.program.relations else [])
            self._tables[name] = _Table(self._datalog, name)
        return self._tables[name]


class _Table:
    """The rows of a relation, to be found by the values of some columns."""

    def __init__(self, datalog: Datalog, name: str) -> None:
        output = datalog.planner.indexes[name]
        self._schema = output.schema
        self._dictionary = datalog.flow.dictionary
        self._lines: Codes = output.codes()
        self._orders: dict[int, Codes] = {}

    def rows(self, given: Mapping[int, Any]) -> Iterator[Row]:
        """The rows that have given values at given places."""
        if not given:
            places = np.arange(self._lines.shape[1])
        else:
            first, *others = given
            codes = {p: encode_value(self._schema.types[p], self._dictionary, value) for p, value in given.items()}
            if first not in self._orders:
                self._orders[first] = np.argsort(self._lines[first], kind="stable")
            order = self._orders[first]
            low, high = np.searchsorted(self._lines[first], [codes[first], codes[first] + 1], sorter=order)
            places = order[low:high]
            for place in others:
                places = places[self._lines[place][places] == codes[place]]
        for start in range(0, len(places), 64):
            few = np.ascontiguousarray(self._lines[:, places[start : start + 64]])
            yield from decode_rows(self._schema, self._dictionary, few)


def _needed(steps: Mapping[tuple[str, Row], tuple[int, Step]], goal: tuple[str, Row]) -> tuple[Step, ...]:
    """The steps that a fact rests on, premises first."""
    used = {goal}
    pending = [goal]
    while pending:
        for premise in steps[pending.pop()][1].premises:
            if premise not in used:
                used.add(premise)
                pending.append(premise)
    chosen = [(height, step) for fact, (height, step) in steps.items() if fact in used]
    return tuple(step for _, step in sorted(chosen, key=lambda each: (each[0], each[1].fact)))


def _public(name: str) -> str:
    """The relation of which a base relation holds the facts."""
    return name.removesuffix("#facts")


def _value(term: Term, values: Mapping[str, Any]) -> Any:
    return term.value if isinstance(term, Constant) else values[term.name] if isinstance(term, Variable) else None


def _instance(atom: Atom, values: Mapping[str, Any]) -> Atom:
    terms = tuple(
        Constant(values[term.name]) if isinstance(term, Variable) and term.name in values else term
        for term in atom.terms
    )
    return Atom(atom.relation, terms)
