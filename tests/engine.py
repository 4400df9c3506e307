"""Programs of `tests.programs` in the engine: from trees to collections, and outputs as multisets."""

from collections import ChainMap
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from tests import naive
from tests import programs as gen
from tests.naive import Multiset, added

from graphtide import Collection, Dataflow, Output, coalesce, col, lit, when
from graphtide.dataflow.expressions import Expression
from graphtide.errors import NegativeMultiplicityError
from graphtide.rows import TupleType, Type, decode_rows


class Running:
    """A program in a dataflow of its own."""

    def __init__(self, program: gen.Program, *, keep: int | None = None, merging: Any = "default") -> None:
        self.flow = Dataflow(merging=merging)
        self.keep = keep
        self.program = program
        self._names = (f"c{i}" for i in count())
        self.inputs = [self.flow.input(f"input {i}", **self._columns(types)) for i, types in enumerate(program.inputs)]
        self.outputs: dict[int, Output] = {}
        self.begin_anew()

    def begin_anew(self) -> None:
        """Build what comes from the inputs up, sharing no collection with what is there."""
        self._known: ChainMap[naive.Node, Collection] = ChainMap(
            {naive.Input(i): each for i, each in enumerate(self.inputs)}
        )

    def watch(self, *numbers: int) -> "Running":
        """Make outputs of the program readable, all of them by default."""
        for number in numbers or range(len(self.program.outputs)):
            made = self.build(self.program.outputs[number])
            self.outputs[number] = made.output(f"output {next(self._names)}", keep=self.keep)
        return self

    def drop(self, number: int) -> None:
        self.outputs.pop(number).close()

    def stage(self, batch: gen.Batch) -> None:
        for each, changes in zip(self.inputs, batch, strict=True):
            each.insert([row for row, diff in changes if diff == 1])
            each.remove([row for row, diff in changes if diff == -1])
            others = [change for change in changes if abs(change[1]) > 1]
            each.change([row for row, _ in others], [diff for _, diff in others])

    def stage_ahead(self, history: list[gen.Batch]) -> None:
        """Stage all epochs of a history in one call per input."""
        first = self.flow.epoch
        for each, batches in zip(self.inputs, zip(*history, strict=True), strict=True):
            rows = [(row, diff, first + e) for e, batch in enumerate(batches) for row, diff in batch]
            each.change([row for row, _, _ in rows], [d for _, d, _ in rows], epochs=[e for _, _, e in rows])

    def commit(self, *batches: gen.Batch) -> int:
        """Run epochs as one batch; the number of the last."""
        for batch in batches:
            self.stage(batch)
            self.flow.seal()
        self.flow.run()
        return self.flow.epoch - 1

    def at(self, epoch: int) -> dict[int, Multiset]:
        """The outputs as they were, whichever way they are read."""
        result: dict[int, Multiset] = {}
        for number, output in self.outputs.items():
            lines = output._counted(epoch)
            width = len(output.schema)
            rows = decode_rows(output.schema, self.flow.dictionary, lines[:width])
            for row in rows:
                assert all(map(is_of_type, row, output.schema.types))
            result[number] = added(zip(rows, lines[-1].tolist(), strict=True))
            if any(times < 0 for times in result[number].values()):
                with pytest.raises(NegativeMultiplicityError):
                    output.at(epoch)
            else:
                table = output.at(epoch)
                assert added((row.values(), 1) for row in table.to_pylist()) == result[number]
        return result

    def changes(self) -> dict[int, dict[int, Multiset]]:
        """What the last run changed: for each output, by epoch."""
        result: dict[int, dict[int, Multiset]] = {}
        for number, output in self.outputs.items():
            found: dict[int, list[tuple[Any, int]]] = {}
            for *row, epoch, diff in (line.values() for line in output.changes().to_pylist()):
                found.setdefault(epoch, []).append((row, diff))
            result[number] = {epoch: rows for epoch, pairs in found.items() if (rows := added(pairs))}
        return result

    # -- from trees to collections

    def build(self, node: naive.Node) -> Collection:
        if node not in self._known:
            self._known[node] = self._build(node)
        return self._known[node]

    def _columns(self, types: tuple[Any, ...]) -> dict[str, Any]:
        return {next(self._names): each for each in types}

    def _build(self, node: naive.Node) -> Collection:
        build = self.build
        match node:
            case naive.Select(of, columns):
                made = build(of)
                return made.select(**{next(self._names): expression(each, made) for each in columns})
            case naive.Where(of, condition):
                return build(of).where(expression(condition, build(of)))
            case naive.Negate(of):
                return build(of).negate()
            case naive.Consolidate(of):
                return build(of).consolidate()
            case naive.Concat((first, *others)):
                return build(first).concat(*(self._named(build(each), build(first)) for each in others))
            case naive.Except(left, right):
                return build(left).except_(self._named(build(right), build(left)))
            case naive.Join(left, right, on, where):
                these, others = build(left), self._apart(build(right), build(left))
                joined = these.join(others, pairs(these, others, on))
                if where is None:
                    return joined
                return these.join(others, pairs(these, others, on), where=expression(where, joined))
            case naive.Semijoin(left, right, on):
                return build(left).semijoin(build(right), pairs(build(left), build(right), on))
            case naive.Antijoin(left, right, on):
                return build(left).antijoin(build(right), pairs(build(left), build(right), on))
            case naive.LeftJoin(left, right, on):
                others = self._apart(build(right), build(left))
                return build(left).left_join(others, pairs(build(left), others, on))
            case naive.Aggregate() | naive.TopK() | naive.Reduce():
                return self._grouped(node, build(node.of))
            case naive.Threshold(of, least):
                return build(of).distinct() if least == 1 else build(of).threshold(least)
            case naive.FlatMap(of, function):
                return build(of).flat_map(function.call, **self._columns(function.returns))
            case naive.MapBatches(of, function):
                return build(of).map_batches(by_row(function.call), **self._columns(function.returns))
            case naive.Explode(of, column):
                return build(of).explode(build(of).schema.names[column])
            case naive.Prioritized(source, priority, variable, arriving, body, max_rounds):
                begin = self._fitted(build(source), variable.types)
                inside = self._inside(body, variable, arriving)
                by = expression(priority, begin)
                return begin.iterate_prioritized(inside, priority=by, max_rounds=max_rounds)
            case naive.Iterate((initial,), (variable,), (body,), _, max_rounds) if initial is not None:
                begin = self._fitted(build(initial), variable.types)
                return begin.iterate(self._inside(body, variable), max_rounds=max_rounds)
            case naive.Iterate():
                return self._loop(node)
        raise AssertionError(f"{node} is not known")

    def _grouped(self, node: naive.Aggregate | naive.TopK | naive.Reduce, of: Collection) -> Collection:
        names = of.schema.names
        grouped = of.group_by(*(names[k] for k in node.keys))
        match node:
            case naive.TopK(by=by, k=k, descending=descending):
                return grouped.top_k(k, [names[c] for c in by], descending=descending)
            case naive.Reduce(function=function):
                return grouped.reduce(function.call, **self._columns(function.returns))
            case naive.Aggregate(what=what, columns=columns):
                chosen = [names[c] for c in columns]
                if what in {"min", "max"}:
                    return getattr(grouped, what)(*chosen)
                return getattr(grouped, what)(*chosen, name=next(self._names))

    def _inside(self, body: naive.Node, *variables: naive.Variable) -> Callable[..., Collection]:
        def inside(x: Collection, *others: Collection) -> Collection:
            self._known = self._known.new_child(dict(zip(variables, (x, *others), strict=True)))
            result = self._named(self._fitted(self.build(body), variables[0].types), x)
            self._known = self._known.parents
            return result

        return inside

    def _loop(self, node: naive.Iterate) -> Collection:
        begins = [
            None if initial is None else self._fitted(self.build(initial), variable.types)
            for variable, initial in zip(node.variables, node.initials, strict=True)
        ]
        with self.flow.loop(max_rounds=node.max_rounds) as loop:
            variables = [
                loop.empty_variable(**self._columns(variable.types)) if begin is None else loop.variable(begin)
                for variable, begin in zip(node.variables, begins, strict=True)
            ]
            self._known = self._known.new_child(dict(zip(node.variables, variables, strict=True)))
            for variable, made, body in zip(node.variables, variables, node.bodies, strict=True):
                made.becomes(self._named(self._fitted(self.build(body), variable.types), made))
            self._known = self._known.parents
            return loop.leave(variables[node.result])

    def _named(self, other: Collection, like: Collection) -> Collection:
        """The other collection with the names of this one."""
        if other.schema.names == like.schema.names:
            return other
        return other.select(**{new: col(old) for new, old in zip(like.schema, other.schema, strict=True)})

    def _apart(self, other: Collection, than: Collection) -> Collection:
        """The other collection with names that this one has not."""
        if not set(other.schema) & set(than.schema):
            return other
        return other.select(**{next(self._names): col(name) for name in other.schema})

    def _fitted(self, made: Collection, types: tuple[Any, ...]) -> Collection:
        """The collection with columns that may be None where the types say so, and nowhere else."""
        columns: dict[str, Expression] = {}
        for (name, found), wanted in zip(made.schema.items(), types, strict=True):
            columns[name] = col(name)
            if gen.is_optional(wanted) and not found.nullable:
                columns[name] = when(lit(value=False), lit(None, wanted)).otherwise(col(name))
            elif found.nullable and not gen.is_optional(wanted):
                columns[name] = coalesce(col(name), lit(gen.CONSTANTS[wanted]))
        if all(each.equals(col(name)) for name, each in columns.items()):
            return made
        return made.select(**columns)


