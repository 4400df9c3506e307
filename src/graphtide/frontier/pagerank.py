"""PageRank as a program that sums."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from graphtide.errors import UsageError
from graphtide.frontier.arguments import check_count, check_number
from graphtide.frontier.expansion import ife
from graphtide.frontier.sum_program import SumProgram

__all__ = ["pagerank"]


def pagerank(rounds: int, damping: float) -> SumProgram:
    """Ranks after so many rounds: a vertex keeps `1 - damping` of rank 1 and gets shares of its in-neighbours'."""
    check_count(rounds, "rounds")
    check_number(damping, "PageRank cannot be damped by")
    if rounds < 1 or not 0 < damping < 1:
        raise UsageError(
            f"no PageRank has {rounds} rounds and damping {damping}", hint="1 round or more, damping between 0 and 1"
        )
    return ife(_share, aggregate="sum", initial=1.0, rounds=rounds, finish=_rank(damping), state="rank")


def _share(rank: Any, _weight: Any, degree: Any) -> Any:
    return rank / degree


# Queries with one damping share what is compiled.
@lru_cache(maxsize=16)
def _rank(damping: float) -> Callable[..., Any]:
    def finish(_begin: Any, total: Any) -> Any:
        return 1.0 - damping + damping * total

    return finish
