"""What is no name, no text and no rows is told of as such, and leaves the database as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphtide as gt
from graphtide.errors import SchemaError, SqlError, UsageError

WRONG: dict[str, tuple[Callable[[Any], object], type[Exception], str]] = {
    "view": (lambda db: db.view(None), SqlError, "None is not a query"),
    "name of a view": (lambda db: db.view("select 1", name=5), UsageError, "5 is not a name"),
    "insert": (lambda db: db.insert(5, []), UsageError, "5 is not a name"),
    "drop": (lambda db: db.drop(5), UsageError, "5 is not a name"),
    "explain": (lambda db: db.explain(5), UsageError, "5 is not a name"),
    "table": (lambda db: db.table(5, a=int), UsageError, "5 is not a name"),
    "key": (lambda db: db.table("q", a=int, primary_key=5), UsageError, "5 is not a name"),
    "keys": (lambda db: db.table("q", a=int, primary_key=["a", 5]), UsageError, "5 is not a name"),
    "no file": (lambda db: db.table("q", "no such.parquet"), SchemaError, "it does not exist"),
    "other file": (lambda db: db.table("q", __file__), SchemaError, "cannot read the schema"),
    "digits": (lambda db: db.table("q", a="decimal(x)"), SchemaError, "decimal"),
    "more digits": (lambda db: db.table("q", a="decimal(1, 2, 3)"), SchemaError, "decimal"),
    "no rows": (lambda db: db.insert("m", None), SchemaError, "None is not rows"),
    "a number": (lambda db: db.insert("m", 5), SchemaError, "5 is not rows"),
    "a column": (lambda db: db.insert("m", {"a": [1], "c": 5}), SchemaError, 'column "c" is 5'),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_argument_is_refused(what) -> None:
    db = gt.Database()
    db.table("m", a=int, c="decimal(5, 2)")
    call, error, message = WRONG[what]
    with pytest.raises(error, match=message):
        call(db)
    assert (db.tables, db.views) == (["m"], [])
