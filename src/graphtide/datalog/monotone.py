"""Which uses of a least or greatest value within its own recursion are monotone.

A better value must never lose what a worse one gave.
Such a value may grow by terms that rise with it, go into a least or greatest value again, and be compared where
a better value passes too: `D < 10` for a least one. It may not be joined with, negated, or stand in another column.
"""

from __future__ import annotations

from collections.abc import Mapping

from graphtide.datalog.program import Relation, Rule
from graphtide.datalog.syntax import (
    Aggregate,
    Arithmetic,
    Atom,
    Call,
    Comparison,
    Constant,
    Count,
    Negation,
    Term,
    Variable,
    variables_of,
)
from graphtide.errors import StatementError
from graphtide.text import Span, error_at

__all__ = ["refuse_unless_monotone"]


def refuse_unless_monotone(
    rule: Rule, recursive: tuple[str, ...], relations: Mapping[str, Relation], text: str
) -> None:
    """Raise an error that points at a use of a recursive least or greatest value that is not monotone."""
    values: dict[str, str] = {}  # variables that hold such a value, or one that rises with it, and its kind
    for atom in rule.atoms:
        if atom.relation in recursive:
            for place, kind in relations[atom.relation].aggregates:
                _note_value(values, atom.terms[place], kind, text)
    if not values:
        return
    _check_atoms(rule, recursive, relations, values, text)
    _follow_equations(rule, values, text)
    head = relations[rule.head.relation]
    kinds = dict(head.aggregates)
    for place, term in enumerate(rule.head.terms):
        inner = term.terms[0] if isinstance(term, Aggregate) else term
        for each in variables_of(inner):
            if each.name in values and kinds.get(place) != values[each.name]:
                kind = values[each.name]
                raise _refused(each.name, kind, each.span, text, f"in the head it may only go into a {kind}")


def _note_value(values: dict[str, str], term: Term, kind: str, text: str) -> None:
    if isinstance(term, Constant):
        raise _refused(
            str(term), kind, term.span, text, "it may not be compared with a constant by standing in its place"
        )
    if isinstance(term, Variable) and not term.is_wildcard:
        if term.name in values:
            raise _refused(term.name, kind, term.span, text, "it may not be joined with another one")
        values[term.name] = kind


def _check_atoms(
    rule: Rule, recursive: tuple[str, ...], relations: Mapping[str, Relation], values: Mapping[str, str], text: str
) -> None:
    """No value stands in another place of an atom."""
    for literal in rule.body:
        atom = literal.atom if isinstance(literal, Negation) else literal
        if not isinstance(atom, Atom):
            continue
        own = dict(relations[atom.relation].aggregates) if atom.relation in recursive else {}
        for place, term in enumerate(atom.terms):
            if (
                isinstance(term, Variable)
                and term.name in values
                and (place not in own or isinstance(literal, Negation))
            ):
                raise _refused(
                    term.name, values[term.name], term.span, text, "it may not be joined with another column"
                )


def _follow_equations(rule: Rule, values: dict[str, str], text: str) -> None:
    """Note the variables that rise with a value, until there are no more, and check all comparisons."""
    bound = {each.name for atom in rule.atoms for each in variables_of(atom)}
    pending = [each for each in rule.body if isinstance(each, Comparison)]
    while True:
        defined = next((each for each in pending if _defines(each, values, bound) is not None), None)
        if defined is None:
            break
        pending.remove(defined)
        found = _defines(defined, values, bound)
        assert found is not None, "it was found just now"
        variable, term = found
        kind = next(values[each.name] for each in variables_of(term) if each.name in values)
        if not _rises(term, values, kind):
            raise _refused(str(term), kind, defined.span, text, f"{term} does not rise with it")
        values[variable.name] = kind
    for each in pending:
        _check_comparison(each, values, text)


def _defines(comparison: Comparison, values: Mapping[str, str], bound: set[str]) -> tuple[Variable, Term] | None:
    """The variable that an equation computes from values, and the term."""
    if comparison.operator != "=":
        return None
    for one, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        if (
            isinstance(one, Variable)
            and not isinstance(other, Count)
            and one.name not in bound
            and one.name not in values
            and any(each.name in values for each in variables_of(other))
        ):
            return one, other
    return None


def _check_comparison(comparison: Comparison, values: Mapping[str, str], text: str) -> None:
    left, right = comparison.left, comparison.right
    assert not isinstance(left, Count), "rules are normalised"
    assert not isinstance(right, Count), "rules are normalised"
    for one, other, passes in ((left, right, {"<", "<="}), (right, left, {">", ">="})):
        inside = [each for each in variables_of(one) if each.name in values]
        if not inside:
            continue
        kind = values[inside[0].name]
        # A least value only falls, so what is below a bound stays below it; a greatest one only rises.
        good = passes if kind == "min" else {"<": {">", ">="}, ">": {"<", "<="}}[min(passes)]
        if (
            any(each.name in values for each in variables_of(other))
            or comparison.operator not in good
            or not _rises(one, values, kind)
        ):
            way = "from above" if kind == "min" else "from below"
            raise _refused(inside[0].name, kind, comparison.span, text, f"it may only be bounded {way}")


def _rises(term: Term, values: Mapping[str, str], kind: str) -> bool:
    """Whether a term is never less when the values in it, all of one kind, are greater."""
    if any(values.get(each.name, kind) != kind for each in variables_of(term)):
        return False
    if not any(each.name in values for each in variables_of(term)):
        return True
    match term:
        case Variable():
            return True
        case Arithmetic(operator="+", left=left, right=right):
            return _rises(left, values, kind) and _rises(right, values, kind)
        case Arithmetic(operator="-", left=left, right=right):
            return _rises(left, values, kind) and not any(each.name in values for each in variables_of(right))
        case Arithmetic(operator="*", left=Constant() as factor, right=other):
            return _is_positive(factor) and _rises(other, values, kind)
        case Arithmetic(operator="*" | "/", left=other, right=Constant() as factor):
            return _is_positive(factor) and _rises(other, values, kind)
        case Call(function="min" | "max", arguments=arguments):
            return all(_rises(each, values, kind) for each in arguments)
        case _:
            return False


def _is_positive(constant: Constant) -> bool:
    return not isinstance(constant.value, str) and constant.value > 0


def _refused(name: str, kind: str, span: Span, text: str, why: str) -> StatementError:
    return error_at(
        text,
        span,
        f'"{name}" is a {kind} that is still being computed: {why}',
        hint="use the value in a relation outside of the recursion",
    )
