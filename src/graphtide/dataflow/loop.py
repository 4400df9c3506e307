"""Loops: a scope with variables whose next round the body defines."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from graphtide.dataflow.builder import MOST_ROUNDS
from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.expression import Expression
from graphtide.dataflow.growing import best, improve
from graphtide.dataflow.kernels.layout import THRESHOLD
from graphtide.dataflow.plan import EnterAt, Feedback, Leave, Node, Reduce, Scope, Variable
from graphtide.errors import CapacityError, PlanError
from graphtide.rows import Kind, Schema

if TYPE_CHECKING:
    from graphtide.dataflow.flow import Dataflow

__all__ = ["Loop", "LoopVariable"]


class LoopVariable(Collection):
    """A collection that is defined by itself: in each round it is what `becomes` said in the one before."""

    def __init__(self, flow: Dataflow, node: Node, variable: Node, initial: Collection | None) -> None:
        super().__init__(flow, node)
        self._variable = variable
        self._initial = initial
        self.is_defined = False

    def becomes(self, result: Collection) -> None:
        """Say what the variable is in the next round."""
        self._check(result)
        self._feed_back(result, keeps_initial=False)

    def becomes_fixed_point(self, loop: Loop, result: Collection) -> Collection:
        """Say so, for the only variable of a loop; what it comes to, for use outside.

        The best values of each key are followed without rounds where that comes to the same (`growing`).
        """
        self._check(result)
        builder = self.flow.builder
        initial = None if self._initial is None else self._initial.node
        is_read = any(result.node in node.inputs for node in builder.nodes)
        improves = not is_read and result.node.scope is loop.scope and improve(result.node, self._variable, initial)
        self._feed_back(result, keeps_initial=improves)
        left = loop.leave(result)
        return Collection(self.flow, best(builder, result.node, left.node)) if improves else left

    def _check(self, result: Collection) -> None:
        if not isinstance(cast("object", result), Collection):
            raise PlanError(f"the loop's body gave {result!r}", hint="return a collection from it")
        if self.is_defined:
            raise PlanError("a loop variable becomes one thing only", hint="concat the collections first")
        if result.schema.names != self.schema.names or any(
            a.required != b.required for a, b in zip(result.schema.types, self.schema.types, strict=True)
        ):
            raise PlanError(
                f"the loop's body gives {result.schema}, its variable is {self.schema}",
                hint="bring them together with select or rename",
            )
        for name, given in result.schema.items():
            if given.nullable and not self.schema[name].nullable:
                raise PlanError(
                    f'the loop\'s body gives "{name}" as {given}, its variable has it as {self.schema[name]}',
                    hint="fill the gaps with coalesce(...), or let the loop begin with a column that may be None",
                )

    def _feed_back(self, result: Collection, *, keeps_initial: bool) -> None:
        scope, builder = self.node.scope, self.flow.builder
        change = Collection(self.flow, builder.entered(result.node, scope))
        if self._initial is not None and not keeps_initial:
            change = change.concat(self._initial.negate())
        builder.add(Node(Feedback(self._variable), (change.node,), scope, self.schema))
        self.is_defined = True


class Loop:
    """The inside of a loop, for bodies with several variables or results.

    >>> import graphtide as gt
    >>> flow = gt.Dataflow()
    >>> zero = flow.input("zero", n=int)
    >>> with flow.loop() as loop:
    ...     even = loop.variable(zero)
    ...     odd = loop.empty_variable(n=int)
    ...     odd.becomes(even.select(n=gt.col("n") + 1).where(gt.col("n") < 6).distinct())
    ...     even.becomes(odd.select(n=gt.col("n") + 1).concat(zero).distinct())
    ...     result = loop.leave(even)
    >>> out = result.output("even numbers")
    >>> zero.insert([(0,)])
    >>> epoch = flow.commit()
    >>> sorted(out.rows())
    [(0,), (2,), (4,), (6,)]
    """

    def __init__(
        self, flow: Dataflow, parent: Scope, most_rounds: int, name: str, *, is_monotone: bool = False
    ) -> None:
        if is_monotone and parent.parent is not None:
            raise PlanError("a monotone loop stands in a loop or dimension", hint="use an ordinary loop there")
        self._flow = flow
        self.scope = Scope(name, parent, most_rounds, is_monotone)
        self._variables: list[LoopVariable] = []

    def __enter__(self) -> Self:
        self._inside = self._flow.builder.inside(self.scope)
        self._inside.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inside.__exit__(kind, error, trace)
        if kind is None:
            for variable in self._variables:
                if not variable.is_defined:
                    raise PlanError(
                        f"the loop variable {variable.schema} has no next round", hint="call its becomes(...)"
                    )
            if self.scope.is_monotone:
                self._check_reductions()

    def _check_reductions(self) -> None:
        """See that a monotone loop reduces rows to sets and to nothing else."""
        for node in self._flow.builder.nodes:
            operation = node.operation
            if node.scope is self.scope and isinstance(operation, Reduce) and operation.parameters != (THRESHOLD, 1):
                raise PlanError(
                    f"{operation.label} in a monotone loop, which can only follow sets",
                    hint="use distinct, or an ordinary loop",
                )

    def variable(self, initial: Collection) -> LoopVariable:
        """A variable that begins as a collection, from inside or outside of the loop."""
        if self.scope.is_monotone:
            raise PlanError(
                "what a variable begins with is taken away in the next round, which a monotone loop cannot follow",
                hint="let it begin with empty_variable(...), and concat the collection in the body",
            )
        builder = self._flow.builder
        inside = Collection(self._flow, builder.entered(initial.node, self.scope))
        variable = builder.add(Node(Variable(), (), self.scope, inside.schema))
        both = inside.concat(Collection(self._flow, variable))
        return self._known(LoopVariable(self._flow, both.node, variable, inside))

    def empty_variable(self, schema: Schema | None = None, **columns: Any) -> LoopVariable:
        """A variable that begins empty, with the given columns."""
        node = Node(Variable(), (), self.scope, Schema(columns) if schema is None else schema)
        self._flow.builder.add(node)
        return self._known(LoopVariable(self._flow, node, node, None))

    def _known(self, variable: LoopVariable) -> LoopVariable:
        self._variables.append(variable)
        return variable

    def enter(self, collection: Collection, *, priority: Expression | None = None) -> Collection:
        """A collection from outside as it is inside: all of it in the first round.

        With a priority, a small int from 0 on, the rows of each come in when the loop has settled without
        them. Collections without a priority need not be entered by hand.
        """
        builder, scope = self._flow.builder, self.scope
        if priority is None:
            return Collection(self._flow, builder.entered(collection.node, scope))
        ranked = collection.with_columns(_priority=priority)
        found = ranked.schema["_priority"]
        if found.kind is not Kind.INT:
            raise PlanError(f"a priority must be an int, not {found}", hint="cast it, or use another expression")
        outside = builder.entered(ranked.node, _outside(scope))
        node = Node(EnterAt(), (outside,), scope, collection.schema)
        node.extra["failure"] = lambda _detail: CapacityError(
            f"the priority {priority} is null, below 0 or above {2**31 - 2}",
            hint="use small non-negative priorities, such as the length of a number in bits",
        )
        return Collection(self._flow, builder.add(node))

    def leave(self, collection: Collection) -> Collection:
        """What a collection of the loop is when the loop has settled, for use outside."""
        builder, scope = self._flow.builder, self.scope
        inside = builder.entered(collection.node, scope)
        node = Node(Leave(), (inside,), _outside(scope), inside.schema)
        return Collection(self._flow, builder.add(node))


def loop_from(collection: Collection, body: Callable[..., Collection], max_rounds: int | None) -> Loop:
    """A loop for a body that starts from a collection, inside the loop whose body is being written."""
    flow, scope = collection.flow, collection.node.scope
    current = flow.builder.current
    parent = scope if scope.depth > current.depth else current
    name = getattr(body, "__name__", "loop")
    return Loop(flow, parent, MOST_ROUNDS if max_rounds is None else max_rounds, name)


def _outside(scope: Scope) -> Scope:
    assert scope.parent is not None, "a loop stands in a scope"
    return scope.parent
