"""From text to a tree in which every name says which relation it belongs to.

sqlglot parses and qualifies. Its `unnest_subqueries` is not used: some subqueries it leaves as they are (those of
`count(*) + 1`, NOT IN, HAVING), others it turns into lists that are filtered, which are no joins. What is done in
its place is in `decorrelate` and `optimise`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlglot import Dialect, exp
from sqlglot import Expr as Syntax
from sqlglot.errors import OptimizeError, ParseError, SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.parsers.duckdb import DuckDBParser

from graphtide.errors import SqlError
from graphtide.rows import did_you_mean
from graphtide.sql.nesting import nest_joins
from graphtide.sql.spelling import DIALECT, spelled
from graphtide.sql.understood import check_understood
from graphtide.sql.using import merge_columns

__all__ = ["parsed"]


class _Parser(DuckDBParser):
    """DuckDB's parser as sqlglot has it, except that it takes no argument of a function only to forget it."""

    def validate_expression(self, expression: Any, args: list[Any] | None = None) -> Any:
        """The node of a function, which must hold as many values as it was given arguments."""
        held = [each for value in expression.args.values() for each in (value if isinstance(value, list) else [value])]
        kept = sum(isinstance(each, Syntax) for each in held)
        if args is not None and isinstance(expression, exp.Expr) and kept < len(args):
            self.raise_error(f"{type(expression).key.upper()} takes {kept} arguments, and here are {len(args)}")
        return super().validate_expression(expression, args)


def parsed(text: str, tables: Mapping[str, Mapping[str, str]]) -> Syntax:
    """The tree of a query over tables, which are given with their columns and the columns' types."""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SqlError(f"{text!r} is not a query", hint='pass its text, as in "select a from t"')
    try:
        dialect = Dialect.get_or_raise(DIALECT)
        found = _Parser(dialect=dialect).parse(dialect.tokenize(text), text)
        statements = [each for each in found if each is not None]
    except ParseError as error:
        raise _parse_error(error, text) from None
    except SqlglotError as error:
        raise SqlError(f"the query does not parse: {_first_line(error)}", hint="see the place that it names") from None
    if len(statements) != 1:
        raise SqlError(f"a view is one query, and here are {len(statements)}", hint="make a view of each")
    tree = statements[0]
    if not isinstance(tree, exp.Query):
        raise SqlError(f"{tree.key.upper()} is not a query", hint="write SELECT, or WITH ... SELECT")
    _check_tables(tree, tables)
    _check_counts(tree)
    check_understood(tree)
    _count_order(tree)
    nest_joins(tree)
    merge_columns(tree, tables)
    _keep_names(tree)
    try:
        return qualify(tree, schema=dict(tables), dialect=DIALECT, quote_identifiers=False, identify=False, sql=text)
    except OptimizeError as error:
        raise _name_error(error, tree, tables) from None
    except SqlglotError as error:
        raise SqlError(f"the query does not fit its tables: {_first_line(error)}", hint="check its names") from None


def _count_order(tree: Syntax) -> None:
    """Let ORDER BY count columns where it names them: qualifying may rename them, and forgets it there."""
    for query in tree.find_all(exp.Query):
        order = query.args.get("order")
        names = [name.lower() for name in query.named_selects] if order is not None else []
        for each in order.expressions if order is not None else ():
            inner = each.this
            if isinstance(inner, exp.Column) and not inner.table and names.count(inner.name.lower()) == 1:
                inner.replace(exp.Literal.number(names.index(inner.name.lower()) + 1))


def _keep_names(tree: Syntax) -> None:
    """Put a select around one whose columns are renamed and that is ordered by expressions over their names.

    Qualifying renames the columns of the select itself, and its ORDER BY would not know them any more.
    """
    for alias in list(tree.find_all(exp.TableAlias)):
        query = alias.parent.this if alias.columns and isinstance(alias.parent, exp.CTE | exp.Subquery) else None
        while isinstance(query, exp.Subquery) and not query.alias:
            query = query.this
        order = query.args.get("order") if isinstance(query, exp.Select) else None
        if query is None or order is None or len(set(query.named_selects)) < len(query.named_selects):
            continue
        if any(not isinstance(each.this, exp.Literal) for each in order.expressions):
            inner = exp.Subquery(this=query.copy(), alias=exp.TableAlias(this=exp.to_identifier("ordered")))
            query.replace(exp.select("*").from_(inner))


def _parse_error(error: ParseError, text: str) -> SqlError:
    first = error.errors[0] if error.errors else {}
    line, column = first.get("line"), first.get("col")
    if line is None or column is None:
        return SqlError(f"the query does not parse: {_first_line(error)}", hint="see the place that it names")
    shown = text.splitlines()[line - 1] if line <= len(text.splitlines()) else ""
    # sqlglot shows a token as the object that it is.
    told = re.sub(r" but got <Token.*", "", first.get("description") or "the query does not parse")
    message = f"line {line}, column {column}: {told}"
    return SqlError(f"{message}\n  {shown}", hint=f'it was read up to "{first.get("highlight", "")}"')