def is_of_type(value: Any, column_type: Type) -> bool:
    """Whether a value is what the schema promises: 1 is equal to 1.0, but not the same."""
    if value is None:
        return column_type.nullable
    if isinstance(column_type, TupleType):
        return isinstance(value, tuple) and all(is_of_type(each, column_type.elements[0]) for each in value)
    return type(value).__name__ == column_type.kind.value


def expression(tree: naive.Expression, of: Collection) -> Expression:
    match tree:
        case naive.Column(place):
            return col(of.schema.names[place])
        case naive.Constant(value):
            return lit(value)
        case naive.Operation(name, operands):
            return _OPERATIONS[name](*(expression(each, of) for each in operands))


_OPERATIONS: dict[str, Callable[..., Expression]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "%": lambda a, b: a % b,
    "<": lambda a, b: a < b,
    "==": lambda a, b: a == b,
    "not": lambda a: ~a,
    "and": lambda a, b: a & b,
    "is_null": lambda a: a.is_null(),
    "coalesce": coalesce,
    "if": lambda condition, a, b: when(condition, a).otherwise(b),
}


def pairs(these: Collection, others: Collection, on: tuple[tuple[int, int], ...]) -> dict[str, str]:
    return {these.schema.names[i]: others.schema.names[j] for i, j in on}


def by_row(function: Callable[..., Any]) -> Callable[[Any], list[naive.Row]]:
    return lambda table: [function(*row) for row in zip(*(c.to_pylist() for c in table.columns), strict=True)]
