"""Variables of a rule that an aggregate in its body uses without giving them a value itself.

In `s(X, S) :- p(X), S = sum Y : { q(Y), Y < X }` the sum is one for each X that `p` has. Those values are a relation of
their own, the aggregate's outer one, which the rules of the aggregate are joined with. It may hold more than the rule
needs, so the literals that define it are chosen freely: they must give the variables values and, so that rules may
recur beside an aggregate, stand on the rule's own head only if there is no other way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from graphtide.datalog.ordering import bound_by, is_ready, ordered
from graphtide.datalog.syntax import Atom, Clause, Comparison, Count, Disjunction, Literal, Negation, variables_of

__all__ = ["bound_in", "giving", "is_outer", "outer_name", "used_by"]

_OUTER = "#outer"


def outer_name(aggregate: str) -> str:
    """The relation of the values that the rules around an aggregate give to its variables."""
    return f"{aggregate}{_OUTER}"


def is_outer(name: str) -> bool:
    """Whether a relation only says for which values an aggregate is wanted: no fact follows from it."""
    return name.endswith(_OUTER)


def bound_in(body: Iterable[Literal], known: AbstractSet[str] = frozenset()) -> set[str]:
    """The variables that have a value once all literals of a body are joined, where those in `known` have one."""
    found = set(known)
    for literal in ordered(body, bound=known):
        if isinstance(literal, Atom) or is_ready(literal, found):
            found |= bound_by(literal, found)
    return found


def giving(
    names: AbstractSet[str], body: Sequence[Literal], head: str, used: Mapping[str, AbstractSet[str]]
) -> tuple[Literal, ...] | None:
    """Literals of a body that give variables their values, for a rule of `head`; None if it does not."""
    apart = [
        each
        for each in body
        if not any(head == atom.relation or head in used.get(atom.relation, ()) for atom in _atoms_of(each))
    ]
    for pool in (apart, body):
        found = _joined_to(names, pool)
        known = bound_in(found)
        if names <= known:
            return tuple(each for each in found if isinstance(each, Atom) or is_ready(each, known))
    return None


def used_by(clauses: Iterable[Clause]) -> dict[str, set[str]]:
    """The relations that each relation stands on."""
    found: dict[str, set[str]] = {}
    for clause in clauses:
        below = {atom.relation for atom in _atoms_of(clause.body)}
        for head in clause.heads:
            found.setdefault(head.relation, set()).update(below)
    for middle, further in found.items():
        for below in found.values():
            if middle in below:
                below.update(further)
    return found


def _joined_to(names: AbstractSet[str], body: Sequence[Literal]) -> list[Literal]:
    """The literals that share variables with some, or with literals that do."""
    reached = set(names)
    chosen: set[int] = set()
    while True:
        new = {
            place
            for place, each in enumerate(body)
            if place not in chosen and any(variable.name in reached for variable in variables_of(each))
        }
        if not new:
            return [each for place, each in enumerate(body) if place in chosen]
        chosen |= new
        reached |= {variable.name for place in new for variable in variables_of(body[place])}


def _atoms_of(piece: Literal | Count | object) -> Iterator[Atom]:
    match piece:
        case Atom():
            yield piece
        case Negation(atom=atom):
            yield atom
        case Comparison(left=left, right=right):
            yield from _atoms_of(left)
            yield from _atoms_of(right)
        case Count(body=body):
            yield from _atoms_of(body)
        case Disjunction(choices=choices):
            for choice in choices:
                for literal in choice:
                    yield from _atoms_of(literal)
        case _:
            pass
