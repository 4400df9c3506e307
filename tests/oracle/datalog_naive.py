"""What a Datalog program means, computed the slow way: every rule on every combination of facts, until nothing is new.

A program is a list of strata, each a list of rules. Nothing of the package is imported, and nothing is incremental or
indexed. A recursive least value is found by iterating whole relations: each round derives all candidates anew.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

Facts: TypeAlias = dict[str, set[tuple[Any, ...]]]
Values: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Var:
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Const:
    value: Any

    def __str__(self) -> str:
        return f'"{self.value}"' if isinstance(self.value, str) else str(self.value)


@dataclass(frozen=True, slots=True)
class Op:
    sign: str
    left: Term
    right: Term

    def __str__(self) -> str:
        return f"({self.left} {self.sign} {self.right})"


Term: TypeAlias = Var | Const | Op


@dataclass(frozen=True, slots=True)
class Agg:
    """In a head: an aggregate of a term over the solutions with the same other columns."""

    kind: str
    term: Term | None

    def __str__(self) -> str:
        return f"{self.kind}<{'' if self.term is None else self.term}>"


@dataclass(frozen=True, slots=True)
class Atom:
    relation: str
    terms: tuple[Term, ...]
    negated: bool = False

    def __str__(self) -> str:
        return f"{'!' * self.negated}{self.relation}({', '.join(map(str, self.terms))})"


@dataclass(frozen=True, slots=True)
class Compare:
    sign: str
    left: Term
    right: Term

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}"


@dataclass(frozen=True, slots=True)
class Inner:
    """In a body: a variable that is an aggregate over the solutions of a body of its own."""

    variable: Var
    kind: str
    term: Term | None
    body: tuple[Literal, ...]

    def __str__(self) -> str:
        # A parenthesis behind the name would make it a function.
        shown = f"{self.term.left} {self.term.sign} {self.term.right}" if isinstance(self.term, Op) else self.term
        term = "" if self.term is None else f"{shown} "
        return f"{self.variable} = {self.kind} {term}: {{ {', '.join(map(str, self.body))} }}"


Literal: TypeAlias = Atom | Compare | Inner


@dataclass(frozen=True, slots=True)
class Rule:
    relation: str
    head: tuple[Term | Agg, ...]
    body: tuple[Literal, ...]

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(map(str, self.head))}) :- {', '.join(map(str, self.body))}."


Strata: TypeAlias = list[list[Rule]]

_COMPARE = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def evaluated(strata: Strata, facts: Mapping[str, set[tuple[Any, ...]]]) -> Facts:
    """All relations that follow from facts."""
    known: Facts = {name: set(rows) for name, rows in facts.items()}
    for rules in strata:
        for rule in rules:
            known.setdefault(rule.relation, set())
        names = {rule.relation for rule in rules}
        start = {name: known[name] for name in names}
        while True:
            new = {
                name: _derived([rule for rule in rules if rule.relation == name], known, start[name]) for name in names
            }
            if all(new[name] == known[name] for name in names):
                break
            known |= new
    return known


def _derived(rules: list[Rule], known: Facts, start: set[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
    """One round of all rules of one relation."""
    places = next(
        (
            [i for i, each in enumerate(rule.head) if isinstance(each, Agg)]
            for rule in rules
            if any(isinstance(e, Agg) for e in rule.head)
        ),
        [],
    )
    if not places:
        return set(start) | {tuple(value(t, v) for t in rule.head) for rule in rules for v in solutions(rule, known)}
    kinds = {i: each.kind for rule in rules for i, each in enumerate(rule.head) if isinstance(each, Agg)}
    groups: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    candidates = list(start)
    for rule in rules:
        candidates.extend(tuple(_inner(each, values) for each in rule.head) for values in solutions(rule, known))
    for row in candidates:
        key = tuple(v for i, v in enumerate(row) if i not in places)
        groups.setdefault(key, []).append(row)
    result: set[tuple[Any, ...]] = set()
    for rows in groups.values():
        made = list(rows[0])
        for i in places:
            column = [row[i] for row in rows]
            made[i] = {"count": len, "sum": sum, "min": min, "max": max}[kinds[i]](column)
        result.add(tuple(made))
    return result


def _inner(term: Term | Agg, values: Values) -> Any:
    if not isinstance(term, Agg):
        return value(term, values)
    return 1 if term.term is None else value(term.term, values)


def solutions(rule: Rule, known: Mapping[str, set[tuple[Any, ...]]]) -> Iterator[Values]:
    """The solutions of a rule's body."""
    outside = set[str]().union(*(names(each.term if isinstance(each, Agg) else each) for each in rule.head))
    return _of_body(rule.body, known, {}, outside)


