"""A program's plan as a person can read it: the strata, how each rule is joined, and the dataflow."""

from __future__ import annotations

from dataclasses import dataclass

from graphtide.dataflow.explain import Explanation
from graphtide.dataflow.flow import Dataflow
from graphtide.datalog.bind import Program
from graphtide.datalog.plan import join_order
from graphtide.datalog.program import Rule
from graphtide.datalog.strata import Stratum
from graphtide.datalog.syntax import Atom, Negation, variables_of

__all__ = ["RulesExplanation", "explain_rules"]


@dataclass(frozen=True, slots=True)
class RulesExplanation:
    """The rules by stratum, with the order of their joins, and the operators that they come to."""

    rules: str
    dataflow: Explanation

    def __str__(self) -> str:
        return f"{self.rules}\n{self.dataflow}"


def explain_rules(program: Program, strata: tuple[Stratum, ...], flow: Dataflow) -> RulesExplanation:
    """The plan of a program in a dataflow."""
    lines: list[str] = []
    for number, stratum in enumerate(strata, start=1):
        how = ", a loop" if stratum.is_recursive else ""
        lines.append(f"stratum {number}{how}: {', '.join(stratum.relations)}")
        for rule in stratum.rules:
            lines.extend((f"  {' '.join(rule.span.of(program.text).split())}", f"    {_joins(rule, stratum)}"))
    return RulesExplanation("\n".join(lines), flow.explain())


def _joins(rule: Rule, stratum: Stratum) -> str:
    words: list[str] = []
    known: set[str] = set()
    for literal in join_order(rule, stratum):
        if isinstance(literal, Atom):
            by = [each.name for each in variables_of(literal) if each.name in known]
            words.append(f"join {literal} by {', '.join(dict.fromkeys(by)) or 'nothing'}" if words else str(literal))
            known |= {each.name for each in variables_of(literal)}
        else:
            words.append(f"without {literal.atom}" if isinstance(literal, Negation) else f"with {literal}")
    return ", ".join(words)
