"""What each construct of SQL may have beyond what it must have; anything else would be passed over, and is refused.

sqlglot's nodes keep every clause and option as an argument. Those that a node must have are read by whatever reads the
node; of the others, those that are read stand here.
"""

from __future__ import annotations

from typing import Final

from sqlglot import Expr as Syntax
from sqlglot import exp

from graphtide.errors import SqlError
from graphtide.sql.spelling import refuse

__all__ = ["check_understood"]

_SET_OPERATION: Final = "distinct order limit offset with_"
_OPTIONS: Final[dict[type[Syntax], str]] = {
    exp.Alias: "alias",
    exp.Anonymous: "expressions",
    exp.Case: "this default",
    exp.Coalesce: "expressions",
    exp.Column: "table",
    exp.Concat: "expressions coalesce safe",
    exp.Count: "this big_int",
    exp.CTE: "alias materialized",
    exp.DataType: "expressions",
    exp.DateDiff: "unit big_int date_part_boundary",
    exp.Distinct: "expressions on",
    exp.Div: "typed safe",
    exp.DPipe: "safe",
    exp.Except: _SET_OPERATION,
    exp.Greatest: "expressions",
    exp.Group: "expressions all rollup cube grouping_sets totals",
    exp.Identifier: "quoted",
    exp.If: "false",
    exp.ILike: "negate",
    exp.In: "expressions query",
    exp.Intersect: _SET_OPERATION,
    exp.Interval: "this unit",
    exp.Join: "kind method on side using",
    exp.Least: "expressions",
    exp.Like: "negate",
    exp.Limit: "this",
    exp.Offset: "this",
    exp.Order: "expressions",
    exp.Ordered: "desc nulls_first",
    exp.Replace: "replacement",
    exp.Round: "decimals",
    exp.Select: "expressions from_ joins where group having order limit offset distinct with_",
    exp.Star: "except_ replace rename",
    exp.Subquery: "alias joins order limit offset with_",
    exp.Substring: "start length",
    exp.Table: "this alias joins db",
    exp.TableAlias: "this columns",
    exp.Trim: "expression position",
    exp.Tuple: "expressions",
    exp.Union: _SET_OPERATION,
    exp.Values: "expressions alias",
    exp.With: "expressions recursive",
}
# What options are called where SQL does not call them by sqlglot's name.
_NAMES: Final = {
    "db": "a schema",
    "key_expressions": "USING KEY",
    "limit_options": "LIMIT with options",
    "locks": "FOR UPDATE",
    "match_condition": "MATCH_CONDITION",
    "pivots": "PIVOT",
    "sample": "SAMPLE",
}


def check_understood(tree: Syntax) -> None:
    """Refuse what a query says and nothing reads."""
    for node in tree.walk():
        known = _OPTIONS.get(type(node), "").split()
        for option, value in node.args.items():
            if value and option not in known and not node.arg_types.get(option):
                raise _refused(node, option)


def _refused(node: Syntax, option: str) -> SqlError:
    """The error of an option, or of the whole construct if the option has no name of its own."""
    if type(node) not in _OPTIONS or option in {"this", "expression", "expressions"}:
        return refuse(node)
    value = node.args[option]
    inner = value[0] if isinstance(value, list) else value
    name = _NAMES.get(option, option.strip("_").replace("_", " ").upper())
    text = (inner if isinstance(inner, Syntax) else node).sql(dialect="duckdb").strip()
    return SqlError(f"{name} is not supported{text and ': '}{text}", hint="rewrite the query without it")
