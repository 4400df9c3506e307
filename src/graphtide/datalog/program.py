"""A program in the form that is planned: rules whose arguments are variables and constants, relations, facts.

`normalise` takes apart what the syntax allows: several heads, disjunctions, expressions in arguments, aggregates in
bodies. An aggregate in a body becomes a relation of its own, with a column for each variable that it shares with the
rule around it; counts and sums of nothing are zero, so a rule that has one becomes two: for what is there, and for what
is not.

Invariant: an argument of an atom is a variable or a constant; one of a head is that too, or an aggregate of variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import count

from graphtide.datalog.functions import evaluate_known
from graphtide.datalog.outer import bound_in, giving, outer_name, used_by
from graphtide.datalog.syntax import (
    Aggregate,
    Atom,
    Clause,
    Comparison,
    Constant,
    Count,
    Disjunction,
    Head,
    Literal,
    Negation,
    Term,
    Value,
    Variable,
    variables_of,
)
from graphtide.text import Span, error_at

__all__ = ["Fact", "Normal", "Relation", "Rule", "normalise"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A head and the literals that imply it; `span` is the clause that it comes from."""

    head: Head
    body: tuple[Literal, ...]
    span: Span = field(compare=False)
    # Rules of one number have the same variables: they come from one rule of the program.
    number: int = 0
    # Whether the literals stand in the order in which they are to be joined.
    is_ordered: bool = False

    def __str__(self) -> str:
        return f"{self.head} :- {', '.join(map(str, self.body))}." if self.body else f"{self.head}."

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The positive atoms of the body."""
        return tuple(each for each in self.body if isinstance(each, Atom))

    @property
    def negated(self) -> tuple[Atom, ...]:
        """The negated atoms of the body."""
        return tuple(each.atom for each in self.body if isinstance(each, Negation))

    @property
    def has_aggregate(self) -> bool:
        """Whether the head has an aggregate."""
        return any(isinstance(term, Aggregate) for term in self.head.terms)


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation's columns: their names, and the column of the program whose kind each has (None: a number).

    `aggregates` are the places that hold aggregates, with their kinds. With a companion, the last column
    goes with the least or greatest value.
    """

    name: str
    columns: tuple[str, ...]
    sources: tuple[tuple[str, int] | None, ...]
    aggregates: tuple[tuple[int, str], ...] = ()
    has_companion: bool = False

    @property
    def keys(self) -> tuple[int, ...]:
        """The places that do not hold aggregates."""
        taken = {place for place, _ in self.aggregates} | ({len(self.columns) - 1} if self.has_companion else set())
        return tuple(place for place in range(len(self.columns)) if place not in taken)

    @property
    def is_inner(self) -> bool:
        """Whether it holds the values of an aggregate in a body, so that the text has no name for it."""
        return "#" in self.name and bool(self.aggregates)

    @property
    def is_extreme(self) -> bool:
        """Whether its aggregates, if there are any, are all least or greatest values, which may recur."""
        return all(kind in {"min", "max"} for _, kind in self.aggregates)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact in the text of a program."""

    relation: str
    values: tuple[Value, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Normal:
    """The rules and the facts of a program."""

    rules: tuple[Rule, ...]
    facts: tuple[Fact, ...]


def normalise(clauses: Iterable[Clause], text: str) -> Normal:
    """The rules and facts that clauses come to."""
    clauses = tuple(clauses)
    work = _Normaliser(text, used_by(clauses))
    for clause in clauses:
        work.clause(clause)
    return Normal(tuple(work.rules), tuple(work.facts))


class _Normaliser:
    def __init__(self, text: str, used: Mapping[str, AbstractSet[str]]) -> None:
        self._text = text
        self._used = used
        self._fresh = count(1)
        self._counts = count(1)
        self.rules: list[Rule] = []
        self.facts: list[Fact] = []

    def clause(self, clause: Clause) -> None:
        for head in clause.heads:
            if clause.body is None:
                self._fact(head)
                continue
            for choice in _choices(clause.body):
                for body in self._without_counts(head, choice, _Origin(clause.span, head.relation)):
                    self._rule(head, body, clause.span)

    def _fact(self, head: Head) -> None:
        values: list[Value] = []
        for term in head.terms:
            name = next(variables_of(term), None)
            if name is not None or isinstance(term, Aggregate):
                what = f'the variable "{name}"' if name is not None else "an aggregate"
                hint = f'a symbol stands in double quotes: "{name}"' if name else "give it a body, as in p(x) :- q(x)."
                if name is not None and not name.is_named:
                    what, hint = "a wildcard", "write a value"
                raise error_at(self._text, term.span, f"{what} stands in a fact", hint)
            values.append(evaluate_known(term, self._text))
        self.facts.append(Fact(head.relation, tuple(values), head.span))

    def _rule(self, head: Head, body: Iterable[Literal], span: Span) -> None:
        """Enter a rule, its expressions taken out of arguments."""
        equations: list[Literal] = []

        def plain(term: Term) -> Term:
            if isinstance(term, Variable | Constant):
                return term
            variable = Variable(f"#={next(self._fresh)}", term.span)
            equations.append(Comparison("=", variable, term, term.span))
            return variable

        def plain_atom(atom: Atom) -> Atom:
            return replace(atom, terms=tuple(map(plain, atom.terms)))

        literals: list[Literal] = []
        for literal in body:
            match literal:
                case Atom():
                    literals.append(plain_atom(literal))
                case Negation(atom=atom):
                    literals.append(Negation(plain_atom(atom)))
                case _:
                    literals.append(literal)
        terms: list[Term | Aggregate] = []
        for term in head.terms:
            if isinstance(term, Aggregate):
                terms.append(replace(term, terms=tuple(map(plain, term.terms))))
            else:
                terms.append(plain(term))
        self.rules.append(Rule(replace(head, terms=tuple(terms)), (*literals, *equations), span, len(self.rules)))

    def _without_counts(self, head: Head, body: tuple[Literal, ...], clause: _Origin) -> Iterator[tuple[Literal, ...]]:
        """The body with each aggregate in it replaced by an atom of the relation that holds its values."""
        counted, plain = self._taken_out(body)
        outside = {each.name for piece in (head, *plain) for each in variables_of(piece)}
        waiting = [self._inner(result, aggregate, outside) for result, aggregate in counted]
        bodies = [plain]
        while waiting:
            # One aggregate may use the value of another.
            known = set.intersection(*map(bound_in, bodies))
            inner = next((each for each in waiting if known.issuperset(v.name for v in each.missing)), waiting[0])
            waiting.remove(inner)
            atom = self._count(inner, bodies, clause)
            zero = _where_nothing_is(atom, inner, next(self._fresh))
            bodies = [(*each, atom) for each in bodies] + [(*each, *zero) for each in bodies if zero]
        yield from bodies

    def _taken_out(self, body: Iterable[Literal]) -> tuple[list[tuple[Variable, Count]], tuple[Literal, ...]]:
        """The aggregates in comparisons, each with a variable for its value, and the literals with those."""
        counted: list[tuple[Variable, Count]] = []
        plain: list[Literal] = []
        for literal in body:
            if not isinstance(literal, Comparison):
                plain.append(literal)
                continue
            sides: list[Term] = []
            for side in (literal.left, literal.right):
                if isinstance(side, Count):
                    counted.append((Variable(f"#={next(self._fresh)}", side.span), side))
                    sides.append(counted[-1][0])
                else:
                    sides.append(side)
            plain.append(replace(literal, left=sides[0], right=sides[1]))
        return counted, tuple(plain)

    def _inner(self, result: Variable, aggregate: Count, outside: AbstractSet[str]) -> _Inner:
        """An aggregate, and what it has to do with the variables outside of it."""
        shared = tuple(dict.fromkeys(each for each in variables_of(aggregate) if each.name in outside))
        missing: dict[Variable, None] = {}
        for choice in _choices(aggregate.body):
            counted, plain = self._taken_out(choice)
            inside = bound_in(plain, {variable.name for variable, _ in counted})
            missing |= dict.fromkeys(each for each in shared if each.name not in inside)
        return _Inner(result, aggregate, shared, tuple(missing))

    def _count(self, inner: _Inner, bodies: Sequence[tuple[Literal, ...]], clause: _Origin) -> Atom:
        """The atom of an aggregate's values; the rules of its relation are entered."""
        aggregate, missing = inner.aggregate, inner.missing
        name = f"{aggregate.kind}#{next(self._counts)}"
        terms = () if aggregate.term is None else (aggregate.term,)
        head = Head(name, (*inner.shared, Aggregate(aggregate.kind, terms, aggregate.span)), aggregate.span)
        names = {each.name for each in missing}
        given = [giving(names, body, clause.relation, self._used) for body in bodies] if missing else []
        outer: tuple[Literal, ...] = ()
        # What nothing gives a value stays without one, and is refused where it stands.
        if given and None not in given:
            outer = (Atom(outer_name(name), missing, aggregate.span),)
            for literals in given:
                self._rule(Head(outer_name(name), missing, aggregate.span), literals or (), clause.span)
        for choice in _choices(aggregate.body):
            for body in self._without_counts(head, (*outer, *choice), clause):
                self._rule(head, body, clause.span)
        return Atom(name, (*inner.shared, inner.result), aggregate.span)


