"""GVDL, the language of views: text to syntax (`parse`), syntax to predicates on a graph (`bind`), and back (`show`).

`grammar.lark` says how the language is written, `syntax` what it can say, `predicate` what a condition
means. Every mistake is a `StatementError` that points into the text.
"""

from graphtide.gvdl.bind import MOST_VIEWS, bind
from graphtide.gvdl.bound import BoundCollection, BoundDimension, BoundQuery, BoundView, Catalogue
from graphtide.gvdl.parse import is_complete, parse, parse_predicate
from graphtide.gvdl.show import show

__all__ = [
    "MOST_VIEWS",
    "BoundCollection",
    "BoundDimension",
    "BoundQuery",
    "BoundView",
    "Catalogue",
    "bind",
    "is_complete",
    "parse",
    "parse_predicate",
    "show",
]
