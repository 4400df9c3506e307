"""Hypothesis strategies for dataflows: programs of all operators, and what happens to their inputs.

A program is a tuple of inputs' column types and the collections to look at, as trees of `tests.naive`. It is made
operator by operator from a pool of typed collections. Loops end by construction: bodies are monotone over
finitely many values, or count their rounds in a first column that every operator carries along.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import NoneType, UnionType
from typing import Any, TypeAlias, get_args

from hypothesis import strategies as st
from tests import naive
from tests.program_functions import CountUp, Ends, Sizes, Turn


@dataclass(frozen=True)
class Typed:
    """A collection under construction; its first `carried` columns belong to the loops around it."""

    node: naive.Node
    types: tuple[Any, ...]
    carried: int = 0


@dataclass(frozen=True)
class Program:
    """Inputs by the types of their columns, and the collections that are looked at."""

    inputs: tuple[tuple[Any, ...], ...]
    outputs: tuple[naive.Node, ...]


Batch: TypeAlias = tuple[tuple[tuple[naive.Row, int], ...], ...]  # for each input, rows with diffs

_VALUES: dict[Any, list[Any]] = {
    int: [0, 1, 2, 3],
    float: [0.0, 0.5, -1.5, 2.5, 1e308, 5e-324, math.inf, naive.NAN],
    str: ["", "a", "b", "é"],
}
CONSTANTS = {int: 1, float: 0.5, str: "a"}


def base(column_type: Any) -> Any:
    """The type without None."""
    return next(t for t in get_args(column_type) if t is not NoneType) if is_optional(column_type) else column_type


def is_optional(column_type: Any) -> bool:
    """Whether the type takes None."""
    return isinstance(column_type, UnionType)


def optional(column_type: Any, when: bool = True) -> Any:
    """The type with None, if so."""
    return column_type | None if when and not is_optional(column_type) else column_type


class _Programs:
    """Draws collections, each from a pool of those that are there."""

    MONOTONE = ("select", "select", "where", "join", "join", "concat", "semijoin", "distinct", "flat_map", "turn")
    OTHERS = ("antijoin", "left_join", "except_", "negate", "threshold", *["aggregate"] * 5)
    OTHERS += ("top_k", "reduce", "explode", "consolidate")

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.loops = 0

    def one_of(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) < percent

    def step(self, pool: list[Typed], depth: int, *, monotone: bool = False) -> Typed:
        """One more collection."""
        if depth < 2 and self.chance(20):
            return self.loop(pool, depth + 1, monotone=monotone)
        names = self.MONOTONE if monotone else self.MONOTONE + self.OTHERS
        return getattr(self, self.one_of(*names))(pool)

    # -- expressions

    def number(self, types: tuple[Any, ...], depth: int = 2) -> tuple[naive.Expression, bool]:
        """An expression of ints, with values of a few if there is arithmetic in it, and whether it may be None."""
        places = [i for i, t in enumerate(types) if base(t) is int]
        kind = self.one_of("column", "arithmetic", "if", "coalesce") if depth and places else "column"
        if kind == "column" and places and self.chance(80):
            place = self.one_of(*places)
            return naive.Column(place), is_optional(types[place])
        if kind == "column":
            return naive.Constant(self.one_of(0, 1, 2)), False
        (a, a_none), (b, b_none) = self.number(types, depth - 1), self.number(types, depth - 1)
        if kind == "if":
            return naive.Operation("if", (self.condition(types, depth - 1), a, b)), a_none or b_none
        if kind == "coalesce":
            return naive.Operation("coalesce", (a, b)), b_none
        result = naive.Operation(self.one_of("+", "-", "*"), (a, b))
        return naive.Operation("%", (result, naive.Constant(self.one_of(2, 3, 4)))), a_none or b_none

    def condition(self, types: tuple[Any, ...], depth: int = 1) -> naive.Expression:
        kind = self.one_of("compare", "numbers", "is_null", "not", "and")
        places = [i for i, t in enumerate(types) if base(t) in _VALUES]
        if kind in {"not", "and"} and depth:
            operands = [self.condition(types, depth - 1) for _ in range(1 if kind == "not" else 2)]
            return naive.Operation(kind, tuple(operands))
        if kind == "is_null" and places:
            return naive.Operation("is_null", (naive.Column(self.one_of(*places)),))
        if kind == "compare" and places:
            place = self.one_of(*places)
            value = naive.Constant(self.one_of(*_VALUES[base(types[place])]))
            return naive.Operation(self.one_of("<", "=="), (naive.Column(place), value))
        return naive.Operation(self.one_of("<", "=="), (self.number(types, 1)[0], self.number(types, 1)[0]))

    # -- row by row

    def select(self, pool: list[Typed]) -> Typed:
        of = self.one_of(*pool)
        columns: list[naive.Expression] = [naive.Column(i) for i in range(of.carried)]
        types = list(of.types[: of.carried])
        for _ in range(self.one_of(1, 2, 2, 3)):
            if self.chance(60):
                place = self.one_of(*range(len(of.types)))
                columns.append(naive.Column(place))
                types.append(of.types[place])
            else:
                expression, may_be_none = self.number(of.types)
                columns.append(expression)
                types.append(optional(int, may_be_none))
        return Typed(naive.Select(of.node, tuple(columns)), tuple(types), of.carried)

    def shaped(self, of: Typed, types: tuple[Any, ...], carried: int = 0, *, strict: bool = False) -> Typed:
        """The collection with columns of the given types, which are its own or constants; `strict`: None as there."""
        columns: list[naive.Expression] = [naive.Column(i) for i in range(carried)]
        made = list(of.types[:carried])
        for wanted in types[carried:]:
            options: list[tuple[naive.Expression, Any]] = []
            for i, found in enumerate(of.types):
                if base(found) == base(wanted):
                    fits = not strict or is_optional(wanted) or not is_optional(found)
                    column: naive.Expression = naive.Column(i)
                    if not fits:
                        column = naive.Operation("coalesce", (column, naive.Constant(CONSTANTS[base(wanted)])))
                    options.append((column, found if fits else wanted))
            if not options or self.chance(5):
                options = [(naive.Constant(CONSTANTS[base(wanted)]), base(wanted))]
            expression, found = self.one_of(*options)
            columns.append(expression)
            made.append(found)
        return Typed(naive.Select(of.node, tuple(columns)), tuple(made), carried)

    def where(self, pool: list[Typed]) -> Typed:
        of = self.one_of(*pool)
        return replace(of, node=naive.Where(of.node, self.condition(of.types)))

    def negate(self, pool: list[Typed]) -> Typed:
        of = self.one_of(*pool)
        return replace(of, node=naive.Negate(of.node))

    def consolidate(self, pool: list[Typed]) -> Typed:
        of = self.one_of(*pool)
        return replace(of, node=naive.Consolidate(of.node))

    def flat_map(self, pool: list[Typed]) -> Typed:
        return self.by_function(pool, CountUp)

    def turn(self, pool: list[Typed]) -> Typed:
        return self.by_function(pool, Turn)

    def by_function(self, pool: list[Typed], function: Any) -> Typed:
        of = self.one_of(*pool)
        numbers = [i for i, t in enumerate(of.types) if base(t) is int]
        if not numbers or of.carried:
            return self.select([of])
        number, kept = self.one_of(*numbers), self.one_of(*range(len(of.types)))
        returns = (int, of.types[kept]) if function is CountUp else (of.types[kept], int)
        operator = naive.FlatMap if function is CountUp else naive.MapBatches
        return Typed(operator(of.node, naive.Function(function(number, kept), returns)), returns)

    def explode(self, pool: list[Typed]) -> Typed:
        found = [(of, i) for of in pool for i, t in enumerate(of.types) if get_args(base(t))]
        if not found:
            made = self.aggregate(pool, "collect")
            return made if base(made.types[-1]) in _VALUES else self.explode([made])
        of, place = self.one_of(*found)
        types = (*of.types[:place], get_args(base(of.types[place]))[0], *of.types[place + 1 :])
        return replace(of, node=naive.Explode(of.node, place), types=types)

    # -- two collections

    def two(self, pool: list[Typed]) -> tuple[Typed, Typed]:
        """What is carried along is on the left."""
        a, b = self.one_of(*pool), self.one_of(*pool)
        return (a, b) if a.carried >= b.carried else (b, a)

    def alike(self, pool: list[Typed]) -> tuple[Typed, Typed]:
        """Two collections of one shape."""
        a = self.one_of(*pool)
        b = self.one_of(*(each for each in pool if each.carried == a.carried))
        if any(base(t) not in _VALUES for t in (*a.types, *b.types)):
            return a, a
        return a, self.shaped(b, a.types, a.carried)

    def concat(self, pool: list[Typed]) -> Typed:
        a, b = self.alike(pool)
        types = tuple(optional(s, is_optional(t)) for s, t in zip(a.types, b.types, strict=True))
        return Typed(naive.Concat((a.node, b.node)), types, a.carried)

    def except_(self, pool: list[Typed]) -> Typed:
        a, b = self.alike(pool)
        types = tuple(optional(s, is_optional(t)) for s, t in zip(a.types, b.types, strict=True))
        return Typed(naive.Except(a.node, b.node), types, a.carried)

    def pairs(self, a: Typed, b: Typed) -> tuple[tuple[int, int], ...]:
        """Columns to join on: all that both carry along, and one or two more, rarely none."""
        on = [(i, i) for i in range(b.carried)]
        for _ in range(self.one_of(1, 1, 2)):
            options = [
                (i, j)
                for i, s in enumerate(a.types)
                for j, t in enumerate(b.types)
                if base(s) == base(t) and i not in dict(on) and j not in dict(on).values()
            ]
            if options and not self.chance(5):
                on.append(self.one_of(*options))
        return tuple(on)

    def join(self, pool: list[Typed]) -> Typed:
        a, b = self.two(pool)
        on = self.pairs(a, b)
        rest = tuple(t for j, t in enumerate(b.types) if j not in dict(on).values())
        types = a.types + rest
        where = self.condition(types) if self.chance(25) else None
        joined = Typed(naive.Join(a.node, b.node, on, where), types, a.carried)
        return self.select([joined]) if len(types) > 4 or self.chance(40) else joined

    def semijoin(self, pool: list[Typed]) -> Typed:
        a, b = self.two(pool)
        return replace(a, node=naive.Semijoin(a.node, b.node, self.pairs(a, b)))

    def antijoin(self, pool: list[Typed]) -> Typed:
        a, b = self.two(pool)
        return replace(a, node=naive.Antijoin(a.node, b.node, self.pairs(a, b)))

    def left_join(self, pool: list[Typed]) -> Typed:
        a, b = self.two(pool)
        on = self.pairs(a, b)
        rest = tuple(optional(t) for j, t in enumerate(b.types) if j not in dict(on).values())
        joined = Typed(naive.LeftJoin(a.node, b.node, on, len(rest)), a.types + rest, a.carried)
        return self.select([joined]) if len(joined.types) > 4 else joined

    # -- by key

    def distinct(self, pool: list[Typed]) -> Typed:
        of = self.one_of(*pool)
        return replace(of, node=naive.Threshold(of.node, 1))

    def threshold(self, pool: list[Typed]) -> Typed:
        of = self.one_of(*pool)
        return replace(of, node=naive.Threshold(of.node, self.one_of(1, 2, 3)))

    def keys(self, of: Typed) -> tuple[tuple[int, ...], list[int]]:
        """Key columns, with those that are carried along, and the others."""
        others = list(range(of.carried, len(of.types)))
        chosen = self.draw(st.lists(st.sampled_from(others), max_size=2, unique=True)) if others else []
        return (*range(of.carried), *chosen), [i for i in others if i not in chosen]

    def aggregate(self, pool: list[Typed], what: str | None = None) -> Typed:
        of = self.one_of(*pool)
        keys, others = self.keys(of)
        what = what or self.one_of("sum", "avg", "min", "max", "distinct_count", "collect", "count")
        numbers = [i for i in others if base(of.types[i]) in {int, float}]
        if what in {"sum", "avg"} and numbers:
            columns = (self.one_of(*numbers),)
        elif what in {"min", "max", "distinct_count"} and others:
            columns = tuple(self.draw(st.lists(st.sampled_from(others), min_size=1, max_size=2, unique=True)))
        elif what == "collect" and others:
            columns = (self.one_of(*others),)
        else:
            what, columns = "count", ()
        types = [of.types[c] for c in columns]
        if what in {"count", "distinct_count"}:
            types = [int]
        elif what == "collect":
            types = [tuple[types[0], ...]]
        elif what == "avg":
            types = [optional(float, is_optional(types[0]))]
        node = naive.Aggregate(of.node, keys, what, columns)
        return Typed(node, (*(of.types[k] for k in keys), *types), of.carried)

    def top_k(self, pool: list[Typed]) -> Typed:
        of = self.one_of(*pool)
        keys, others = self.keys(of)
        if not others:
            return self.aggregate([of])
        by = tuple(self.draw(st.lists(st.sampled_from(others), min_size=1, max_size=2, unique=True)))
        rest = tuple(i for i in others if i not in by)
        node = naive.TopK(of.node, keys, by, rest, self.one_of(1, 2, 3), self.draw(st.booleans()))
        return replace(of, node=node)

    def reduce(self, pool: list[Typed]) -> Typed:
        of = self.one_of(*pool)
        keys, others = self.keys(of)
        function, returns = Sizes(), (int, int)
        if others and self.chance(50):
            function, returns = Ends(), tuple(of.types[i] for i in others)
        node = naive.Reduce(of.node, keys, tuple(others), naive.Function(function, returns))
        return Typed(node, (*(of.types[k] for k in keys), *returns), of.carried)

    # -- loops

    def loop(self, pool: list[Typed], depth: int, *, monotone: bool) -> Typed:
        kinds = ["closing", "mutual", "prioritized", "least"] + ["counting"] * (0 if monotone else 3)
        return getattr(self, self.one_of(*kinds))(pool, depth)

    def variable(self, types: tuple[Any, ...], carried: int = 0) -> Typed:
        self.loops += 1
        name = f"x{self.loops}"
        return Typed(naive.Variable(name, types), types, carried)

    def beginning(self, pool: list[Typed]) -> Typed:
        """What a loop may begin with: few columns, nearly always a set."""
        of = self.one_of(*pool)
        flat = [i for i, t in enumerate(of.types) if base(t) in _VALUES]
        chosen = sorted({*range(of.carried), *flat[:3]}) or [0]
        columns = tuple(naive.Column(i) if i in flat else naive.Constant(0) for i in chosen)
        types = tuple(of.types[i] if i in flat else int for i in chosen)
        made = Typed(naive.Select(of.node, columns), types, of.carried)
        return replace(made, node=naive.Threshold(made.node, 1)) if self.chance(90) else made

    def sets(self, pool: list[Typed]) -> list[Typed]:
        """Collections from around the loop that keep a body monotone."""
        return [replace(each, node=naive.Threshold(each.node, 1)) for each in pool[-3:]]

    def closed(self, inside: list[Typed], pool: list[Typed], initial: Typed | None, x: Typed, depth: int) -> naive.Node:
        """A body that only adds rows of finitely many values."""
        made = [*inside, *self.sets(pool)]
        for _ in range(self.one_of(1, 2, 3)):
            made.append(self.step(made, depth, monotone=True))
        fitting = [each for each in made if each.carried == x.carried]
        grown = self.shaped(self.one_of(*fitting[-2:]), x.types, x.carried, strict=True)
        kept = self.one_of([x], [initial], [initial, x]) if initial else [x]
        return naive.Threshold(naive.Concat((*(each.node for each in kept), grown.node)), 1)

    def closing(self, pool: list[Typed], depth: int) -> Typed:
        initial = self.beginning(pool)
        x = self.variable(initial.types, initial.carried)
        body = self.closed([x], pool, initial, x, depth)
        return replace(initial, node=naive.Iterate((initial.node,), (x.node,), (body,)))

    def mutual(self, pool: list[Typed], depth: int) -> Typed:
        first, second = self.beginning(pool), self.beginning(pool)
        x, y = self.variable(first.types, first.carried), self.variable(second.types, second.carried)
        begins = self.chance(50)
        bodies = (
            self.closed([x, y], pool, first, x, depth),
            self.closed([x, y], pool, second if begins else None, y, depth),
        )
        initials = (first.node, second.node if begins else None)
        result = self.one_of(0, 1)
        node = naive.Iterate(initials, (x.node, y.node), bodies, result)
        return replace((first, second)[result], node=node)

    def prioritized(self, pool: list[Typed], depth: int) -> Typed:
        initial = self.beginning(pool)
        number = naive.Operation("coalesce", (self.number(initial.types)[0], naive.Constant(1)))
        priority = naive.Operation("%", (number, naive.Constant(3)))
        x, arriving = (self.variable(initial.types, initial.carried) for _ in range(2))
        body = self.closed([x, arriving], pool, arriving, x, depth)
        return replace(initial, node=naive.Prioritized(initial.node, priority, x.node, arriving.node, body))

    def least(self, pool: list[Typed], depth: int) -> Typed:
        """Least or greatest labels, or distances up to a limit, along edges."""
        del depth
        flat = [each for each in pool if not each.carried]
        if not flat:
            return self.distinct(pool)
        key = self.one_of(int, int, str)
        edges = self.shaped(self.one_of(*flat), (key, key), strict=True)
        initial = self.shaped(self.one_of(*flat), (key, int), strict=True)
        x = self.variable(initial.types)
        label: naive.Expression = naive.Column(1)
        if self.chance(50):
            more = naive.Operation("+", (label, naive.Constant(1)))
            label = naive.Operation("if", (naive.Operation("<", (label, naive.Constant(4))), more, label))
        along = naive.Join(x.node, naive.Threshold(edges.node, 1), ((0, 0),))
        moved = naive.Select(along, (naive.Column(2), label))
        both = naive.Concat((initial.node, moved))
        body = naive.Aggregate(both, (0,), self.one_of("min", "max"), (1,))
        return replace(initial, node=naive.Iterate((initial.node,), (x.node,), (body,)))

    def counting(self, pool: list[Typed], depth: int) -> Typed:
        """A few rounds of any body: each row says in which round it came, and makes rows of the next only."""
        flat = [each for each in pool if not each.carried]
        if not flat:
            return self.distinct(pool)
        begin = self.beginning(flat)
        places = tuple(naive.Column(i) for i in range(len(begin.types)))
        initial = naive.Select(begin.node, (naive.Constant(0), *places))
        types = (int, *begin.types)
        x = self.variable(types, 1)
        early = naive.Operation("<", (naive.Column(0), naive.Constant(self.one_of(1, 2, 3))))
        made = [Typed(naive.Where(x.node, early), types, 1)]
        for _ in range(self.one_of(1, 2, 3)):
            made.append(self.step(made + flat[-2:], depth))
        last = [each for each in made if each.carried][-1]
        result = self.shaped(last, types, 1, strict=True)
        following = naive.Operation("+", (naive.Column(0), naive.Constant(1)))
        rest = tuple(naive.Column(i) for i in range(1, len(types)))
        body = naive.Concat((initial, naive.Select(result.node, (following, *rest))))
        return Typed(naive.Iterate((initial,), (x.node,), (body,)), types)

    def unbounded(self, pool: list[Typed]) -> Typed:
        """A loop of any body, which may never settle and has few rounds to do so."""
        initial = self.beginning(pool)
        x = self.variable(initial.types)
        made = [x, *pool[-2:]]
        for _ in range(self.one_of(1, 2, 3)):
            made.append(self.step(made, 2))
        body = self.shaped(made[-1], x.types, strict=True)
        return replace(initial, node=naive.Iterate((initial.node,), (x.node,), (body.node,), 0, self.one_of(4, 6)))


@st.composite
def programs(draw: st.DrawFn, *, unbounded: bool = False) -> Program:
    """Programs of all operators; those with an unbounded loop may not settle."""
    make = _Programs(draw)
    column = st.sampled_from([int, int, int, int | None, float, float | None, str, str | None])
    inputs = draw(st.lists(st.lists(column, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3))
    pool = [Typed(naive.Input(i), types) for i, types in enumerate(inputs)]
    for _ in range(draw(st.integers(1, 5))):
        pool.append(make.step(pool, 0))
    if unbounded:
        pool.append(make.unbounded(pool))
    others = draw(st.lists(st.sampled_from(pool), max_size=2))
    return Program(tuple(inputs), tuple(dict.fromkeys(each.node for each in (pool[-1], *others))))


@st.composite
def histories(draw: st.DrawFn, program: Program, most: int = 4) -> list[Batch]:
    """What happens to a program's inputs, epoch by epoch: rows come, go, and go without having come."""
    diff = st.sampled_from([1, 1, 1, 1, -1, -1, 2, -2])
    seen: list[list[naive.Row]] = [[] for _ in program.inputs]
    epochs: list[Batch] = []
    for epoch in range(draw(st.integers(1, most))):
        batch: list[tuple[tuple[naive.Row, int], ...]] = []
        for types, rows in zip(program.inputs, seen, strict=True):
            new = st.tuples(*(_values(t) for t in types))
            row = st.sampled_from(rows) | new if rows else new
            changes = draw(st.lists(st.tuples(row, diff), min_size=0 if epoch else 2, max_size=7))
            rows += [each for each, _ in changes]
            batch.append(tuple(changes))
        epochs.append(tuple(batch))
    return epochs


@st.composite
def cases(draw: st.DrawFn, *, unbounded: bool = False, most: int = 4) -> tuple[Program, list[Batch]]:
    """A program, and a history of its inputs."""
    program = draw(programs(unbounded=unbounded))
    return program, draw(histories(program, most))


def _values(column_type: Any) -> st.SearchStrategy[Any]:
    present = st.sampled_from(_VALUES[base(column_type)])
    return st.none() | present if is_optional(column_type) else present
