"""GVDL, the language of views: text to syntax (`parse`), syntax to predicates on a graph (`bind`), and back (`show`).

`grammar.lark` says how the language is written, `syntax` what it can say, `graphtide.views.predicate` what a
condition means. Every mistake is a `StatementError` that points into the text (`source`).
"""

from graphtide.views.gvdl.bind import MOST_VIEWS, bind
from graphtide.views.gvdl.bound import BoundCollection, BoundDimension, BoundQuery, BoundView, Catalogue
from graphtide.views.gvdl.parse import is_complete, parse, parse_predicate
from graphtide.views.gvdl.questions import bind_query
from graphtide.views.gvdl.show import show

__all__ = [
    "MOST_VIEWS",
    "BoundCollection",
    "BoundDimension",
    "BoundQuery",
    "BoundView",
    "Catalogue",
    "bind",
    "bind_query",
    "is_complete",
    "parse",
    "parse_predicate",
    "show",
]
