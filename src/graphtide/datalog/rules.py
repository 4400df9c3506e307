"""Datalog programs that stay evaluated while facts come and go.

A program is one dataflow. Facts are staged and take effect together at `commit`. A relation is derived from when it is
first asked for, or from the start if the program says `.output`; until then a query derives only what it can use.

Invariant: between commits the dataflow may run, for queries and for relations that are asked for, but no fact changes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from graphtide.dataflow.flow import Dataflow
from graphtide.dataflow.input import Input
from graphtide.dataflow.memory import Memory
from graphtide.dataflow.plan import Codes
from graphtide.datalog.bind import bind
from graphtide.datalog.derivation import Derivation
from graphtide.datalog.explanation import RulesExplanation, explain_rules
from graphtide.datalog.fact_files import read_facts, write_facts
from graphtide.datalog.facts import Waiting, as_data, note_kinds
from graphtide.datalog.goal import Goal, read_goal
from graphtide.datalog.plan import Planner
from graphtide.datalog.program import Relation
from graphtide.datalog.queries import Provenance, Query
from graphtide.datalog.relation import DatalogRelation
from graphtide.datalog.strata import Stratum
from graphtide.errors import UsageError
from graphtide.rows import Schema, decode_rows, decode_table, encode_rows
from graphtide.text import hint_at_nearest

__all__ = ["Datalog"]

_MOST_ROUNDS: Final = 1_000_000


@contextmanager
def _of_bounded_depth() -> Generator[None]:
    """Let a text that Python's stack does not hold be refused as any other one."""
    try:
        yield
    except RecursionError:
        hint = "compute a part of it in a rule of its own"
        raise UsageError("an expression of the program is nested too deeply", hint=hint) from None