@dataclass(frozen=True, slots=True)
class _Origin:
    """The clause that rules come from, and the relation that it is a rule of."""

    span: Span
    relation: str


@dataclass(frozen=True, slots=True)
class _Inner:
    """An aggregate in a body, and the variable for its value.

    `shared` are its variables that occur outside too, and are the same there; `missing` those of them that it does not
    give a value itself.
    """

    result: Variable
    aggregate: Count
    shared: tuple[Variable, ...]
    missing: tuple[Variable, ...]


def _where_nothing_is(atom: Atom, inner: _Inner, number: int) -> tuple[Literal, ...]:
    """The literals for where an aggregate has no solutions; none if it has no value there."""
    if inner.aggregate.kind not in {"count", "sum"}:
        return ()
    anything = Variable(f"#?{number}", atom.span)
    nothing = Negation(replace(atom, terms=(*atom.terms[:-1], anything)))
    return (nothing, Comparison("=", inner.result, Constant(0, atom.span), atom.span))


def _choices(body: Disjunction) -> Iterator[tuple[Literal, ...]]:
    """The conjunctions of a body without disjunctions inside."""
    for choice in body.choices:
        flat: list[tuple[Literal, ...]] = [()]
        for literal in choice:
            inner = [*_choices(literal)] if isinstance(literal, Disjunction) else [(literal,)]
            flat = [(*before, *each) for before in flat for each in inner]
        yield from flat
