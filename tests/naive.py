"""What a dataflow means, computed the slow way: whole multisets, one operator at a time.

A program is a tree of collections whose columns are known by their place. It is evaluated on plain
multisets, dicts from a row to its multiplicity, which is any integer but zero. Nothing of the package
is imported, and nothing is incremental: a loop is its body applied until nothing changes.

Values are those a column gives back: -0.0 is 0.0, there is one NaN, and it is equal to itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.naive_aggregates import AGGREGATES, Multiset, there
from tests.naive_values import NAN, Column, Constant, Expression, Operation, Row, order, plain, value_of

__all__ = [
    "NAN",
    "Aggregate",
    "Antijoin",
    "Column",
    "Concat",
    "Consolidate",
    "Constant",
    "DidNotSettleError",
    "Except",
    "Explode",
    "Expression",
    "FlatMap",
    "Function",
    "Input",
    "Iterate",
    "Join",
    "Known",
    "LeftJoin",
    "MapBatches",
    "Multiset",
    "Negate",
    "Node",
    "Operation",
    "Prioritized",
    "Reduce",
    "Row",
    "Select",
    "Semijoin",
    "Threshold",
    "TooLargeError",
    "TopK",
    "Variable",
    "Where",
    "added",
    "difference",
    "evaluate",
]

# Programs whose values run away prove nothing; they are given up.
MOST_ROWS = 20_000
LARGEST = 2**45


class DidNotSettleError(Exception):
    """A loop still changes after its limit of rounds."""


class TooLargeError(Exception):
    """The evaluation is not worth its time."""


# ------------------------------------------------------------------------------------ collections


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the user, and the types of the columns that it gives."""

    call: Callable[..., Any]
    returns: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Input:
    number: int


@dataclass(frozen=True, slots=True)
class Variable:
    """What a loop changes from round to round; the name is its own."""

    name: str
    types: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Select:
    of: Node
    columns: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Where:
    of: Node
    condition: Expression


@dataclass(frozen=True, slots=True)
class Negate:
    of: Node


@dataclass(frozen=True, slots=True)
class Consolidate:
    of: Node


@dataclass(frozen=True, slots=True)
class Concat:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Except:
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs with equal keys: the left columns, then the right ones that are no key."""

    left: Node
    right: Node
    on: tuple[tuple[int, int], ...]
    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class Semijoin:
    left: Node
    right: Node
    on: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Antijoin:
    left: Node
    right: Node
    on: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class LeftJoin:
    left: Node
    right: Node
    on: tuple[tuple[int, int], ...]
    missing: int  # how many columns of the right side are no key


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One of AGGREGATES of some columns, by key."""

    of: Node
    keys: tuple[int, ...]
    what: str
    columns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopK:
    of: Node
    keys: tuple[int, ...]
    by: tuple[int, ...]
    rest: tuple[int, ...]
    k: int
    descending: bool


@dataclass(frozen=True, slots=True)
class Reduce:
    of: Node
    keys: tuple[int, ...]
    values: tuple[int, ...]
    function: Function


@dataclass(frozen=True, slots=True)
class Threshold:
    """Each row that is there at least so often, once; `distinct` is the threshold of 1."""

    of: Node
    least: int


@dataclass(frozen=True, slots=True)
class FlatMap:
    of: Node
    function: Function


@dataclass(frozen=True, slots=True)
class MapBatches:
    of: Node
    function: Function


@dataclass(frozen=True, slots=True)
class Explode:
    of: Node
    column: int


@dataclass(frozen=True, slots=True)
class Iterate:
    """The variables, each from its initial value (none is empty), by their bodies until nothing changes."""

    initials: tuple[Node | None, ...]
    variables: tuple[Variable, ...]
    bodies: tuple[Node, ...]
    result: int = 0
    max_rounds: int = 60


