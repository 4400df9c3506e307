"""What statements mean for the graphs of a catalogue."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from graphtide.graph.schema import GraphSchema, Property, PropertyType
from graphtide.gvdl import MOST_VIEWS, BoundCollection, BoundView, bind, parse
from graphtide.gvdl.predicate import (
    ALL,
    And,
    Comparison,
    EdgeNumber,
    EdgeProperty,
    EndId,
    EndProperty,
    Expression,
    Literal,
    Side,
    conjunction,
    names_used,
)

INT, STRING, DATE, TIMESTAMP = PropertyType.INT, PropertyType.STRING, PropertyType.DATE, PropertyType.TIMESTAMP
YEAR = EdgeProperty("year", INT)


class Catalogue:
    """A graph of calls, one whose edges have ids and odd names, and a view."""

    def graphs(self) -> list[str]:
        return ["Calls", "Odd"]

    def views(self) -> list[str]:
        return ["Late"]

    def collections(self) -> list[str]:
        return ["by_year"]

    def schema(self, graph: str) -> GraphSchema:
        return {
            "Calls": GraphSchema(
                INT,
                (Property("state", STRING),),
                (
                    Property("year", INT),
                    Property("day", DATE),
                    Property("at", TIMESTAMP),
                    Property("weight", PropertyType.FLOAT),
                ),
            ),
            "Odd": GraphSchema(
                STRING,
                (Property("id", INT),),
                (Property("Id", STRING), Property("a", INT), Property("A", INT), Property("two words", INT)),
            ),
        }[graph]

    def view(self, name: str) -> BoundView:
        assert name == "Late"
        return BoundView("Late", "Calls", late)


late = Comparison(">", YEAR, Literal(2000, INT))


def predicate(condition: str, base: str = "Calls") -> Expression:
    text = f"create view v on {base} edges where {condition}"
    (statement,) = parse(text)
    view: Any = bind(statement, Catalogue(), text)  # type: ignore[call-overload]
    assert view.name == "v"
    return view.predicate


def collection(rest: str, base: str = "Calls") -> BoundCollection:
    text = f"create view collection c on {base} {rest}"
    (statement,) = parse(text)
    bound: Any = bind(statement, Catalogue(), text)  # type: ignore[call-overload]
    return bound


def is_at_most(bound: int) -> Comparison:
    return Comparison("<=", YEAR, Literal(bound, INT))


# ----------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("name", "base", "meaning"),
    [
        ("year", "Calls", YEAR),
        ("YEAR", "Calls", YEAR),
        ("src.state", "Calls", EndProperty(Side.SRC, "state", STRING)),
        ("DST.State", "Calls", EndProperty(Side.DST, "state", STRING)),
        ("ID", "Calls", EdgeNumber()),
        ("src.id", "Calls", EndId(Side.SRC, INT)),
        ("dst.ID", "Odd", EndId(Side.DST, STRING)),
        ("id", "Odd", EdgeProperty("Id", STRING)),
        ("a", "Odd", EdgeProperty("a", INT)),
        ("A", "Odd", EdgeProperty("A", INT)),
        ('"Two Words"', "Odd", EdgeProperty("two words", INT)),
    ],
)
def test_a_name_means_the_property_spelt_so_or_the_only_one_in_other_case(
    name: str, base: str, meaning: Expression
) -> None:
    assert predicate(f"{name} = {name}", base) == Comparison("=", meaning, meaning)


def test_the_names_used_are_columns_of_the_stored_graph() -> None:
    used = names_used(predicate("year + id > 3 and src.state is null or dst.id in (1, 2)"), predicate("weight > 1"))
    assert used == ({"year", "_edge", "weight"}, {"state"}, {"_id"})


# ----------------------------------------------------------------------------------------------------- types


@pytest.mark.parametrize(
    ("condition", "same"),
    [
        ("day < '2019-01-31'", "day < date '2019-01-31'"),
        ("'2019-01-31' < day", "date '2019-01-31' < day"),
        ("day < '2019-01-31 12:00'", "day < timestamp '2019-01-31 12:00:00'"),
        ("at < '2019-01-31'", "at < timestamp '2019-01-31 00:00:00'"),
        ("at in ('2019-01-31', day)", "at in (timestamp '2019-01-31', day)"),
        ("day between '2019-01-31' and at", "day between timestamp '2019-01-31' and at"),
        ("at < '2019-01-31 12:00:00.5-08:00'", "at < timestamp '2019-01-31 20:00:00.500000'"),
    ],
)
def test_a_string_among_moments_is_read_as_one(condition: str, same: str) -> None:
    assert predicate(condition) == predicate(same)


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("year + 1", INT),
        ("year % 2", INT),
        ("year / 2", PropertyType.FLOAT),
        ("year * weight", PropertyType.FLOAT),
        ("-weight", PropertyType.FLOAT),
        ("day - 7", DATE),
        ("7 + day", DATE),
        ("day - day", INT),
    ],
)
def test_arithmetic_has_the_type_of_its_result(expression: str, kind: PropertyType) -> None:
    bound = predicate(f"({expression}) = ({expression})")
    assert isinstance(bound, Comparison)
    assert bound.left.type is kind


# ----------------------------------------------------------------------------------------------------- views


def test_a_view_on_a_view_is_the_conjunction() -> None:
    assert predicate("year <= 3", base="Late") == And((late, is_at_most(3)))
    assert predicate("year <= 3 and year <= 4", base="Late") == And((late, is_at_most(3), is_at_most(4)))


def test_the_conjunction_with_everything_is_the_other() -> None:
    assert conjunction(ALL, late) == conjunction(late, ALL) == late
    assert conjunction(ALL, ALL) == ALL


def test_a_view_collection_keeps_its_order_and_adds_its_base_to_each_view() -> None:
    bound = collection("[b: year <= 2], [a: year <= 1] order given", base="Late")
    assert (bound.name, bound.graph, bound.order, bound.dimensions) == ("c", "Calls", "given", ())
    assert bound.views == (
        BoundView("b", "Calls", And((late, is_at_most(2)))),
        BoundView("a", "Calls", And((late, is_at_most(1)))),
    )
    assert collection("[a: year <= 1]").order == "auto"


def test_a_loop_makes_all_its_views_for_each_value() -> None:
    bound = collection("for y in 1..2 [until_$y: year <= $y], [${y}_not: not year <= $y]")
    assert [view.name for view in bound.views] == ["until_1", "1_not", "until_2", "2_not"]
    assert bound.views[2].predicate == is_at_most(2)


def test_variables_are_values_like_others() -> None:
    (view,) = collection("for y in 7..7 [window: year between $y - 5 and $y]").views
    assert view.predicate == predicate("year between 7 - 5 and 7")


def test_a_date_in_a_name_has_underscores() -> None:
    bound = collection("for d in date '2020-01-31'..date '2020-03-31' step 1 month [w_$d: at < $d]")
    assert [view.name for view in bound.views] == ["w_2020_01_31", "w_2020_02_29", "w_2020_03_31"]
    assert bound.views[1].predicate == Comparison("<", EdgeProperty("at", TIMESTAMP), Literal(date(2020, 2, 29), DATE))


@pytest.mark.parametrize(
    ("loop", "last"),
    [
        ("1..10 step 4", "9"),
        ("1..9 step 4", "9"),
        ("3..1 step -1", "1"),
        ("date '2020-01-01'..date '2020-01-08'", "2020_01_08"),
        ("date '2020-01-01'..date '2020-01-14' step 1 week", "2020_01_08"),
        ("date '2020-02-29'..date '2024-03-01' step 2 years", "2024_02_29"),
        ("date '2020-03-31'..date '2020-01-01' step -1 month", "2020_01_31"),
        ("date '9999-12-01'..date '9999-12-31' step 1 month", "9999_12_01"),
        ("date '9999-12-01'..date '9999-12-31' step 3 weeks", "9999_12_22"),
        ("9223372036854775806..9223372036854775807", "9223372036854775807"),
    ],
)
def test_a_loop_ends_at_the_last_value_within_its_ends(loop: str, last: str) -> None:
    assert collection(f"for v in {loop} [$v: true]").views[-1].name == last


def test_a_product_has_a_cell_per_combination_the_last_dimension_changing_fastest() -> None:
    bound = collection(
        "dimension period [p1: year <= 1], [p2: year <= 2] dimension size for a in 1..2 [a$a: weight <= $a]",
        base="Late",
    )
    assert [dimension.name for dimension in bound.dimensions] == ["period", "size"]
    assert [view.name for view in bound.views] == ["p1_a1", "p1_a2", "p2_a1", "p2_a2"]
    weights = predicate("weight <= 2")
    assert bound.views[1].predicate == And((late, is_at_most(1), weights))
    periods, sizes = bound.dimensions
    assert periods.views[0] == BoundView("p1", "Calls", And((late, is_at_most(1))))
    assert sizes.views[1] == BoundView("a2", "Calls", weights)


def test_as_many_views_as_allowed_are_bound() -> None:
    assert len(collection(f"for y in 1..{MOST_VIEWS} [v$y: year <= $y]").views) == MOST_VIEWS
    sides = "dimension a for x in 1..64 [a$x: year <= $x] dimension b for y in 1..64 [b$y: year > $y]"
    assert len(collection(sides).views) == MOST_VIEWS


def test_literals_keep_their_values() -> None:
    assert predicate("at = timestamp '2019-01-31 12:00:00'") == Comparison(
        "=", EdgeProperty("at", TIMESTAMP), Literal(datetime(2019, 1, 31, 12, tzinfo=UTC), TIMESTAMP)
    )
