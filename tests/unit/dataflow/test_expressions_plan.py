"""Plans: what is computed once, what is not computed at all, and what a batch looks like after it."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from graphtide.dataflow.expressions import (
    LinearPlan,
    call,
    col,
    compile_linear,
    concat,
    func,
    lit,
    tuple_,
    when,
)
from graphtide.dataflow.expressions.calls import MemoByCode, MemoByRow
from graphtide.dataflow.expressions.rowwise import COMPILED_FROM
from graphtide.dataflow.kernels import evaluate as kernels
from graphtide.dataflow.kernels.opcodes import COLUMNS, CONSTANTS, OUTPUTS, PLACES, STEPS
from graphtide.errors import ExpressionError, SchemaError, UserFunctionError
from graphtide.rows import NULL, Dictionary, Schema, decode_rows, encode_rows
from graphtide.trace.kernels.batch import (
    ALL_VARY,
    AS_IT_CAME,
    CAPACITY,
    CONSOLIDATED,
    DEPTH,
    FORM,
    LOWER,
    ROWS,
    UPPER,
    WIDTH,
    column,
    constant,
    new_batch,
    stride,
    words,
)
from graphtide.trace.kernels.heap import FIRST_SLOT, HEAP_FIELDS, LIVE_WORDS, open_heap, release

x, y, s = col("x"), col("y"), col("s")
SCHEMA = Schema.of(x=int, y=int, s=str)


def plan_of(outputs: dict[str, Any], where: Any = None, schema: Schema = SCHEMA) -> LinearPlan:
    return compile_linear(schema, Dictionary(), outputs, where)


# ------------------------------------------------------------------------------------------- plans


def test_a_selection_of_columns_is_a_projection() -> None:
    assert plan_of({"b": s, "a": x, "c": x}).projection == (2, 0, 0)
    assert plan_of({"a": x, "b": y + 1}).projection is None
    assert plan_of({"a": x}, x > 1).projection is None
    assert plan_of({"a": x}, lit(1) == 1).projection == (0,)


def test_the_output_has_the_names_and_types_of_its_expressions() -> None:
    plan = plan_of({"half": x / y, "name": s.upper(), "pair": tuple_(x, s)})
    assert repr(plan.schema) == "(half: float | None, name: str, pair: tuple[int, str])"


def test_a_common_part_is_computed_once() -> None:
    plan = plan_of({"a": (x + y) * 2, "b": (x + y) * 3}, (x + y) > 0)
    assert plan.program[STEPS] == 5  # +, >, filter, *, *
    assert plan.program[COLUMNS] == 2


def test_a_shared_part_costs_no_more_under_many_conditions() -> None:
    deep = x
    for _ in range(30):
        deep = when(deep > 10, deep - 1).otherwise(deep + 1)
    plan = plan_of({"a": deep})
    assert plan.program[STEPS] < 30 * 12
    assert plan.over(np.array([[0, 50], [0, 0], [0, 0]])).tolist() == [[10, 20]]


def test_constants_are_computed_before_the_run() -> None:
    plan = plan_of({"a": x + (lit(2) * 3 + 4), "b": lit("a").upper() + "b", "c": lit(70) % 40})
    assert plan.program[STEPS] == 1
    assert plan.program[CONSTANTS] == 3
    assert not plan.calls


def test_what_no_output_needs_is_not_computed() -> None:
    plan = plan_of({"a": when(lit(False), s.length()).otherwise(x)})
    assert plan.projection == (0,)
    assert not plan.calls
    assert plan_of({"a": (lit(1) == 2) & (x > 1)}).program[STEPS] == 0


def test_registers_are_used_again() -> None:
    total = x
    for i in range(20):
        total = total + y * i
    program = plan_of({"a": total}).program
    assert program[PLACES] - program[COLUMNS] - program[CONSTANTS] <= 3


def test_a_call_reads_columns_and_earlier_calls() -> None:
    plan = plan_of({"a": concat(s.upper(), (x + 1).cast(str)), "b": s.upper().length()}, s.upper() == "A")
    assert [repr(each) for each in plan.calls] == [
        "Call(s.upper())",
        "Call(x + 1)",
        "Call((x + 1).cast(str))",
        "Call(concat(s.upper(), (x + 1).cast(str)))",
        "Call(s.upper().length())",
    ]
    assert [each.columns for each in plan.calls] == [(2,), (3, 0), (4,), (3, 5), (3,)]


def test_each_distinct_argument_is_computed_once() -> None:
    seen: list[int] = []

    def tenfold(*columns: Any) -> Any:
        seen.extend(columns[0].tolist())
        return columns[0] * 10

    by_code, by_row = MemoByCode(tenfold), MemoByRow(tenfold)
    for compute, more in ((by_code, ()), (by_row, (np.array([5, 5, 5, 5]),))):
        seen.clear()
        assert compute(np.array([3, 1, NULL, 3]), *more).tolist() == [30, 10, NULL, 30]
        assert compute(np.array([1, 2, 1, 3]), *more).tolist() == [10, 20, 10, 30]
        assert compute(np.array([], np.int64), *(each[:0] for each in more)).tolist() == []
        assert sorted(seen) == [1, 2, 3]
        assert compute.nbytes > 0


def test_a_result_that_looks_unknown_is_still_right() -> None:
    least = -(2**63) + 1
    compute = MemoByCode(lambda codes: np.full(codes.shape, least))
    assert [compute(np.array([0, 0])).tolist() for _ in range(2)] == [[least, least]] * 2


@pytest.mark.parametrize("depth", [100, 250, 300, 5000])
def test_depth_is_refused_or_no_matter(depth: int) -> None:
    total = x
    for _ in range(depth):
        total = total + 1
    try:
        plan = plan_of({"a": total})
    except ExpressionError as error:
        assert error.message == "an expression is nested too deeply"  # noqa: PT017
        assert depth > 100
    else:
        assert plan.over(np.zeros((3, 1), np.int64)).tolist() == [[depth]]


def test_where_needs_a_truth_value() -> None:
    with pytest.raises(ExpressionError, match="where needs a bool, and x is an int"):
        plan_of({"a": x}, x)


def test_an_unknown_column_is_found_when_the_plan_is_made() -> None:
    with pytest.raises(SchemaError, match=r'column "z" does not exist .* used in z > 1'):
        plan_of({"a": x}, col("z") > 1)


def test_a_filter_that_never_holds_keeps_nothing() -> None:
    codes = np.array([[1, 2], [3, 4], [0, 0]])
    assert plan_of({"a": x, "b": lit(5)}, lit(False)).over(codes).shape == (2, 0)
    assert plan_of({"a": x, "b": lit(5)}, lit(None, bool)).over(codes).shape == (2, 0)
    assert plan_of({"b": lit(5)}).over(codes).tolist() == [[5, 5]]
    assert plan_of({}, x > 1).over(codes).shape == (0, 1)


# ----------------------------------------------------------------------------------------- batches


class Batches:
    """A heap with one batch of depth 2 in it, its diffs 2 and its first time constant."""

    def __init__(self, codes: Any, *, constant_columns: tuple[int, ...] = ()) -> None:
        self.heap = np.zeros((FIRST_SLOT + 16, HEAP_FIELDS), np.int64)
        open_heap(self.heap)
        size = codes.shape[1]
        lines = [*codes, np.full(size, 7), np.arange(size), np.full(size, 2)]
        self.slot = new_batch(self.heap, 0, len(lines), 2, size, ALL_VARY, 0)
        batch = words(self.heap, self.slot)
        batch[ROWS], batch[LOWER], batch[UPPER] = size, 3, 9
        for c, line in enumerate(lines):
            batch[column(batch, c) : column(batch, c) + size] = line
            if size and c in (*constant_columns, len(codes), len(codes) + 2):
                constant(batch, c, line[0])
        self.own = self.heap[0, LIVE_WORDS]

    def run(self, plan: LinearPlan, sign: int = 1) -> Any:
        slot = kernels.linear(self.heap, 0, self.slot, plan.program, sign)
        if slot <= 0:
            assert self.heap[0, LIVE_WORDS] == self.own
            return slot
        batch = words(self.heap, slot).copy()
        release(self.heap, slot)
        assert self.heap[0, LIVE_WORDS] == self.own
        return batch


def lines_of(batch: Any) -> list[list[int]]:
    starts = [(column(batch, c), stride(batch, c)) for c in range(batch[WIDTH])]
    return [[int(batch[start + step * i]) for i in range(batch[ROWS])] for start, step in starts]


CODES = np.array([[1, 2, 3], [10, 20, 30], [0, 0, 0]])


def test_times_and_diffs_come_along() -> None:
    batch = Batches(CODES).run(plan_of({"a": x + y}, x != 2), sign=-1)
    assert lines_of(batch) == [[11, 33], [7, 7], [0, 2], [-2, -2]]
    assert (batch[WIDTH], batch[DEPTH], batch[LOWER], batch[UPPER]) == (4, 2, 3, 9)


def test_constant_columns_stay_constant() -> None:
    batch = Batches(CODES, constant_columns=(2,)).run(plan_of({"a": col("s"), "b": lit(4), "c": x}))
    assert [stride(batch, c) for c in range(6)] == [0, 0, 1, 0, 1, 0]
    assert lines_of(batch)[:3] == [[0, 0, 0], [4, 4, 4], [1, 2, 3]]


def test_a_constant_column_can_be_computed_with() -> None:
    batches = Batches(np.array([[5] * 3, [10, 20, 30], [0] * 3]), constant_columns=(0,))
    assert lines_of(batches.run(plan_of({"a": x * y}, x + y > 20)))[0] == [100, 150]


def test_no_row_left_is_no_batch() -> None:
    assert Batches(CODES).run(plan_of({"a": x}, x > 5)) == 0


def test_a_failure_names_its_step_and_frees_everything() -> None:
    plan = plan_of({"a": x - y, "b": x * (y + 1)})
    batches = Batches(np.array([[2**62, 1], [10, 1], [0, 0]]))
    status = batches.run(plan)
    assert status < 0
    assert plan.failure(status).message == "x * (y + 1) does not fit into 64 bits"


def test_rows_that_where_leaves_out_cannot_fail() -> None:
    batches = Batches(np.array([[2**62, 3], [10, 1], [0, 0]]))
    assert lines_of(batches.run(plan_of({"a": x * x}, x < 10)))[0] == [9]


def test_order_is_kept_if_all_columns_come_first() -> None:
    def form_after(outputs: dict[str, Any], form: int) -> int:
        batches = Batches(CODES)
        words(batches.heap, batches.slot)[FORM] = form
        return batches.run(plan_of(outputs, x > 1))[FORM]

    assert form_after({"x": x, "y": y, "s": s, "z": x + y}, CONSOLIDATED) == CONSOLIDATED
    assert form_after({"x": x, "y": y, "s": s}, AS_IT_CAME) == AS_IT_CAME
    assert form_after({"y": y, "x": x, "s": s}, CONSOLIDATED) == AS_IT_CAME
    assert form_after({"x": x, "y": y}, CONSOLIDATED) == AS_IT_CAME


@pytest.mark.parametrize("size", [kernels.CHUNK - 1, kernels.CHUNK, kernels.CHUNK + 1, 5 * kernels.CHUNK + 7])
def test_chunks_leave_no_seam(size: int) -> None:
    numbers = np.arange(size)
    batches = Batches(np.stack([numbers, numbers[::-1], numbers % 2]))
    batch = batches.run(plan_of({"a": x * 2 + 1, "b": y}, x % 3 == 0))
    kept = numbers[numbers % 3 == 0]
    assert lines_of(batch)[:2] == [(kept * 2 + 1).tolist(), (size - 1 - kept).tolist()]
    assert lines_of(batch)[3] == kept.tolist()
    assert batch[CAPACITY] == batch[ROWS], "little is left of much: the rest is given back"


def test_many_columns_are_no_limit() -> None:
    schema = Schema({f"c{i}": int for i in range(70)})
    plan = compile_linear(schema, Dictionary(), {f"o{i}": col(f"c{i}") + i for i in range(70)} | {"k": lit(3)})
    codes = np.arange(140).reshape(70, 2)
    expected = [*(codes + np.arange(70)[:, None]).tolist(), [3, 3]]
    assert plan.over(codes).tolist() == expected
    batch = Batches(codes).run(plan)
    assert lines_of(batch)[:71] == expected


def test_the_empty_slot_and_the_empty_batch_stay_empty() -> None:
    batches = Batches(CODES[:, :0])
    plan = plan_of({"a": x + 1})
    assert batches.run(plan) == 0
    assert kernels.linear(batches.heap, 0, 0, plan.program, 1) == 0
    assert plan.over(CODES[:, :0]).shape == (1, 0)
    assert plan.program[OUTPUTS] == 1


# --------------------------------------------------------------------------------- users' functions


def over(expression: Any, schema: Schema, rows: list[Any], where: Any = None) -> list[Any]:
    dictionary = Dictionary()
    plan = compile_linear(schema, dictionary, {"out": expression}, where)
    found = decode_rows(plan.schema, dictionary, plan.over(encode_rows(schema, dictionary, rows)))
    return [value for (value,) in found]


NULLABLE = Schema.of(x=int | None, s=str | None)


def test_a_function_sees_values_and_never_none() -> None:
    def label(number: int, text: str) -> str:
        assert isinstance(number, int)
        assert isinstance(text, str)
        return f"{text}{number}"

    assert over(call(label, "x", "s"), NULLABLE, [(1, "a"), (None, "b"), (2, None)]) == ["a1", None, None]
    assert over(call(label, "x", lit("k")), NULLABLE, [(1, "a"), (None, "b")]) == ["k1", None]
    assert over(call(label, 5, lit("k")), NULLABLE, [(1, "a")]) == ["k5"]
    assert over(call(label, 5, lit(None, str)), NULLABLE, [(1, "a")]) == [None]


def test_a_function_may_return_none_if_it_says_so() -> None:
    def even(number: int) -> int | None:
        return number if number % 2 == 0 else None

    assert over(call(even, x), SCHEMA, [(1, 0, ""), (2, 0, "")]) == [None, 2]
    with pytest.raises(UserFunctionError) as caught:
        over(call(even, x, returns=int), SCHEMA, [(2, 0, ""), (1, 0, "")])
    assert caught.value.message == "even(1) returned None is not an int, in even(x)"
    assert caught.value.hint == "declare returns=int | None"


def test_an_exception_is_wrapped_with_the_row() -> None:
    def ratio(a: int, b: int) -> float:
        return a / b

    with pytest.raises(UserFunctionError) as caught:
        over(call(ratio, x, y), SCHEMA, [(1, 2, ""), (3, 0, "")])
    assert caught.value.message == "ratio(3, 0) raised ZeroDivisionError: division by zero, in ratio(x, y)"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_result_of_another_type_is_refused() -> None:
    with pytest.raises(UserFunctionError, match=r"str\(1\) returned '1' is not an int, in str\(x\)"):
        over(call(str, x, returns=int), SCHEMA, [(1, 2, "")])


def test_a_function_is_called_only_where_its_result_is_needed() -> None:
    @func(returns=float)
    def inverse(number):
        return 1 / number

    rows = [(0, 1, "a"), (4, 1, "b")]
    assert over(inverse(x), SCHEMA, rows, where=x != 0) == [0.25]
    assert over(when(x != 0, inverse(x)).otherwise(0.0), SCHEMA, rows) == [0.0, 0.25]
    assert over((x != 0) & (inverse(x) > 0.1), SCHEMA, rows) == [False, True]
    assert over(when(x != 0, inverse(x + 0)).otherwise(-1.0), SCHEMA, rows) == [-1.0, 0.25]


def many(size: int = COMPILED_FROM) -> list[tuple[int, int, str]]:
    return [(i, i % 7 - 3, "") for i in range(size)]


def test_numbers_in_large_batches_are_compiled() -> None:
    calls = 0

    def spread(a: int, b: int) -> float:
        nonlocal calls
        calls += 1
        return math.sqrt(a) * b

    expected = [math.sqrt(a) * b for a, b, _ in many()]
    assert over(call(spread, x, y), SCHEMA, many()) == expected
    # Compiled code does not count: these are the first row and the extremes, which are checked.
    assert calls == 3
    assert over(call(spread, x, y), SCHEMA, many()[1:]) == expected[1:]
    assert calls == 3 + COMPILED_FROM - 1


def test_what_does_not_compile_is_called() -> None:
    def exact(a: int) -> float:
        return float(Fraction(a, 8))

    assert over(call(exact, x), SCHEMA, many())[:3] == [0.0, 0.125, 0.25]


@pytest.mark.parametrize(
    ("function", "returns"),
    [
        (lambda a, _b: a**5, int),  # beyond 64 bits in Python, wrapped in machine code
        (lambda a, b: a / b, float),  # raises for zero
    ],
)
def test_compiled_code_never_hides_what_python_refuses(function, returns) -> None:
    with pytest.raises(UserFunctionError):
        over(call(function, x, y, returns=returns), SCHEMA, many())


def test_compiled_results_have_the_declared_type() -> None:
    with pytest.raises(UserFunctionError, match=r"returned 0\.0 is not an int"):
        over(call(lambda a: a / 2, x, returns=int), SCHEMA, many())
    assert over(call(lambda a: a > 2, x, returns=bool), SCHEMA, many())[2:4] == [False, True]
    assert over(call(lambda a: 2 * a, x, returns=float), SCHEMA, many())[2:4] == [4.0, 6.0]


def test_none_is_no_obstacle_to_compiling() -> None:
    rows = [(None if i % 2 else i, "") for i in range(3 * COMPILED_FROM)]
    found = over(call(lambda a: a + 1, x, returns=int), NULLABLE, rows)
    assert found[:4] == [1, None, 3, None]


def test_floats_reach_functions_as_floats() -> None:
    schema = Schema.of(x=float | None)
    rows = [(float(i),) for i in range(COMPILED_FROM)] + [(math.nan,), (None,)]
    found = over(call(lambda v: v * 0.5, x, returns=float), schema, rows)
    assert found[3] == 1.5
    assert math.isnan(found[-2])
    assert found[-1] is None


def test_a_code_for_none_is_one_word_in_every_type() -> None:
    plan = compile_linear(Schema.of(x=float | None), Dictionary(), {"a": x * 2})
    assert plan.over(np.array([[NULL]])).tolist() == [[NULL]]
