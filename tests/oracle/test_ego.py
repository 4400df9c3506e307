"""Ego aggregates on a live graph equal a look at the graph and all that was written, after every operation."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import share
from tests.oracle.ego_naive import Writes, aggregate, neighbourhood

import graphtide as gt
from graphtide.ego import (
    AdaptiveMining,
    AllPull,
    AllPush,
    Direct,
    Greedy,
    Incremental,
    NegativeMining,
    OverlappingMining,
)
from graphtide.frontier import LiveGraph

VALUES = {int: [1, 2, 3, -4, 5], float: [0.1, 0.2, -1.5, 1e10, 3.0], str: ["a", "bb", "c"]}
FUNCTIONS = ["count", "sum", "avg", "min", "max", "distinct", gt.TopK(2)]
TIMES = {int: lambda t: t, float: lambda t: t / 2, date: lambda t: date(2024, 1, 1) + timedelta(days=t)}
SPANS = {int: 3, float: 1.5, date: timedelta(days=3)}


class Machine:
    """A live graph with an ego aggregate, and pairs of vertices with the values that they wrote."""

    def __init__(self, random):
        self.random = random
        self.edges = []  # (source, target, weight)
        self.vertices = set()
        self.clubs = {}  # by vertex, where it is known
        self.live = LiveGraph(weight=int, nodes={"club": str})
        self.insert(random.randint(1, 8))
        self.function = random.choice(FUNCTIONS)
        kinds = [int, float] if self.function in {"sum", "avg"} else [int, float, str]
        self.values = VALUES[random.choice(kinds)]
        self.shape = {"hops": random.choice([1, 2]), "along": random.choice(["in", "out", "both"])}
        self.with_ego = random.random() < 0.3
        self.heavy = random.random() < 0.3  # only edges of weight 2 or more count
        self.odd = random.random() < 0.3  # only vertices with odd ids are neighbours
        self.few = random.choice([None, None, "ids", "condition", "club"])
        self.same_club = random.random() < 0.2  # only edges within a club count
        # Only vertices of club a are neighbours: one that joins it may become a reader, and be read by others.
        self.in_a = random.random() < (0.5 if self.few == "club" else 0.2)
        self.readers = None  # those that are chosen by their ids
        timed = random.random() < 0.5
        self.time, self.as_time = 0, None
        if timed:
            kind = random.choice(list(TIMES))
            self.as_time = TIMES[kind]
            window, self.naive = gt.Within(SPANS[kind]), Writes(within=3)
        else:
            count = random.choice([1, 2])
            window, self.naive = gt.Last(count), Writes(last=count)
        if random.random() < 0.4:
            self.remove()  # it leaves numbers behind that are nobody's
        self.readers = set(self.vertices) if self.few == "ids" else None
        readers = {None: None, "ids": sorted(self.vertices), "condition": "id < 5", "club": "club = 'a'"}[self.few]
        of_edges = [*(["weight >= 2"] * self.heavy), *(["src.club = dst.club"] * self.same_club)]
        of_neighbours = [*(["id % 2 = 1"] * self.odd), *(["club = 'a'"] * self.in_a)]
        self.ego = self.live.ego(
            self.function,
            window=window,
            **self.shape,
            with_ego=self.with_ego,
            edges=" and ".join(of_edges) or None,
            neighbours=" and ".join(of_neighbours) or None,
            readers=readers,
            **self.policies(),
        )

    def policies(self):
        random = self.random
        methods = [None, Direct(), AdaptiveMining(chunk=3), Incremental()]
        methods += [NegativeMining()] if self.function not in {"min", "max"} else []
        methods += [OverlappingMining()] if self.function in {"min", "max", "distinct"} else []
        rates = random.choice([(1, 1), (1, 10), (10, 1), (dict.fromkeys(sorted(self.vertices), 2), {})])
        return {
            "overlay": random.choice(methods),
            "decide": random.choice([None, None, AllPush(), AllPull(), Greedy()]),
            "rates": rates,
        }

    def insert(self, count):
        random = self.random
        rows = [(random.randrange(7), random.randrange(7), random.randint(1, 3)) for _ in range(count)]
        self.live.apply(insert=rows)
        self.edges += rows
        self.vertices |= {vertex for row in rows for vertex in row[:2]}

    def can_read(self):
        if self.few == "ids":
            return sorted(self.readers)
        if self.few == "club":
            return sorted(vertex for vertex in self.vertices if self.clubs.get(vertex) == "a")
        return sorted(vertex for vertex in self.vertices if self.few is None or vertex < 5)

    def expected(self, vertex):
        pairs = [(source, target) for source, target, weight in self.edges if not self.heavy or weight >= 2]
        if self.same_club:
            clubs = self.clubs
            pairs = [pair for pair in pairs if clubs.get(pair[0], 0) == clubs.get(pair[1], 1)]
        near = neighbourhood(pairs, vertex, **self.shape, with_ego=self.with_ego)
        near = {each for each in near if not self.odd or each % 2 == 1}
        near = {each for each in near if not self.in_a or self.clubs.get(each) == "a"}
        name = self.function if isinstance(self.function, str) else "top"
        return aggregate(name, self.naive.values(near), 2)

    def at(self, time):
        return None if self.as_time is None else self.as_time(time)

    def one_write(self):
        vertex, value = self.random.choice(sorted(self.vertices)), self.random.choice(self.values)
        time = self.tick()
        if self.as_time and self.random.random() < 0.3:
            time = max(time - 2, 0)
        self.naive.write(vertex, value, time)
        return vertex, value, time

    def tick(self):
        self.time += self.random.choice([0, 0, 1, 2])
        return self.time

    def step(self):
        choice = self.random.randrange(11)
        if choice == 0:
            vertex, value, time = self.one_write()
            self.ego.write(vertex, value, self.at(time))
        elif choice == 1:
            rows = [self.one_write() for _ in range(self.random.randint(0, 4))]
            columns = [[row[c] for row in rows] for c in range(3)]
            times = [self.as_time(time) for time in columns[2]] if self.as_time else None
            if rows:
                self.ego.write_many(columns[0], columns[1], times)
        elif choice == 2:
            self.mixed()
        elif choice == 3 and self.as_time:
            self.naive.advance(self.tick())
            self.ego.advance(self.at(self.time))
        elif choice == 4:
            self.insert(self.random.randint(1, 3))
        elif choice == 5 and self.random.random() < 0.3:
            self.ego.rebuild()
        elif choice == 6:
            self.ego.adapt()
        elif choice == 7:
            self.join_clubs()
        elif choice in {8, 9}:
            self.remove()
        elif self.edges:
            self.delete_or_update()
        self.check()

    def remove(self):
        """Some vertices; whoever comes with such an id later is another one."""
        gone = set(self.random.sample(sorted(self.vertices), self.random.randint(0, min(2, len(self.vertices)))))
        self.live.remove_vertices(sorted(gone))
        self.vertices -= gone
        self.edges = [edge for edge in self.edges if not {*edge[:2]} & gone]
        self.naive.forget(gone)
        self.clubs = {vertex: club for vertex, club in self.clubs.items() if vertex not in gone}
        self.readers = None if self.readers is None else self.readers - gone
        if not self.vertices:
            self.insert(1)

    def join_clubs(self):
        random = self.random
        clubs = {random.randrange(7): random.choice(["a", "b"]) for _ in range(random.randint(1, 4))}
        self.live.set_vertices(list(clubs.items()))
        self.clubs |= clubs
        self.vertices |= clubs.keys()

    def mixed(self):
        rows, wanted = [], []
        for _ in range(self.random.randint(1, 5)):
            readable = self.can_read()
            if readable and self.random.random() < 0.5:
                time = self.tick()
                self.naive.advance(time)
                rows.append((self.random.choice(readable), None, True, time))
                wanted.append(self.expected(rows[-1][0]))
            else:
                vertex, value, time = self.one_write()
                rows.append((vertex, value, False, time))
        vertices, values, reads, times = ([row[c] for row in rows] for c in range(4))
        found = self.ego.run(vertices, values, reads, [self.at(time) for time in times] if self.as_time else None)
        assert found.to_pylist() == wanted

    def delete_or_update(self):
        edge = self.random.choice(self.edges)
        self.edges.remove(edge)
        if self.random.random() < 0.6 or sum(each[:2] == edge[:2] for each in self.edges):
            self.live.apply(delete=[edge])
        else:
            renewed = (*edge[:2], self.random.randint(1, 3))
            self.edges.append(renewed)
            self.live.apply(update=[renewed])

    def check(self):
        readable = self.can_read()
        self.ego.plan.check_invariants()
        wanted = [self.expected(vertex) for vertex in readable]
        assert self.ego.read_many(readable).to_pylist() == wanted
        table = self.ego.table()
        rows = dict(zip(table["vertex"].to_pylist(), table["value"].to_pylist(), strict=True))
        assert table.num_rows == len(rows)
        assert rows == dict(zip(readable, wanted, strict=True))


@share(150)
@given(random=st.randoms(use_true_random=False))
def test_answers_equal_recomputation_after_every_operation(random):
    machine = Machine(random)
    machine.check()
    for _ in range(random.randint(1, 8)):
        machine.step()


@share(60)
@given(random=st.randoms(use_true_random=False))
def test_watches_hear_of_every_change_and_of_nothing_else(random):
    machine = Machine(random)
    heard, alerts = [], []
    before = {vertex: machine.expected(vertex) for vertex in machine.can_read()}
    machine.ego.on_change(lambda changes: heard.extend(changes.to_pylist()))
    machine.ego.alert(lambda value: value not in (None, 0, []), lambda *each: alerts.append(each))
    for _ in range(random.randint(1, 6)):
        heard.clear()
        alerts.clear()
        machine.step()
        after = {vertex: machine.expected(vertex) for vertex in machine.can_read()}
        stay = before.keys() & after.keys()  # one that leaves its club may read no more
        changed = {vertex: (before[vertex], after[vertex]) for vertex in stay if before[vertex] != after[vertex]}
        told = {row["vertex"]: (row["before"], row["after"]) for row in heard}
        assert told.keys() <= stay
        assert told == changed
        rises = {v: pair[1] for v, pair in told.items() if pair[1] not in (None, 0, []) and pair[0] in (None, 0, [])}
        assert dict(alerts) == rises
        before = after


@pytest.mark.parametrize("along", ["in", "out", "both"])
def test_parallel_edges_count_once_and_loops_not_at_all(along):
    live = LiveGraph()
    live.apply(insert=[(1, 2), (1, 2), (2, 1), (2, 1), (2, 2)])
    ego = live.ego("sum", along=along)
    ego.write_many([1, 2], [10, 100])
    assert (ego.read(1), ego.read(2)) == (100, 10)
    live.apply(delete=[(1, 2), (2, 1)])
    assert (ego.read(1), ego.read(2)) == (100, 10)


@pytest.mark.parametrize("with_ego", [False, True])
@pytest.mark.parametrize("along", ["in", "out", "both"])
@share(25)
@given(random=st.randoms(use_true_random=False))
def test_neighbourhoods_of_one_hop_follow_batches_with_loops_and_parallel_edges(along, with_ego, random):
    """Only what a batch changed is looked at: no edge, the last of many, a loop, the same edge lost and gained."""
    live, edges, vertices = LiveGraph(), [(0, 1)], {0, 1}
    live.apply(insert=edges)
    few = random.choice([None, "id % 2 = 1"])
    ego = live.ego("sum", along=along, with_ego=with_ego, neighbours=few, decide=random.choice([AllPush(), AllPull()]))
    for _ in range(8):
        gone = random.sample(edges, random.randint(0, min(3, len(edges))))
        for edge in gone:
            edges.remove(edge)
        come = [(random.randrange(4), random.randrange(4)) for _ in range(random.randint(0, 3))]
        edges += come
        live.apply(insert=come, delete=gone)
        fresh = {vertex for edge in come for vertex in edge} - vertices
        vertices |= fresh
        if fresh or len(vertices) == 2:
            ego.write_many(sorted(vertices), [10**vertex for vertex in sorted(vertices)])
        for vertex in vertices:
            near = neighbourhood(edges, vertex, 1, along, with_ego=with_ego)
            assert ego.read(vertex) == sum(10**each for each in near if few is None or each % 2 == 1)
        ego.plan.check_invariants()
