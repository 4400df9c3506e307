"""How a query's answer is kept: the same answers from each, at another price of time and memory."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real

from graphtide.errors import UsageError
from graphtide.frontier.budget import Budget

__all__ = [
    "Degree",
    "DeterministicDrop",
    "Dropping",
    "JoinOnDemand",
    "Maintenance",
    "ProbabilisticDrop",
    "Random",
    "Scratch",
    "Vanilla",
]


@dataclass(frozen=True, slots=True)
class Scratch:
    """Nothing but the answer is kept; every batch computes it anew."""


@dataclass(frozen=True, slots=True)
class Vanilla:
    """All differences of Join and of the aggregate are kept, by a differential dataflow."""


@dataclass(frozen=True, slots=True)
class JoinOnDemand:
    """All differences of the aggregate are kept, none of Join (Diff-IFE, section 4)."""


@dataclass(frozen=True, slots=True)
class Random:
    """Choose each difference with the same probability."""

    p: float

    def __post_init__(self) -> None:
        _check_probability(self.p)


@dataclass(frozen=True, slots=True)
class Degree:
    """Choose the differences of vertices below a degree, none of those above another, others with a probability.

    `tau_max` is a degree; by default that which four fifths of the vertices have at most (Diff-IFE, section 5.2.1).
    """

    p: float
    tau_min: int = 2
    tau_max: int | None = None

    def __post_init__(self) -> None:
        _check_probability(self.p)
        for degree in (self.tau_min, self.tau_max):
            if degree is not None and not isinstance(degree, Integral):
                raise UsageError(f"{degree!r} is no degree", hint="tau_min and tau_max are whole numbers")


@dataclass(frozen=True, slots=True)
class DeterministicDrop:
    """Differences that are chosen are dropped, and which they are is kept: a bit for every vertex and round."""

    choose: Random | Degree

    def __post_init__(self) -> None:
        _check_choice(self.choose)


@dataclass(frozen=True, slots=True)
class ProbabilisticDrop:
    """Differences that are chosen are dropped, and a Bloom filter says which ones may have been."""

    choose: Random | Degree
    bits: int = 10  # of the filter for each difference that is dropped at first

    def __post_init__(self) -> None:
        _check_choice(self.choose)
        if not isinstance(self.bits, Integral) or self.bits < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(
                f"a filter has no {self.bits} bits for each difference", hint="10 make one error in a hundred"
            )


def _check_choice(choose: object) -> None:
    if not isinstance(choose, Random | Degree):
        raise UsageError(f"{choose!r} chooses no differences", hint="for example gt.Random(0.5) or gt.Degree(p=0.5)")


def _check_probability(p: float) -> None:
    if not isinstance(p, Real) or not 0 <= p <= 1:  # pyright: ignore[reportUnnecessaryIsInstance] - users say it
        raise UsageError(f"{p} is no probability", hint="take one from 0 to 1")


Dropping = DeterministicDrop | ProbabilisticDrop
Maintenance = Scratch | Vanilla | JoinOnDemand | Dropping | Budget