def _check_tables(tree: Syntax, tables: Mapping[str, object]) -> None:
    commons = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            raise SqlError(f"a function in FROM is not supported: {spelled(table)}", hint="put its rows into a table")
        name = table.name.lower()
        if name not in tables and name not in _commons_before(table):
            raise SqlError(f'there is no table or view "{table.name}"', hint=_known_instead(table, tables, commons))
    for part in tree.find_all(exp.With):
        names = [each.alias.lower() for each in part.expressions]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise SqlError(f'two common tables are named "{twice}"', hint="give each a name of its own")


def _commons_before(table: Syntax) -> set[str]:
    """The common tables that can be read where a table is named: those of the queries around, as far as written."""
    names: set[str] = set()
    below, node = table, table.parent
    while node is not None:
        if isinstance(node, exp.With):
            place = next(i for i, each in enumerate(node.expressions) if each is below)
            names |= {each.alias.lower() for each in node.expressions[: place + bool(node.args.get("recursive"))]}
            # The query that it belongs to would give all of them.
            node = node.parent
            assert node is not None
        elif node.args.get("with_") is not None:
            names |= {each.alias.lower() for each in node.args["with_"].expressions}
        below, node = node, node.parent
    return names


def _known_instead(table: Syntax, tables: Mapping[str, object], commons: set[str]) -> str:
    """What to do about a name that is unknown where it stands."""
    name = table.name.lower()
    if name not in commons:
        return did_you_mean(name, [*tables, *commons])
    around = table.find_ancestor(exp.CTE)
    while around is not None and around.alias.lower() != name:
        around = around.find_ancestor(exp.CTE)
    if around is not None:
        return "write WITH RECURSIVE for a common table that reads itself"
    return "a common table is read by those after it: put it first"


def _check_counts(tree: Syntax) -> None:
    """Refuse the column 0, which sqlglot would take for the last one, or for a constant."""
    for part in tree.find_all(exp.Group, exp.Order):
        for each in part.expressions:
            inner = (each.this if isinstance(each, exp.Ordered) else each).unnest()
            if isinstance(inner, exp.Literal) and inner.is_int and int(inner.name) == 0:
                raise _no_column(inner.name)


def _no_column(number: str) -> SqlError:
    return SqlError(f"the answer has no column {number}", hint="columns are counted from 1, as selected")


def _name_error(error: OptimizeError, tree: Syntax, tables: Mapping[str, Mapping[str, str]]) -> SqlError:
    message = _first_line(error)
    number = re.search(r"[Uu]nknown output column: (\d+)", message)
    if number is not None:
        return _no_column(number[1])
    found = re.search(r"[Uu]nknown column: ([\w.]+)|[Cc]olumn '?\"?([\w.]+)\"?'? could not be resolved", message)
    if found is None:
        return SqlError(f"the query does not fit its tables: {message}", hint="check its names")
    relation = re.search(r"for table: '?\"?(\w+)", message)
    if relation is not None:
        aliases = [each.alias_or_name for each in tree.find_all(exp.Table, exp.Subquery) if each.alias_or_name]
        if relation[1] in aliases:
            return SqlError(
                f'"{relation[1]}" cannot be named there: a subquery in FROM sees no relation beside it',
                hint="LATERAL is not supported: select the value itself, or join by a condition",
            )
        return SqlError(f'there is no relation "{relation[1]}" here', hint=did_you_mean(relation[1], aliases))
    name = found[1] or found[2]
    short = name.rpartition(".")[2].lower()
    known = _columns_named(tree, tables)
    if short in known:
        return SqlError(
            f'column "{name}" is in several relations, or in none of those that can be named there',
            hint=f"write which one is meant, as in t.{short}",
        )
    return SqlError(f'column "{name}" does not exist', hint=did_you_mean(short, known))


def _columns_named(tree: Syntax, tables: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The columns of the tables that a query names, and of its own subqueries, each once."""
    of_tables = [column for each in tree.find_all(exp.Table) for column in tables.get(each.name.lower(), ())]
    of_aliases = [each.name.lower() for alias in tree.find_all(exp.TableAlias) for each in alias.columns]
    aliased = [each for query in tree.find_all(exp.Query) for each in query.selects if isinstance(each, exp.Alias)]
    selected = [each.alias.lower() for each in aliased if each.this.name.lower() != each.alias.lower()]
    return list(dict.fromkeys([*of_tables, *of_aliases, *selected]))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")
