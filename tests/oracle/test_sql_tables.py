"""Changes to a table by its primary key, against a dict: staged changes count, refused ones change nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphtide as gt
from graphtide.errors import SqlError

KEYS = st.tuples(st.integers(0, 2), st.sampled_from("ab"))
STEPS = st.one_of(
    st.tuples(st.just("insert"), st.dictionaries(KEYS, st.integers(0, 3), max_size=4)),
    st.tuples(st.just("update"), st.dictionaries(KEYS, st.integers(0, 3), max_size=3)),
    st.tuples(st.just("delete"), st.sets(KEYS, max_size=3)),
    st.tuples(st.sampled_from(["commit", "rollback"]), st.none()),
)


@given(st.lists(STEPS, max_size=12))
def test_a_table_is_a_dict(steps) -> None:
    db = gt.Database()
    db.table("t", x=int, y=str, n=int, primary_key=("x", "y"))
    view = db.view("select * from t")
    db.commit()
    held: dict = {}
    staged = dict(held)
    for step, what in steps:
        if step == "insert":
            # A key that is there already is refused by the commit, so none is brought twice here.
            new = {key: n for key, n in what.items() if key not in staged}
            db.insert("t", [(*key, n) for key, n in new.items()])
            staged |= new
        elif step == "update":
            if all(key in staged for key in what):
                db.update("t", [(*key, n) for key, n in what.items()])
                staged |= what
            else:
                with pytest.raises(SqlError, match="no row with the primary key"):
                    db.update("t", [(*key, n) for key, n in what.items()])
        elif step == "delete":
            if all(key in staged for key in what):
                db.delete("t", key=list(what))
                staged = {key: n for key, n in staged.items() if key not in what}
            else:
                with pytest.raises(SqlError, match="no row with the primary key"):
                    db.delete("t", key=list(what))
        elif step == "commit":
            db.commit()
            held = dict(staged)
        else:
            db.rollback()
            staged = dict(held)
        assert sorted(view.rows()) == sorted((*key, n) for key, n in held.items())


@given(st.lists(KEYS, min_size=1, max_size=5), st.lists(KEYS, min_size=1, max_size=5, unique=True))
def test_a_key_that_is_brought_twice_is_refused(brought, held) -> None:
    db = gt.Database()
    db.table("t", x=int, y=str, n=int, primary_key=("x", "y"))
    view = db.view("select * from t")
    db.insert("t", [(*key, 0) for key in held])
    db.commit()
    db.insert("t", [(*key, 1) for key in brought])
    if len(set(brought) | set(held)) == len(brought) + len(held):
        db.commit()
        assert len(view.rows()) == len(brought) + len(held)
        return
    with pytest.raises(SqlError, match="would hold the primary key"):
        db.commit()
    db.rollback()
    db.delete("t", [(*held[0], 5)])
    with pytest.raises(SqlError, match="would hold the row"):
        db.commit()
    db.rollback()
    assert sorted(view.rows()) == sorted((*key, 0) for key in held)
