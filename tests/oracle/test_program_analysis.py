"""Analyses of redis, release after release, against clingo from scratch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import clingo
import numpy as np
import pytest

import graphtide as gt
from graphtide import datasets
from graphtide.datalog.bind import bind

PROGRAMS = Path(__file__).parents[2] / "experiments/program_analysis"
# Files whose facts change in most releases, and what they stand on.
FILES = {
    "adlist.c",
    "ae.c",
    "anet.c",
    "dict.c",
    "expire.c",
    "lazyfree.c",
    "sds.c",
    "t_set.c",
    "tracking.c",
    "zmalloc.c",
}
Facts = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def redis() -> datasets.FactHistory:
    return datasets.facts("redis")


@pytest.fixture(scope="module")
def inside(redis: datasets.FactHistory) -> np.ndarray:
    """For each number, whether it is a function, a variable, a call or an object of `FILES`."""
    names = redis.names["name"].to_pylist()
    home: dict[str, str] = {}
    for release in redis.releases:
        coming, _ = redis.changes(release)
        for relation in ("function", "global"):
            home |= {names[row[0]]: names[row[1]] for row in coming.get(relation, np.empty((0, 2))).tolist()}
    owner = re.compile(r"(?:O:|O:heap@)?(@[^/!]+)")
    return np.array([(found := owner.match(name)) is not None and home.get(found[1]) in FILES for name in names])


def of_files(facts: Facts, inside: np.ndarray) -> Facts:
    """The facts about what is inside."""
    return {relation: rows[inside[rows[:, 0]]] for relation, rows in facts.items()}


def in_clingo(text: str, facts: Facts, kinds: dict[int, str], outputs: tuple[str, ...]) -> dict[str, set[Any]]:
    """What a program derives, by another engine; it has no counts in heads, so rules with one are left out."""
    rules = [str(rule) for rule in bind(text).rules if not rule.has_aggregate]
    written = "\n".join(rules).replace("!=", "<>").replace("!", "not ").replace("<>", "!=")
    given = [f"{name}({','.join(map(str, row))})." for name, rows in facts.items() for row in rows.tolist()]
    given += [f'named({number},"{name}").' for number, name in kinds.items()]
    control = clingo.Control(["--warn=none"])
    control.add("base", [], written.replace("#facts", ""))
    control.add("facts", [], "\n".join(given))
    control.ground([("base", []), ("facts", [])])
    found: dict[str, set[Any]] = {name: set() for name in outputs}
    for atom in control.symbolic_atoms:
        if atom.symbol.name in found:
            found[atom.symbol.name].add(tuple(each.number for each in atom.symbol.arguments))
    return found


@pytest.mark.parametrize(("program", "outputs"), [("nulls", ("null",)), ("points_to", ("points_to", "holds", "calls"))])
def test_each_release_gives_what_clingo_gives_from_scratch(
    program: str, outputs: tuple[str, ...], redis: datasets.FactHistory, inside: np.ndarray
) -> None:
    text = (PROGRAMS / f"{program}.dl").read_text()
    names = redis.names["name"].to_pylist()
    kinds = {number: names[number] for number in np.unique(redis.at("7.0.0")["global"][:, 2]).tolist()}
    rules = gt.Datalog(text)
    if "named" in rules.relations:
        rules.insert("named", list(kinds.items()))
    moved = 0
    for release in redis.releases:
        for change, facts in zip((rules.insert, rules.delete), redis.changes(release), strict=True):
            for relation, rows in of_files(facts, inside).items():
                if relation in rules.relations and len(rows):
                    change(relation, rows)
        rules.commit()
        now = {name: rows for name, rows in of_files(redis.at(release), inside).items() if name in rules.relations}
        expected = in_clingo(text, now, kinds, outputs)
        for name in outputs:
            assert set(rules[name].rows()) == expected[name], (release, name)
            moved += rules[name].changes().num_rows
    assert moved > len(rules[outputs[0]])