@dataclass(frozen=True, slots=True)
class Prioritized:
    """One variable, empty at first, and rows that arrive by priority, each lot when the loop has settled."""

    source: Node
    priority: Expression
    variable: Variable
    arriving: Variable
    body: Node
    max_rounds: int = 60


Node: TypeAlias = (
    Input
    | Variable
    | Select
    | Where
    | Negate
    | Consolidate
    | Concat
    | Except
    | Join
    | Semijoin
    | Antijoin
    | LeftJoin
    | Aggregate
    | TopK
    | Reduce
    | Threshold
    | FlatMap
    | MapBatches
    | Explode
    | Iterate
    | Prioritized
)
Known: TypeAlias = dict[Node, Multiset]


# ------------------------------------------------------------------------------------- evaluation


def evaluate(node: Node, known: Known) -> Multiset:
    """The collection, given those of the inputs and variables; what is found on the way is noted in `known`."""
    if node not in known:
        result = _evaluate(node, known)
        if len(result) > MOST_ROWS or any(abs(times) > LARGEST or _is_large(row) for row, times in result.items()):
            raise TooLargeError
        known[node] = result
    return known[node]


def added(pairs: Iterable[tuple[Iterable[Any], int]]) -> Multiset:
    """Rows with multiplicities, those of equal rows added up."""
    result: Multiset = {}
    for values, times in pairs:
        row = tuple(map(plain, values))
        total = result.pop(row, 0) + times
        if total != 0:
            result[row] = total
    return result


def difference(after: Multiset, before: Multiset) -> Multiset:
    """What must be added to `before` to make it `after`."""
    return added([*after.items(), *((row, -times) for row, times in before.items())])


def _is_large(row: Row) -> bool:
    return any(isinstance(value, int) and abs(value) > LARGEST for value in row)


def _evaluate(node: Node, known: Known) -> Multiset:
    match node:
        case Select(of, columns):
            return added(([value_of(e, row) for e in columns], times) for row, times in evaluate(of, known).items())
        case Where(of, condition):
            return {r: times for r, times in evaluate(of, known).items() if value_of(condition, r) is True}
        case Negate(of):
            return {row: -times for row, times in evaluate(of, known).items()}
        case Consolidate(of):
            return evaluate(of, known)
        case Concat(parts):
            return added(pair for part in parts for pair in evaluate(part, known).items())
        case Except(left, right):
            return difference(evaluate(left, known), evaluate(right, known))
        case Join(left, right, on, where):
            joined = _join(evaluate(left, known), evaluate(right, known), on)
            return {r: times for r, times in joined.items() if where is None or value_of(where, r) is True}
        case Semijoin(left, right, on):
            return _semijoin(evaluate(left, known), evaluate(right, known), on)
        case Antijoin(left, right, on):
            return _antijoin(evaluate(left, known), evaluate(right, known), on)
        case LeftJoin(left, right, on, missing):
            these, others = evaluate(left, known), evaluate(right, known)
            alone = _antijoin(these, others, on)
            nothing = (None,) * missing
            return added([*_join(these, others, on).items(), *((row + nothing, n) for row, n in alone.items())])
        case Aggregate(of, keys, what, columns):
            groups = _groups(evaluate(of, known), keys, columns)
            return added((key + row, 1) for key, group in groups.items() for row in AGGREGATES[what](group))
        case TopK(of, keys, by, rest, k, descending):
            return _top_k(evaluate(of, known), keys, by, rest, k, descending=descending)
        case Reduce(of, keys, values, function):
            groups = _groups(evaluate(of, known), keys, values)
            return added(
                (key + tuple(row), 1)
                for key, group in groups.items()
                if (found := sorted(there(group).items(), key=lambda pair: order(pair[0])))
                for row in function.call(key, found)
            )
        case Threshold(of, least):
            return {row: 1 for row, times in evaluate(of, known).items() if times >= least}
        case FlatMap(of, function):
            return added((made, n) for row, n in evaluate(of, known).items() for made in function.call(*row))
        case MapBatches(of, function):
            return added((function.call(*row), times) for row, times in evaluate(of, known).items())
        case Explode(of, column):
            return added(
                ((*row[:column], value, *row[column + 1 :]), times)
                for row, times in evaluate(of, known).items()
                for value in row[column] or ()
            )
        case Iterate(initials, variables, bodies, result, max_rounds):
            starts = [{} if each is None else evaluate(each, known) for each in initials]
            return _settled(starts, variables, bodies, known, max_rounds)[result]
        case Prioritized():
            return _prioritized(node, known)
    raise AssertionError(f"{node} is not known")


