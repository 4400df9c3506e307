"""Mistakes in programs and queries: where they are, what they are, what to do."""

from __future__ import annotations

import re

import pytest

import graphtide as gt
from graphtide.datalog.parse import parse
from graphtide.errors import LoadError, NotConvergedError, SchemaError, StatementError, UsageError

PROGRAMS = [
    ("p(X, Y) :- q(X).", 1, 6, 'nothing gives the variable "Y" in the head a value', 'an atom of the body have "Y"'),
    ("p(a) :- q(X).", 1, 3, 'the variable "a" in the head', 'write the symbol "a" in double quotes'),
    ("p(X) :- q(X), X < Y.", 1, 19, 'the variable "Y" in a comparison', "let an atom"),
    ("p(X) :- q(X), !r(X, Y).", 1, 21, 'the variable "Y" in a negation', "let an atom"),
    ("p(_) :- q(X).", 1, 3, '"_" in the head has no value', "give it a name"),
    ("p(x).", 1, 3, 'the variable "x" stands in a fact', "double quotes"),
    ("p(1 / 0).", 1, 3, "1 / 0 has no value", "divisor"),
    ("p(X) :- q(X), !r(X).\nr(X) :- p(X).", 1, 16, "p <- !r <- p", "what is negated must be known before"),
    ("p(X) :- q(X), !p(X).", 1, 16, "p <- !p", "must be known before"),
    ("c(X, count<Y>) :- e(X, Y), c(Y, _).", 1, 1, '"c" aggregates by count what stands on itself', "only min and max"),
    ("d(Y, min<W-C>) :- d(X,C), e(X,Y,W).", 1, 10, "W - C does not rise with it", "outside of the recursion"),
    ("d(Y, min<C>) :- d(X,C), e(X,Y), C > 3.", 1, 33, "may only be bounded from above", "outside"),
    ("d(Y, max<C>) :- d(X,C), e(X,Y), C < 3.", 1, 33, "may only be bounded from below", "outside"),
    ("d(Y, min<C>) :- d(X,C), e(X,Y), f(C).", 1, 35, "may not be joined", "outside"),
    ("d(Y, min<C>) :- d(X,C), b(X,Y).\nb(C,Y) :- d(Y,C).", 2, 3, "it may only go into a min", "outside"),
    ("d(Y, min<C>) :- d(X,C), d(Y,C).", 1, 29, "may not be joined", "outside"),
    ("d(Y, min<C>) :- d(X,3), e(Y,C).", 1, 21, "may not be compared with a constant", "outside"),
    ("p(X) :- q(X), q(X, 1).", 1, 15, '"q" has 2 arguments here, and 1 in line 1', "one number of columns"),
    ('p(X) :- q(X, "a"), q(_, 3).', 1, 25, 'makes this a number or float, but the value "a"', "never meet"),
    ('p(X) :- q(X), r(X).\nq(1).\nr(2.5).\np("a").', 2, 1, "", ""),
    (".decl q(x:number)\np(X) :- q(X).", 2, 1, 'relation "p" is not declared', 'the relations are "q"'),
    (".decl edge(x:number)\n.decl p(x:number)\np(X) :- egde(X).", 3, 9, 'relation "egde"', 'did you mean "edge"?'),
    (".decl q(x:numbr)", 1, 11, 'there is no type "numbr"', 'did you mean "number"?'),
    (".decl q(x:number, x:number)", 1, 21, 'column "x" stands twice', "another name"),
    (".decl q(x:number)\n.decl q(x:number)", 2, 1, "is declared twice", "leave one"),
    (".input q", 1, 8, 'there is no relation "q"', "there are no relations"),
    ("p(X) :- q(X), X = strln(X).", 1, 19, 'there is no function "strln"', 'did you mean "strlen"?'),
    ("p(X) :- q(X), X = strlen(X, X).", 1, 19, '"strlen" takes 1 arguments, not 2', ""),
    ("p(avg<X>) :- q(X).", 1, 3, 'there is no aggregate "avg"', "count, sum, min, max"),
    ("p(min<>) :- q(X).", 1, 3, '"min" needs a term', "write min<X>"),
    ("p(count<>) :- q(X).\np(3).", 2, 1, '"p" is a count of solutions', "into the relation that is aggregated"),
    ("p(X, count<>) :- q(X).\np(X, sum<X>) :- q(X).", 2, 1, "have different aggregates", ""),
    ("p(X) :- q(X)\nr(X) :- p(X).", 2, 1, 'found "r"', "end the clause before it with a dot"),
    ("p(X) :- q(X)", 1, 13, "found the end of the text", "end the clause with a dot"),
    ("p(X) :- q(X), X == 3.", 1, 18, 'found "="', "write ="),
    ("p('a').", 1, 3, 'found "\'"', "double quotes"),
    ('p("a).', 1, 3, "this string is not closed", "double quote"),
    (".delc p(x:number)", 1, 1, 'found "."', "did you mean .decl?"),
    (".type a <:\n.decl p(x:a)", 2, 1, 'expected a name, found ".decl"', ""),
    ("% tc\np(1).", 1, 1, 'found "%"', "comments begin with //"),
    ("/* p(1).", 1, 1, "this comment is not closed", "close it with */"),
    ("p(99999999999999999999).", 1, 3, "does not fit into 64 bits", "at most"),
    (".decl p(x:number)\n.input p(IO=sqlite)", 2, 10, 'IO="sqlite" is not supported', "leave IO out"),
    (".decl p(x:number)\n.output p(IO=stdout)", 2, 11, 'IO="stdout" is not supported', 'rules["p"]'),
    (".decl p(x:number)\n.input p(IO=file, column=1)", 2, 19, 'the option "column" of a file', 'the options are "IO"'),
    ('.decl p(x:number)\n.input p(delimiter="")', 2, 10, "the delimiter is empty", "leave it out"),
    ('.decl p(x:number)\n.input p(delimiter="\\n")', 2, 10, "has a line break", "another character"),
    ('.decl p(x:number)\n.input p(rfc4180=true, delimiter="::")', 2, 24, 'cannot be "::"', "take a comma"),
    (".decl p(x:number)\n.input p(headers=yes)", 2, 10, '"headers" is "yes"', "true or false"),
    ("s(S) :- S = sum Y : { q(Y), Y < W }.", 1, 33, 'the variable "W" in a comparison', "let an atom"),
    ("s(X, S) :- p(X), S = sum Y * W : q(Y).", 1, 30, 'the variable "W" in a comparison', "let an atom"),
    ("n(X + 1) :- n(X), X < count : { q(Z), Z < X }.", 1, 23, "this count stands on itself", "must be known before"),
    ("n(X) :- q(X), X < sum Y : { n(Y) }.", 1, 19, "this sum stands on itself", "must be known before"),
    ("p(X, s) :- q(X), s = sum : { r(X, _) }.", 1, 22, '"sum" needs a term', "sum x :"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "message", "hint"), PROGRAMS, ids=[each[0] for each in PROGRAMS])
