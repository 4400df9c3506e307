"""In which order the literals of a rule are joined, and whether all its variables get a value at all.

What can be checked or computed is, at once. Otherwise an atom comes next that shares a variable with what is joined
already: the one that brings the fewest new variables, since it multiplies least, and of these the one with most
arguments bound. A rule in a loop begins with an atom that changes there.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from graphtide.datalog.syntax import (
    Aggregate,
    Atom,
    Comparison,
    Constant,
    Count,
    Literal,
    Negation,
    Term,
    Variable,
    variables_of,
)
from graphtide.errors import StatementError
from graphtide.text import error_at

if TYPE_CHECKING:
    from graphtide.datalog.program import Rule

__all__ = ["bound_by", "is_ready", "ordered", "unsafe_variable"]


def ordered(
    body: Iterable[Literal], first: AbstractSet[str] = frozenset(), bound: AbstractSet[str] = frozenset()
) -> tuple[Literal, ...]:
    """The literals in the order in which they are joined; those that never become ready come last.

    `first` are relations to begin with, `bound` the names of variables that have a value already.
    """
    left = list(body)
    done: list[Literal] = []
    known = set(bound)
    while left:
        atoms = [each for each in left if isinstance(each, Atom)]
        ready = next((each for each in left if not isinstance(each, Atom) and is_ready(each, known)), None)
        # What is about constants alone filters the first atom, and need not be joined with it.
        if ready is None or (atoms and not done and not known):
            if not atoms:
                break
            is_start = not known and not done
            ready = max(atoms, key=lambda atom: _preference(atom, known, first if is_start else frozenset()))
        left.remove(ready)
        done.append(ready)
        known |= bound_by(ready, known)
    return (*done, *left)


def is_ready(literal: Literal, known: AbstractSet[str]) -> bool:
    """Whether a negation or a comparison can be decided, or an equation solved."""
    if isinstance(literal, Negation):
        return all(each.is_wildcard or each.name in known for each in variables_of(literal))
    missing = {each.name for each in variables_of(literal)} - known
    return not missing or bool(bound_by(literal, known))


def bound_by(literal: Literal, known: AbstractSet[str]) -> frozenset[str]:
    """The variables that a literal gives a value, where those in `known` have one."""
    if isinstance(literal, Atom):
        return frozenset(each.name for each in variables_of(literal)) - known
    if isinstance(literal, Comparison) and literal.operator == "=":
        for one, other in ((literal.left, literal.right), (literal.right, literal.left)):
            if isinstance(one, Variable) and one.name not in known and not isinstance(other, Count):
                needed = {each.name for each in variables_of(other)}
                if needed <= known:
                    return frozenset({one.name})
    return frozenset()


def unsafe_variable(rule: Rule, text: str) -> StatementError | None:
    """The error for a variable of a rule that nothing gives a value, if there is one."""
    known: set[str] = set()
    for literal in ordered(rule.body):
        if not isinstance(literal, Atom) and not is_ready(literal, known):
            unbound = [
                each
                for each in variables_of(literal)
                if each.name not in known and not (each.is_wildcard and isinstance(literal, Negation))
            ]
            # What a term comes to has no name, and no value because of a variable that has one.
            name = next((each for each in unbound if each.is_named), unbound[0])
            where = "in a negation" if isinstance(literal, Negation) else "in a comparison"
            return _unsafe(name, where, text)
        known |= bound_by(literal, known)
    for term in rule.head.terms:
        for each in variables_of(term):
            if each.name not in known:
                return _unsafe(each, "in the head" if not isinstance(term, Aggregate) else "in an aggregate", text)
    return None


def _unsafe(variable: Variable, where: str, text: str) -> StatementError:
    if not variable.is_named:
        return error_at(text, variable.span, f'"_" {where} has no value', "give it a name, and bind it in an atom")
    hint = f'let an atom of the body have "{variable}"'
    if variable.name[0].islower():
        hint += f', or write the symbol "{variable}" in double quotes'
    return error_at(text, variable.span, f'nothing gives the variable "{variable}" {where} a value', hint)


def _preference(atom: Atom, known: AbstractSet[str], first: AbstractSet[str]) -> tuple[bool, bool, bool, int, int]:
    def is_bound(term: Term) -> bool:
        return isinstance(term, Constant) or (isinstance(term, Variable) and term.name in known)

    bound = sum(map(is_bound, atom.terms))
    is_joined = any(each.name in known for each in variables_of(atom))
    # A wildcard is no new variable: what it stands for is not kept.
    new = {each.name for each in variables_of(atom) if not each.is_wildcard and each.name not in known}
    return (atom.relation in first, bound == len(atom.terms), is_joined, -len(new) if known else 0, bound)
