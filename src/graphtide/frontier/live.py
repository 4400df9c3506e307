"""A graph that changes in batches, and the queries that stay true on it.

Invariant: a batch is checked whole before anything changes. After it, every query's answer is that of
its program on the graph as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from graphtide.ego.aggregates import Function, aggregate_of
from graphtide.ego.building import Method
from graphtide.ego.costs import Costs
from graphtide.ego.decisions import Decider
from graphtide.ego.windows import Window, window_of
from graphtide.errors import CatalogueError
from graphtide.frontier.admission import admit, admit_sum
from graphtide.frontier.applied import Applied
from graphtide.frontier.arguments import check_name, ids_of, policy_of
from graphtide.frontier.budget import Budget
from graphtide.frontier.conditions import EdgeCondition
from graphtide.frontier.delta import Rows
from graphtide.frontier.edges import Edges
from graphtide.frontier.ego import Ego, Policies, Rate
from graphtide.frontier.ego_watch import Notice
from graphtide.frontier.expansion import ife
from graphtide.frontier.ground import Admitted, EdgeGround, Ground
from graphtide.frontier.labels import label_codes, path_graph
from graphtide.frontier.landmarks import GREATEST_WEIGHT, Landmarks, known_vertices, most_connected, weights_taken
from graphtide.frontier.maintenance import JoinOnDemand, Maintenance
from graphtide.frontier.message import CompiledMessage, compile_message
from graphtide.frontier.outcome import Outcome
from graphtide.frontier.pagerank import pagerank
from graphtide.frontier.path_graph import PathGraph
from graphtide.frontier.pattern import automaton
from graphtide.frontier.program import Along, Program, distances
from graphtide.frontier.query import ProgramQuery, Query
from graphtide.frontier.report import SharedPart, memory_table
from graphtide.frontier.steps import Begin
from graphtide.frontier.sum_program import SumProgram
from graphtide.frontier.surroundings import Choice, Some, Surroundings
from graphtide.frontier.turnover import NOBODY, check_unused, gone_if_refused
from graphtide.frontier.vertices import Vertices
from graphtide.graph.as_networkx import as_networkx
from graphtide.rows import Schema, Type
from graphtide.rows.codes import Codes
from graphtide.rows.tabular import Tabular

__all__ = ["LiveGraph"]

_NONE: Final = ()


class LiveGraph(Tabular):
    """Edges with properties, changed in batches.

    >>> live = LiveGraph(length=int)
    >>> live.apply(insert=[(1, 2, 30), (2, 3, 10), (1, 3, 50)])
    <changes of 0 queries by batch 1>
    >>> near = live.sssp(1, weight="length", name="near")
    >>> live.apply(delete=[(2, 3)])["near"].to_pylist()
    [{'vertex': 3, 'distance': 40, 'diff': -1}, {'vertex': 3, 'distance': 50, 'diff': 1}]
    """

    def __init__(
        self,
        *,
        ids: type = int,
        maintain: Maintenance | None = None,
        nodes: Mapping[str, object] | None = None,
        **properties: object,
    ) -> None:
        """A graph without edges: the type of ids, and the types of properties of nodes and of edges by their names."""
        self.schema = Schema({"src": ids, "dst": ids, **properties})
        self.maintain = policy_of(maintain, JoinOnDemand())
        self._edges = Edges(self.schema)
        self._vertices = Vertices(self._edges, nodes or {})
        self._ground = EdgeGround(self._edges)
        self._path_graphs: dict[tuple[str, str], PathGraph] = {}
        self._queries: dict[str, Query] = {}
        self._egos: dict[str, Ego] = {}
        self.batches = 0  # that were applied
        self._registered = 0

    def __repr__(self) -> str:
        return f"<LiveGraph: {self.vertices:,} vertices, {self.edges:,} edges, {len(self._queries)} queries>"

    @property
    def vertices(self) -> int:
        """How many vertices there are: edges were seen at them, they were added, or a query began there."""
        return self._edges.vertices

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return self._edges.adjacency.edges

    @property
    def nbytes(self) -> int:
        """Bytes of the edges, of all queries, and of what queries share."""
        kept: list[Query | SharedPart] = [*self._queries.values(), *self._shared()]
        return sum(each.nbytes if isinstance(each, Query) else each.bytes for each in kept)

    def memory(self) -> pa.Table:
        """All bytes: a row for each query, and one without a name for each part that queries share.

        >>> live = LiveGraph()
        >>> near = live.k_hop(1, 3, name="near")
        >>> live.memory().select(["name", "kind", "differences"]).to_pylist()[:2]
        [{'name': 'near', 'kind': 'k hop', 'differences': 1}, {'name': None, 'kind': 'edges', 'differences': None}]
        """
        return memory_table((query.report for query in self._queries.values()), self._shared())

    def _shared(self) -> list[SharedPart]:
        parts = [*self._edges.shared, *self._vertices.shared, *self._ground.shared]
        for (pattern, _), graph in self._path_graphs.items():
            parts += graph.shared_by(pattern)
        return parts + [SharedPart(f"ego {ego.name}", ego.nbytes) for ego in self._egos.values()]

    @property
    def queries(self) -> dict[str, Query]:
        """The registered queries by name."""
        return dict(self._queries)

    def table(self) -> pa.Table:
        """All edges: their ends and their properties."""
        return self._edges.table()

    def to_networkx(self) -> Any:
        """The graph as a NetworkX MultiDiGraph, with the users' ids and all properties that are not missing."""
        nodes = ((node.pop("id"), node) for node in self.vertex_table().to_pylist())
        edges = ((edge.pop("src"), edge.pop("dst"), edge) for edge in self.table().to_pylist())
        return as_networkx("", nodes, edges)

    def _as_table(self) -> pa.Table:
        return self.table()

    def add_vertices(self, ids: Any) -> None:
        """Let there be vertices without edges, by a list or column of ids; those that are there stay as they are."""
        known = self._edges.adjacency.vertices
        self._edges.add_vertices(ids)
        self._follow_vertices(known)

    def remove_vertices(self, ids: Any) -> Applied:
        """Remove vertices, by a list or column of ids, and all edges at them; the changes of every query by its name.

        Their properties and what they wrote are gone, too: one that is added again is a new vertex. A vertex at which
        a query begins or ends stays until the query is dropped.

        >>> live = LiveGraph()
        >>> _ = live.apply(insert=[(1, 2), (2, 3)])
        >>> live.remove_vertices([2])
        <changes of 0 queries by batch 2>
        >>> live
        <LiveGraph: 2 vertices, 0 edges, 0 queries>
        """
        vertices = np.unique(self._edges.known_numbers(ids, "remove"))
        check_unused(self._edges, self._queries.values(), vertices)
        return self._remove(vertices)

    def _remove(self, vertices: Codes) -> Applied:
        nothing = self._edges.nothing
        return self._apply(nothing, self._edges.leaving_with(vertices), nothing, vertices)

    def set_vertices(self, rows: Any) -> None:
        """Give vertices properties: rows with their ids and with all or some of the properties.

        Those that were not there become vertices of the graph.

        >>> live = LiveGraph(ids=str, nodes={"state": str})
        >>> live.set_vertices([{"id": "Reno", "state": "NV"}])
        >>> live.vertex_table().to_pylist()
        [{'id': 'Reno', 'state': 'NV'}]
        """
        known = self._edges.adjacency.vertices
        numbers = self._vertices.put(rows)
        self._follow_vertices(known, lambda ego: ego.follow_properties(numbers))

    def vertex_table(self) -> pa.Table:
        """All vertices: their ids and their properties."""
        return self._vertices.table()

    def _follow_vertices(self, known: int, how: Callable[[Ego], Notice | None] | None = None) -> None:
        """Let queries know of new vertices, and ego aggregates of what else there is to follow."""
        nothing, outcome = self._edges.nothing, Outcome()
        if self._edges.has_new(known):
            self._change((nothing, nothing, nothing), known, outcome)
        if how is not None:
            outcome.follow(self._egos.values(), how)
        outcome.settle()

    def apply(self, *, insert: Any = _NONE, delete: Any = _NONE, update: Any = _NONE) -> Applied:
        """Change the graph and every query: rows to insert, to delete and to give other properties.

        A row names its ends and, to insert, all properties. To delete, the ends are enough unless parallel
        edges differ; properties that are given must be the edge's. To update, those that are given are new.
        Gives the changes of every query by its name. A batch is refused whole, or applied whole: a query that cannot
        follow it is dropped by name, callbacks are called when all others have, and errors come out at the end.
        """
        edges = self._edges
        entering = leaving = renewed = edges.nothing
        if insert is not _NONE:
            entering = edges.entering(insert)
        if delete is not _NONE:
            leaving = edges.leaving(delete, "delete")
        if update is not _NONE:
            renewed = edges.leaving(update, "update")
        return self._apply(entering, leaving, renewed)

    def _apply(self, entering: Rows, leaving: Rows, renewed: Rows, went: Codes = NOBODY) -> Applied:
        """Change edges, and who is there; what that did."""
        outcome = Outcome()
        self._change((entering, leaving, renewed), self._edges.adjacency.vertices, outcome, went)
        outcome.settle()
        return Applied(self, self.batches)

    def _change(self, rows: tuple[Rows, Rows, Rows], known: int, outcome: Outcome, went: Codes = NOBODY) -> None:
        """Let edges enter, leave and be renewed, and vertices go; bring all queries up to date.

        There were so many numbers of vertices before.
        """
        ground = self._ground
        ground.prepare()
        self._edges.change(*rows)
        self._edges.settle(known, went)
        if len(went):
            self._vertices.forget(went)
        self.batches += 1
        turnover = self._edges.turnover
        failures = ground.follow(turnover)
        if self._path_graphs or self._egos:
            delta = self._edges.adjacency.delta
            for (_, label), graph in self._path_graphs.items():
                graph.follow_edges(self._edges.adjacency.vertices, *delta.in_column(self._edges.column(label)))
            outcome.follow(self._egos.values(), lambda ego: ego.follow(delta, turnover))
        if failures:
            programs = [query for query in self._queries.values() if isinstance(query, ProgramQuery)]
            outcome.errors.append(failures.drop(programs, self.batches))

    # -- queries

    def ife(
        self, program: Program | SumProgram, *, name: str | None = None, maintain: Maintenance | None = None
    ) -> Query:
        """Keep the answer of any program."""
        name = self._free_name(name)
        maintain = policy_of(maintain, self.maintain)
        if isinstance(program, SumProgram):
            message: CompiledMessage = admit_sum(self._edges, program, name)
        else:
            message = admit(self._edges, program, name)
        if isinstance(maintain, Budget):
            self._check_room(program, message, maintain)
        with gone_if_refused(self._edges, self._remove):
            return self._keep(self._ground, Admitted(program, message, self._begin(program, message)), name, maintain)

    def _check_room(self, program: Program | SumProgram, message: CompiledMessage, budget: Budget) -> None:
        """Raise if a query does not fit, before its initial states make vertices known."""
        initial = (program.beginnings if isinstance(program, SumProgram) else program.initial) or {}
        known = {vertex: state for vertex, state in initial.items() if self._edges.known(vertex) is not None}
        if len(known) < len(initial):
            fewer = replace(program, initial=known)
            admitted = Admitted(fewer, message, self._begin(fewer, message))
            self._ground.check_room(admitted, budget, len(initial) - len(known))

    def _ask(self, kind: str, program: Program | SumProgram, **more: Any) -> Query:
        """Keep the answer of a program that users know by its kind."""
        query = self.ife(program, **more)
        query.kind = kind
        return query

    def sssp(self, source: Any, weight: str | None = None, **more: Any) -> Query:
        """The distance of every vertex that can be reached from `source`: sums of weights, or numbers of edges."""
        return self._ask("shortest paths", distances(source, weight), **more)

    def shortest_path(
        self,
        source: Any,
        target: Any,
        weight: str | None = None,
        *,
        name: str | None = None,
        maintain: Maintenance | None = None,
    ) -> Query:
        """The distance from `source` to `target`, while there is a path.

        With landmarks on the weight it keeps differences only around the pair, or, from scratch, searches there alone.
        """
        maintain = policy_of(maintain, self.maintain)
        program = distances(source, weight)
        with gone_if_refused(self._edges, self._remove):
            ends = self._number(source), self._number(target)
            if self._ground.prunes(weight, maintain):
                name = self._free_name(name)
                message = admit(self._edges, program, name)
                admitted = Admitted(program, message, self._begin(program, message))
                query = self._register(self._ground.keep_pair(admitted, maintain, ends, live=self, name=name))
            else:
                query = self.ife(program, name=name, maintain=maintain)
                query.aim_at(ends[1])
        query.kind = "shortest path"
        return query

    def landmarks(
        self,
        count: int = 10,
        weight: str | None = None,
        *,
        at: Iterable[Any] | None = None,
        name: str | None = None,
        maintain: Maintenance | None = None,
    ) -> Landmarks:
        """Keep the distances from and to a few vertices, by which queries for shortest paths on the weight do less.

        They are the `count` vertices with the most edges, or those `at` the ids given.

        >>> live = LiveGraph(length=int)
        >>> _ = live.apply(insert=[(1, 2, 30), (2, 3, 10), (1, 3, 50), (3, 1, 5)])
        >>> live.landmarks(1, "length").bounds(1, 2)
        (30, 30)
        """
        ground, edges = self._ground, self._edges
        if ground.landmarks_on(weight) is not None:
            on = "numbers of edges" if weight is None else f'"{weight}"'
            raise CatalogueError(f"there are landmarks on {on} already", hint="drop them first: one index prunes all")
        name = self._free_name(name or ("landmarks" if weight is None else f"landmarks on {weight}"))
        chosen = most_connected(edges, count) if at is None else known_vertices(edges, at)
        ids = edges.ids_of(np.array(chosen, np.int64)).to_pylist()
        programs = [distances(vertex, weight, along) for vertex in ids for along in ("out", "in")]
        message = admit(edges, programs[0], name, GREATEST_WEIGHT)
        admitted = [Admitted(program, message, self._begin(program, message)) for program in programs]
        parts = ground.keep_all(admitted, self.maintain if maintain is None else maintain, live=self, name=name)
        index = Landmarks(self, edges, name, ground.pairs_on(weight), at=chosen, parts=parts)
        self._register(index)
        index.pairs.stand_by(index)
        return index

    def k_hop(self, source: Any, hops: int, **more: Any) -> Query:
        """The vertices at most so many edges from `source`, and how many it takes."""
        return self._ask("k hop", ife("hop", initial={source: 0}, rounds=hops, state="hops"), **more)

    def wcc(self, **more: Any) -> Query:
        """Weakly connected components: the least vertex that each vertex is connected to."""
        return self._ask("components", ife("copy", along="both", state="component"), **more)

    def regular_path(
        self,
        pattern: str,
        sources: Iterable[Any] | None = None,
        *,
        label: str = "label",
        name: str | None = None,
        maintain: Maintenance | None = None,
    ) -> Query:
        """The vertices at the end of a path from one of the sources (or from anywhere) whose labels fit a pattern.

        A pattern has labels, `.` for any, `^knows` for an edge that is gone along backwards, sequences with blanks or
        `/`, alternatives with `|`, groups, and `*`, `+`, `?`. The answer has the least number of edges that it takes.

        >>> live = LiveGraph(label=str)
        >>> _ = live.apply(insert=[(1, 2, "knows"), (2, 3, "knows"), (3, 9, "likes")])
        >>> live.regular_path("knows+ likes", [1]).result().to_pylist()
        [{'vertex': 9, 'length': 3}]
        """
        name = self._free_name(name)
        machine = automaton(pattern)
        codes = label_codes(self._edges, machine, label)
        ids = None if sources is None else ids_of(sources, "sources")
        with gone_if_refused(self._edges, self._remove):
            begin = None if ids is None else {self._number(each) * machine.states: 0 for each in ids}
            program = Program("hop", initial=begin, state="length")
            pairs = np.array([] if begin is None else list(begin), np.int32)
            graph = self._path_graphs.get((pattern, label)) or path_graph(self._edges, machine, label, codes)
            admitted = Admitted(program, compile_message(program), (pairs, np.zeros(len(pairs), np.int64)))
            query = self._keep(graph, admitted, name, maintain)
        self._path_graphs[pattern, label] = graph
        query.kind = "path"
        return query

    def pagerank(self, rounds: int = 10, damping: float = 0.85, **more: Any) -> Query:
        """PageRank after so many rounds, in which every vertex sets out with rank 1 and keeps `1 - damping` of it.

        Ranks are not divided by the number of vertices, and what reaches a vertex without edges out of it is not
        dealt out to all: either would change every rank with every edge.
        """
        return self._ask("pagerank", pagerank(rounds, damping), **more)

    def ego(
        self,
        function: str | Function,
        *,
        window: Window | None = None,
        hops: int = 1,
        along: Along = "in",
        with_ego: bool = False,
        readers: Some | None = None,
        neighbours: Some | None = None,
        edges: str | None = None,
        values: object = None,
        overlay: Method | None = None,
        decide: Decider | None = None,
        rates: tuple[Rate, Rate] = (1.0, 1.0),
        costs: Costs | None = None,
        name: str | None = None,
    ) -> Ego:
        """Aggregate what the neighbours of each vertex wrote: "sum", "max", TopK(3), or an Aggregate of your own.

        The window is the last value of each, Last(c) or Within(t). Neighbours are where edges "in" come from, where
        edges "out" lead to, or "both", up to two hops away. `readers` and `neighbours` are ids, or a condition such as
        "state = 'CA'"; `edges` is one such as "year > 2018 and src.state = dst.state". `values` is the type of
        what is written, if not the first is to say it.
        `overlay` says how sharing is looked for, `decide` what is kept up to date, `rates` how often vertices
        write and are read: two numbers, or numbers by vertex, `costs` what a push and a pull cost by the number of
        inputs, if that is not to be measured. They change cost, never answers. Unless `decide` or `costs` is given,
        large plans are tried, and what `overlay` found is used only if one that shares it is clearly faster than those
        that share nothing; `explain()` says which was taken.

        >>> live = LiveGraph()
        >>> _ = live.apply(insert=[(1, 3), (2, 3), (3, 4)])
        >>> ego = live.ego("sum")
        >>> ego.write_many([1, 2], [4, 5])
        >>> ego.read(3), ego.read(4)
        (9, 0)
        """
        name = self._free_name(name)
        own = self._edges
        surroundings = Surroundings(
            own,
            hops,
            along,
            with_ego=with_ego,
            writers=Choice(own, self._vertices, neighbours, "take in"),
            where=None if edges is None else EdgeCondition(edges, own, self._vertices),
        )
        ego = Ego(
            self,
            own,
            name,
            function=aggregate_of(function),
            window=window_of(window),
            surroundings=surroundings,
            readers=Choice(own, self._vertices, readers, "read at"),
            policies=Policies(overlay, decide, rates, costs),
            value_type=None if values is None else Type.of(values),
        )
        self._egos[name] = ego
        return ego

    def forget_ego(self, ego: Ego) -> None:
        """Take an ego aggregate out."""
        del self._egos[ego.name]

    def forget(self, query: Query) -> None:
        """Take a query out, and what only it needed."""
        del self._queries[query.name]
        self._sort()
        if isinstance(query, Landmarks):
            self._ground.forget_landmarks(query)
        elif isinstance(query, ProgramQuery):
            query.ground.forget(query)
            self._path_graphs = {at: graph for at, graph in self._path_graphs.items() if not graph.is_bare}

    def _keep(self, ground: Ground, admitted: Admitted, name: str, maintain: Maintenance | None) -> Query:
        """Keep a program on the edges or on a product of them, by the graph's policy if no other is given."""
        query = ground.keep(admitted, policy_of(maintain, self.maintain), live=self, edges=self._edges, name=name)
        return self._register(query)

    def _number(self, vertex: Any) -> int:
        """The number of a vertex that a query speaks of; it becomes one of the graph."""
        known = self._edges.adjacency.vertices
        number = self._edges.number(vertex)
        self._follow_vertices(known)
        return number

    def _free_name(self, name: str | None) -> str:
        check_name(name)
        self._registered += 1
        if name in self._queries or name in self._egos:
            raise CatalogueError(f'there is a query "{name}" already', hint="drop it, or take another name")
        return f"q{self._registered}" if name is None else name

    def _register(self, query: Query) -> Query:
        self._queries[query.name] = query
        self._sort()
        return query

    def _sort(self) -> None:
        """Know by weight what all queries on it take, without asking thousands of them at every batch."""
        self._edges.limit(weights_taken(self._edges, self._queries.values()))

    def _begin(self, program: Program | SumProgram, message: CompiledMessage) -> Begin:
        """Numbers of the vertices that are given states, and these."""
        initial = program.beginnings
        vertices = np.array([self._number(vertex) for vertex in initial], np.int32)
        return vertices, np.array([state * program.sign for state in initial.values()], message.dtype)
