"""A database: tables that change, and views in SQL that stay answered."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.dataflow.flow import Dataflow
from graphtide.dataflow.memory import Memory
from graphtide.errors import CatalogueError, ExpressionError, SchemaError, SqlError, UsageError
from graphtide.rows import Dictionary, did_you_mean
from graphtide.sql.bind import Binder
from graphtide.sql.compile import compiled
from graphtide.sql.explain import explained
from graphtide.sql.optimise import optimised
from graphtide.sql.parse import parsed
from graphtide.sql.plan import Scan, walk
from graphtide.sql.scope import Names
from graphtide.sql.table import Table
from graphtide.sql.types import SqlType, declared
from graphtide.sql.view import View
from graphtide.sql.workshop import Workshop, unique

__all__ = ["Database"]


@contextmanager
def _of_bounded_depth() -> Generator[None]:
    """Let a query that Python's stack does not hold be refused as any other one."""
    try:
        yield
    except RecursionError:
        raise _too_deep() from None


class Database:
    """Tables and views on one dataflow. Names are the same in capitals and small letters.

    >>> db = Database()
    >>> db.table("orders", id=int, customer=str, total=float)
    >>> top = db.view("select customer, sum(total) as spent from orders group by customer order by spent desc")
    >>> db.insert("orders", [(1, "ann", 10.0), (2, "bob", 7.5), (3, "ann", 2.5)])
    >>> db.commit()
    0
    >>> top.rows()
    [('ann', 12.5), ('bob', 7.5)]
    """

    def __init__(self, name: str = "database", *, dictionary: Dictionary | None = None) -> None:
        self.flow = Dataflow(name, dictionary=dictionary)
        self._tables: dict[str, Table] = {}
        self._views: dict[str, View] = {}
        self._shop = Workshop(self.flow)

    def table(self, name: str, schema: Any = None, /, *, primary_key: str | Iterable[str] = (), **columns: Any) -> None:
        """Declare a table: columns by name, as Python types, Arrow types or types of SQL in strings.

        In place of columns, `schema` may be an Arrow schema, a table that has one, or the path of a Parquet file.
        """
        if isinstance(schema, str | Path):
            schema = _schema_of_file(schema)
        if schema is not None:
            found = getattr(schema, "schema", schema)
            if not isinstance(found, pa.Schema):
                raise SchemaError(
                    f"{schema!r} is not a schema", hint="pass an Arrow schema or table, or a Parquet file"
                )
            columns = {**{each.name: each for each in found}, **columns}
        if not columns:
            raise SchemaError(f'table "{name}" has no columns', hint="declare them, as in id=int")
        key = self._new_name(name)
        given = {each.lower(): declared(found, each) for each, found in columns.items()}
        if len(given) < len(columns):
            raise SchemaError(f'two columns of "{name}" differ in capitals alone', hint="rename one of them")
        self._tables[key] = Table(self.flow, key, given, _key_columns(primary_key))

    def insert(self, table: str, rows: Any) -> None:
        """Add rows: a list of tuples or dicts, or an Arrow, pandas or Polars table."""
        self._table(table).insert(rows)

    def delete(self, table: str, rows: Any = None, *, key: Any = None) -> None:
        """Take rows away, each as often as it is given; or the rows with the given primary keys."""
        if (rows is None) == (key is None):
            raise SqlError(
                "delete takes rows or keys", hint='write delete("orders", rows) or delete("orders", key=...)'
            )
        if key is None:
            self._table(table).delete(rows)
        else:
            self._table(table).delete_keys(key)

    def update(self, table: str, rows: Any) -> None:
        """Put rows in place of those with the same primary key."""
        self._table(table).update(rows)

    @_of_bounded_depth()
    def view(self, text: str, *, name: str | None = None) -> View:
        """A query that stays answered, from the next commit on; other views may read it by its name."""
        key = self._new_name(self._unused_name() if name is None else name)
        binder = Binder(self)
        bound = binder.query(parsed(text, self._catalogue()))
        if not bound.outputs:
            raise SqlError("the query selects no columns", hint="name one behind SELECT, or write *")
        for each in bound.outputs:
            if each.type.kind is None:
                raise SqlError(f'the type of column "{each.name}" is unknown', hint="write cast(NULL as BIGINT)")
        plan = optimised(bound.plan)
        columns = [each.column for each in bound.outputs]
        hidden = list(dict.fromkeys(each.column for each in bound.order if each.column not in columns))
        with _hints_of_sql():
            made = compiled(plan, [*columns, *hidden], self._shop)
        told = unique([*(each.name for each in bound.outputs), *(f"order {i}" for i in range(len(hidden)))])
        # The same operators may serve two views: each has columns of its own.
        named = made.select(**dict(zip(told, made.schema, strict=True)))
        names = dict(zip([*columns, *hidden], told, strict=True))
        order = [replace(each, column=names[each.column]) for each in bound.order]
        reads = frozenset(each.name for each in walk(plan) if isinstance(each, Scan))
        types = [each.type for each in bound.outputs]
        output = named.output(f"view {key}")
        self._views[key] = View(
            name=key,
            text=text,
            plan=plan,
            collection=named,
            output=output,
            columns=tuple(told[: len(types)]),
            types=tuple(types),
            reads=reads,
            order=tuple(order),
        )
        return self._views[key]

    def commit(self) -> int:
        """Bring all views up to date with what was inserted, deleted and updated; the epoch that it makes.

        If anything is wrong nothing changes, and the changes are still staged.
        """
        for table in self._tables.values():
            table.check()
        with _hints_of_sql():
            epoch = self.flow.commit()
        for table in self._tables.values():
            table.settle()
        return epoch

    def rollback(self) -> None:
        """Forget what is staged but not committed."""
        for table in self._tables.values():
            table.discard()

    def explain(self, view: View | str) -> str:
        """The plan of a view: what is joined with what, by which keys, and where conditions are."""
        return explained(self._view(view).plan)

    def drop(self, what: View | str) -> None:
        """Remove a view, or a table by its name, that nothing reads."""
        key = what.name if isinstance(what, View) else _lowered(what)
        readers = [view.name for view in self._views.values() if key in view.reads]
        if readers:
            raise CatalogueError(f'"{key}" is read by {", ".join(map(repr, readers))}', hint="drop those first")
        if key in self._tables:
            self._tables.pop(key).close()
            return
        self._view(key).output.close()
        del self._views[key]
        self._shop.forget()

    def memory(self) -> Memory:
        """What is kept, by operator, to the byte."""
        return self.flow.memory()

    @property
    def tables(self) -> list[str]:
        """The names of the tables."""
        return list(self._tables)

    @property
    def views(self) -> list[str]:
        """The names of the views."""
        return list(self._views)

    def scan(self, name: str, names: Names) -> tuple[Scan, tuple[SqlType, ...]]:
        """A table or view under fresh names, and its columns' types: what binding asks for."""
        table = self._tables.get(name)
        if table is not None:
            columns = {names.fresh(each): each for each in table.schema}
            return Scan(name, table.collection, columns, table.rows, frozenset(table.primary_key)), table.types
        view = self._views[name]
        return Scan(name, view.collection, {names.fresh(each): each for each in view.columns}, 0), view.types

    # -- inside

    def _catalogue(self) -> dict[str, dict[str, str]]:
        tables = {n: dict(zip(t.schema, map(str, t.types), strict=True)) for n, t in self._tables.items()}
        return tables | {n: dict(zip(v.columns, map(str, v.types), strict=True)) for n, v in self._views.items()}

    def _new_name(self, name: str) -> str:
        key = _lowered(name)
        if key in self._tables or key in self._views:
            raise CatalogueError(f'there already is a table or view "{name}"', hint="give this one another name")
        return key

    def _unused_name(self) -> str:
        numbered = (f"view{number}" for number in count(1))
        return next(each for each in numbered if each not in self._views and each not in self._tables)

    def _table(self, name: str) -> Table:
        found = self._tables.get(_lowered(name))
        if found is None:
            raise CatalogueError(f'there is no table "{name}"', hint=did_you_mean(name, self._tables))
        return found

    def _view(self, view: View | str) -> View:
        key = view.name if isinstance(view, View) else _lowered(view)
        found = self._views.get(key)
        if found is None:
            raise CatalogueError(f'there is no view "{key}"', hint=did_you_mean(key, self._views))
        return found

    def __repr__(self) -> str:
        return f"<Database of {len(self._tables)} tables and {len(self._views)} views>"


