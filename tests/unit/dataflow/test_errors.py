"""Every mistake has its error, which quotes the facts and says what to do; the committed state is unharmed."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from graphtide import Collection, Dataflow, Input, Output, call, col, lit
from graphtide.errors import (
    CancelledRunError,
    CapacityError,
    CompactedError,
    ExpressionError,
    GraphtideError,
    NegativeMultiplicityError,
    NotConvergedError,
    PlanError,
    SchemaError,
    UsageError,
    UserFunctionError,
)


class Edges:
    """A dataflow with an input of edges, one of names, and a committed epoch."""

    def __init__(self) -> None:
        self.flow = Dataflow()
        self.edges: Input = self.flow.input("edges", src=int, dst=int)
        self.names: Input = self.flow.input("names", src=str, name=str)
        self.all: Output = self.edges.output("all")

    def committed(self, make: Callable[[Collection], Collection], **options: Any) -> Output:
        """An output that holds what `make` makes of one harmless edge."""
        output = make(self.edges).output("made", **options)
        self.edges.insert([(1, 1)])
        self.flow.commit()
        return output


@pytest.fixture
def given() -> Edges:
    return Edges()


def raised(error: type[GraphtideError], message: str, hint: str = "") -> Any:
    """The error with a message that begins so, and a hint that does."""
    return pytest.raises(
        error, match=rf"(?s)\A{re.escape(message)}.*" + (rf"\nhint: {re.escape(hint)}" if hint else "")
    )


# ------------------------------------------------------------------------------------------- rows


@pytest.mark.parametrize(
    ("rows", "message", "hint"),
    [
        ([(1, 2), (1, 2, 3)], "row 1 has 3 values, the schema (src: int, dst: int) has 2", "the row is (1, 2, 3)"),
        ([(1, 2), (1, "x")], "row 1, column \"dst\": 'x' is not an int", "convert with int(...)"),
        ([(1, None)], 'row 0, column "dst": None is not an int', "declare the column as int | None"),
        ([(1, 2**63)], 'row 0, column "dst": 9223372036854775808 does not fit', "declare the column as str"),
        ([{"src": 1, "dts": 2}], 'row 0 has a value for "dts", which is not in the schema', 'did you mean "dst"?'),
        (5, "5 is not rows of (src: int, dst: int)", "pass a list of tuples or dicts"),
    ],
)
@pytest.mark.parametrize("change", ["insert", "remove"])
def test_rows_that_do_not_fit(given: Edges, change: str, rows: Any, message: str, hint: str) -> None:
    with raised(SchemaError, message, hint):
        getattr(given.edges, change)(rows)
    assert given.edges.staged == 0


@pytest.mark.parametrize(
    ("diffs", "message"),
    [
        ([1, 2], "1 rows came with 2 diffs"),
        ([1.5], "diffs must be integers, not float64"),
        ([True], "diffs must be integers, not bool"),
        ([2**63], "9223372036854775808 is too large for a diff"),
    ],
)
def test_diffs_that_are_no_integers_for_the_rows(given: Edges, diffs: list[Any], message: str) -> None:
    with raised(SchemaError, message):
        given.edges.change([(1, 2)], diffs)
    assert given.edges.staged == 0


def test_epochs_that_are_closed_or_no_integers_for_the_rows(given: Edges) -> None:
    given.flow.seal(2)
    with raised(UsageError, "epoch 1 is closed: the current one is 2", "stage into the current epoch or a later one"):
        given.edges.change([(1, 2), (1, 3)], [1, 1], epochs=[1, 2])
    with raised(SchemaError, "1 rows came with 2 epochs"):
        given.edges.change([(1, 2)], [1], epochs=[2, 3])
    with raised(SchemaError, "epochs must be integers, not float64"):
        given.edges.change([(1, 2)], [1], epochs=[2.0])
    with raised(UsageError, "cannot close 0 epochs"):
        given.flow.seal(0)
    assert given.edges.staged == 0


def test_changes_for_later_epochs_keep_their_distance_when_a_run_fails(given: Edges) -> None:
    given.edges.flat_map(lambda src, dst: [(src // dst,)], ratio=int).output("ratios")
    given.edges.change([(1, 0), (1, 1), (2, 1), (3, 1)], [1, 1, 1, 1], epochs=[0, 1, 2, 3])
    given.flow.seal(2)
    with pytest.raises(UserFunctionError):
        given.flow.run()
    given.edges.remove([(1, 0)])
    given.flow.seal(2)
    given.flow.run()
    assert sorted(given.all.changes().to_pylist(), key=str) == [
        {"src": 1, "dst": 1, "epoch": 0, "diff": 1},
        {"src": 2, "dst": 1, "epoch": 0, "diff": 1},
        {"src": 3, "dst": 1, "epoch": 1, "diff": 1},
    ]


# ------------------------------------------------------------------------------------------- plans


@pytest.mark.parametrize(
    "use",
    [
        lambda edges: edges.select("scr"),
        lambda edges: edges.select(node=col("scr") + 1),
        lambda edges: edges.where(col("scr") > 1),
        lambda edges: edges.drop("scr"),
        lambda edges: edges.rename(scr="node"),
        lambda edges: edges.group_by("scr"),
        lambda edges: edges.group_by("dst").sum("scr"),
        lambda edges: edges.group_by("dst").min("scr"),
        lambda edges: edges.group_by("dst").top_k(1, by="scr"),
        lambda edges: edges.join(edges.rename(dst="end"), on="scr"),
        lambda edges: edges.semijoin(edges, on={"src": "scr"}),
        lambda edges: edges.arrange("scr"),
        lambda edges: edges.explode("scr"),
    ],
)
def test_a_column_that_does_not_exist(given: Edges, use: Callable[[Collection], Any]) -> None:
    with raised(SchemaError, 'column "scr" does not exist in (src: int, ', 'did you mean "src"?'):
        use(given.edges)


@pytest.mark.parametrize("use", ["join", "semijoin", "antijoin", "left_join"])
def test_a_join_of_keys_of_two_types(given: Edges, use: str) -> None:
    with raised(PlanError, 'cannot join "src" (int) with "src" (str)', "cast one of them"):
        getattr(given.edges, use)(given.names, on="src")


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda given: given.edges.concat(given.names), "cannot concat (src: int, dst: int) and (src: str, name: str)"),
        (lambda given: given.edges.join(given.edges, on="src"), 'column "dst" stands on both sides of the join'),
        (lambda given: given.edges.explode("src"), 'column "src" of (src: int, dst: int) is not a tuple'),
        (lambda given: given.names.group_by("src").sum("name"), 'cannot take the sum of "name", which is a str'),
        (
            lambda given: given.edges.group_by("src").count("src"),
            'the result "src" would have the name of a key column',
        ),
        (lambda given: given.edges.group_by("src", "src"), '"src" stands twice in the key'),
        (lambda given: given.edges.group_by("src").min(), "min of no column"),
        (lambda given: given.edges.group_by("src").top_k(0, "dst"), "the top 0 rows are none"),
        (lambda given: given.edges.threshold(0), "a threshold of 0 would count rows that are not there"),
        (lambda given: given.edges.output("all"), 'there already is an output "all"'),
        (lambda given: given.flow.input("edges", n=int), 'there already is an input "edges"'),
        (lambda given: given.edges.output("o", on_negative="raise"), 'on_negative is "raise"'),
        (lambda _: Dataflow(merging="fast"), 'there is no merging "fast"'),  # type: ignore[arg-type]
        (
            lambda given: given.edges.concat(Dataflow().input("edges", src=int, dst=int)),
            "collections of two dataflows cannot be combined",
        ),
    ],
)
def test_a_plan_that_makes_no_sense(given: Edges, use: Callable[[Edges], Any], message: str) -> None:
    with raised(PlanError, message):
        use(given)


def test_a_condition_that_is_not_true_or_false(given: Edges) -> None:
    with raised(ExpressionError, "where needs a bool, and src + 1 is an int", "write a comparison"):
        given.edges.where(col("src") + 1)


# ------------------------------------------------------------------------------------------- loops


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda x: x.select("src"), "the loop's body gives (src: int), its variable is (src: int, dst: int)"),
        (lambda x: x.select("src", dst=lit("a")), "the loop's body gives (src: int, dst: str), its variable is"),
        (lambda x: x.select("dst", "src"), "the loop's body gives (dst: int, src: int), its variable is"),
        (lambda x: x.select("src", dst=lit(None, int)), 'the loop\'s body gives "dst" as int | None, its variable'),
        (lambda _: None, "the loop's body gave None"),
    ],
)
def test_a_body_that_gives_something_else(given: Edges, body: Callable[[Collection], Any], message: str) -> None:
    with raised(PlanError, message):
        given.edges.iterate(body)
    given.committed(lambda edges: edges.iterate(lambda x: x.distinct()))
    assert given.all.rows() == [(1, 1)]


def test_a_variable_without_a_next_round(given: Edges) -> None:
    with raised(PlanError, "the loop variable (src: int, dst: int) has no next round", "call its becomes"):  # noqa: SIM117
        with given.flow.loop() as loop:
            loop.variable(given.edges)


def test_a_variable_with_two_next_rounds(given: Edges) -> None:
    with raised(PlanError, "a loop variable becomes one thing only"), given.flow.loop() as loop:
        variable = loop.variable(given.edges)
        variable.becomes(variable)
        variable.becomes(variable)


def test_a_collection_of_a_loop_outside_of_it(given: Edges) -> None:
    inside: list[Collection] = []

    def body(x: Collection) -> Collection:
        inside.append(x)
        return x.distinct()

    given.edges.iterate(body)
    with raised(PlanError, "a collection of a loop cannot be read from outside", "return it from the loop"):
        inside[0].output("inside")
    with raised(PlanError, "collections of two loops that are not inside one another cannot be combined"):
        given.edges.iterate(lambda x: x.concat(inside[0]))
    with raised(PlanError, "a collection of a loop cannot be used outside of it", "return it from the loop's body"):
        given.edges.iterate(lambda _: inside[0])


def test_a_loop_that_has_run_cannot_be_added_to(given: Edges) -> None:
    with given.flow.loop(name="closure") as loop:
        variable = loop.variable(given.edges)
        variable.becomes(variable.distinct())
        result = loop.leave(variable)
    given.committed(lambda _: result)
    late = loop.leave(variable.select("src")).output("late")
    with raised(PlanError, 'the loop "closure" has run already'):
        given.flow.commit()
    late.close()
    given.flow.commit()
    assert given.all.rows() == [(1, 1)]


def count_up(x: Collection) -> Collection:
    return x.select("src", dst=col("dst") + (col("src") > 1).cast(int))


def test_a_loop_that_does_not_settle_names_what_changes(given: Edges) -> None:
    made = given.committed(lambda edges: edges.iterate(count_up, max_rounds=10))
    given.edges.insert([(5, 1)])
    with raised(
        NotConvergedError,
        'the loop "count_up" did not settle within 10 rounds: 2 rows still change, for example (5, 10), (5, 11)',
        "raise max_rounds",
    ):
        given.flow.commit()
    assert (given.flow.epoch, made.rows(), given.all.rows()) == (1, [(1, 1)], [(1, 1)])


@pytest.mark.parametrize("priority", [-1, 2**31 - 1, None])
def test_a_priority_out_of_range(given: Edges, priority: int | None) -> None:
    source = given.edges.select("src", at=lit(priority, int))
    source.iterate_prioritized(lambda x, new: x.concat(new).distinct(), priority="at").output("made")
    given.edges.insert([(1, 1)])
    with raised(CapacityError, "the priority at is null, below 0 or above 2147483646", "use small non-negative"):
        given.flow.commit()
    assert given.all.rows() == []


def test_a_priority_that_is_no_int(given: Edges) -> None:
    with raised(PlanError, "a priority must be an int, not str"):
        given.names.iterate_prioritized(lambda x, new: x.concat(new), priority="name")


def test_a_run_that_is_cancelled(given: Edges) -> None:
    flow = given.flow

    def cancel(src: int, dst: int) -> list[tuple[int, int]]:
        if src > 1:
            flow.cancel()
        return [(src, dst)]

    made = given.committed(lambda edges: edges.iterate(lambda x: x.flat_map(cancel, src=int, dst=int).distinct()))
    given.edges.insert([(2, 2)])
    with raised(CancelledRunError, "the run was cancelled", "nothing of it was committed"):
        flow.commit()
    assert (flow.epoch, made.rows()) == (1, [(1, 1)])


# ------------------------------------------------------------------------------------- functions


def divide(a: int, b: int) -> int:
    return a // b


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda edges: edges.flat_map(lambda a, b: [(a // b,)], q=int),
            "<lambda> failed on (7, 0): ZeroDivisionError: integer division or modulo by zero",
        ),
        (
            lambda edges: edges.map_batches(lambda t: [divide(*r.values()) for r in t.to_pylist()], q=int),
            "<lambda> failed on 1 rows: ZeroDivisionError",
        ),
        (
            lambda edges: edges.select(q=call(divide, "src", "dst", returns=int)),
            "divide(7, 0) raised ZeroDivisionError",
        ),
        (
            lambda edges: edges.group_by("src").reduce(lambda key, rows: [(key[0] // rows[0][0][0],)], q=int),
            "<lambda> failed on key (7,): ZeroDivisionError",
        ),
        (lambda edges: edges.inspect(lambda row, *_: divide(*row)), "<lambda> failed on (7, 0): ZeroDivisionError"),
    ],
)
def test_a_function_that_raises(given: Edges, make: Callable[[Collection], Collection], message: str) -> None:
    made = given.committed(make)
    before = made.rows()
    given.edges.insert([(7, 0)])
    with raised(UserFunctionError, message) as caught:
        given.flow.commit()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert (given.flow.epoch, made.rows(), given.all.rows()) == (1, before, [(1, 1)])
    assert given.edges.staged == 1
    given.edges.remove([(7, 0)])
    given.edges.insert([(8, 2)])
    given.flow.commit()
    assert given.all.rows() == [(1, 1), (8, 2)]


def test_a_function_whose_rows_do_not_fit(given: Edges) -> None:
    given.edges.flat_map(lambda a, b: [(a, str(b))], a=int, b=int).output("made")
    given.edges.insert([(7, 0)])
    with raised(UserFunctionError, "<lambda> gave a bad result: row 0, column \"b\": '0' is not an int"):
        given.flow.commit()


def test_a_function_of_batches_that_loses_rows(given: Edges) -> None:
    given.edges.map_batches(lambda table: table.slice(0, 1)).output("made")
    given.edges.insert([(7, 0), (8, 0)])
    with raised(PlanError, "<lambda> gave 1 rows for 2", "map_batches must give a row for each row"):
        given.flow.commit()
    assert given.all.rows() == []


def test_a_callback_that_raises_after_the_fact(given: Edges) -> None:
    told: list[Any] = []
    given.all.on_change(lambda table: divide(table.num_rows, 0))
    given.all.on_change(told.append)
    given.edges.insert([(7, 0)])
    with raised(UserFunctionError, '<lambda> failed on the changes of "all": ZeroDivisionError', "the run itself is"):
        given.flow.commit()
    assert (given.flow.epoch, given.all.rows(), len(told)) == (1, [(7, 0)], 1)


# ---------------------------------------------------------------------------------- what overflows


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda edges: edges.select(n=col("src") * 4), ExpressionError, "src * 4 does not fit into 64 bits"),
        (lambda edges: edges.select(n=col("src") + col("src")), ExpressionError, "src + src does not fit into 64 bits"),
        (lambda edges: edges.where(col("src") * 4 > 0), ExpressionError, "src * 4 does not fit into 64 bits"),
        (lambda edges: edges.concat(edges).group_by().sum("src"), CapacityError, "sum src does not fit into 64 bits"),
    ],
)
def test_an_int_that_does_not_fit(
    given: Edges, make: Callable[[Collection], Collection], error: type[GraphtideError], message: str
) -> None:
    made = given.committed(make)
    before = made.rows()
    given.edges.insert([(2**62, 0)])
    with raised(error, message):
        given.flow.commit()
    assert (given.flow.epoch, made.rows(), given.all.rows()) == (1, before, [(1, 1)])
    given.flow.rollback()
    assert given.flow.commit() == 1


# ------------------------------------------------------------------------------------------ counts


def test_more_copies_may_be_removed_than_there_are(given: Edges) -> None:
    given.edges.remove([(1, 1)])
    given.flow.commit()
    assert given.all.changes().to_pylist() == [{"src": 1, "dst": 1, "epoch": 0, "diff": -1}]
    with raised(
        NegativeMultiplicityError, '"all" holds the row (1, 1) -1 times at epoch 0', "more copies were removed"
    ):
        given.all.rows()
    given.edges.insert([(1, 1), (1, 1)])
    given.flow.commit()
    assert given.all.rows() == [(1, 1)]


def test_more_copies_removed_than_there_are_is_an_error_on_request(given: Edges) -> None:
    made = given.committed(lambda edges: edges.select("src"), on_negative="error")
    given.edges.remove([(1, 1), (1, 1)])
    with raised(
        NegativeMultiplicityError,
        'output "made" would hold the row (1,) fewer than zero times',
        "more copies are removed than there are; nothing was committed",
    ):
        given.flow.commit()
    assert (given.flow.epoch, made.rows(), given.all.rows()) == (1, [(1,)], [(1, 1)])
    given.edges.insert([(1, 1)])
    given.flow.commit()
    assert (given.flow.epoch, made.rows(), given.all.rows()) == (2, [], [])


# ----------------------------------------------------------------------------------------- reading


def test_an_epoch_that_has_been_compacted(given: Edges) -> None:
    kept = given.edges.distinct().output("kept", keep=2)
    for _ in range(3):
        given.flow.commit()
    with raised(
        CompactedError,
        'cannot read "all" at epoch 1: history before epoch 2 has been compacted',
        "read at or after epoch 2",
    ):
        given.all.at(1)
    kept.at(1)
    with raised(CompactedError, 'cannot read "kept" at epoch 0: history before epoch 1 has been compacted'):
        kept.at(0)


def test_an_epoch_that_is_not_committed(given: Edges) -> None:
    given.flow.commit()
    given.flow.seal()
    for epoch in (1, 2, -2):
        with raised(UsageError, f'"all" has no epoch {epoch}: the last committed one is 0', "commit() first"):
            given.all.at(epoch)


def test_an_output_that_came_after_the_last_commit(given: Edges) -> None:
    given.edges.insert([(1, 1)])
    given.flow.commit()
    late = given.edges.select("src").output("late")
    with raised(UsageError, '"late" is not computed yet: it begins with epoch 1', "commit() first"):
        late.rows()
    given.flow.commit()
    assert late.rows() == [(1,)]
    with raised(CompactedError, 'cannot read "late" at epoch 0: history before epoch 1 has been compacted'):
        late.at(0)


def test_an_output_that_is_closed(given: Edges) -> None:
    given.all.close()
    with raised(UsageError, '"all" is closed'):
        given.all.rows()


def test_what_nobody_read_cannot_be_computed_with_later(given: Edges) -> None:
    given.names.insert([("a", "b")])
    given.flow.commit()
    late = given.names.output("late")
    given.names.insert([("c", "d")])
    with raised(
        PlanError, "what <names (src: str, name: str)> held before now was not kept", "arrange() the collection"
    ):
        given.flow.commit()
    late.close()
    assert (given.flow.commit(), given.names.staged) == (1, 0)


def test_an_output_keeps_one_epoch_at_least(given: Edges) -> None:
    with raised(UsageError, "a reader cannot keep 0 epochs"):
        given.edges.output("none", keep=0)
