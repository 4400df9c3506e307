"""Continuous recursive queries over a live graph, by iterative frontier expansion (Diff-IFE)."""

from graphtide.frontier.budget import Budget
from graphtide.frontier.ego import Ego
from graphtide.frontier.expansion import ife
from graphtide.frontier.landmarks import Landmarks
from graphtide.frontier.live import LiveGraph
from graphtide.frontier.maintenance import (
    Degree,
    DeterministicDrop,
    JoinOnDemand,
    ProbabilisticDrop,
    Random,
    Scratch,
    Vanilla,
)
from graphtide.frontier.program import Program
from graphtide.frontier.query import Query
from graphtide.frontier.sum_program import SumProgram

__all__ = [
    "Budget",
    "Degree",
    "DeterministicDrop",
    "Ego",
    "JoinOnDemand",
    "Landmarks",
    "LiveGraph",
    "ProbabilisticDrop",
    "Program",
    "Query",
    "Random",
    "Scratch",
    "SumProgram",
    "Vanilla",
    "ife",
]
