"""From the text of a program to what is planned: every relation known, every rule checked.

A relation that takes facts and has rules too is two: `tc#facts` holds the facts, and a rule brings them into `tc`.
If a program declares any relation, it must declare all that it uses; otherwise one that has no rules takes facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from graphtide.datalog.file_format import file_format
from graphtide.datalog.kinds import Kinds
from graphtide.datalog.ordering import unsafe_variable
from graphtide.datalog.parse import parse
from graphtide.datalog.program import Fact, Relation, Rule, normalise
from graphtide.datalog.strata import Stratum, check_strata, strata
from graphtide.datalog.syntax import (
    Access,
    Aggregate,
    Atom,
    Clause,
    Declaration,
    Head,
    Statement,
    TypeDeclaration,
    Variable,
)
from graphtide.text import Span, error_at, hint_at_nearest

__all__ = ["Program", "bind"]

_PLAIN: Final = {"number": "number", "unsigned": "number", "float": "float", "symbol": "symbol"}
# Hints to Soufflé's compiler, which change no answer.
_HINTS: Final = frozenset({"btree", "brie", "inline", "magic", "no_inline", "no_magic"})


@dataclass(frozen=True, slots=True)
class Program:
    """A checked program. `bases` says which relation holds the facts of those that take some."""

    text: str
    relations: Mapping[str, Relation]
    rules: tuple[Rule, ...]
    facts: tuple[Fact, ...]
    bases: Mapping[str, str]
    inputs: tuple[Access, ...]
    outputs: tuple[Access, ...]
    kinds: Kinds

    @property
    def strata(self) -> tuple[Stratum, ...]:
        """The strata, each after those it stands on."""
        return strata(self.rules)

    @property
    def names(self) -> list[str]:
        """The relations that the text names."""
        return [name for name in self.relations if "#" not in name]


def bind(text: str) -> Program:
    """Read and check a program."""
    statements = parse(text)
    normal = normalise((each for each in statements if isinstance(each, Clause)), text)
    work = _Binder(text, statements)
    work.read_declarations()
    for rule in normal.rules:
        work.read_rule(rule)
    for fact in normal.facts:
        work.meet(fact.relation, len(fact.values), fact.span)
    work.check_defined(normal.rules, normal.facts)
    for rule in normal.rules:
        unsafe = unsafe_variable(rule, text)
        if unsafe is not None:
            raise unsafe
    return work.program(normal.rules, normal.facts)


class _Binder:
    def __init__(self, text: str, statements: Iterable[Statement]) -> None:
        self._text = text
        self._statements = tuple(statements)
        self._kinds = Kinds(text)
        self._types: dict[str, str] = dict(_PLAIN)
        self._declared: dict[str, Declaration] = {}
        self._arities: dict[str, int] = {}
        self._first: dict[str, Span] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._aggregates: dict[str, tuple[tuple[int, str], ...]] = {}
        self._inputs: list[Access] = []
        self._outputs: list[Access] = []

    # -- declarations

    def read_declarations(self) -> None:
        for each in self._statements:
            if isinstance(each, TypeDeclaration):
                self._read_type(each)
        for each in self._statements:
            if isinstance(each, Declaration):
                self._declare(each)
        for each in self._statements:
            if isinstance(each, Access):
                self._access(each)

    def _read_type(self, declared: TypeDeclaration) -> None:
        if declared.name in self._types:
            raise error_at(self._text, declared.span, f'there already is a type "{declared.name}"', "use another name")
        kinds = {self._kind(name, span) for name, span in declared.bases}
        if len(kinds) > 1:
            raise error_at(self._text, declared.span, f'"{declared.name}" mixes {" and ".join(sorted(kinds))}')
        (self._types[declared.name],) = kinds

    def _kind(self, name: str, span: Span) -> str:
        if name not in self._types:
            raise error_at(self._text, span, f'there is no type "{name}"', hint_at_nearest(name, self._types, "types"))
        return self._types[name]

    def _declare(self, declared: Declaration) -> None:
        name = declared.relation
        if name in self._declared:
            raise error_at(self._text, declared.span, f'relation "{name}" is declared twice', "leave one of them out")
        self._declared[name] = declared
        self._arities[name] = len(declared.columns)
        self._first[name] = declared.span
        self._names[name] = tuple(column for column, _, _ in declared.columns)
        for place, (column, type_name, span) in enumerate(declared.columns):
            if column in self._names[name][:place]:
                raise error_at(self._text, span, f'column "{column}" stands twice in "{name}"', "use another name")
            self._kinds.declare(name, place, self._kind(type_name, span), span)
        for qualifier in declared.qualifiers:
            if qualifier in {"input", "output", "printsize"}:
                self._access(Access(qualifier == "input", name, (), declared.span))
            elif qualifier not in _HINTS:
                hint = "write rules that make it reflexive, symmetric and transitive"
                raise error_at(self._text, declared.span, f'relations that are "{qualifier}" are not supported', hint)

    def _access(self, access: Access) -> None:
        file_format(access, self._text)
        (self._inputs if access.is_input else self._outputs).append(access)

    # -- rules and facts

    def read_rule(self, rule: Rule) -> None:
        for atom in (*rule.atoms, *rule.negated):
            self.meet(atom.relation, len(atom.terms), atom.span)
        self.meet(rule.head.relation, len(rule.head.terms), rule.head.span)
        self._read_aggregates(rule.head)

    def meet(self, name: str, arity: int, span: Span) -> None:
        """Note that a relation is used with so many arguments."""
        known = self._arities.setdefault(name, arity)
        self._first.setdefault(name, span)
        if known != arity:
            line = self._text.count("\n", 0, self._first[name].start) + 1
            raise error_at(
                self._text,
                span,
                f'"{name}" has {arity} arguments here, and {known} in line {line}',
                hint="a relation has one number of columns",
            )

    def _read_aggregates(self, head: Head) -> None:
        found = tuple((place, term.kind) for place, term in enumerate(head.terms) if isinstance(term, Aggregate))
        known = self._aggregates.get(head.relation)
        if found and known is not None and known != found:
            raise error_at(self._text, head.span, f'the rules of "{head.relation}" have different aggregates')
        if found:
            self._aggregates[head.relation] = found

    def check_defined(self, rules: Iterable[Rule], facts: Iterable[Fact]) -> None:
        """Refuse undeclared relations in a program that declares some, and what cannot be an aggregate."""
        if self._declared:
            for name, span in self._first.items():
                if name not in self._declared and "#" not in name:
                    place = Span(span.start, span.start + len(name))
                    hint = hint_at_nearest(name, self._declared, "relations")
                    raise error_at(self._text, place, f'relation "{name}" is not declared', hint)
        for access in (*self._inputs, *self._outputs):
            if access.relation not in self._arities:
                known = [name for name in self._arities if "#" not in name]
                hint = hint_at_nearest(access.relation, known, "relations")
                raise error_at(self._text, access.span, f'there is no relation "{access.relation}"', hint)
        plain = [(rule.head.relation, rule.head.span) for rule in rules if not rule.has_aggregate]
        plain += [(fact.relation, fact.span) for fact in facts]
        plain += [(access.relation, access.span) for access in self._inputs]
        for name, span in plain:
            if any(kind not in {"min", "max"} for _, kind in self._aggregates.get(name, ())):
                raise error_at(
                    self._text,
                    span,
                    f'"{name}" is a {self._aggregates[name][0][1]} of solutions, and takes no other rules or facts',
                    hint="write them into the relation that is aggregated",
                )

    def program(self, rules: tuple[Rule, ...], facts: tuple[Fact, ...]) -> Program:
        """The program, its kinds known as far as the text tells them."""
        derived = {rule.head.relation for rule in rules}
        taking = {fact.relation for fact in facts} | {access.relation for access in self._inputs}
        relations = {name: self._relation(name) for name in self._arities}
        bases: dict[str, str] = {}
        extra: list[Rule] = []
        for name in [*relations]:
            if name not in derived:
                bases[name] = name
            elif name in taking:
                bases[name] = f"{name}#facts"
                relations[bases[name]] = replace(relations[name], name=bases[name], aggregates=())
                extra.append(self._bring(relations[name], bases[name], len(rules) + len(extra)))
        every = (*rules, *extra)
        for fact in facts:
            self._kinds.read_fact(fact)
        for rule in every:
            self._kinds.read_rule(rule)
        check_strata(strata(every), relations, self._text)
        return Program(
            self._text, relations, every, facts, bases, tuple(self._inputs), tuple(self._outputs), self._kinds
        )

    def _relation(self, name: str) -> Relation:
        arity = self._arities[name]
        columns = self._names.get(name) or tuple(f"x{place + 1}" for place in range(arity))
        sources = tuple((name, place) for place in range(arity))
        return Relation(name, columns, sources, self._aggregates.get(name, ()))

    def _bring(self, relation: Relation, base: str, number: int) -> Rule:
        """The rule that brings facts into a relation that has rules."""
        span = self._first[relation.name]
        variables = tuple(Variable(name, span) for name in relation.columns)
        return Rule(Head(relation.name, variables, span), (Atom(base, variables, span),), span, number)
