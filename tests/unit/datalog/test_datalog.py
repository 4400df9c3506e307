"""What programs can say, in the words of Soufflé and without declarations; facts as sets; files; plans."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pytest

import graphtide as gt

CLOSURE = "tc(X,Y) :- edge(X,Y). tc(X,Z) :- tc(X,Y), edge(Y,Z)."
SOUFFLE_POINTS_TO = """
// Andersen's analysis, as in Soufflé's tutorial
.type var <: symbol
.type obj <: symbol
.type field <: symbol
.decl assign( a:var, b:var )
.decl new( v:var, o:obj )
.decl ld( a:var, b:var, f:field )
.decl st( a:var, f:field, b:var )
assign("v1","v2").
new("v1","h1").
new("v2","h2").
new("v3","h3").
st("v1","f","v3").
ld("v4","v1","f").
.decl alias( a:var, b:var )
.output alias
alias(X,X) :- assign(X,_).
alias(X,X) :- assign(_,X).
alias(X,Y) :- assign(X,Y).
alias(X,Y) :- ld(X,A,F), alias(A,B), st(B,F,Y).
.decl pointsTo( a:var, o:obj )
.output pointsTo
pointsTo(X,Y) :- new(X,Y).
pointsTo(X,Y) :- alias(X,Z), pointsTo(Z,Y).
"""


def rows(program: str, relation: str, **facts: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    rules = gt.Datalog(program)
    for name, each in facts.items():
        rules.insert(name, each)
    rules.commit()
    return sorted(rules[relation].rows())


def test_a_program_of_souffle_runs_unchanged() -> None:
    rules = gt.Datalog(SOUFFLE_POINTS_TO)
    rules.commit()
    assert sorted(rules["pointsTo"].rows()) == [
        ("v1", "h1"), ("v1", "h2"), ("v2", "h2"), ("v3", "h3"), ("v4", "h3"),
    ]  # fmt: skip
    assert rules["alias"].schema.names == ("a", "b")


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("p(x + y * 2, x - y) :- e(x, y).", [(5, -1), (8, -1)]),
        ("p(x / y, x % y) :- e(x, y).", [(0, 1), (0, 2)]),
        ("p(-x / 2, -x % 2) :- e(x, _).", [(-1, 0), (0, -1)]),
        ("p(x, 10 / (x - 1)) :- e(x, _).", [(2, 10)]),
        ("p(min(x, 1, y), max(x, y)) :- e(x, y).", [(1, 2), (1, 3)]),
        ("p(x, strlen(cat(s, s))) :- e(x, _), s = to_string(x * 10).", [(1, 4), (2, 4)]),
        ('p(x, to_number(substr(s, 1, 2))) :- e(x, _), s = cat(to_string(x), "42").', [(1, 42), (2, 42)]),
        ("p(x, y) :- e(x, y), (x = 1 ; y = 3, x != 1).", [(1, 2), (2, 3)]),
        ("p(x, y), q(y) :- e(x, y). p(9, 9) :- q(3).", [(1, 2), (2, 3), (9, 9)]),
        ("p(x, n) :- e(x, _), n = count : { e(_, x) }.", [(1, 0), (2, 1)]),
        ("p(x, n) :- e(x, _), n = sum y * 2 : { e(x, y) }.", [(1, 4), (2, 6)]),
        ("p(x, n) :- e(x, _), n = max y : e(y, x).", [(2, 1)]),
        ("p(n, m) :- n = count : { e(_, _) }, m = min y : { e(_, y) ; e(y, _) }.", [(2, 1)]),
        ("p(x, n) :- e(x, _), n = sum y : { e(_, y), y > x + 1 }.", [(1, 3), (2, 0)]),
        ("p(x, n) :- e(x, _), n = sum x * y : e(_, y).", [(1, 5), (2, 10)]),
        ("p(x, n) :- e(x, _), n = max y : { e(y, _), y < x }.", [(2, 1)]),
        ("p(x, n) :- e(x, _), m = count : { e(_, _) }, n = count : { e(y, _), y < m, y <= x }.", [(1, 1), (2, 1)]),
        ("p(x, n) :- e(x, _), n = sum y : { e(_, y), m = count : { e(z, _), z < x }, y > m + 2 }.", [(1, 3), (2, 0)]),
        ("p(x, n) :- e(x, _), n = sum y : { e(_, y), y > x ; e(y, _) }.", [(1, 8), (2, 6)]),
        ("p(x, n) :- e(x, _), n = count : { !e(x, 2) }.", [(1, 0), (2, 1)]),
        ("r(1). r(x + 1) :- r(x), x < 4, e(y, _), 0 < count : { e(z, _), z < y }. p(x, x) :- r(x), x > 3.", [(4, 4)]),
        ("p(count<>, sum<y>) :- e(_, y).", [(2, 5)]),
        ("p(x, count<>) :- e(x, _), e(_, _).", [(1, 2), (2, 2)]),
        ("a() :- e(1, _). p(1, 1) :- a(), !b(). b() :- e(7, _).", [(1, 1)]),
        ("p(0x10, 0b11).", [(16, 3)]),
        ("p(x, x) :- x = 3.", [(3, 3)]),
        ("p(x, y) :- e(x, z), e(z, y), not e(x, y).", [(1, 3)]),
        ("p(X, X) :- e(X, Y), Y = X + 1, X >= 2.", [(2, 2)]),
    ],
)  # fmt: skip
def test_what_rules_can_say(program: str, expected: list[tuple[object, ...]]) -> None:
    assert rows(f"e(1, 2). e(2, 3). {program}", "p") == expected


def test_kinds_come_from_facts_declarations_and_constants() -> None:
    assert rows(CLOSURE, "tc", edge=[("a", "b"), ("b", "c")]) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert rows("p(x * 2) :- q(x).", "p", q=[(1.5,), (2,)]) == [(3.0,), (4.0,)]
    assert rows(".decl q(x:float)\n.decl p(x:float)\np(x + 1) :- q(x).", "p", q=[(1,)]) == [(2.0,)]
    assert rows("p(x / 2) :- q(x), x > 1.", "p", q=[(1.5,), (0.5,)]) == [(0.75,)]


def test_relations_are_sets_and_the_last_change_counts() -> None:
    rules = gt.Datalog("p(X) :- e(X).")
    followed = rules["p"]
    rules.insert("e", [(1,), (1,), (2,)])
    rules.insert("e", [(1,)])
    rules.commit()
    rules.insert("e", [(1,)])
    rules.delete("e", [(3,)])
    rules.commit()
    assert followed.changes().num_rows == 0
    rules.delete("e", [(1,)])
    rules.commit()
    assert followed.rows() == [(2,)]
    rules.delete("e", [(2,)])
    rules.insert("e", [(2,), (5,)])
    rules.delete("e", [(5,)])
    rules.commit()
    assert followed.rows() == [(2,)]
    rules.insert("e", [(7,)])
    rules.rollback()
    rules.commit()
    assert followed.rows() == [(2,)]


def test_facts_of_the_text_can_be_deleted_and_rules_stand_beside_them() -> None:
    rules = gt.Datalog("p(1). p(2). p(X + 10) :- q(X). q(1).")
    rules.commit()
    assert sorted(rules["p"].rows()) == [(1,), (2,), (11,)]
    rules.delete("p", [(1,), (11,)])
    rules.commit()
    assert sorted(rules["p"].rows()) == [(2,), (11,)]


def test_facts_come_from_every_kind_of_table() -> None:
    for table in (
        np.array([[1, 2], [2, 3]]),
        pa.table({"src": [1, 2], "dst": [2, 3]}),
        pa.table({"src": [1, 2], "dst": [2, 3]}).to_pandas(),
        {(1, 2), (2, 3)},
        ((a, a + 1) for a in (1, 2)),
    ):
        assert rows(CLOSURE, "tc", edge=table) == [(1, 2), (1, 3), (2, 3)]


def test_a_relation_is_followed_from_when_it_is_asked_for() -> None:
    rules = gt.Datalog(CLOSURE)
    rules.insert("edge", [(1, 2)])
    rules.commit()
    assert "tc" not in rules.planner.indexes
    assert rules["tc"].changes().to_pydict() == {"x1": [1], "x2": [2], "diff": [1]}
    rules.insert("edge", [(2, 3)])
    rules.commit()
    # A query runs the dataflow, and what the commit changed is still told.
    assert rules.query("tc(1, Y)").num_rows == 2
    assert sorted(zip(*rules["tc"].changes().to_pydict().values(), strict=True)) == [(1, 3, 1), (2, 3, 1)]
    assert (1, 3) in rules["tc"]
    assert (3, 1) not in rules["tc"]
    assert len(rules["tc"]) == 3


def test_queries_derive_only_what_they_can_use() -> None:
    rules = gt.Datalog(CLOSURE)
    rules.insert("edge", [(n, n + 1) for n in range(100)])
    rules.commit()
    assert rules.query("tc(97, Y)").num_rows == 3
    derived = {name: len(index) for name, index in rules.planner.indexes.items() if "^" in name}
    assert max(derived.values()) == 3
    assert rules.query("tc(95, Y)").num_rows == 5
    assert rules.query("tc(X, 2)").num_rows == 2
    rules.insert("edge", [(100, 101)])
    rules.commit()
    assert rules.query("tc(97, Y)").num_rows == 4
    rules.forget()
    assert not [name for name in rules.planner.indexes if "^" in name]
    assert rules.query("tc(97, Y)").num_rows == 4


def test_a_goal_may_have_equal_variables_wildcards_and_expressions() -> None:
    rules = gt.Datalog(CLOSURE)
    rules.insert("edge", [(1, 2), (2, 1), (2, 3)])
    rules.commit()
    assert rules.query("tc(X, X)").to_pydict() == {"x1": [1, 2], "x2": [1, 2]}
    assert rules.query("tc(1 + 1, _).").num_rows == 3
    assert rules.query("tc(3, 3)").num_rows == 0


def test_why_tells_the_rules_and_premises_of_every_step() -> None:
    rules = gt.Datalog("lonely(X) :- node(X), !edge(X, _).\nn(count<>) :- lonely(_).")
    rules.insert("node", [(1,), (2,), (3,)])
    rules.insert("edge", [(1, 2)])
    rules.commit()
    assert str(rules.why("n(2)")).splitlines() == [
        "1. node(2): a fact",
        "2. node(3): a fact",
        "3. lonely(2): from 1 and no edge(2, _), by lonely(X) :- node(X), !edge(X, _).",
        "4. lonely(3): from 2 and no edge(3, _), by lonely(X) :- node(X), !edge(X, _).",
        "5. n(2): from 3 and 4, by n(count<>) :- lonely(_).",
    ]
    assert str(rules.why("node(1)")) == "1. node(1): a fact"


def test_files_of_facts_are_read_and_written(tmp_path) -> None:
    (tmp_path / "edge.facts").write_text("a\tb\nb\tc\n")
    (tmp_path / "weights.csv").write_text("a,1.5\nb,2\n")
    program = """
        .decl edge(x:symbol, y:symbol)
        .decl weight(x:symbol, w:float)
        .decl two(x:symbol, y:symbol, w:float) output
        .input edge
        .input weight(filename="weights.csv", delimiter=",")
        two(x, z, w) :- edge(x, y), edge(y, z), weight(x, w).
    """
    rules = gt.Datalog(program, facts=tmp_path)
    rules.commit()
    assert rules["two"].rows() == [("a", "c", 1.5)]
    (file,) = rules.write(tmp_path / "out")
    assert file.read_text() == "a\tc\t1.5\n"


def test_files_of_facts_may_be_packed(tmp_path) -> None:
    (tmp_path / "edge.facts.gz").write_bytes(gzip.compress(b"1\t2\n2\t3\n"))
    with pa.output_stream(tmp_path / "mark.facts.zst", compression="zstd") as stream:
        stream.write(b"2\n")
    program = ".decl edge(x:number, y:number)\n.decl mark(x:number)\n.input edge, mark\n"
    rules = gt.Datalog(f"{program}.decl after(y:number)\nafter(y) :- mark(x), edge(x, y).", facts=tmp_path)
    rules.commit()
    assert rules["after"].rows() == [(3,)]


def test_what_brings_fewer_variables_is_joined_first_and_nothing_is_paired_without_need() -> None:
    text = """
        calls(I, T) :- site(B, I, N, D), at(B, H), type(H, C), method(C, N, D, T).
        lonely(X, Z) :- p(X), q(_), r(X, Y, Z), s(Y, 3).
    """
    shown = str(gt.Datalog(text).explain())
    assert "site(B, I, N, D), join at(B, H) by B, join type(H, C) by H, join method(C, N, D, T) by C, N, D" in shown
    assert "s(Y, 3), join r(X, Y, Z) by Y, join p(X) by X, join q(_) by nothing" in shown


def test_the_plan_shows_strata_joins_and_operators() -> None:
    text = str(gt.Datalog("sg(X,Y) :- up(X,A), sg(A,B), up(Y,B).\nsg(X,X) :- up(X,_).").explain())
    assert "stratum 1, a loop: sg" in text
    assert "sg(A, B), join up(X, A) by A, join up(Y, B) by B" in text
    assert "threshold 1" in text
    assert repr(gt.Datalog(CLOSURE)) == "<Datalog datalog: 2 rules, 2 relations>"


def test_what_no_fact_has_decided_is_open_until_the_first_commit() -> None:
    rules = gt.Datalog("p(X) :- e(X).")
    rules.insert("e", [])
    rules.insert("e", [("a",)])
    rules.commit()
    assert rules["p"].table().to_pydict() == {"x1": ["a"]}


def test_a_relation_without_columns_is_read_as_any_other(tmp_path) -> None:
    rules = gt.Datalog(".decl q(x:number)\n.decl p()\np() :- q(X), X > 3.\n.output p")
    followed = rules["p"]
    rules.insert("q", [(5,)])
    rules.commit()
    assert followed.table().num_rows == rules.query("p()").num_rows == len(followed) == 1
    assert followed.table().column_names == []
    assert followed.changes().to_pydict() == {"diff": [1]}
    assert followed.rows() == [()]
    assert () in followed
    assert "1 facts" in followed._repr_html_()
    (file,) = rules.write(tmp_path)
    assert file.read_text() == "()\n"
    (tmp_path / "p.facts").write_bytes(file.read_bytes())
    again = gt.Datalog(".decl p()\n.input p", facts=tmp_path)
    again.commit()
    assert again["p"].rows() == [()]
    rules.delete("q", [(5,)])
    rules.commit()
    assert followed.table().num_rows == rules.query("p()").num_rows == 0
    assert followed.changes().to_pydict() == {"diff": [-1]}
    assert rules.write(tmp_path)[0].read_text() == ""


def test_files_are_written_as_their_options_say(tmp_path) -> None:
    facts = '.decl p(a:symbol, n:number)\np("a\\"b", 1).\n.output p'
    for options, expected in (
        ("", 'a"b\t1\n'),
        ('(delimiter="::")', 'a"b::1\n'),
        ("(headers=true)", 'a\tn\na"b\t1\n'),
        ("(rfc4180=true)", '"a""b",1\n'),
        ('(rfc4180=true, delimiter=";", headers=true)', 'a;n\n"a""b";1\n'),
        ('(IO=file, filename="deep/er.csv")', 'a"b\t1\n'),
    ):
        rules = gt.Datalog(f"{facts}{options}")
        rules.commit()
        (file,) = rules.write(tmp_path)
        assert file.read_text() == expected, options
