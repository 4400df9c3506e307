"""Loops: a scope with variables whose next round the body defines."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions.expression import Expression
from graphtide.dataflow.plan import EnterAt, Feedback, Leave, Node, Scope, Variable
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
        flow = self._flow
        if not isinstance(result, Collection):
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
        scope = self._node.scope
        change = flow.brought(result, scope)
        if self._initial is not None:
            change = change.concat(self._initial.negate())
        flow.add(Node(Feedback(self._variable), (change._node,), scope, self.schema))  # noqa: SLF001
        self.is_defined = True


class Loop:
    """The inside of a loop, for bodies with several variables or results.

    >>> with flow.loop() as loop:                                   # doctest: +SKIP
    ...     even = loop.variable(zero)
    ...     odd = loop.variable(n=int)
    ...     odd.becomes(even.select(n=col("n") + 1).where(col("n") < 10).distinct())
    ...     even.becomes(odd.select(n=col("n") + 1).concat(zero).distinct())
    ...     result = loop.leave(even)
    """

    def __init__(self, flow: Dataflow, parent: Scope, most_rounds: int, name: str) -> None:
        self._flow = flow
        self._scope = Scope(name, parent, most_rounds)
        self._variables: list[LoopVariable] = []

    def __enter__(self) -> Self:
        self._inside = self._flow.inside(self._scope)
        self._inside.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._inside.__exit__(kind, error, trace)
        if kind is None:
            for variable in self._variables:
                if not variable.is_defined:
                    raise PlanError(
                        f"the loop variable {variable.schema} has no next round", hint="call its becomes(...)"
                    )

    def variable(self, initial: Collection | None = None, **columns: Any) -> LoopVariable:  # noqa: ANN401
        """A variable that begins as `initial`, or empty with the given columns."""
        flow, scope = self._flow, self._scope
        if initial is None:
            node = flow.add(Node(Variable(), (), scope, Schema(columns)))
            made = LoopVariable(flow, node, node, None)
        else:
            made = self._beginning_as(flow.brought(initial, scope))
        self._variables.append(made)
        return made

    def enter(self, collection: Collection, *, priority: Expression | None = None) -> Collection:
        """A collection from outside as it is inside: all of it in the first round.

        With a priority, a small int from 0 on, the rows of each come in when the loop has settled without
        them. Collections without a priority need not be entered by hand.
        """
        flow, scope = self._flow, self._scope
        if priority is None:
            return flow.brought(collection, scope)
        ranked = flow.brought(collection.with_columns(_priority=priority), _outside(scope))
        found = ranked.schema["_priority"]
        if found.kind is not Kind.INT:
            raise PlanError(f"a priority must be an int, not {found}", hint="cast it, or use another expression")
        node = Node(EnterAt(), (ranked._node,), scope, collection.schema)  # noqa: SLF001
        node.extra["failure"] = lambda _detail: CapacityError(
            f"the priority {priority} is null, below 0 or above {2**31 - 2}",
            hint="use small non-negative priorities, such as the length of a number in bits",
        )
        return Collection(flow, flow.add(node))

    def _beginning_as(self, inside: Collection) -> LoopVariable:
        flow, scope = self._flow, self._scope
        variable = flow.add(Node(Variable(), (), scope, inside.schema))
        both = inside.concat(Collection(flow, variable))
        return LoopVariable(flow, both._node, variable, inside)  # noqa: SLF001

    def leave(self, collection: Collection) -> Collection:
        """What a collection of the loop is when the loop has settled, for use outside."""
        scope = self._scope
        inside = self._flow.brought(collection, scope)
        node = Node(Leave(), (inside._node,), _outside(scope), inside.schema)  # noqa: SLF001
        return Collection(self._flow, self._flow.add(node))


def _outside(scope: Scope) -> Scope:
    assert scope.parent is not None, "a loop stands in a scope"
    return scope.parent
