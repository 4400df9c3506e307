"""How a statement or an expression reads, in its one canonical spelling: parsing it gives an equal tree."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Final

from graphtide.gvdl import syntax
from graphtide.gvdl.moments import show_timestamp

__all__ = ["show"]

_BARE: Final = re.compile(r"[^\W\d]\w*")
_BARE_VIEW: Final = re.compile(r"(?:\w|\$\{\w*\}|\$)+")
# Words that are no names without quotes; "collection" is none after "view".
_RESERVED: Final = frozenset({"and", "between", "collection", "false", "in", "is", "like", "not", "null", "or", "true"})

# How tightly an expression holds together; one that is looser than its place asks for stands in parentheses.
_OR, _AND, _CONDITION, _SUM, _PRODUCT, _FACTOR, _OPERAND = range(7)


def show(node: syntax.Statement | syntax.Expression) -> str:
    """The text of a statement, without a semicolon, or of an expression.

    >>> from graphtide.gvdl.parse import parse_predicate
    >>> show(parse_predicate("NOT (src.state='CA') AND ((year)) NOT IN (2019,2020)"))
    "not src.state = 'CA' and not year in (2019, 2020)"
    """
    match node:
        case syntax.Explain(statement):
            return f"explain {show(statement)}"
        case syntax.LoadGraph():
            return _load_graph(node)
        case syntax.CreateView(name, base, where):
            return f"create view {_name(name)} on {_name(base)} edges where {show(where)}"
        case syntax.CreateCollection():
            return _create_collection(node)
        case syntax.Run():
            return _run(node)
        case syntax.RegisterQuery():
            return _register(node)
        case syntax.Show(what):
            return f"show {what}"
        case syntax.Describe(name):
            return f"describe {_name(name)}"
        case syntax.Drop(kind, name):
            return f"drop {kind} {_name(name)}"
        case _:
            return _expression(node, _OR)


# ------------------------------------------------------------------------------------------------ statements


def _load_graph(node: syntax.LoadGraph) -> str:
    parts = [f"load graph {_name(node.name)}"]
    if node.nodes:
        parts.append(f"nodes {', '.join(map(_string, node.nodes))}")
    parts.append(f"edges {', '.join(map(_string, node.edges))}")
    if node.options:
        parts.append(f"with ({_arguments(node.options)})")
    return " ".join(parts)


def _create_collection(node: syntax.CreateCollection) -> str:
    parts = [f"create view collection {_name(node.name)} on {_name(node.base)}"]
    if node.views is not None:
        parts.append(_views(node.views))
    parts += [f"dimension {_name(each.name)} {_views(each.views)}" for each in node.dimensions]
    if node.order is not None:
        parts.append(f"order {node.order}")
    return " ".join(parts)


def _views(node: syntax.Views) -> str:
    listed = ", ".join(f"[{_view_name(each.name)}: {show(each.where)}]" for each in node.definitions)
    return listed if node.loop is None else f"{_loop(node.loop)} {listed}"


def _loop(node: syntax.Loop) -> str:
    text = f"for {_name(node.variable)} in {_literal(node.first)}..{_literal(node.last)}"
    if node.step is None:
        return text
    return f"{text} step {node.step.count}" + (f" {node.step.unit}" if node.step.unit else "")


def _run(node: syntax.Run) -> str:
    called = f"({_arguments(node.arguments)})" if node.arguments else ""
    parts = [f"run {_name(node.computation)}{called} on {_name(node.on)}"]
    if node.strategy is not None:
        parts.append(node.strategy)
    if node.order is not None:
        parts.append(f"order {node.order}")
    if node.save_to is not None:
        parts.append(f"save to {_string(node.save_to)}")
    return " ".join(parts)


def _register(node: syntax.RegisterQuery) -> str:
    question, more = _question(node.question)
    return f"register query {_name(node.name)} as {question} on {_name(node.on)}{more}"


def _question(question: syntax.Question) -> tuple[str, str]:
    """What stands in front of the graph, and what stands behind it."""
    match question:
        case syntax.ShortestPath(source, target, weight):
            return f"shortest path from {_literal(source)} to {_literal(target)}", _option("weight", weight)
        case syntax.ShortestPaths(source, weight):
            return f"shortest paths from {_literal(source)}", _option("weight", weight)
        case syntax.KHop(hops, source):
            return f"{_literal(hops)} hop from {_literal(source)}", ""
        case syntax.PathPattern(pattern, sources, label):
            begin = f" from {', '.join(map(_literal, sources))}" if sources else ""
            return f"path {_literal(pattern)}{begin}", _option("label", label)
        case syntax.Components():
            return "components", ""
        case syntax.PageRank(arguments):
            return f"pagerank({_arguments(arguments)})" if arguments else "pagerank", ""


def _option(word: str, name: syntax.Name | None) -> str:
    return "" if name is None else f" {word} {_name(name)}"


def _arguments(arguments: tuple[syntax.Argument, ...]) -> str:
    return ", ".join(f"{_name(each.name)} = {_value(each.value)}" for each in arguments)


def _value(value: syntax.Value) -> str:
    match value:
        case syntax.Literal():
            return _literal(value)
        case syntax.Name():
            return _name(value)
        case syntax.ListValue(items):
            return f"[{', '.join(map(_value, items))}]"
        case syntax.TupleValue(items):
            return f"({', '.join(map(_value, items))})"


# ----------------------------------------------------------------------------------------------- expressions


def _expression(node: syntax.Expression, place: int) -> str:
    text, binding = _bound(node)
    return text if binding >= place else f"({text})"


def _bound(node: syntax.Expression) -> tuple[str, int]:
    """The text of an expression, and how tightly it holds together."""
    match node:
        case syntax.Literal():
            return _literal(node), _OPERAND
        case syntax.Property(name, end):
            return (_word(name) if end is None else f"{_name(end)}.{_word(name)}"), _OPERAND
        case syntax.Variable(name):
            return f"${name}", _OPERAND
        # Right before a number the minus would become a part of it, and before another minus start a comment.
        case syntax.Negative(syntax.Literal() as operand):
            return f"-({_literal(operand)})", _FACTOR
        case syntax.Negative(operand):
            return f"-{_expression(operand, _OPERAND)}", _FACTOR
        case syntax.Arithmetic(operator, left, right):
            level = _SUM if operator in {"+", "-"} else _PRODUCT
            return f"{_expression(left, level)} {operator} {_expression(right, level + 1)}", level
        case syntax.Not(syntax.IsNull(value)):
            return f"{_expression(value, _SUM)} is not null", _CONDITION
        case syntax.Not(operand):
            return f"not {_expression(operand, _CONDITION)}", _CONDITION
        case syntax.And(terms):
            return " and ".join(_expression(each, _CONDITION) for each in terms), _AND
        case syntax.Or(terms):
            return " or ".join(_expression(each, _AND) for each in terms), _OR
        case _:
            return _condition(node), _CONDITION


def _condition(node: syntax.Comparison | syntax.In | syntax.Between | syntax.Like | syntax.IsNull) -> str:
    match node:
        case syntax.Comparison(operator, left, right):
            return f"{_expression(left, _SUM)} {operator} {_expression(right, _SUM)}"
        case syntax.In(value, choices):
            return f"{_expression(value, _SUM)} in ({', '.join(_expression(each, _SUM) for each in choices)})"
        case syntax.Between(value, low, high):
            return f"{_expression(value, _SUM)} between {_expression(low, _SUM)} and {_expression(high, _SUM)}"
        case syntax.Like(value, pattern):
            return f"{_expression(value, _SUM)} like {_string(pattern)}"
        case syntax.IsNull(value):
            return f"{_expression(value, _SUM)} is null"


# ----------------------------------------------------------------------------------------------------- words


def _literal(literal: syntax.Literal) -> str:
    match literal.value:
        case bool(value):
            return "true" if value else "false"
        case str(value):
            return _string(value)
        case datetime() as value:
            return f"timestamp '{show_timestamp(value)}'"
        case date() as value:
            return f"date '{value.isoformat()}'"
        case value:
            return repr(value)


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(name: syntax.Name) -> str:
    return _word(name.text)


def _word(text: str) -> str:
    return text if _BARE.fullmatch(text) and text.lower() not in _RESERVED else _quoted(text)


def _view_name(name: syntax.Name) -> str:
    return name.text if _BARE_VIEW.fullmatch(name.text) else _quoted(name.text)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
