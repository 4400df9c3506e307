"""Goal-directed programs that are part of the dataflow: forms of queries, and derivations with their heights.

The arguments asked for are an input of their own; each further one costs a run that follows what it adds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from graphtide.dataflow.input import Input
from graphtide.dataflow.plan import Codes
from graphtide.datalog.body import column_name
from graphtide.datalog.derivation import Derivation, Prover
from graphtide.datalog.goal import Goal
from graphtide.datalog.heights import with_heights
from graphtide.datalog.magic import Directed, directed
from graphtide.datalog.outer import is_outer
from graphtide.datalog.program import Relation, Rule
from graphtide.datalog.strata import strata
from graphtide.errors import UsageError
from graphtide.rows import encode_value

if TYPE_CHECKING:
    from graphtide.datalog.rules import Datalog

__all__ = ["Provenance", "Query"]

_NUMBERS: Final = count(1)


@dataclass(slots=True)
class Asked:
    """A goal-directed program in the dataflow, and the arguments that were asked for."""

    datalog: Datalog
    program: Directed
    names: list[str]  # relations that were planned for it
    asking: Input
    asked: set[tuple[int, ...]] = field(default_factory=set[tuple[int, ...]])

    @classmethod
    def plan(cls, datalog: Datalog, program: Directed, rules: tuple[Rule, ...], relations: dict[str, Relation]) -> Self:
        """Plan the program; what must be known in full is derived first."""
        datalog.ensure(program.full)
        planner = datalog.planner
        ask = relations[program.ask]
        asking = datalog.flow.input_of(ask.name, planner.schema(ask))
        planner.enter(ask, asking)
        planned = strata(rules)
        planner.install(planned, relations)
        names = [ask.name, *(name for each in planned for name in each.relations)]
        return cls(datalog, program, names, asking)

    def encoded(self, goal: Goal, places: tuple[int, ...]) -> tuple[int, ...]:
        """The codes of the given arguments at some places."""
        schema = self.datalog.schema(goal.relation)
        dictionary = self.datalog.flow.dictionary
        return tuple(encode_value(schema.types[place], dictionary, goal.values[place]) for place in places)

    def ask_for(self, codes: tuple[int, ...]) -> None:
        """Let the program follow arguments, unless it does."""
        if codes in self.asked or (self.asked and not self.program.rules):
            return
        # A relation without columns has one inside, of a zero.
        self.asking.change_codes(np.array(codes or (0,), np.int64)[:, None], 1)
        self.datalog.run_between()
        self.asked.add(codes)

    def drop(self) -> None:
        """Take the program out of the dataflow."""
        self.datalog.planner.forget(self.names)
        self.datalog.flow.drop_input(self.program.ask)


class Query:
    """A form of queries: a relation with some arguments given, by which its facts are looked up in an index."""

    def __init__(self, asked: Asked, given: tuple[int, ...]) -> None:
        self._asked = asked
        self._given = given
        goal = asked.datalog.planner.made[asked.program.goal]
        self._facts = goal.arrange(*(column_name(place) for place in given))

    @classmethod
    def install(cls, datalog: Datalog, relation: str, given: tuple[int, ...]) -> Self:
        """Plan the form into the dataflow, over all that is derived there."""
        program = datalog.program
        known = {*program.bases.values(), *(name for name in datalog.planner.indexes if name in program.relations)}
        prefix = f"query {next(_NUMBERS)}: "
        made = directed(program.rules, program.relations, relation, given, known=known, prefix=prefix)
        return cls(Asked.plan(datalog, made, made.rules, {**program.relations, **made.relations}), given)

    def ask(self, goal: Goal) -> Codes:
        """The facts with the given arguments, as lines of codes."""
        asked = self._asked
        codes = asked.encoded(goal, self._given)
        asked.ask_for(codes)
        return self._facts.find(np.array(codes, np.int64)[:, None])

    def drop(self) -> None:
        """Take the form out of the dataflow."""
        self._facts.close()
        self._asked.drop()


class Provenance:
    """Derivations of the facts of a relation."""

    def __init__(self, asked: Asked, rules: tuple[Rule, ...], relations: dict[str, Relation]) -> None:
        self._asked = asked
        self._rules = rules
        self._relations = relations

    @classmethod
    def install(cls, datalog: Datalog, relation: str) -> Self:
        """Plan the relation, with heights, into the dataflow."""
        program = datalog.program
        known = frozenset(program.relations) - {rule.head.relation for rule in program.rules}
        given = program.relations[relation].keys
        prefix = f"why {next(_NUMBERS)}: "
        made = directed(program.rules, program.relations, relation, given, known=known, prefix=prefix, copies_full=True)
        derived = {name for name, origin in made.origins.items() if not is_outer(origin)}
        rules, relations = with_heights(made.rules, made.relations, derived)
        answer = replace(made, rules=rules, relations=relations)
        return cls(Asked.plan(datalog, answer, rules, {**program.relations, **relations}), rules, relations)

    def why(self, goal: Goal) -> Derivation:
        """One derivation of a fact."""
        asked = self._asked
        datalog = asked.datalog
        keys = tuple(place for place in goal.values if place in datalog.program.relations[goal.relation].keys)
        asked.ask_for(asked.encoded(goal, keys))
        prover = Prover(datalog, self._rules, {**datalog.program.relations, **self._relations}, asked.program.origins)
        values: tuple[Any, ...] = tuple(goal.values.values())
        found = prover.derivation(asked.program.goal, values)
        if found is None:
            raise UsageError(f"{goal.text} does not hold", hint=f"rules[{goal.relation!r}].table() is all that does")
        return found

    def drop(self) -> None:
        """Take the relation with heights out of the dataflow."""
        self._asked.drop()
