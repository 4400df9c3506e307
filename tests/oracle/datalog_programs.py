"""Random stratified programs, and random changes of their facts, for tests of Datalog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from tests.oracle.datalog_naive import Agg, Atom, Compare, Const, Inner, Literal, Op, Rule, Strata, Term, Var

ARITIES = {"e": 2, "f": 2, "g": 1, "w": 3, "p": 2, "q": 2, "r": 1, "s": 2, "t": 2, "u": 2}
BASES = ("e", "f", "g", "w")
# Each stratum may use what stands before it, and itself; it may negate and aggregate what stands before it.
LEVELS = (("p", "q"), ("r", "s"), ("t",), ("u",))
VARIABLES = tuple(map(Var, "XYZV"))
VALUES = st.integers(0, 4)


@dataclass(frozen=True, slots=True)
class Change:
    """Facts that come and go in one commit."""

    insert: dict[str, list[tuple[int, ...]]]
    delete: dict[str, list[tuple[int, ...]]]


@st.composite
def terms(draw: Any) -> Term:
    return draw(st.sampled_from([*VARIABLES, *VARIABLES, Var("_"), Const(draw(VALUES))]))


@st.composite
def atoms(draw: Any, names: tuple[str, ...]) -> Atom:
    name = draw(st.sampled_from(names))
    return Atom(name, tuple(draw(terms()) for _ in range(ARITIES[name])))


def bound(body: list[Literal]) -> list[Var]:
    found = [
        t for each in body if isinstance(each, Atom) and not each.negated for t in each.terms if isinstance(t, Var)
    ]
    return sorted({each for each in found if each != Var("_")}, key=str)


@st.composite
def inner(draw: Any, variable: Var, before: tuple[str, ...], outer: list[Var], *, deeper: bool) -> Inner:
    """An aggregate over variables of its own and of the rule around it, in atoms, comparisons and its term."""
    own = [Var(f"{variable}{name}") for name in "XY"]
    places = st.sampled_from([*own, *own, *outer, Var("_"), Const(draw(VALUES))])
    body: list[Literal] = []
    for _ in range(draw(st.integers(1, 2))):
        relation = draw(st.sampled_from(before))
        body.append(Atom(relation, tuple(draw(places) for _ in range(ARITIES[relation]))))
    mine = [each for each in bound(body) if each in own]
    some = st.sampled_from([*mine, *outer, *outer, Const(draw(VALUES))])
    if draw(st.booleans()):
        body.append(Compare(draw(st.sampled_from(["!=", "<", "<=", ">", ">="])), draw(some), draw(some)))
    if draw(st.booleans()):
        relation = draw(st.sampled_from(before))
        chosen = tuple(draw(st.one_of(some, st.just(Var("_")))) for _ in range(ARITIES[relation]))
        body.append(Atom(relation, chosen, negated=True))
    if deeper and draw(st.booleans()):
        body.append(draw(inner(Var(f"{variable}Z"), before, [*outer, *mine], deeper=False)))
        some = st.sampled_from([*mine, *outer, Var(f"{variable}Z")])
    kind = draw(st.sampled_from(["count", "sum", "min", "max"]))
    term = st.one_of(some, st.builds(Op, st.sampled_from("+-*"), some, some))
    return Inner(variable, kind, None if kind == "count" else draw(term), tuple(draw(st.permutations(body))))


@st.composite
def rules(
    draw: Any,
    name: str,
    before: tuple[str, ...],
    own: tuple[str, ...],
    signs: str,
    *,
    aggregates: bool,
    aggregates_inside: bool,
) -> Rule:
    body: list[Literal] = [draw(atoms(before + own)) for _ in range(draw(st.integers(1, 3)))]
    known = bound(body)
    extra: list[Literal] = []
    some = st.sampled_from([*known, Const(draw(VALUES))]) if known else VALUES.map(Const)
    if draw(st.booleans()):
        relation = draw(st.sampled_from(before))
        chosen = tuple(draw(st.one_of(some, st.just(Var("_")))) for _ in range(ARITIES[relation]))
        extra.append(Atom(relation, chosen, negated=True))
    if known and draw(st.booleans()):
        extra.append(Compare(draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="])), draw(some), draw(some)))
    if known and draw(st.booleans()):
        # A remainder keeps what grows within bounds, so that every program ends.
        sign = draw(st.sampled_from(signs))
        extra.append(Compare("=", Var("N"), Op("%", Op(sign, draw(some), draw(some)), Const(5))))
        known = [*known, Var("N")]
    if aggregates_inside and draw(st.booleans()):
        # What only a recursion gives a value cannot be taken by an aggregate.
        outer = bound([each for each in body if isinstance(each, Atom) and each.relation in before])
        found = draw(inner(Var("A"), before, outer, deeper=True))
        extra += [found, Compare("=", Var("B"), Op("%", Var("A"), Const(5)))]
        known = [*known, Var("B")]
    outputs = st.sampled_from([*known, *known, Const(draw(VALUES))]) if known else VALUES.map(Const)
    head: list[Term | Agg] = [draw(outputs) for _ in range(ARITIES[name])]
    if aggregates:
        kind = draw(st.sampled_from(["count", "sum", "min", "max"]))
        head[draw(st.integers(0, len(head) - 1))] = Agg(kind, None if kind == "count" else draw(outputs))
    order = draw(st.permutations([*body, *extra]))
    return Rule(name, tuple(head), tuple(order))


@st.composite
def programs(draw: Any, signs: str = "+-*/", *, aggregates: bool = True) -> Strata:
    strata: Strata = []
    before: tuple[str, ...] = BASES
    for level in LEVELS:
        is_aggregate = aggregates and level == ("t",)
        made: list[Rule] = []
        for name in level:
            count = 1 if is_aggregate else draw(st.integers(1, 3))
            own = () if is_aggregate else level
            one = rules(name, before, own, signs, aggregates=is_aggregate, aggregates_inside=aggregates)
            made += [draw(one) for _ in range(count)]
        if aggregates and level == ("u",):
            made = draw(shortest())
        strata.append(made)
        before += level
    return strata


@st.composite
def shortest(draw: Any) -> list[Rule]:
    """Least or greatest values through recursion; greatest ones within a bound."""
    x, y, c, w = map(Var, "XYCW")
    kind = draw(st.sampled_from(["min", "max"]))
    start = Rule("u", (x, Agg(kind, y)), (Atom(draw(st.sampled_from(["e", "p", "s"])), (x, y)),))
    bound_of = Compare("<", Op("+", c, w), Const(12))
    edge: list[Literal] = [Atom("u", (x, c)), Atom("w", (x, y, w))]
    if kind == "min":
        if draw(st.booleans()):
            edge.append(bound_of)
        return [start, Rule("u", (y, Agg("min", Op("+", c, w))), tuple(edge))]
    # What is greatest must not grow without end: the least of it and a bound does not.
    step = Rule("u", (y, Agg("max", c)), tuple(edge))
    return [start, step]


@st.composite
def changes(draw: Any) -> Change:
    def rows(name: str) -> Any:
        return st.lists(st.tuples(*[VALUES] * ARITIES[name]), max_size=6)

    return Change(
        {name: draw(rows(name)) for name in BASES if draw(st.booleans())},
        {name: draw(rows(name)) for name in BASES if draw(st.booleans())},
    )


def text_of(strata: Strata) -> str:
    return "\n".join(str(rule) for rules in strata for rule in rules)


def applied(facts: dict[str, set[tuple[int, ...]]], change: Change) -> dict[str, set[tuple[int, ...]]]:
    """Facts after a change; deletions are staged after insertions."""
    return {
        name: (rows | set(change.insert.get(name, ()))) - set(change.delete.get(name, ()))
        for name, rows in facts.items()
    }