@contextmanager
def _hints_of_sql() -> Generator[None]:
    """Let values that cannot be computed come with what can be done about them in SQL."""
    try:
        yield
    except ExpressionError as error:
        if isinstance(error.__context__, RecursionError):
            raise _too_deep() from None
        hint = "keep such rows out with WHERE, choose another value with CASE, or compute in DOUBLE"
        raise ExpressionError(error.message, hint=hint) from error


def _too_deep() -> SqlError:
    hint = "write IN for a long chain of OR, put values into a table, or make a view of a part"
    return SqlError("the query is nested too deeply", hint=hint)


def _lowered(name: object) -> str:
    """The name of a table or view as it is kept."""
    if not isinstance(name, str):
        raise UsageError(f"{name!r} is not a name", hint="tables, views and columns are named by strings")
    return name.lower()


def _key_columns(given: object) -> tuple[str, ...]:
    """The columns of a primary key, which may be one."""
    several = given if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    return tuple(map(_lowered, several))


def _schema_of_file(path: str | Path) -> pa.Schema:
    try:
        return pq.read_schema(path)
    except (OSError, pa.ArrowInvalid) as error:
        reason = "it does not exist" if isinstance(error, FileNotFoundError) else str(error).partition("\n")[0]
        raise SchemaError(f'cannot read the schema of "{path}": {reason}', hint="name a Parquet file") from None
