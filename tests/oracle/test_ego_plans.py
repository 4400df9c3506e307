"""A plan on any overlay with any decisions answers as a look at all that was written would, after every operation."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share
from tests.oracle.ego_naive import Writes, aggregate

from graphtide.ego import AllPull, Direct, Neighbourhoods, Overlay
from graphtide.ego.aggregates import Aggregate, TopK, aggregate_of
from graphtide.ego.contents import WindowContents
from graphtide.ego.partials import READ, TICK, WRITE
from graphtide.ego.plan import Plan
from graphtide.ego.planning import WORTH_A_TRIAL, Planning, Rates
from graphtide.ego.windows import Last, Within
from graphtide.rows import INT, Dictionary, Type, encode_value

INTS = [0, 1, 2, 3, -5, 7, 2**40, -(2**63) + 1, 2**63 - 1]
FLOATS = [0.0, 0.1, 0.2, 0.5, 1.5, -2.25, 1e16, -1e16, 1e-300, 3e-320, 7e200, 1 / 3]
STRINGS = ["pear", "apple", "fig", "", "Zoë"]


def random_overlay(random, sets, writers, *, subtracts, overlaps):
    """Partial aggregates of random writers, some on others, and readers that use those that fit."""
    partials = []
    for _ in range(random.randrange(4)):
        chosen = set(random.sample(range(writers), random.randint(1, min(max(4, writers // 2), writers))))
        inputs = []
        covered = set()
        for at, (its, _) in enumerate(partials):
            if random.random() < 0.5 and not its & covered:
                inputs.append((("partial", at), 1))
                covered |= its
        inputs += [(("writer", writer), 1) for writer in chosen - covered]
        partials.append((covered | chosen, inputs))
    lists = []
    for wanted in sets:
        inputs, left, negative = [], set(wanted), set()
        for at, (its, _) in enumerate(partials):
            if random.random() < 0.3:
                continue
            if its <= (wanted if overlaps else left):
                inputs.append((("partial", at), 1))
                left -= its
            elif subtracts and its & left and not (its - left) & negative and random.random() < 0.7:
                inputs.append((("partial", at), 1))
                negative |= its - left
                left -= its
        inputs += [(("writer", writer), -1) for writer in negative] + [(("writer", writer), 1) for writer in left]
        lists.append(inputs)
    first = {"writer": 0, "partial": writers + len(sets)}
    rows = [[], *[[]] * (writers - 1), *lists, *(inputs for _, inputs in partials)]
    starts = np.cumsum([0] + [len(row) for row in rows])
    flat = [(first[kind] + at, sign) for row in rows for (kind, at), sign in row]
    inputs = np.array([node for node, _ in flat], np.int32)
    signs = np.array([sign for _, sign in flat], np.int8)
    return Overlay(writers, len(sets), starts, inputs, signs, overlapping=overlaps)


def contributions(overlay, node):
    """How often each writer is counted in a node."""
    if node < overlay.writers:
        return Counter({node: 1})
    total = Counter()
    span = slice(overlay.starts[node], overlay.starts[node + 1])
    for each, sign in zip(overlay.inputs[span].tolist(), overlay.signs[span].tolist(), strict=True):
        for writer, count in contributions(overlay, each).items():
            total[writer] += sign * count
    return Counter({writer: count for writer, count in total.items() if count})


def random_decisions(random, overlay):
    share = random.choice([0.0, 0.5, 0.8, 1.0])
    push = np.zeros(overlay.nodes, np.bool_)
    for node in np.argsort(overlay.levels(), kind="stable").tolist():
        may = push[overlay.inputs_of(node)].all()
        push[node] = node < overlay.writers or (may and random.random() < share)
    return push


def mean_own(**more):
    return Aggregate(
        initialize=lambda: (0, 0),
        update=lambda state, value: (state[0] + 1, state[1] + value),
        merge=lambda one, other: (one[0] + other[0], one[1] + other[1]),
        finalize=lambda state: state[1] - state[0],
        **more,
    )


SUBTRACTING = mean_own(subtract=lambda whole, part: (whole[0] - part[0], whole[1] - part[1]), name="own, subtracting")
MERGING = mean_own(name="own, merging")
LONGEST = Aggregate(
    initialize=lambda: "",
    update=lambda state, value: max(state, value, key=lambda text: (len(text), text)),
    merge=lambda one, other: max(one, other, key=lambda text: (len(text), text)),
    finalize=lambda state: state.upper(),
    duplicate_insensitive=True,
    name="own, of strings",
)
SMALL = [0, 1, 2, 3, -5, 7]
NUMBERS = [INTS[:7], FLOATS]
CASES = {
    "count": [*NUMBERS, STRINGS],
    "sum": NUMBERS,
    "avg": [INTS, FLOATS],
    "min": [INTS, FLOATS, STRINGS],
    "max": [INTS, FLOATS, STRINGS],
    "distinct": [*NUMBERS, STRINGS],
    TopK(2): [*NUMBERS, STRINGS],
    SUBTRACTING: [SMALL],
    MERGING: [SMALL, [float(value) for value in SMALL]],
    LONGEST: [STRINGS],
}
WINDOWS = [Last(1), Last(3), Within(4)]


def expected(function, values):
    if function is LONGEST:
        return max(values, key=lambda text: (len(text), text), default="").upper()
    if isinstance(function, Aggregate):
        return sum(values) - len(values)
    return aggregate(function.name, values, getattr(function, "k", None))


class Machine:
    """A plan and its oracle."""

    def __init__(self, random, function, values, window, *, most_writers=6, most_operations=8):
        self.random, self.function, self.pool, self.window = random, function, values, window
        self.writers, readers = random.randint(most_writers // 4, most_writers), random.randint(1, 5)
        self.most_operations = most_operations
        self.sets = [set(random.sample(range(self.writers), random.randint(0, self.writers))) for _ in range(readers)]
        timed = isinstance(window, Within)
        self.naive = Writes(within=window.span) if timed else Writes(last=window.count)
        self.timed, self.time = timed, 0
        self.dictionary, self.type = Dictionary(), Type.of(type(values[0]))
        contents = WindowContents(window, self.writers)
        overlay = self.overlay()
        overlay.check_invariants(self.neighbourhoods())
        self.plan = Plan(
            overlay,
            random_decisions(random, overlay),
            function,
            contents,
            dictionary=self.dictionary,
            value_type=self.type,
            pairs=sum(map(len, self.sets)),
        )

    def neighbourhoods(self):
        return Neighbourhoods.from_sets(self.sets, self.writers)

    def overlay(self):
        function = self.function
        overlaps = function.duplicate_insensitive and self.random.random() < 0.5
        subtracts = function.subtracts and not overlaps and self.random.random() < 0.7
        return random_overlay(self.random, self.sets, self.writers, subtracts=subtracts, overlaps=overlaps)

    def batch(self):
        kinds, who, codes, expiries, times, wanted = [], [], [], [], [], []
        for _ in range(self.random.randint(1, self.most_operations)):
            kind = self.random.choice([WRITE, WRITE, READ, READ, TICK] if self.timed else [WRITE, READ])
            self.time += self.random.choice([0, 0, 1, 3])
            at = self.time if self.timed else None
            if kind == WRITE:
                if self.timed and self.random.random() < 0.3:
                    at = max(self.time - self.random.randint(0, 3), self.naive.clock - self.window.span + 1)
                vertex, value = self.random.randrange(self.writers), self.random.choice(self.pool)
                self.naive.write(vertex, value, at)
                who.append(vertex)
                codes.append(encode_value(self.type, self.dictionary, value))
            else:
                self.naive.advance(at)
                codes.append(0)
                who.append(self.random.randrange(len(self.sets)) if kind == READ else 0)
                if kind == READ:
                    wanted.append(expected(self.function, self.naive.values(self.sets[who[-1]])))
            kinds.append(kind)
            times.append(at if self.timed else 0)
            expiries.append(at + self.window.span if self.timed else 0)
        words = [np.array(column, np.int64) for column in (who, codes, expiries, times)]
        if not self.timed:
            words[2:] = [np.zeros(0, np.int64)] * 2
        found = self.plan.run(np.array(kinds, np.int8), *words)
        assert self.plan.values(found) == wanted
        assert self.plan.column(found).to_pylist() == wanted

    def change(self):
        choice = self.random.randrange(6)
        if choice == 0:
            self.writers += 1
            self.plan.add_writers(self.writers)
        elif choice == 1:
            self.sets.append(set())
            self.plan.add_readers(len(self.sets), push=self.random.random() < 0.5)
        if choice <= 2:
            some = sorted(self.random.sample(range(len(self.sets)), self.random.randint(1, len(self.sets))))
            before = [self.sets[reader] for reader in some]
            for reader in some:
                flipped = set(self.random.sample(range(self.writers), self.random.randint(0, min(3, self.writers))))
                self.sets[reader] = self.sets[reader] ^ flipped
            parts = [sorted(self.sets[reader]) for reader in some]
            starts = np.cumsum([0] + [len(part) for part in parts])
            flat = np.array([writer for part in parts for writer in part], np.int64)
            changed = self.plan.follow(np.array(some), starts, flat)
            self.check_that_none_could_be_covered_by_fewer([r for r in some if r in changed])
            assert changed.tolist() == [r for r, was in zip(some, before, strict=True) if was != self.sets[r]]
        elif choice == 5:
            some = self.random.sample(range(self.writers), self.random.randint(1, self.writers))
            self.plan.forget(np.array(some))
            self.naive.forget(some)
        elif choice == 3:
            overlay, known = self.plan.overlay()
            push = np.zeros(self.plan.frame.nodes.count, np.bool_)
            push[known] = random_decisions(self.random, overlay)
            self.plan.decide(push)
            assert (self.plan.push == push).all()
        else:
            overlay = self.overlay()
            pairs = sum(map(len, self.sets))
            frame = self.plan.frame
            decisions = random_decisions(self.random, overlay)
            kept = {"dictionary": self.dictionary, "value_type": self.type, "pairs": pairs}
            self.plan = Plan(overlay, decisions, self.function, frame.contents, **kept)

    def check_that_none_could_be_covered_by_fewer(self, readers):
        """No partial aggregate has only writers of a changed reader that it takes one by one, if it can use it."""
        overlay, known = self.plan.overlay()
        push = self.plan.push[known]
        first = overlay.writers + overlay.readers
        for reader in readers:
            node = overlay.writers + reader
            own = set(overlay.inputs_of(node).tolist())
            single = {each for each in own if each < overlay.writers}
            if any(sign < 0 for sign in overlay.signs[overlay.starts[node] : overlay.starts[node + 1]]):
                continue
            for partial in range(first, overlay.nodes):
                counts = contributions(overlay, partial)
                if partial in own or (push[node] and not push[first:].all()) or set(counts.values()) != {1}:
                    continue
                assert len(counts) < 2 or not counts.keys() <= single

    def check(self):
        self.plan.check_invariants(self.neighbourhoods())
        assert self.plan.pairs == sum(map(len, self.sets))
        assert self.plan.sharing_index <= 1
        found = self.plan.read(np.arange(len(self.sets)))
        assert self.plan.values(found) == [expected(self.function, self.naive.values(each)) for each in self.sets]


@pytest.mark.parametrize("function", CASES, ids=repr)
@share(60)
@given(random=st.randoms(use_true_random=False))
def test_every_read_sees_all_writes_before_it(function, random):
    machine = Machine(random, aggregate_of(function), random.choice(CASES[function]), random.choice(WINDOWS))
    machine.check()
    for _ in range(random.randint(1, 6)):
        machine.batch() if random.random() < 0.7 else machine.change()
        machine.check()


@pytest.mark.parametrize("function", ["sum", "avg", "min", "max", "distinct", TopK(3), TopK(12)], ids=repr)
@share(40)
@given(random=st.randoms(use_true_random=False))
def test_long_batches_on_large_neighbourhoods_do_so_too(function, random):
    """Operations look ahead, tables of values are large enough for lists, and greatest values have ties."""
    values = random.choice([range(3), range(40), range(400)])
    window = random.choice([Last(1), Last(1), Last(2), Within(40)])
    machine = Machine(random, aggregate_of(function), values, window, most_writers=120, most_operations=150)
    for _ in range(random.randint(1, 5)):
        machine.batch() if random.random() < 0.7 else machine.change()
        machine.check()


def test_a_reader_that_is_kept_is_not_covered_by_what_is_pulled():
    """Three writers, whose partial aggregate is pulled, and one more; the second reader comes to have all of them."""
    lists = [*[[]] * 4, [6], [0, 1, 3], [0, 1, 2]]
    inputs = np.array([each for one in lists for each in one], np.int32)
    overlay = Overlay(4, 2, np.cumsum([0, *map(len, lists)]), inputs, np.ones(len(inputs), np.int8))
    push = np.array([True] * 4 + [False, True, False])
    contents = WindowContents(Last(1), 4)
    plan = Plan(overlay, push, aggregate_of("sum"), contents, dictionary=Dictionary(), value_type=INT, pairs=6)
    plan.follow(np.array([1]), np.array([0, 4]), np.arange(4))
    after, known = plan.overlay()
    assert sorted(after.inputs_of(5).tolist()) == [0, 1, 2, 3]
    nothing = np.zeros(0, np.int64)
    plan.run(np.full(4, WRITE, np.int8), np.arange(4), np.array([1, 10, 100, 1000]), nothing, nothing)
    assert plan.values(plan.read(np.arange(2))) == [111, 1111]
    # Where it is kept, it is used.
    push = np.zeros(plan.frame.nodes.count, np.bool_)
    push[known] = [True] * 4 + [False, True, True]
    plan.decide(push)
    plan.follow(np.array([1]), np.array([0, 2]), np.array([0, 1]))
    plan.follow(np.array([1]), np.array([0, 4]), np.arange(4))
    assert sorted(plan.overlay()[0].inputs_of(5).tolist()) == [3, 6]
    assert plan.values(plan.read(np.arange(2))) == [111, 1111]


@pytest.mark.parametrize("function", ["sum", "max", TopK(3)], ids=repr)
@pytest.mark.parametrize("ratio", [0.05, 20.0])
def test_a_plan_that_was_tried_has_its_own_windows(function, ratio):
    """What candidates are tried with is in no answer, and the one that is taken answers as all pull does."""
    rng = np.random.default_rng(3)
    count = 400
    pairs = Neighbourhoods.from_pairs(*rng.integers(0, count, (2, 2 * WORTH_A_TRIAL)), count, count)
    assert len(pairs) >= WORTH_A_TRIAL
    rates = Rates(np.full(count, ratio), np.ones(count))
    whole = aggregate_of(function)
    plans = [
        Planning(whole, Last(1), rates=rates, **more).plan(pairs, WindowContents(Last(1), count), INT)
        for more in ({}, {"method": Direct(), "decider": AllPull()})
    ]
    nothing = np.zeros(0, np.int64)
    kinds = rng.choice(np.array([WRITE, READ], np.int8), 3_000)
    batch = kinds, rng.integers(0, count, len(kinds)), rng.integers(0, 30, len(kinds)), nothing, nothing
    tried, pulled = (plan.column(plan.run(*batch)).to_pylist() for plan in plans)
    assert tried == pulled
    plans[0].frame.nodes.check_invariants()