def _of_body(
    literals: tuple[Literal, ...], known: Mapping[str, set[tuple[Any, ...]]], given: Values, outside: set[str]
) -> Iterator[Values]:
    """The solutions of a body, a wildcard counted as a variable of its own; some variables have values."""
    wild = count()
    # What an aggregate says of variables that occur around it is about those.
    around = outside | set[str]().union(*map(_own_names, literals))

    def named(literal: Literal) -> Literal:
        if isinstance(literal, Atom) and not literal.negated:
            terms = tuple(Var(f"_{next(wild)}") if term == Var("_") else term for term in literal.terms)
            return Atom(literal.relation, terms)
        return literal

    body = [named(each) for each in literals]
    atoms = [each for each in body if isinstance(each, Atom) and not each.negated]
    rest = [each for each in body if not (isinstance(each, Atom) and not each.negated)]
    seen: set[tuple[tuple[str, Any], ...]] = set()
    for values in _matches(atoms, known, given):
        for solved in _checked(rest, known, values, around):
            key = tuple(sorted(solved.items(), key=lambda item: item[0]))
            if key not in seen:
                seen.add(key)
                yield solved


def _matches(atoms: list[Atom], known: Mapping[str, set[tuple[Any, ...]]], values: Values) -> Iterator[Values]:
    if not atoms:
        yield values
        return
    atom, rest = atoms[0], atoms[1:]
    for row in known.get(atom.relation, ()):
        more = dict(values)
        if all(_fits(term, each, more) for term, each in zip(atom.terms, row, strict=True)):
            yield from _matches(rest, known, more)


def _fits(term: Term, found: Any, values: Values) -> bool:
    if isinstance(term, Var):
        return values.setdefault(term.name, found) == found
    return isinstance(term, Const) and term.value == found


def _own_names(literal: Literal) -> set[str]:
    """The variables of a literal, without those inside of an aggregate."""
    match literal:
        case Atom(terms=terms):
            return set[str]().union(*map(names, terms))
        case Compare(left=left, right=right):
            return names(left) | names(right)
        case Inner(variable=variable):
            return {variable.name}


def _inside(inner: Inner) -> set[str]:
    """The variables inside of an aggregate, in aggregates in it too."""
    deeper = [_inside(each) for each in inner.body if isinstance(each, Inner)]
    return (names(inner.term) if inner.term else set[str]()).union(*map(_own_names, inner.body), *deeper)


def _aggregated(inner: Inner, known: Mapping[str, set[tuple[Any, ...]]], values: Values, around: set[str]) -> Any:
    """The value of an aggregate where all that it takes from around it is known; None if it has none."""
    given = {name: values[name] for name in _inside(inner) & around}
    found = [
        1 if inner.term is None else value(inner.term, solved)
        for solved in _of_body(inner.body, known, given, around | (names(inner.term) if inner.term else set()))
    ]
    found = [each for each in found if each is not None]
    if inner.kind in {"min", "max"} and not found:
        return None
    return {"count": len, "sum": sum, "min": min, "max": max}[inner.kind](found)


def _checked(
    literals: list[Literal], known: Mapping[str, set[tuple[Any, ...]]], values: Values, around: set[str]
) -> Iterator[Values]:
    """Solve equations in whatever order works, and check the rest."""
    values, left, moved = dict(values), list(literals), True
    while moved:
        moved = False
        for literal in list(left):
            if isinstance(literal, Inner) and (_inside(literal) & around) <= values.keys():
                solved = _aggregated(literal, known, values, around)
                if solved is None or values.setdefault(literal.variable.name, solved) != solved:
                    return
                left.remove(literal)
                moved = True
                continue
            if not (isinstance(literal, Compare) and literal.sign == "=" and isinstance(literal.left, Var)):
                continue
            if literal.left.name not in values and names(literal.right) <= values.keys():
                solved = value(literal.right, values)
                if solved is None:
                    return
                values[literal.left.name] = solved
                left.remove(literal)
                moved = True
    for literal in left:
        assert not isinstance(literal, Inner), "what it takes has no value"
        if isinstance(literal, Compare):
            a, b = value(literal.left, values), value(literal.right, values)
            if a is None or b is None or not _COMPARE[literal.sign](a, b):
                return
        else:
            wanted = [None if term == Var("_") else value(term, values) for term in literal.terms]
            if any(
                all(w is None or w == v for w, v in zip(wanted, row, strict=True))
                for row in known.get(literal.relation, ())
            ):
                return
    yield values


def names(term: Term | None) -> set[str]:
    if isinstance(term, Op):
        return names(term.left) | names(term.right)
    return {term.name} if isinstance(term, Var) and term != Var("_") else set()


def value(term: Term, values: Values) -> Any:
    if isinstance(term, Var):
        return values[term.name]
    if isinstance(term, Const):
        return term.value
    a, b = value(term.left, values), value(term.right, values)
    if a is None or b is None or (term.sign in "/%" and b == 0):
        return None
    if term.sign == "/":
        return int(a / b)
    if term.sign == "%":
        return a - b * int(a / b)
    return {"+": a + b, "-": a - b, "*": a * b}[term.sign]