def test_a_mistake_in_a_program_is_shown_where_it_is(
    text: str, line: int, column: int, message: str, hint: str
) -> None:
    with pytest.raises(StatementError) as caught:
        gt.Datalog(text)
    if message:
        assert caught.value.message.startswith(f"line {line}, column {column}: ")
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")
    assert "^" in caught.value.message


def test_an_error_shows_the_line_and_a_caret_under_the_place() -> None:
    with pytest.raises(StatementError) as caught:
        gt.Datalog("// all pairs\ntc(X, Y) :- edge(X, Y).\ntc(X, W) :- tc(X, Y), edge(Y, Z).")
    assert str(caught.value) == (
        'line 3, column 7: nothing gives the variable "W" in the head a value\n'
        "  tc(X, W) :- tc(X, Y), edge(Y, Z).\n"
        "        ^\n"
        'hint: let an atom of the body have "W"'
    )


EVERYTHING = """
.type a <: symbol .type b = a | a .type c .number_type d .symbol_type e
.decl p(x:number, y:c) output .decl q() .input p(IO="file", headers=true) .output q
q() :- p(1, _), !p(-2.5, "s"), (X = 1 ; not q()), X != 3 * (4 + f(X)), Y <= count : { p(X, Y) }, Z >= sum X : q().
p(count<>, min<X>), q() :- X < 2, X > 1.
"""
SIGNS = {*"(){}|,;.:=<>!+-*/%_", "<:", ":-", "!=", "<=", ">=", "output"}
DIRECTIVES = {".decl", ".input", ".output", ".type", ".number_type", ".symbol_type"}


@pytest.mark.parametrize("end", ["", "@", " )", " x y", " ="])
def test_what_is_expected_is_said_in_the_words_of_the_language(end: str) -> None:
    assert len(parse(EVERYTHING)) == 11
    for cut in range(1, len(EVERYTHING)):
        try:
            parse(EVERYTHING[:cut] + end)
        except StatementError as error:
            said = error.message.splitlines()[0].partition("expected ")[2].partition(", found")[0]
        else:
            said = ""
        assert {*re.findall(r'"([^"]+)"', said)} <= SIGNS | DIRECTIVES, said


