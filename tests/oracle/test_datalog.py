"""Datalog against another evaluator and clingo, after every change; queries and derivations against the full answer."""

from __future__ import annotations

from typing import Any

import clingo
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tests.examples import share
from tests.oracle import datalog_naive as naive
from tests.oracle.datalog_programs import ARITIES, BASES, Change, applied, changes, programs, text_of

import graphtide as gt
from graphtide.datalog import Derivation

histories = st.lists(changes(), min_size=1, max_size=4)
quick = share(25, suppress_health_check=list(HealthCheck))


def opened(text: str) -> gt.Datalog:
    """A program whose bases are there even if no rule uses them."""
    declared = "\n".join(
        f"{name}_used({', '.join('xyz'[:n])}) :- {name}({', '.join('xyz'[:n])})."
        for name, n in ARITIES.items()
        if name in BASES
    )
    return gt.Datalog(f"{declared}\n{text}")


def commit(rules: gt.Datalog, change: Change) -> None:
    for name, rows in change.insert.items():
        rules.insert(name, rows)
    for name, rows in change.delete.items():
        rules.delete(name, rows)
    rules.commit()


def start() -> dict[str, set[tuple[int, ...]]]:
    return {name: set() for name in BASES}


@quick
@given(programs(), histories)
def test_every_relation_is_what_a_naive_evaluation_gives_after_every_commit(
    strata: naive.Strata, history: list[Change]
) -> None:
    rules = opened(text_of(strata))
    derived = {rule.relation for stratum in strata for rule in stratum}
    followed = {name: rules[name] for name in derived}
    facts, before = start(), {name: set[Any]() for name in derived}
    for change in history:
        commit(rules, change)
        facts = applied(facts, change)
        expected = naive.evaluated(strata, facts)
        for name, relation in followed.items():
            rows = relation.rows()
            assert len(rows) == len(set(rows))
            assert set(rows) == expected[name], name
            changed = {tuple(row[:-1]): row[-1] for row in zip(*relation.changes().to_pydict().values(), strict=True)}
            came, went = expected[name] - before[name], before[name] - expected[name]
            assert changed == dict.fromkeys(came, 1) | dict.fromkeys(went, -1)
            before[name] = expected[name]


@quick
# clingo divides downward, so what may be negative or divided is left to the other oracle.
@given(programs("+*", aggregates=False), changes())
def test_clingo_agrees(strata: naive.Strata, change: Change) -> None:
    rules = opened(text_of(strata))
    commit(rules, change)
    facts = applied(start(), change)
    control = clingo.Control(["--warn=none"])
    listed = " ".join(f"{name}({', '.join(map(str, row))})." for name, rows in facts.items() for row in rows)
    text = text_of(strata).replace("!=", "<>").replace("!", "not ").replace("<>", "!=").replace("%", "\\")
    control.add("base", [], f"{listed}\n{text}")
    control.ground([("base", [])])
    found: dict[str, set[tuple[int, ...]]] = {}
    with control.solve(yield_=True) as handle:
        (model,) = [each.symbols(atoms=True) for each in handle]
    for symbol in model:
        found.setdefault(symbol.name, set()).add(tuple(each.number for each in symbol.arguments))
    for name in {rule.relation for stratum in strata for rule in stratum}:
        assert set(rules[name].rows()) == found.get(name, set()), name


@quick
@given(programs(), histories, st.data())
def test_a_query_gives_what_fits_it_of_the_full_answer(
    strata: naive.Strata, history: list[Change], data: st.DataObject
) -> None:
    rules = opened(text_of(strata))
    derived = sorted({rule.relation for stratum in strata for rule in stratum})
    facts = start()
    for change in history:
        commit(rules, change)
        facts = applied(facts, change)
        expected = naive.evaluated(strata, facts)
        for _ in range(3):
            name = data.draw(st.sampled_from([*derived, "e"]), label="relation")
            pattern = tuple(
                data.draw(st.one_of(st.none(), st.integers(0, 4)), label="given") for _ in range(ARITIES[name])
            )
            goal = f"{name}({', '.join(f'A{i}' if v is None else str(v) for i, v in enumerate(pattern))})"
            table = rules.query(goal)
            rows = list(zip(*table.to_pydict().values(), strict=True))
            fitting = {
                row for row in expected[name] if all(w is None or w == v for w, v in zip(pattern, row, strict=True))
            }
            assert len(rows) == len(set(rows))
            assert set(rows) == fitting, goal
        if data.draw(st.booleans(), label="follow"):
            name = data.draw(st.sampled_from(derived), label="followed")
            assert set(rules[name].rows()) == expected[name]


@quick
@given(programs(), histories, st.data())
def test_why_gives_a_derivation_that_holds(strata: naive.Strata, history: list[Change], data: st.DataObject) -> None:
    rules = opened(text_of(strata))
    facts = start()
    for change in history:
        commit(rules, change)
        facts = applied(facts, change)
        expected = naive.evaluated(strata, facts)
        derived = [(name, row) for name in sorted(expected) for row in sorted(expected[name]) if name not in BASES]
        for _ in range(2 if derived else 0):
            name, row = data.draw(st.sampled_from(derived), label="fact")
            check(rules.why(f"{name}({', '.join(map(str, row))})"), (name, row), strata, expected)


def check(derivation: Derivation, goal: tuple[str, Any], strata: naive.Strata, expected: naive.Facts) -> None:
    """Each step is a fact, or an instance of its rule whose premises all came before; the last is the goal."""
    texts = {" ".join(str(rule).split()): rule for stratum in strata for rule in stratum}
    known: naive.Facts = {}
    inside: dict[tuple[str, Any], naive.Facts] = {}  # what values of aggregates in bodies stand on
    for step in derivation.steps:
        assert step.relation in expected or "#" in step.relation
        assert "#" in step.relation or step.values in expected[step.relation]
        if step.rule is None:
            assert step.relation in BASES
        else:
            premises: naive.Facts = {}
            for relation, values in step.premises:
                assert values in known[relation]
                for name, rows in inside.get((relation, values), {relation: {values}}).items():
                    premises.setdefault(name, set()).update(rows)
            if "#" in step.relation:
                inside[step.relation, step.values] = premises
                known.setdefault(step.relation, set()).add(step.values)
                continue
            rule = texts[step.rule]
            assert rule.relation == step.relation
            for name in negated(rule.body):
                premises[name] = premises.get(name, set()) | expected[name]
            assert step.values in naive.evaluated([[rule]], premises)[step.relation], (step, premises)
        known.setdefault(step.relation, set()).add(step.values)
    assert (derivation.steps[-1].relation, derivation.steps[-1].values) == goal


def negated(body: tuple[naive.Literal, ...]) -> set[str]:
    """The relations that a body negates, in its aggregates too."""
    found = {each.relation for each in body if isinstance(each, naive.Atom) and each.negated}
    return found.union(*(negated(each.body) for each in body if isinstance(each, naive.Inner)))
