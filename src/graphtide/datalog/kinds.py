"""What kind of value every column and variable holds: a number, a float or a symbol.

Columns and variables that meet in a rule are of one kind. Each class of them starts with all three and loses what a
constant, an operator or a declaration rules out; the facts that come in decide what the text leaves open, and
what nothing decides is a number. An int in the text may be a float where floats are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from graphtide.datalog.functions import FUNCTIONS, NUMBER, NUMERIC, SYMBOL
from graphtide.datalog.program import Fact, Rule
from graphtide.datalog.syntax import (
    Aggregate,
    Arithmetic,
    Atom,
    Call,
    Comparison,
    Constant,
    Count,
    Term,
    Variable,
)
from graphtide.errors import SchemaError
from graphtide.text import NOWHERE, Span, error_at, hint_at_nearest

__all__ = ["ALL", "Kinds"]

ALL: Final = frozenset({"number", "float", "symbol"})

# A column (relation, place), a variable (rule, name), or the value of a term.
Key: TypeAlias = tuple[str, int] | tuple[int, str] | int


@dataclass(slots=True)
class _Class:
    possible: frozenset[str]
    reason: str  # what ruled the rest out
    span: Span


class Kinds:
    """Classes of columns and variables, and what each may hold."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parents: dict[Key, Key] = {}
        self._classes: dict[Key, _Class] = {}
        self._fresh = 0
        self._constants: dict[tuple[int, Constant, Span], Key] = {}

    # -- what the program says

    def declare(self, relation: str, place: int, kind: str, span: Span) -> None:
        """Note what a declaration says of a column."""
        self._restrict((relation, place), frozenset({kind}), "its declaration", span)

    def read_fact(self, fact: Fact) -> None:
        """Note what a fact in the text tells."""
        for place, value in enumerate(fact.values):
            kinds = SYMBOL if isinstance(value, str) else frozenset({"float"}) if isinstance(value, float) else NUMERIC
            self._restrict((fact.relation, place), kinds, f"the value {value!r}", fact.span)

    def read_rule(self, rule: Rule) -> None:
        """Note what a rule tells."""
        number = rule.number
        for atom in (*rule.atoms, *rule.negated):
            self._arguments(number, atom)
        for literal in rule.body:
            if isinstance(literal, Comparison):
                assert not isinstance(literal.left, Count), "rules are normalised"
                assert not isinstance(literal.right, Count), "rules are normalised"
                left, right = self._term(number, literal.left), self._term(number, literal.right)
                self._unify(left, right, literal.span)
        for place, term in enumerate(rule.head.terms):
            column = (rule.head.relation, place)
            if not isinstance(term, Aggregate):
                self._unify(column, self._term(number, term), term.span)
                continue
            if term.kind == "count":
                self._restrict(column, NUMBER, "a count", term.span)
                continue
            value = self._term(number, term.terms[0])
            if term.kind == "sum":
                self._restrict(value, NUMERIC, "a sum", term.span)
            self._unify(column, value, term.span)

    # -- what facts say

    def settle(self, relation: str, place: int, kind: str) -> None:
        """Note what a column of facts holds."""
        root = self._find((relation, place))
        found = self._class(root)
        if kind == "number" and "number" not in found.possible and "float" in found.possible:
            return
        if kind not in found.possible:
            raise SchemaError(
                f'column {place + 1} of "{relation}" got a {kind}, but holds {_listed(found.possible)}s '
                f"because of {found.reason}",
                hint=f"declare the columns with .decl {relation}(...), or pass other values",
            )
        found.possible = frozenset({kind})
        found.reason = f'the facts of "{relation}"'

    def freeze(self) -> None:
        """Let what nothing has decided be numbers from now on."""
        for found in self._classes.values():
            found.possible = frozenset({_chosen(found.possible)})

    def of_column(self, relation: str, place: int) -> str:
        """The kind of a column."""
        return _chosen(self._class(self._find((relation, place))).possible)

    def possible(self, relation: str, place: int) -> frozenset[str]:
        """What a column may hold, as far as is known."""
        return self._class(self._find((relation, place))).possible

    def of_term(self, number: int, term: Term) -> str:
        """The kind of a term in a rule."""
        return _chosen(self._class(self._find(self._term(number, term))).possible)

    # -- inside

    def _arguments(self, number: int, atom: Atom) -> None:
        for place, term in enumerate(atom.terms):
            self._unify((atom.relation, place), self._term(number, term), term.span)

    def _term(self, number: int, term: Term) -> Key:
        match term:
            case Variable(name=name):
                return (number, name)
            case Constant(value=value):
                # Equal constants in one rule may stand in columns of different kinds, so each place is its own.
                known = (number, term, term.span)
                if known not in self._constants:
                    kinds = NUMERIC if isinstance(value, int) else frozenset({"float"})
                    kinds = SYMBOL if isinstance(value, str) else kinds
                    self._constants[known] = self._new(kinds, f"the value {term}", term.span)
                return self._constants[known]
            case Arithmetic(operator=operator, left=left, right=right):
                a, b = self._term(number, left), self._term(number, right)
                self._restrict(a, NUMERIC, f'"{operator}"', term.span)
                self._restrict(b, NUMERIC, f'"{operator}"', term.span)
                self._unify(a, b, term.span)
                return a
            case Call():
                return self._call(number, term)

    def _call(self, number: int, term: Call) -> Key:
        function = FUNCTIONS.get(term.function)
        if function is None:
            hint = hint_at_nearest(term.function, FUNCTIONS, "functions")
            raise error_at(self._text, term.span, f'there is no function "{term.function}"', hint)
        given = len(term.arguments)
        parameters = function.parameters * given if function.is_variadic else function.parameters
        if len(parameters) != given or (function.is_variadic and given < 2):
            wanted = "two or more" if function.is_variadic else len(parameters)
            raise error_at(self._text, term.span, f'"{term.function}" takes {wanted} arguments, not {given}')
        keys = [self._term(number, each) for each in term.arguments]
        for key, kinds in zip(keys, parameters, strict=True):
            self._restrict(key, kinds, f'"{term.function}"', term.span)
            if function.result is None:
                self._unify(keys[0], key, term.span)
        return keys[0] if function.result is None else self._new(function.result, f'"{term.function}"', term.span)

    def _new(self, kinds: frozenset[str], reason: str, span: Span) -> Key:
        self._fresh += 1
        self._classes[self._fresh] = _Class(kinds, reason, span)
        return self._fresh

    def _class(self, root: Key) -> _Class:
        return self._classes.setdefault(root, _Class(ALL, "nothing", NOWHERE))

    def _find(self, key: Key) -> Key:
        root = key
        while root in self._parents:
            root = self._parents[root]
        while key != root:
            self._parents[key], key = root, self._parents[key]
        return root

    def _restrict(self, key: Key, kinds: frozenset[str], reason: str, span: Span) -> None:
        found = self._class(self._find(key))
        left = found.possible & kinds
        if not left:
            self._clash(found.possible, found, kinds, reason, span)
        if left != found.possible:
            found.possible, found.reason, found.span = left, reason, span

    def _unify(self, a: Key, b: Key, span: Span) -> None:
        root, other = self._find(a), self._find(b)
        if root == other:
            return
        one, two = self._class(root), self._class(other)
        both = one.possible & two.possible
        if not both:
            self._clash(one.possible, one, two.possible, two.reason, span)
        self._parents[other] = root
        narrower = two if two.possible == both and one.possible != both else one
        one.possible, one.reason, one.span = both, narrower.reason, narrower.span

    def _clash(self, had: Iterable[str], found: _Class, kinds: Iterable[str], reason: str, span: Span) -> None:
        line = self._text.count("\n", 0, found.span.start) + 1
        where = "" if found.span == NOWHERE else f" in line {line}"
        raise error_at(
            self._text,
            span,
            f"{reason} makes this a {_listed(kinds)}, but {found.reason}{where} makes it a {_listed(had)}",
            hint="symbols and numbers never meet in one column; to_string and to_number convert",
        )


def _chosen(possible: frozenset[str]) -> str:
    return next(kind for kind in ("number", "symbol", "float") if kind in possible)


def _listed(kinds: Iterable[str]) -> str:
    return " or ".join(kind for kind in ("number", "float", "symbol") if kind in set(kinds))