@pytest.mark.parametrize("text", [".type Variable\n", ".type Variable .type Heap\n"])
def test_a_type_without_a_base_is_one_of_symbols(text: str) -> None:
    rules = gt.Datalog(f'{text}.decl p(v:Variable)\np("a").')
    rules.commit()
    assert rules["p"].rows() == [("a",)]
    with pytest.raises(StatementError, match='there already is a type "Variable"'):
        gt.Datalog(f"{text}.type Variable")


GREATEST = 2**63 - 1
OVERFLOWS = [
    ("q(Total+1) :- p(Total).", 3, "Total+1"),
    ("q(3) :- p(X),\n  Y = 2 *\n X, Y > 3.", 7, "2 * X"),
    ("q(-(X + 1)) :- p(X).", 5, "X + 1"),
    ("q(3) :- p(X), X * X > 2.", 15, "X * X"),
    ("q(X % 7 + (X - -5)) :- p(X).", 12, "X - -5"),
    ("q(sum<X>) :- p(X), r(_).", 3, "sum<X>"),
    ("q(S) :- S = sum X : { p(X), r(_) }.", 13, "sum X : { p(X), r(_) }"),
    ("q(S) :- p(X), S = max X + Y : r(Y).", 23, "X + Y"),
    ("q(min<X + 3>) :- p(X).\nq(min<Y>) :- q(Y), Y < 4.", 7, "X + 3"),
    (f"q({GREATEST} + 1) :- p(_).", 3, f"{GREATEST} + 1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "words"), OVERFLOWS, ids=[each[0] for each in OVERFLOWS])
def test_a_number_beyond_64_bits_is_shown_where_the_program_computes_it(text: str, column: int, words: str) -> None:
    line = text[: text.find(words.split(maxsplit=1)[0])].count("\n") + 1
    for ask in (lambda rules: rules["q"].rows(), lambda rules: rules.query("q(3)")):
        rules = gt.Datalog(text)
        rules.insert("p", [(GREATEST,)])
        if "r" in rules.relations:
            rules.insert("r", [(1,), (2,)])
        rules.commit()
        with pytest.raises(StatementError) as caught:
            ask(rules)
        assert caught.value.message.startswith(f"line {line}, column {column}: {words} does not fit into 64 bits")
        assert "declared as float" in (caught.value.hint or "")
        if str(GREATEST) not in text:
            rules.delete("p", [(GREATEST,)])
            rules.insert("p", [(1,)])
            rules.commit()
            assert rules["q"].rows() is not None


def test_facts_and_goals_beyond_64_bits_are_shown_where_they_stand() -> None:
    with pytest.raises(StatementError, match=rf"line 2, column 6: {GREATEST} \+ 1 does not fit into 64 bits"):
        gt.Datalog(f"q(1).\np(1, {GREATEST} + 1).")
    rules = gt.Datalog("p(1).")
    rules.commit()
    with pytest.raises(StatementError, match=rf"line 1, column 3: {GREATEST} \* 2 does not fit"):
        rules.query(f"p({GREATEST} * 2)")


def test_division_reaches_the_ends_of_64_bits() -> None:
    rules = gt.Datalog("q(X / 2, X % 2) :- p(X).")
    rules.insert("p", [(GREATEST,), (-GREATEST,)])
    rules.commit()
    half = GREATEST // 2
    assert sorted(rules["q"].rows()) == [(-half, -1), (half, 1)]


def closure() -> gt.Datalog:
    return gt.Datalog("tc(X,Y) :- edge(X,Y). tc(X,Z) :- tc(X,Y), edge(Y,Z).")


def test_relations_that_are_not_there_or_take_no_facts() -> None:
    rules = closure()
    with pytest.raises(UsageError, match='did you mean "edge"'):
        rules.insert("egde", [(1, 2)])
    with pytest.raises(UsageError, match="derived by rules"):
        rules.insert("tc", [(1, 2)])
    with pytest.raises(UsageError, match='there is no relation "t"'):
        rules["t"]


def test_rows_that_do_not_fit() -> None:
    rules = closure()
    with pytest.raises(SchemaError, match="row 0 has 3 values"):
        rules.insert("edge", [(1, 2, 3)])
    rules.insert("edge", [(1, 2)])
    with pytest.raises(SchemaError):
        rules.insert("edge", [("a", "b")])
    with pytest.raises(SchemaError, match="is not rows"):
        rules.insert("edge", 3)


def test_goals_that_do_not_fit() -> None:
    rules = closure()
    rules.insert("edge", [(1, 2)])
    rules.commit()
    with pytest.raises(StatementError, match="has 1 arguments here, and 2 in the program"):
        rules.query("tc(1)")
    with pytest.raises(StatementError, match='there is no relation "ct"'):
        rules.query("ct(1, 2)")
    with pytest.raises(UsageError, match="holds numbers, and 'a' is a symbol"):
        rules.query('tc("a", Y)')
    with pytest.raises(UsageError, match="arguments without a value"):
        rules.why("tc(1, Y)")
    with pytest.raises(UsageError, match="does not hold"):
        rules.why("tc(2, 1)")


def test_a_recursion_without_end_is_named_and_leaves_all_as_it_was() -> None:
    rules = gt.Datalog("n(0).\nn(X + 1) :- n(X), go(_).\nm(X) :- n(X), X < 3.", max_rounds=50)
    numbers = rules["n"]
    rules.insert("go", [(0,)])
    with pytest.raises(NotConvergedError, match='the loop "n" did not settle within 50 rounds'):
        rules.commit()
    rules.delete("go", [(0,)])
    rules.commit()
    assert numbers.rows() == [(0,)]
    assert rules["m"].rows() == [(0,)]


def test_a_relation_that_does_not_end_is_left_out_when_only_it_was_asked_for() -> None:
    rules = gt.Datalog("n(0).\nn(X + 1) :- n(X).\nm(X) :- e(X).", max_rounds=50)
    rules.insert("e", [(1,)])
    rules.commit()
    with pytest.raises(NotConvergedError, match='"n"'):
        rules.query("n(X)")
    assert rules.query("m(1)").num_rows == 1


def test_files_of_facts_that_are_not_there_or_do_not_fit(tmp_path) -> None:
    text = ".decl edge(x:number, y:number)\n.input edge"
    with pytest.raises(LoadError, match="are not there"):
        gt.Datalog(text, facts=tmp_path)
    (tmp_path / "edge.facts").write_text("1\tx\n")
    with pytest.raises(LoadError, match=r'cannot be read from .*"x" in column 2 of fact 1 is not a number'):
        gt.Datalog(text, facts=tmp_path)
    (tmp_path / "edge.facts").write_text("1\t2\n3\n")
    with pytest.raises(LoadError, match="Expected 2 columns, got 1"):
        gt.Datalog(text, facts=tmp_path)
    (tmp_path / "edge.facts").write_text("1::2\n3:4\n")
    with pytest.raises(LoadError, match="fact 2 has 1 values, and not 2"):
        gt.Datalog(f'{text}(delimiter="::")', facts=tmp_path)
    (tmp_path / "edge.facts").write_bytes(b"\xff\t\xff\n")
    with pytest.raises(LoadError, match="cannot be read"):
        gt.Datalog(text.replace("number", "symbol"), facts=tmp_path)


def test_a_symbol_that_would_be_cut_is_shown_with_its_relation_and_the_directive(tmp_path) -> None:
    rules = gt.Datalog('.decl p(x:symbol, y:symbol)\n.output p\np("a\\tb", "c").')
    rules.commit()
    with pytest.raises(StatementError) as caught:
        rules.write(tmp_path)
    assert str(caught.value) == (
        'line 2, column 9: the symbol "a\\tb" in column 1 of "p" cannot be written: '
        'it has a line break or the delimiter "\\t" in it\n'
        "  .output p\n"
        "          ^\n"
        "hint: write rfc4180=true, which puts symbols into quotes"
    )


SUM = "+".join(["X"] * 1500)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: gt.Datalog(f"p(X) :- q(X), X > {SUM}."), "nested too deeply"),
        (lambda: gt.Datalog("p(X) :- q(X).").query(f"p({SUM.replace('X', '1')})"), "nested too deeply"),
        (lambda: gt.Datalog(None), "None is not a program"),
        (lambda: gt.Datalog("p(X) :- q(X).").query(None), "None is not a goal"),
        (lambda: gt.Datalog("p(X) :- q(X).")[5], "5 is not the name of a relation"),
    ],
)
def test_what_is_no_text_and_what_is_too_deep_is_refused(ask, message) -> None:
    with pytest.raises(UsageError, match=message):
        ask()
