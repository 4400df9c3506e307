"""A few words for a node, for plans and reports."""

from __future__ import annotations

from graphtide.dataflow.plan import (
    Arrange,
    Concat,
    Consolidate,
    Enter,
    EnterAt,
    Feedback,
    Import,
    Improve,
    Join,
    Leave,
    LeaveAt,
    Linear,
    Node,
    Python,
    Reduce,
    Source,
    Variable,
    Weigh,
)

__all__ = ["label_of"]


def label_of(node: Node) -> str:
    """What a node does, in a few words: `join on node`, `min label by node`."""
    match node.operation:
        case Source():
            return f"input {node.name}"
        case Linear(where=where, sign=sign):
            return _linear(node, where, sign)
        case Arrange(order):
            return f"index by {', '.join(node.inputs[0].schema.names[c] for c in order)}"
        case Join(keys, _, comparison):
            on = f"on {', '.join(node.inputs[0].schema.names[:keys]) or 'nothing'}"
            if comparison is None:
                return f"join {on}"
            bound = node.inputs[1].schema.names[keys]
            return f"{node.inputs[0].schema.names[keys]} {comparison} {bound} {on}"
        case Reduce(keys, label=label):
            by = ", ".join(node.schema.names[:keys])
            return f"{label} by {by}" if by else label
        case Improve(order, label=label):
            by = ", ".join(node.schema.names[: len(order) - 1])
            return f"{label} by {by}, whatever comes" if by else f"{label}, whatever comes"
        case Python(label=label):
            return label
        case Weigh():
            return f"weigh {node.schema.names[-1]}"
        case Concat() | Consolidate() | Enter() | Leave() | Variable() | Feedback() | Import():
            return type(node.operation).__name__.lower()
        case EnterAt():
            return "enter by priority"
        case LeaveAt():
            return f"leave with {node.schema.names[-1]}"


def _linear(node: Node, where: object, sign: int) -> str:
    names = node.schema.names
    same = names == node.inputs[0].schema.names
    words = "negate" if sign < 0 and same else f"select {', '.join(names)}"
    if where is not None:
        words = f"where {where}" if same and sign > 0 else f"{words} where {where}"
    return words