def _groups(rows: Multiset, keys: tuple[int, ...], columns: tuple[int, ...]) -> dict[Row, Multiset]:
    """The chosen columns of the rows of each key, equal ones added up."""
    groups: dict[Row, list[tuple[Row, int]]] = {}
    for row, times in rows.items():
        key = tuple(row[k] for k in keys)
        groups.setdefault(key, []).append((tuple(row[c] for c in columns), times))
    return {key: added(group) for key, group in groups.items()}


def _join(left: Multiset, right: Multiset, on: tuple[tuple[int, int], ...]) -> Multiset:
    keys = {j for _, j in on}
    by_key: dict[Row, list[tuple[Row, int]]] = {}
    for row, times in right.items():
        rest = tuple(value for j, value in enumerate(row) if j not in keys)
        by_key.setdefault(tuple(row[j] for _, j in on), []).append((rest, times))
    return added(
        (row + rest, m * n)
        for row, m in left.items()
        if None not in (key := tuple(row[i] for i, _ in on))
        for rest, n in by_key.get(key, ())
    )


def _semijoin(left: Multiset, right: Multiset, on: tuple[tuple[int, int], ...]) -> Multiset:
    present = there(added((tuple(row[j] for _, j in on), times) for row, times in right.items()))
    keys = {row: tuple(row[i] for i, _ in on) for row in left}
    return {row: times for row, times in left.items() if keys[row] in present and None not in keys[row]}


def _antijoin(left: Multiset, right: Multiset, on: tuple[tuple[int, int], ...]) -> Multiset:
    return difference(left, _semijoin(left, right, on))


def _top_k(
    rows: Multiset, keys: tuple[int, ...], by: tuple[int, ...], rest: tuple[int, ...], k: int, *, descending: bool
) -> Multiset:
    result: list[tuple[Row, int]] = []
    for group in _groups(rows, keys, tuple(range(len(keys) + len(by) + len(rest)))).values():
        left = k
        found = there(group)
        for row in sorted(found, key=lambda r: [order(r[c]) for c in (*by, *rest)], reverse=descending):
            result.append((row, min(left, found[row])))
            left -= result[-1][1]
    return added(result)


# ------------------------------------------------------------------------------------------ loops


def _settled(
    values: list[Multiset], variables: tuple[Variable, ...], bodies: tuple[Node, ...], known: Known, max_rounds: int
) -> list[Multiset]:
    """Apply all bodies to all variables at once, until a round changes nothing."""
    outside = {node: rows for node, rows in known.items() if isinstance(node, Input | Variable)}
    for _ in range(max_rounds):
        inside = {**outside, **dict(zip(variables, values, strict=True))}
        following = [evaluate(body, inside) for body in bodies]
        if following == values:
            return values
        values = following
    raise DidNotSettleError


def _prioritized(node: Prioritized, known: Known) -> Multiset:
    lots: dict[int, list[tuple[Row, int]]] = {0: []}
    for row, times in evaluate(node.source, known).items():
        lots.setdefault(value_of(node.priority, row), []).append((row, times))
    value: Multiset = {}
    arrived: Multiset = {}
    for _, lot in sorted(lots.items()):
        arrived = added([*arrived.items(), *lot])
        inside = {**known, node.arriving: arrived}
        value = _settled([value], (node.variable,), (node.body,), inside, node.max_rounds)[0]
    return value