class Datalog:
    """A Datalog program and its facts.

    >>> rules = Datalog("tc(X, Y) :- edge(X, Y). tc(X, Z) :- tc(X, Y), edge(Y, Z).")
    >>> rules.insert("edge", [(1, 2), (2, 3)])
    >>> rules.commit()
    >>> rules.query("tc(1, Y)").to_pydict()
    {'x1': [1, 1], 'x2': [2, 3]}
    >>> print(rules.why("tc(1, 3)"))
    1. edge(1, 2): a fact
    2. edge(2, 3): a fact
    3. tc(1, 2): from 1, by tc(X, Y) :- edge(X, Y).
    4. tc(1, 3): from 3 and 2, by tc(X, Z) :- tc(X, Y), edge(Y, Z).
    """

    @_of_bounded_depth()
    def __init__(
        self, text: str, *, facts: str | Path | None = None, max_rounds: int = _MOST_ROUNDS, name: str = "datalog"
    ) -> None:
        if max_rounds < 1:
            raise UsageError(f"max_rounds is {max_rounds}", hint="a loop needs one round at least")
        self._program = bind(text)
        self._flow = Dataflow(name)
        self._planner = Planner(self._flow, self._program.kinds, text, max_rounds)
        self._strata: tuple[Stratum, ...] = self._program.strata
        self._inputs: dict[str, Input] = {}
        self._waiting = {base: Waiting() for base in self._program.bases.values()}
        self._wanted = list(dict.fromkeys(each.relation for each in self._program.outputs))
        self._schemas: dict[str, Schema] = {}
        self._kept_changes: dict[str, Codes] = {}
        self._queries: dict[tuple[str, tuple[int, ...]], Query] = {}
        self._provenance: dict[str, Provenance] = {}
        for access in self._program.inputs:
            relation = self._program.relations[access.relation]
            table = read_facts(access, relation, self._program.kinds, text, facts)
            if table is not None:
                self.insert(access.relation, table)

    # -- facts

    def insert(self, relation: str, rows: Any) -> None:
        """Stage facts to come in: a list of tuples, or an Arrow, pandas, Polars or NumPy table."""
        self._stage(relation, rows, 1)

    def delete(self, relation: str, rows: Any) -> None:
        """Stage facts to go."""
        self._stage(relation, rows, -1)

    def commit(self) -> None:
        """Let all staged changes take effect. An error leaves everything as it was, the changes still staged."""
        self._open()
        for base, waiting in self._waiting.items():
            coming, going = waiting.changes(self._planner.indexes[base])
            for codes, diff in ((coming, 1), (going, -1)):
                if codes.shape[1]:
                    self._inputs[base].change_codes(np.ascontiguousarray(codes), diff)
        self._run_with(self._derive(self._wanted))
        for waiting in self._waiting.values():
            waiting.clear()
        self._kept_changes.clear()

    def rollback(self) -> None:
        """Forget all changes that are staged but not committed."""
        for waiting in self._waiting.values():
            waiting.clear()

    # -- answers

    def __getitem__(self, relation: str) -> DatalogRelation:
        """A relation, to be read; from the next commit on it is followed."""
        self._relation(relation)
        if relation not in self._wanted:
            self._wanted.append(relation)
        return DatalogRelation(self, relation)

    @_of_bounded_depth()
    def query(self, goal: str) -> pa.Table:
        """The facts that fit a goal such as `tc(1, Y)`, as of the last commit.

        Only what follows from the given arguments is derived, by indexes that are there. It stays derived: a
        further query of the same form costs what it adds, and one that was asked before is looked up.
        """
        asked = self._goal(goal)
        keys = self._program.relations[asked.relation].keys
        form = asked.relation, tuple(place for place in asked.given if place in keys)
        if not form[1]:
            return asked.fitting(self[asked.relation].table())
        if form not in self._queries:
            self._open()
            self._queries[form] = Query.install(self, *form)
        codes = self._queries[form].ask(asked)
        return asked.fitting(decode_table(self.schema(asked.relation), self._flow.dictionary, codes), form[1])

    @_of_bounded_depth()
    def why(self, fact: str) -> Derivation:
        """One derivation of a fact: the facts that it follows from, step by step, each by its rule."""
        asked = self._goal(fact)
        if len(asked.given) != len(self._program.relations[asked.relation].columns):
            raise UsageError(f"{fact} has arguments without a value", hint="ask why of one fact, as in tc(1, 3)")
        self._open()
        if asked.relation not in self._provenance:
            self._provenance[asked.relation] = Provenance.install(self, asked.relation)
        return self._provenance[asked.relation].why(asked)

    def forget(self) -> None:
        """Drop all that queries and derivations keep; relations that are followed stay."""
        for each in (*self._queries.values(), *self._provenance.values()):
            each.drop()
        self._queries.clear()
        self._provenance.clear()

    def explain(self) -> RulesExplanation:
        """The strata, how each rule is joined, and the dataflow that it comes to; print it."""
        self._open()
        self._derive(self._wanted or self._program.names)
        return explain_rules(self._program, self._strata, self._flow)

    def write(self, folder: str | Path) -> list[Path]:
        """Write each `.output` relation into a file of the folder, as Soufflé does; the files."""
        return [
            write_facts(
                access,
                self._program.relations[access.relation],
                self[access.relation].table(),
                self._program.text,
                Path(folder),
            )
            for access in self._program.outputs
        ]

    def memory(self) -> Memory:
        """What is kept, by operator, to the byte."""
        self._open()
        return self._flow.memory()

    @property
    def relations(self) -> list[str]:
        """The names of all relations."""
        return self._program.names

    # -- what relations and queries call

    @property
    def flow(self) -> Dataflow:
        """The dataflow that the program comes to."""
        return self._flow

    @property
    def planner(self) -> Planner:
        """What plans rules into the dataflow."""
        return self._planner

    @property
    def program(self) -> Any:
        """The checked program."""
        return self._program

    def schema(self, relation: str) -> Schema:
        """The columns of a relation, as far as is known before the first commit."""
        if not self._inputs:
            return self._planner.public_schema(self._relation(relation))
        if relation not in self._schemas:
            self._schemas[relation] = self._planner.public_schema(self._relation(relation))
        return self._schemas[relation]

    def read(self, relation: str) -> pa.Table:
        """All facts of a relation."""
        self.ensure([relation])
        return self._planner.indexes[relation].table()

    def read_changes(self, relation: str) -> pa.Table:
        """What the last commit changed in a relation."""
        self.ensure([relation])
        output = self._planner.indexes[relation]
        codes = self._kept_changes.get(relation)
        codes = output.change_codes() if codes is None else codes
        table = decode_table(output.schema, self._flow.dictionary, codes[: len(output.schema)])
        return table.append_column(pa.field("diff", pa.int64(), nullable=False), pa.array(codes[-1]))

    def holds(self, relation: str, fact: object) -> bool:
        """Whether a fact is there."""
        self.ensure([relation])
        codes = self._encoded(self._relation(relation), [fact])
        return bool(self._planner.indexes[relation].counts_of(codes)[0] > 0)

    def ensure(self, relations: Iterable[str]) -> None:
        """Derive relations now if they are not derived yet."""
        self._open()
        planned = self._derive(relations)
        if planned:
            self.run_between(planned)

    def run_between(self, planned: Sequence[str] = ()) -> None:
        """Run without a change of facts; what the last commit changed can still be asked for."""
        for name, output in self._planner.indexes.items():
            if name in self._program.relations and name not in self._kept_changes and output.has_changes:
                self._kept_changes[name] = output.change_codes()
        before = set(self._kept_changes)
        self._run_with(planned)
        for name, output in self._planner.indexes.items():
            # A relation that begins now has come to be with the last commit.
            if name in self._program.relations and name not in before and not output.has_changes:
                self._kept_changes[name] = output.change_codes()

    # -- inside

    def _open(self) -> None:
        """Make the inputs, with what is known of their columns; the facts of the text come first."""
        if self._inputs:
            return
        self._program.kinds.freeze()
        for base in self._waiting:
            relation = self._program.relations[base]
            self._inputs[base] = self._flow.input_of(base, self._planner.schema(relation))
            self._planner.enter(relation, self._inputs[base])
        grouped: dict[str, list[tuple[Any, ...]]] = {}
        for fact in self._program.facts:
            grouped.setdefault(fact.relation, []).append(fact.values)
        for name, rows in grouped.items():
            waiting = self._waiting[self._program.bases[name]]
            waiting.stage_first(self._encoded(self._relation(name), rows))

    @_of_bounded_depth()
    def _derive(self, relations: Iterable[str]) -> list[str]:
        """Plan what relations need and is not there yet; which that was."""
        # What is there was planned together with all that it needs.
        needed = {each for each in relations if each not in self._planner.indexes}
        if not needed:
            return []
        for stratum in reversed(self._strata):
            if needed.intersection(stratum.relations):
                needed |= {*stratum.relations}
                needed |= {each.relation for rule in stratum.rules for each in (*rule.atoms, *rule.negated)}
        missing = [
            each
            for each in self._strata
            if needed.intersection(each.relations) and each.relations[0] not in self._planner.indexes
        ]
        planned = [name for each in missing for name in each.relations]
        try:
            self._planner.install(missing, self._program.relations)
        except BaseException:
            self._planner.forget(name for name in planned if name in self._planner.indexes)
            raise
        return planned

    def _run_with(self, planned: Sequence[str]) -> None:
        """Run; if that fails, what was planned for this run goes, and the rest is as it was."""
        try:
            self._flow.commit()
        except BaseException:
            self._flow.rollback()
            self._planner.forget(planned)
            raise

    def _stage(self, name: str, rows: Any, diff: int) -> None:
        relation = self._relation(name)
        base = self._program.bases.get(name)
        if base is None:
            raise UsageError(
                f'"{name}" is derived by rules, and takes no facts', hint=f"write .input {name} if it takes facts too"
            )
        data = as_data(rows, relation, is_declared=relation.columns[:1] != ("x1",))
        if not self._inputs:
            note_kinds(self._program.kinds, relation, data)
        self._waiting[base].stage(self._encoded(relation, data), diff)

    def _encoded(self, relation: Relation, data: Any) -> Codes:
        if not relation.columns:
            return np.zeros((1, len(data)), np.int64)
        return encode_rows(self.schema(relation.name), self._flow.dictionary, data)

    def _relation(self, name: str) -> Relation:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"{name!r} is not the name of a relation", hint='pass it as a string, as in rules["tc"]')
        if name not in self._program.relations or "#" in name:
            hint = hint_at_nearest(name, self._program.names, "relations")
            raise UsageError(f'there is no relation "{name}"', hint=hint)
        return self._program.relations[name]

    def _goal(self, text: str) -> Goal:
        goal = read_goal(text, self._program)
        self._open()
        return goal

    def rows_of(self, relation: str, codes: Codes) -> list[tuple[Any, ...]]:
        """Facts of a relation as Python tuples."""
        return decode_rows(self.schema(relation), self._flow.dictionary, codes)

    def __repr__(self) -> str:
        return f"<Datalog {self._flow.name}: {len(self._program.rules)} rules, {len(self.relations)} relations>"
