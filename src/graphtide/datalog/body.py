"""The body of a rule as joins of collections, literal after literal.

A row of the collection on the left is a solution of the literals so far: a column for each variable that is still
needed, as often as there are solutions that agree in those. Relations are sets, so counting rows counts solutions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions import Expression, col, lit
from graphtide.dataflow.expressions.expression import Column
from graphtide.datalog.functions import Refuse, can_fail, compare, lower, value_or_zero
from graphtide.datalog.kinds import Kinds
from graphtide.datalog.ordering import bound_by
from graphtide.datalog.program import Rule
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

__all__ = ["Body", "Found", "column_name", "head_terms"]

# The rows of an atom's relation that have what its constants and repeated variables ask for.
Found = Callable[[Atom], Collection]


def column_name(place: int) -> str:
    """What the column of a relation at a place is called inside of a dataflow."""
    return f"c{place}"


class Body:
    """The joins of one rule; `solutions` gives them as a collection with the columns that the caller asks for."""

    def __init__(self, rule: Rule, kinds: Kinds, found: Found, unit: Callable[[], Collection], refuse: Refuse) -> None:
        self._rule = rule
        self._refuse = refuse
        self._kinds = kinds
        self._found = found
        self._unit = unit
        self._left: Collection | None = None
        self._bound: dict[str, Expression] = {}

    def solutions(self, order: Sequence[Literal], outputs: dict[str, Term]) -> Collection:
        """The solutions, one column for each of the terms."""
        wanted = {each.name for term in outputs.values() for each in variables_of(term)}
        for place, literal in enumerate(order):
            later = wanted | {each.name for each in order[place + 1 :] for each in variables_of(each)}
            match literal:
                case Atom():
                    self._join(literal, later)
                case Negation(atom=atom):
                    self._subtract(atom, later)
                case Comparison():
                    self._compare(literal)
                case _:
                    raise AssertionError("rules are normalised")
        left = self._left or self._unit()
        columns = {name: self._lower(term) for name, term in outputs.items()}
        return left.select(**(columns or {"_": lit(0)}))

    # -- literals

    def _join(self, atom: Atom, later: set[str]) -> None:
        relation = self._found(atom)
        fresh = {
            term.name: column_name(place)
            for place, term in enumerate(atom.terms)
            if isinstance(term, Variable) and not term.is_wildcard
        }
        if self._left is None and not self._bound:
            self._left = relation
            self._bound = {name: col(column) for name, column in fresh.items()}
            return
        keys = [name for name in fresh if name in self._bound]
        left = self._with_columns(keys, later)
        kept = {name: _name_of(self._bound[name]) for name in self._bound if name in later}
        new = {name: column for name, column in fresh.items() if name in later and name not in self._bound}
        on = {_name_of(self._bound[name]): fresh[name] for name in keys}
        # A row must have a column; any will do.
        right = {f"${name}": column for name, column in new.items()}
        columns = {f"${name}": column for name, column in kept.items()}
        if not columns and not right:
            columns = {"$": left.schema.names[0]}
        self._left = left.join_columns(relation, on, left=columns, right=right)
        self._bound = {name: col(f"${name}") for name in (*kept, *new)}

    def _subtract(self, atom: Atom, later: set[str]) -> None:
        relation = self._found(atom)
        keys = {
            term.name: column_name(place)
            for place, term in enumerate(atom.terms)
            if isinstance(term, Variable) and not term.is_wildcard
        }
        if any(isinstance(term, Variable) and term.is_wildcard for term in atom.terms):
            relation = relation.select(**({c: c for c in keys.values()} or {"_": lit(0)})).distinct()
        left = self._with_columns(list(keys), later)
        on = {_name_of(self._bound[name]): column for name, column in keys.items()}
        columns = {name: name for name in left.schema}
        self._left = left.except_(left.join_columns(relation, on, left=columns, right={}))

    def _compare(self, comparison: Comparison) -> None:
        left, right = comparison.left, comparison.right
        assert not isinstance(left, Count), "rules are normalised"
        assert not isinstance(right, Count), "rules are normalised"
        if new := bound_by(comparison, self._bound.keys()):
            (name,) = new
            self._define(name, right if isinstance(left, Variable) and left.name == name else left)
            return
        holds = compare(comparison.operator, *map(self._lower, (left, right)))
        self._left = (self._left or self._unit()).where(holds)

    def _define(self, name: str, term: Term) -> None:
        expression = self._lower(term)
        if can_fail(term):
            self._left = (self._left or self._unit()).where(expression.is_not_null())
            expression = value_or_zero(expression, self._kind(term))
        self._bound[name] = expression

    # -- inside

    def _with_columns(self, keys: Sequence[str], later: set[str]) -> Collection:
        """The rows so far, with a column for each variable that is a key or needed later."""
        left = self._left or self._unit()
        needed = [name for name in self._bound if name in keys or name in later]
        if all(_is_column(self._bound[name]) for name in needed):
            names = [_name_of(self._bound[name]) for name in needed]
            if len(set(names)) == len(names):
                return left
        left = left.select(**{f"${name}": self._bound[name] for name in needed})
        self._bound = {name: col(f"${name}") for name in needed}
        return left

    def _lower(self, term: Term) -> Expression:
        return lower(term, self._bound, self._kind, self._refuse)

    def _kind(self, term: Term) -> str:
        return self._kinds.of_term(self._rule.number, term)


def head_terms(rule: Rule) -> dict[int, Term]:
    """The term of each place of a head; a companion goes to the last place."""
    terms: dict[int, Term] = {}
    arity = len(rule.head.terms)
    for place, term in enumerate(rule.head.terms):
        if not isinstance(term, Aggregate):
            terms[place] = term
        elif term.terms:
            terms[place] = term.terms[0]
            if len(term.terms) > 1:
                terms[arity] = term.terms[1]
        else:
            terms[place] = Constant(1)
    return terms


def _is_column(expression: Expression) -> bool:
    return isinstance(expression, Column)


def _name_of(expression: Expression) -> str:
    assert isinstance(expression, Column), "keys have columns"
    return expression.name
