"""Strata as collections of one dataflow: a stratum that recurs is a loop with a variable for each of its relations.

In a loop a relation is what its rules gave in the round before, with what comes from outside, made a set again; so the
index of that set serves the joins, if its columns stand in the order that most of them ask for. Joins
with relations from outside read the indexes that are there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial, reduce

from graphtide.dataflow.collection import Collection
from graphtide.dataflow.expressions import col, lit
from graphtide.dataflow.flow import Dataflow
from graphtide.dataflow.group import Grouped
from graphtide.dataflow.output import Output
from graphtide.datalog.body import Body, column_name, head_terms
from graphtide.datalog.functions import Refuse, refused
from graphtide.datalog.kinds import Kinds
from graphtide.datalog.ordering import ordered
from graphtide.datalog.program import Relation, Rule
from graphtide.datalog.strata import Stratum
from graphtide.datalog.syntax import Aggregate, Atom, Constant, Literal, Variable, variables_of
from graphtide.rows import Schema

__all__ = ["Planner", "join_order"]

_TYPES: Mapping[str, type] = {"number": int, "float": float, "symbol": str}


def join_order(rule: Rule, stratum: Stratum) -> tuple[Literal, ...]:
    """The literals of a rule in the order in which they are joined."""
    if rule.is_ordered:
        return rule.body
    return ordered(rule.body, frozenset(stratum.relations) if stratum.is_recursive else frozenset())


class Planner:
    """Relations as collections of a dataflow, each with an index that is kept, for readers and for what comes later."""

    def __init__(self, flow: Dataflow, kinds: Kinds, text: str, most_rounds: int) -> None:
        self._flow = flow
        self._refuse: Refuse = partial(refused, text)
        self._text = text
        self._kinds = kinds
        self._most_rounds = most_rounds
        self._unit: Collection | None = None
        self.made: dict[str, Collection] = {}
        self.indexes: dict[str, Output] = {}
        self._relations: dict[str, Relation] = {}
        self._narrowed: dict[tuple[int, tuple[object, ...]], Collection] = {}

    def schema(self, relation: Relation, order: Sequence[int] | None = None) -> Schema:
        """The columns of a relation as they are called inside, in some order of places."""
        if not relation.columns:
            return Schema([("_", int)])
        places = range(len(relation.columns)) if order is None else order
        return Schema([(column_name(place), _TYPES[self._kind(relation, place)]) for place in places])

    def public_schema(self, relation: Relation) -> Schema:
        """The columns of a relation as users call them."""
        places = range(len(relation.columns))
        return Schema([(relation.columns[place], _TYPES[self._kind(relation, place)]) for place in places])

    def enter(self, relation: Relation, collection: Collection) -> Output:
        """Know a relation by a collection of its rows, each at most once; an index of them is kept."""
        self._relations[relation.name] = relation
        self.made[relation.name] = collection
        self.indexes[relation.name] = collection.output(relation.name)
        return self.indexes[relation.name]

    def forget(self, names: Iterable[str]) -> None:
        """Let go of relations and of all that is kept for them alone."""
        for name in names:
            self.indexes.pop(name).close()
            del self.made[name]
        self._narrowed.clear()

    def install(self, strata: Iterable[Stratum], relations: Mapping[str, Relation]) -> None:
        """Plan strata, each after those it stands on; what they stand on must be known."""
        for stratum in strata:
            self._relations |= {name: relations[name] for name in stratum.relations}
            made = self._loop(stratum) if stratum.is_recursive else self._plain(stratum)
            for name, collection in made.items():
                natural = self.schema(relations[name])
                brought = collection if collection.schema.names == natural.names else collection.select(*natural)
                self.enter(relations[name], brought)

    # -- strata

    def _plain(self, stratum: Stratum) -> dict[str, Collection]:
        (name,) = stratum.relations
        relation = self._relations[name]
        natural = tuple(range(len(relation.columns)))
        parts = [self._rule(rule, stratum, natural) for rule in stratum.rules]
        if len(parts) == 1 and not relation.aggregates and _keeps_all(stratum.rules[0]):
            return {name: parts[0]}
        return {name: self._combined(parts, relation, natural, stratum.rules)}

    def _loop(self, stratum: Stratum) -> dict[str, Collection]:
        orders = {name: self._storage(stratum, self._relations[name]) for name in stratum.relations}
        start: dict[str, list[Collection]] = {name: [] for name in stratum.relations}
        for rule in stratum.rules:
            if not stratum.recurs(rule):
                start[rule.head.relation].append(self._rule(rule, stratum, orders[rule.head.relation]))
        title = ", ".join(stratum.relations)
        has_aggregates = any(self._relations[name].aggregates for name in stratum.relations)
        looping = self._flow.loop if has_aggregates else self._flow.monotone_loop
        with looping(max_rounds=self._most_rounds, name=title) as loop:
            variables = {
                name: loop.empty_variable(self.schema(self._relations[name], orders[name]))
                for name in stratum.relations
            }
            for name, variable in variables.items():
                parts = [variable, *start[name]]
                self.made[name] = self._combined(parts, self._relations[name], orders[name], stratum.rules)
            for name, variable in variables.items():
                rules = [each for each in stratum.rules if each.head.relation == name and stratum.recurs(each)]
                variable.becomes(_together([self._rule(rule, stratum, orders[name]) for rule in rules]))
            return {name: loop.leave(self.made[name]) for name in stratum.relations}

    def _storage(self, stratum: Stratum, relation: Relation) -> tuple[int, ...]:
        """The places of a relation in the order of its index: first those that most joins look it up by."""
        asked: Counter[tuple[int, ...]] = Counter()
        for rule in stratum.rules:
            if stratum.recurs(rule):
                asked.update(_lookups(join_order(rule, stratum), relation.name))
        keys = set(relation.keys)
        best = next((places for places, _ in asked.most_common() if places and keys.issuperset(places)), ())
        rest = [place for place in relation.keys if place not in best]
        return (*best, *rest, *(place for place in range(len(relation.columns)) if place not in keys))

    # -- rules

    def _rule(self, rule: Rule, stratum: Stratum, order: Sequence[int]) -> Collection:
        """What a rule gives, as often as it gives it."""
        body = Body(rule, self._kinds, self._found, self._the_unit, self._refuse)
        terms = head_terms(rule)
        return body.solutions(join_order(rule, stratum), {column_name(place): terms[place] for place in order})

    def _found(self, atom: Atom) -> Collection:
        """The rows of a relation that have the constants of an atom, and equal values where its variables are equal."""
        relation = self.made[atom.relation]
        first: dict[str, int] = {}
        pattern: list[object] = []
        condition = None
        for place, term in enumerate(atom.terms):
            column = col(column_name(place))
            asked = None
            if isinstance(term, Constant):
                kind = self._kind(self._relations[atom.relation], place)
                asked = column == lit(float(term.value) if kind == "float" else term.value)
                pattern.append((place, term.value))
            elif isinstance(term, Variable) and term.name in first:
                asked = column == col(column_name(first[term.name]))
                pattern.append((place, first[term.name], "same"))
            elif isinstance(term, Variable):
                first[term.name] = place
            if asked is not None:
                condition = asked if condition is None else condition & asked
        if condition is None:
            return relation
        key = (id(relation.node), tuple(pattern))
        if key not in self._narrowed:
            self._narrowed[key] = relation.where(condition)
        return self._narrowed[key]

    def _combined(
        self, parts: Sequence[Collection], relation: Relation, order: Sequence[int], rules: Sequence[Rule]
    ) -> Collection:
        """All that rules give, as a set or aggregated."""
        bag = _together(parts)
        if not relation.aggregates:
            return bag.distinct()
        keys = [column_name(place) for place in order if place in relation.keys]
        companion = column_name(len(relation.columns) - 1) if relation.has_companion else None
        columns = [
            self._sum(bag.group_by(*keys), relation.name, place, rules)
            if kind == "sum"
            else _aggregated(bag, keys, kind, column_name(place), companion)
            for place, kind in relation.aggregates
        ]
        joined = reduce(lambda a, b: a.join(b, on=keys), columns)
        names = [column_name(place) for place in order]
        return joined if list(joined.schema.names) == names else joined.select(*names)

    def _sum(self, grouped: Grouped, relation: str, place: int, rules: Sequence[Rule]) -> Collection:
        written = next(rule.head.terms[place] for rule in rules if rule.head.relation == relation)
        return grouped.sum(column_name(place), refuse=partial(refused, self._text, written))

    def _the_unit(self) -> Collection:
        """A collection of one row, for bodies without an atom."""
        if self._unit is None:
            made = self._flow.input("#unit", _=int)
            made.insert([(0,)])
            self._unit = made.arrange("_")
        return self._unit

    def _kind(self, relation: Relation, place: int) -> str:
        source = relation.sources[place]
        return "number" if source is None else self._kinds.of_column(*source)


def _aggregated(bag: Collection, keys: Sequence[str], kind: str, value: str, companion: str | None) -> Collection:
    grouped = bag.group_by(*keys)
    match kind:
        case "count":
            return grouped.count(value)
        case "min":
            return grouped.min(value) if companion is None else grouped.min(value, companion)
        case _ if companion is None:
            return grouped.max(value)
        case _:
            # The least companion goes with the greatest value.
            turned = bag.with_columns(**{companion: -col(companion)})
            return turned.group_by(*keys).max(value, companion).with_columns(**{companion: -col(companion)})


def _together(parts: Sequence[Collection]) -> Collection:
    return parts[0] if len(parts) == 1 else parts[0].concat(*parts[1:])


def _keeps_all(rule: Rule) -> bool:
    """Whether different solutions of a rule give different rows."""
    head = {each.name for term in rule.head.terms if not isinstance(term, Aggregate) for each in variables_of(term)}
    return bool(rule.atoms) and head.issuperset(each.name for atom in rule.atoms for each in variables_of(atom))


def _lookups(order: Sequence[Literal], relation: str) -> Iterable[tuple[int, ...]]:
    """The places of a relation that the joins of a rule look it up by."""
    known: set[str] = set()
    atoms = [each for each in order if isinstance(each, Atom)]
    for number, atom in enumerate(atoms):
        if atom.relation == relation:
            if number > 0:
                yield _shared(atom.terms, known)
            elif len(atoms) > 1:
                following = atoms[1]
                names = [each.name for each in variables_of(following)]
                places = {term.name: place for place, term in enumerate(atom.terms) if isinstance(term, Variable)}
                yield tuple(places[name] for name in dict.fromkeys(names) if name in places)
        known |= {each.name for each in variables_of(atom)}


def _shared(terms: Sequence[object], known: set[str]) -> tuple[int, ...]:
    return tuple(place for place, term in enumerate(terms) if isinstance(term, Variable) and term.name in known)
