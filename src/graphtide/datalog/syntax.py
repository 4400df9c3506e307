"""What a Datalog program can say: terms, literals, clauses and directives, each with its place in the text.

Places do not count when two pieces are compared. Printed, a piece reads as it is written in a program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from graphtide.text import NOWHERE, Span

__all__ = [
    "Access",
    "Aggregate",
    "Arithmetic",
    "Atom",
    "Call",
    "Clause",
    "Comparison",
    "Constant",
    "Count",
    "Declaration",
    "Disjunction",
    "Head",
    "Literal",
    "Negation",
    "Option",
    "Statement",
    "Term",
    "TypeDeclaration",
    "Value",
    "Variable",
    "variables_of",
]

Value: TypeAlias = int | float | str
_LOOSEST = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2}


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable. Names that begin with `#` are ours: `#=` for what an expression comes to, others for a `_` each."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def is_named(self) -> bool:
        """Whether it has a name in the text."""
        return not self.name.startswith("#")

    @property
    def is_wildcard(self) -> bool:
        """Whether it stands for anything, and in one place only."""
        return self.name.startswith("#") and not self.name.startswith("#=")

    def __str__(self) -> str:
        return self.name if self.is_named else "_"


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a float or a symbol."""

    value: Value
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        if not isinstance(self.value, str):
            return str(self.value)
        escaped = self.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        return f'"{escaped}"'


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two terms and one of + - * / %."""

    operator: str
    left: Term
    right: Term
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        level = _LOOSEST[self.operator]
        left, right = str(self.left), str(self.right)
        if isinstance(self.left, Arithmetic) and _LOOSEST[self.left.operator] < level:
            left = f"({left})"
        if isinstance(self.right, Arithmetic) and _LOOSEST[self.right.operator] <= level:
            right = f"({right})"
        return f"{left} {self.operator} {right}"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of terms."""

    function: str
    arguments: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


Term: TypeAlias = Variable | Constant | Arithmetic | Call


@dataclass(frozen=True, slots=True)
class Aggregate:
    """In a head: what the values of a term come to over all solutions of the body with the same other columns.

    Of several terms, those of the least (greatest) solution in the order of the first, then the next; programs have
    one, derivations add a height.
    """

    kind: str
    terms: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.kind}<{', '.join(map(str, self.terms))}>"


@dataclass(frozen=True, slots=True)
class Atom:
    """A relation with its arguments."""

    relation: str
    terms: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(map(str, self.terms))})"


@dataclass(frozen=True, slots=True)
class Negation:
    """That no fact fits an atom."""

    atom: Atom

    def __str__(self) -> str:
        return f"!{self.atom}"


@dataclass(frozen=True, slots=True)
class Count:
    """In a body: an aggregate over the solutions of a body of its own, `sum w : { edge(x, w) }`."""

    kind: str
    term: Term | None
    body: Disjunction
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        term = "" if self.term is None else f"{self.term} "
        return f"{self.kind} {term}: {{ {self.body} }}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two terms and one of = != < <= > >=; an equation with a variable that is not bound binds it."""

    operator: str
    left: Term | Count
    right: Term | Count
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True, slots=True)
class Disjunction:
    """Conjunctions of literals of which one holds."""

    choices: tuple[tuple[Literal, ...], ...]

    def __str__(self) -> str:
        return "; ".join(
            ", ".join(f"({each})" if isinstance(each, Disjunction) else str(each) for each in choice)
            for choice in self.choices
        )


Literal: TypeAlias = Atom | Negation | Comparison | Disjunction


@dataclass(frozen=True, slots=True)
class Head:
    """What a clause says of a relation."""

    relation: str
    terms: tuple[Term | Aggregate, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(map(str, self.terms))})"


@dataclass(frozen=True, slots=True)
class Clause:
    """A fact or a rule."""

    heads: tuple[Head, ...]
    body: Disjunction | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A relation's columns: (name, type) each."""

    relation: str
    columns: tuple[tuple[str, str, Span], ...]
    qualifiers: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TypeDeclaration:
    """A name for a type that there is."""

    name: str
    bases: tuple[tuple[str, Span], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Option:
    """What a directive says of a file."""

    name: str
    value: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """That a relation is read from a file, or written to one."""

    is_input: bool
    relation: str
    options: tuple[Option, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Statement: TypeAlias = Clause | Declaration | TypeDeclaration | Access


def variables_of(piece: Term | Aggregate | Literal | Head | Count | None) -> Iterator[Variable]:
    """The variables in a piece, from left to right, each as often as it stands there."""
    match piece:
        case Variable():
            yield piece
        case Arithmetic(left=left, right=right) | Comparison(left=left, right=right):
            yield from variables_of(left)
            yield from variables_of(right)
        case Call(arguments=terms) | Aggregate(terms=terms) | Atom(terms=terms) | Head(terms=terms):
            for term in terms:
                yield from variables_of(term)
        case Negation(atom=atom):
            yield from variables_of(atom)
        case Disjunction(choices=choices):
            for choice in choices:
                for literal in choice:
                    yield from variables_of(literal)
        case Count(term=term, body=body):
            yield from variables_of(term)
            yield from variables_of(body)
        case _:
            pass
