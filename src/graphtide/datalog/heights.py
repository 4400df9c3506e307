"""Heights of derivations: a program whose relations say, for each fact, how deep its shallowest derivation is.

Facts that were inserted have height 0, and what a rule derives is one above its highest premise. A fact of height h
is then derived by some rule from premises below h, so derivations can be read off without going round in
circles (Zhao, Subotić and Scholz, "Debugging large-scale Datalog", 2020, for Soufflé).

A least or greatest value has the least height of the solutions that attain it. For counts, sums and heads of several
aggregates, which all solutions have a part in, the height is above all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

from graphtide.datalog.program import Relation, Rule
from graphtide.datalog.syntax import (
    Aggregate,
    Arithmetic,
    Atom,
    Call,
    Comparison,
    Constant,
    Head,
    Literal,
    Term,
    Variable,
)

__all__ = ["is_attained", "with_heights"]


def is_attained(relation: Relation) -> bool:
    """Whether a fact follows from one solution, and not from all that have its keys."""
    return not relation.aggregates or (len(relation.aggregates) == 1 and relation.is_extreme)


def with_heights(
    rules: tuple[Rule, ...], relations: Mapping[str, Relation], derived: AbstractSet[str]
) -> tuple[tuple[Rule, ...], dict[str, Relation]]:
    """The rules and relations with a last column for the height in those that are `derived`."""
    taller = {name: _relation(relations[name]) if name in derived else relations[name] for name in relations}
    return tuple(_rule(rule, relations, derived) for rule in rules), taller


def _relation(relation: Relation) -> Relation:
    columns, sources = (*relation.columns, "#height"), (*relation.sources, None)
    if not relation.aggregates:
        return replace(relation, columns=columns, sources=sources, aggregates=((len(columns) - 1, "min"),))
    if is_attained(relation):
        return replace(relation, columns=columns, sources=sources, has_companion=True)
    aggregates = (*relation.aggregates, (len(columns) - 1, "max"))
    return replace(relation, columns=columns, sources=sources, aggregates=aggregates)


def _rule(rule: Rule, relations: Mapping[str, Relation], derived: AbstractSet[str]) -> Rule:
    is_derived = rule.head.relation in derived
    heights: list[Variable] = []
    body: list[Literal] = []
    for place, literal in enumerate(rule.body):
        if isinstance(literal, Atom) and literal.relation in derived:
            height = Variable(f"#=height{place}" if is_derived else f"#height{place}")
            heights.append(height)
            body.append(replace(literal, terms=(*literal.terms, height)))
        else:
            body.append(literal)
    if not is_derived:
        return replace(rule, body=tuple(body))
    own = Variable("#=height")
    body.append(Comparison("=", own, _above(heights)))
    return replace(rule, head=_head(rule.head, relations[rule.head.relation], own), body=tuple(body))


def _above(heights: list[Variable]) -> Term:
    if not heights:
        return Constant(1)
    highest = heights[0] if len(heights) == 1 else Call("max", tuple(heights))
    return Arithmetic("+", highest, Constant(1))


def _head(head: Head, relation: Relation, own: Variable) -> Head:
    if not relation.aggregates:
        return replace(head, terms=(*head.terms, Aggregate("min", (own,))))
    if not is_attained(relation):
        return replace(head, terms=(*head.terms, Aggregate("max", (own,))))
    ((place, kind),) = relation.aggregates
    terms = list(head.terms)
    term = terms[place]
    terms[place] = Aggregate(kind, (*(term.terms if isinstance(term, Aggregate) else (term,)), own))
    return replace(head, terms=tuple(terms))
