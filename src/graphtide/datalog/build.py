"""The syntax tree, made of what the grammar matched: one method per rule of `grammar.lark`."""

from __future__ import annotations

import re
from itertools import count
from typing import Any, Final

from lark import Token, Tree
from lark.tree import Meta
from lark.visitors import Transformer, v_args

from graphtide.datalog import syntax
from graphtide.text import Span, error_at

__all__ = ["AGGREGATES", "build"]

AGGREGATES: Final = ("count", "sum", "min", "max")
_GREATEST: Final = 2**63 - 1
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r"}


def build(tree: Tree[Token], text: str) -> Any:
    """The statements, or the atom, that a parse tree of a text stands for."""
    return _Builder(text).transform(tree)


def _unquoted(quoted: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), quoted[1:-1])


def _span(meta: Meta) -> Span:
    return Span(meta.start_pos, meta.end_pos)


@v_args(meta=True, inline=True)
class _Builder(Transformer[Token, Any]):
    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._numbers = count(1)

    # -- words

    def name(self, _meta: Meta, name: Token) -> Token:
        return name

    def type_name(self, meta: Meta, name: Token) -> tuple[str, Span]:
        return str(name), _span(meta)

    qualifier = option_name = name

    # -- terms

    def variable(self, meta: Meta, name: Token) -> syntax.Variable:
        return syntax.Variable(str(name), _span(meta))

    def wildcard(self, meta: Meta, _sign: Token) -> syntax.Variable:
        return syntax.Variable(f"#{next(self._numbers)}", _span(meta))

    def integer(self, meta: Meta, digits: Token) -> syntax.Constant:
        value = int(digits, 0) if digits[:2] in {"0x", "0b"} else int(digits)
        if value > _GREATEST:
            raise error_at(self._text, _span(meta), f"{digits} does not fit into 64 bits", f"at most {_GREATEST}")
        return syntax.Constant(value, _span(meta))

    def real(self, meta: Meta, digits: Token) -> syntax.Constant:
        return syntax.Constant(float(digits), _span(meta))

    def string(self, meta: Meta, quoted: Token) -> syntax.Constant:
        return syntax.Constant(_unquoted(quoted), _span(meta))

    def negative(self, meta: Meta, _sign: Token, term: syntax.Term) -> syntax.Term:
        if isinstance(term, syntax.Constant) and not isinstance(term.value, str):
            return syntax.Constant(-term.value, _span(meta))
        return syntax.Arithmetic("-", syntax.Constant(0, _span(meta)), term, _span(meta))

    def arithmetic(self, meta: Meta, left: syntax.Term, sign: Token, right: syntax.Term) -> syntax.Arithmetic:
        return syntax.Arithmetic(str(sign), left, right, _span(meta))

    def arguments(self, _meta: Meta, *terms: syntax.Term) -> tuple[syntax.Term, ...]:
        return terms

    def call(self, meta: Meta, name: Token, terms: tuple[syntax.Term, ...]) -> syntax.Call:
        return syntax.Call(str(name), terms, _span(meta))

    # -- literals

    def atom(self, meta: Meta, name: Token, terms: tuple[syntax.Term, ...] | None) -> syntax.Atom:
        return syntax.Atom(str(name), terms or (), _span(meta))

    def negation(self, _meta: Meta, atom: syntax.Atom) -> syntax.Negation:
        return syntax.Negation(atom)

    def comparator(self, _meta: Meta, sign: Token) -> str:
        return str(sign)

    def comparison(self, meta: Meta, left: Any, operator: str, right: Any) -> syntax.Comparison:
        return syntax.Comparison(operator, left, right, _span(meta))

    def aggregate(self, meta: Meta, kind: Token, term: syntax.Term | None, body: Any) -> syntax.Count:
        inside = body if isinstance(body, syntax.Disjunction) else syntax.Disjunction(((body,),))
        if (term is None) != (kind == "count"):
            hint = "write count : { ... }" if kind == "count" else f"write {kind} x : {{ ... }}"
            what = "counts solutions, and takes no term" if kind == "count" else "needs a term"
            raise error_at(self._text, _span(meta), f'"{kind}" {what}', hint)
        return syntax.Count(str(kind), term, inside, _span(meta))

    def conjunction(self, _meta: Meta, *literals: syntax.Literal) -> tuple[syntax.Literal, ...]:
        return literals

    def body(self, _meta: Meta, *choices: tuple[syntax.Literal, ...]) -> syntax.Disjunction:
        return syntax.Disjunction(choices)

    # -- clauses

    def head_aggregate(self, meta: Meta, kind: Token, term: syntax.Term | None) -> syntax.Aggregate:
        if kind not in AGGREGATES:
            place = Span(meta.start_pos, meta.start_pos + len(kind))
            hint = f"the aggregates are {', '.join(AGGREGATES)}"
            raise error_at(self._text, place, f'there is no aggregate "{kind}"', hint)
        if term is None and kind != "count":
            raise error_at(self._text, _span(meta), f'"{kind}" needs a term', f"write {kind}<X>")
        return syntax.Aggregate(str(kind), () if term is None else (term,), _span(meta))

    def head(self, meta: Meta, name: Token, *terms: Any) -> syntax.Head:
        return syntax.Head(str(name), tuple(term for term in terms if term is not None), _span(meta))

    def clause(self, meta: Meta, *parts: Any) -> syntax.Clause:
        *heads, body = parts
        return syntax.Clause(tuple(heads), body, _span(meta))

    def goal(self, _meta: Meta, atom: syntax.Atom) -> syntax.Atom:
        return atom

    # -- directives

    def attribute(self, _meta: Meta, name: Token, type_name: tuple[str, Span]) -> tuple[str, str, Span]:
        return str(name), *type_name

    def attributes(self, _meta: Meta, *columns: tuple[str, str, Span]) -> tuple[tuple[str, str, Span], ...]:
        return columns

    def declaration(self, meta: Meta, name: Token, columns: Any, *qualifiers: Token) -> syntax.Declaration:
        return syntax.Declaration(str(name), columns or (), tuple(map(str, qualifiers)), _span(meta))

    def subtype(self, meta: Meta, name: Token, *bases: tuple[str, Span]) -> syntax.TypeDeclaration:
        return syntax.TypeDeclaration(str(name), bases, _span(meta))

    def number_type(self, meta: Meta, name: Token) -> syntax.TypeDeclaration:
        return syntax.TypeDeclaration(str(name), (("number", _span(meta)),), _span(meta))

    def symbol_type(self, meta: Meta, name: Token) -> syntax.TypeDeclaration:
        return syntax.TypeDeclaration(str(name), (("symbol", _span(meta)),), _span(meta))

    def option(self, meta: Meta, name: Token, value: Token) -> syntax.Option:
        return syntax.Option(str(name), _unquoted(value) if value.type == "STRING" else str(value), _span(meta))

    def access(self, meta: Meta, name: Token, *options: Any) -> syntax.Access:
        return syntax.Access(False, str(name), tuple(each for each in options if each is not None), _span(meta))  # noqa: FBT003

    def reading(self, _meta: Meta, *each: syntax.Access) -> tuple[syntax.Access, ...]:
        return tuple(syntax.Access(True, a.relation, a.options, a.span) for a in each)  # noqa: FBT003

    def writing(self, _meta: Meta, *each: syntax.Access) -> tuple[syntax.Access, ...]:
        return each

    def program(self, _meta: Meta, *statements: Any) -> tuple[syntax.Statement, ...]:
        flat: list[syntax.Statement] = []
        for each in statements:
            flat.extend(each if isinstance(each, tuple) else (each,))
        return tuple(flat)
