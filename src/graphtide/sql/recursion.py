"""Which recursive queries are fixed points of a dataflow.

SQL applies the step to the rows that came last. If the step is linear (it gives for two sets of rows together what
it gives for each), that comes to the same as applying it to all rows until nothing changes: with UNION ALL rows
count as often as they are derived, with UNION once. Any other step is refused.
"""

from __future__ import annotations

from graphtide.errors import SqlError
from graphtide.sql.plan import Distinct, Filter, Join, Outer, Plan, Project, Recursion, Semi, Union, walk

__all__ = ["check_linear"]


def check_linear(step: Plan, variable: Recursion, *, is_distinct: bool) -> None:
    """Refuse a step that is not linear in the rows of the recursive query."""

    def reads(plan: Plan) -> bool:
        return any(each is variable for each in walk(plan))

    def check(plan: Plan) -> None:
        if not reads(plan):
            return
        match plan:
            case Recursion():
                return
            case Project() | Filter():
                check(plan.input)
            case Union():
                for each in plan.inputs:
                    check(each)
            case Distinct() if is_distinct:
                check(plan.input)
            case Join():
                if sum(map(reads, plan.inputs)) > 1:
                    raise _refused("a join with itself", variable)
                for each in plan.inputs:
                    check(each)
            case Semi() | Outer(is_full=False) if not reads(plan.right):
                check(plan.left)
            case _:
                raise _refused(type(plan).__name__.lower(), variable)

    if not reads(step):
        raise SqlError(f'the step of "{variable.name}" does not read it', hint="write UNION without RECURSIVE")
    check(step)


def _refused(what: str, variable: Recursion) -> SqlError:
    return SqlError(
        f'the recursive query "{variable.name}" reads itself through {what}, which is not supported',
        hint="its step may filter, project, and join it with other relations, once",
    )
