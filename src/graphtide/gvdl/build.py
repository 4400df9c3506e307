"""The syntax tree, made of what the grammar matched: one entry or method per rule of `grammar.lark`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from lark import Token, Tree
from lark.tree import Meta
from lark.visitors import Transformer_NonRecursive, v_args

from graphtide.errors import StatementError
from graphtide.graph.schema import PropertyType
from graphtide.gvdl import syntax
from graphtide.gvdl.moments import DATE_FORM, TIMESTAMP_FORM, read_date, read_timestamp
from graphtide.text import NOWHERE, Span, error_at

__all__ = ["build"]

_LEAST: Final = -(2**63)
_GREATEST: Final = 2**63 - 1
# Digits of the least int, and more zeros in front than anyone means; Python refuses to read thousands of digits.
_MOST_DIGITS: Final = 100
_SYNONYMS: Final = {"!=": "<>", "==": "="}


def build(tree: Tree[Token], text: str) -> Any:
    """The statements, or the expression, that a parse tree of a text stands for."""
    return _Builder(text).transform(tree)


def _load_graph(name: Any, nodes: Any, edges: Any, options: Any, span: Span) -> syntax.LoadGraph:
    return syntax.LoadGraph(name, nodes or (), edges, options or (), span=span)


def _create_collection(name: Any, base: Any, views: Any, order: Any, span: Span) -> syntax.CreateCollection:
    return syntax.CreateCollection(name, base, views, order=_word(order), span=span)


def _create_product(name: Any, base: Any, *parts: Any, span: Span) -> syntax.CreateCollection:
    *dimensions, order = parts
    return syntax.CreateCollection(name, base, None, tuple(dimensions), _word(order), span=span)


def _views(loop: Any, *definitions: Any, span: Span) -> syntax.Views:
    return syntax.Views(definitions, loop, span=span)


def _run(computation: Any, arguments: Any, on: Any, *settings: Any, span: Span) -> syntax.Run:
    strategy, order, save_to = settings
    folder = None if save_to is None else _unquoted(save_to)
    return syntax.Run(computation, arguments or (), on, _word(strategy), _word(order), folder, span=span)


def _shortest_path(name: Any, source: Any, target: Any, on: Any, weight: Any, *, span: Span) -> syntax.RegisterQuery:
    return syntax.RegisterQuery(name, syntax.ShortestPath(source, target, weight, span=span), on, span=span)


def _shortest_paths(name: Any, source: Any, on: Any, weight: Any, span: Span) -> syntax.RegisterQuery:
    return syntax.RegisterQuery(name, syntax.ShortestPaths(source, weight, span=span), on, span=span)


def _k_hop(name: Any, hops: Any, source: Any, on: Any, span: Span) -> syntax.RegisterQuery:
    return syntax.RegisterQuery(name, syntax.KHop(hops, source, span=span), on, span=span)


def _path(name: Any, pattern: Any, sources: Any, on: Any, label: Any, *, span: Span) -> syntax.RegisterQuery:
    return syntax.RegisterQuery(name, syntax.PathPattern(pattern, sources or (), label, span=span), on, span=span)


def _components(name: Any, on: Any, span: Span) -> syntax.RegisterQuery:
    return syntax.RegisterQuery(name, syntax.Components(span=span), on, span=span)


def _pagerank(name: Any, arguments: Any, on: Any, span: Span) -> syntax.RegisterQuery:
    return syntax.RegisterQuery(name, syntax.PageRank(arguments or (), span=span), on, span=span)


def _list(*items: Any, span: Span) -> syntax.ListValue:
    return syntax.ListValue(() if items == (None,) else items, span=span)


def _comparison(left: Any, operator: Token, right: Any, span: Span) -> syntax.Comparison:
    sign: Any = _SYNONYMS.get(operator, str(operator))
    return syntax.Comparison(sign, left, right, span=span)


def _arithmetic(left: Any, operator: Token, right: Any, span: Span) -> syntax.Arithmetic:
    sign: Any = str(operator)
    return syntax.Arithmetic(sign, left, right, span=span)


def _in(value: Any, *choices: Any, span: Span) -> syntax.In:
    return syntax.In(value, choices, span=span)


def _like(value: Any, pattern: Token, span: Span) -> syntax.Like:
    return syntax.Like(value, _unquoted(pattern), span=span)


def _negated(make: Callable[..., Any]) -> Callable[..., Any]:
    def negated(*parts: Any, span: Span) -> syntax.Not:
        return syntax.Not(make(*parts, span=span), span=span)

    return negated


def _gathered(make: Callable[..., Any]) -> Callable[..., Any]:
    def gathered(*parts: Any, span: Span) -> Any:
        return make(parts, span=span)

    return gathered


def _name(token: Token, span: Span) -> syntax.Name:
    return syntax.Name(_unquoted(token) if token.type == "QUOTED" else str(token), span=span)


def _edge_property(name: syntax.Name, span: Span) -> syntax.Property:
    return syntax.Property(name.text, span=span)


def _end_property(end: syntax.Name, name: syntax.Name, span: Span) -> syntax.Property:
    return syntax.Property(name.text, end, span=span)


def _variable(token: Token, span: Span) -> syntax.Variable:
    return syntax.Variable(token.strip("${}"), span=span)


def _string(token: Token, span: Span) -> syntax.Literal:
    return syntax.Literal(_unquoted(token), PropertyType.STRING, span=span)


def _truth(value: bool, span: Span) -> syntax.Literal:  # noqa: FBT001 - the value itself
    return syntax.Literal(value, PropertyType.BOOL, span=span)


# What a rule makes of its parts, in the order of the grammar. Rules that may find a mistake are methods below.
_RULES: Final[dict[str, Callable[..., Any]]] = {
    "program": lambda *statements, span: statements,  # noqa: ARG005 - called like the others
    "explain": syntax.Explain,
    "load_graph": _load_graph,
    "files": lambda *files, span: tuple(map(_unquoted, files)),  # noqa: ARG005
    "create_view": syntax.CreateView,
    "create_collection": _create_collection,
    "create_product": _create_product,
    "dimension": syntax.Dimension,
    "views": _views,
    "view": syntax.ViewDefinition,
    "loop": syntax.Loop,
    "run": _run,
    "register_shortest_path": _shortest_path,
    "register_shortest_paths": _shortest_paths,
    "register_k_hop": _k_hop,
    "register_path": _path,
    "register_components": _components,
    "register_pagerank": _pagerank,
    "vertices": lambda *vertices, span: vertices,  # noqa: ARG005
    "argument": syntax.Argument,
    "list_value": _list,
    "tuple_value": _gathered(syntax.TupleValue),
    "show_graphs": partial(syntax.Show, "graphs"),
    "show_views": partial(syntax.Show, "views"),
    "show_collections": partial(syntax.Show, "view collections"),
    "show_computations": partial(syntax.Show, "computations"),
    "show_queries": partial(syntax.Show, "queries"),
    "describe": syntax.Describe,
    "drop_graph": partial(syntax.Drop, "graph"),
    "drop_view": partial(syntax.Drop, "view"),
    "drop_collection": partial(syntax.Drop, "view collection"),
    "drop_query": partial(syntax.Drop, "query"),
    "any_of": _gathered(syntax.Or),
    "all_of": _gathered(syntax.And),
    "negation": syntax.Not,
    "comparison": _comparison,
    "is_in": _in,
    "is_not_in": _negated(_in),
    "is_between": syntax.Between,
    "is_not_between": _negated(syntax.Between),
    "is_like": _like,
    "is_not_like": _negated(_like),
    "is_null": syntax.IsNull,
    "is_not_null": _negated(syntax.IsNull),
    "arithmetic": _arithmetic,
    "negative": syntax.Negative,
    "edge_property": _edge_property,
    "end_property": _end_property,
    "variable": _variable,
    "string": _string,
    "true": partial(_truth, True),  # noqa: FBT003
    "false": partial(_truth, False),  # noqa: FBT003
    "name": _name,
    "view_name": _name,
}


class _Builder(Transformer_NonRecursive[Token, Any]):
    """Goes up the tree without recursion, so that no text is too deep for it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def __default__(self, data: str, children: list[Any], meta: Meta) -> Any:
        return _RULES[data](*children, span=_span(meta))

    @v_args(meta=True)
    def arguments(self, _meta: Meta, parts: list[syntax.Argument]) -> tuple[syntax.Argument, ...]:
        """Each name once."""
        seen: set[str] = set()
        for each in parts:
            if each.name.text in seen:
                raise self._error(each.name.span, f'"{each.name.text}" is given twice', "leave one of them out")
            seen.add(each.name.text)
        return tuple(parts)

    @v_args(meta=True)
    def step(self, meta: Meta, parts: list[Any]) -> syntax.Step:
        """A count that is not zero, and perhaps a unit."""
        minus, count, unit = parts
        number = self._int(f"{minus or ''}{count}", _span(meta))
        if number == 0:
            raise self._error(_span(meta), "a step of 0 leads nowhere", "step by 1 or more, or by -1 to count down")
        return syntax.Step(number, None if unit is None else _word(unit).removesuffix("s"), span=_span(meta))

    @v_args(meta=True)
    def integer(self, meta: Meta, parts: list[Token]) -> syntax.Literal:
        """An int of 64 bits."""
        return syntax.Literal(self._int(parts[0], _span(meta)), PropertyType.INT, span=_span(meta))

    @v_args(meta=True)
    def negative_integer(self, meta: Meta, parts: list[Token]) -> syntax.Literal:
        """An int of 64 bits."""
        return syntax.Literal(self._int(f"-{parts[0]}", _span(meta)), PropertyType.INT, span=_span(meta))

    @v_args(meta=True)
    def real(self, meta: Meta, parts: list[Token]) -> syntax.Literal:
        """A finite float."""
        return syntax.Literal(self._float(parts[0], _span(meta)), PropertyType.FLOAT, span=_span(meta))

    @v_args(meta=True)
    def negative_real(self, meta: Meta, parts: list[Token]) -> syntax.Literal:
        """A finite float."""
        return syntax.Literal(-self._float(parts[0], _span(meta)), PropertyType.FLOAT, span=_span(meta))

    @v_args(meta=True)
    def date(self, meta: Meta, parts: list[Token]) -> syntax.Literal:
        """A day of the calendar."""
        found = read_date(_unquoted(parts[0]))
        if found is None:
            raise self._error(_token_span(parts[0]), f"{parts[0]} is not a date", f"write it like date '{DATE_FORM}'")
        return syntax.Literal(found, PropertyType.DATE, span=_span(meta))

    @v_args(meta=True)
    def timestamp(self, meta: Meta, parts: list[Token]) -> syntax.Literal:
        """An instant."""
        found = read_timestamp(_unquoted(parts[0]))
        if found is None:
            hint = f"write it like timestamp '{TIMESTAMP_FORM}'"
            raise self._error(_token_span(parts[0]), f"{parts[0]} is not a timestamp", hint)
        return syntax.Literal(found, PropertyType.TIMESTAMP, span=_span(meta))

    def _int(self, digits: str, span: Span) -> int:
        if len(digits) <= _MOST_DIGITS and _LEAST <= int(digits) <= _GREATEST:
            return int(digits)
        hint = f"an int is at least {_LEAST} and at most {_GREATEST}"
        raise self._error(span, "this number does not fit into 64 bits", hint)

    def _float(self, digits: str, span: Span) -> float:
        if math.isinf(float(digits)):
            raise self._error(span, "this number is too large for a float", "floats end at about 1.8e308")
        return float(digits)

    def _error(self, span: Span, message: str, hint: str) -> StatementError:
        return error_at(self._text, span, message, hint)


def _span(meta: Meta) -> Span:
    return NOWHERE if meta.empty else Span(meta.start_pos, meta.end_pos)


def _token_span(token: Token) -> Span:
    start = token.start_pos
    assert start is not None, "every token comes from the text"
    return Span(start, start + len(token))


def _unquoted(token: Token) -> str:
    """What stands between quotes; a quote inside is written twice."""
    quote = token[0]
    return token[1:-1].replace(quote * 2, quote)


def _word(token: Token | None) -> Any:
    """A keyword in the one spelling that the syntax tree knows."""
    return None if token is None else token.lower()
