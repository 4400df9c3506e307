"""Datalog: rules over facts that come and go, kept evaluated by one dataflow.

`parse` reads a program, `bind` checks it, `plan` makes collections of its rules; `magic` and `heights` turn programs
into others that answer a query or explain a fact. `Datalog` is what users see.
"""

from graphtide.datalog.derivation import Derivation, Step
from graphtide.datalog.relation import DatalogRelation
from graphtide.datalog.rules import Datalog

__all__ = ["Datalog", "DatalogRelation", "Derivation", "Step"]
