"""Graphs that come with the package: equal to what their publishers and our README say of them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from graphtide import datasets


def counts(edges: pa.Table) -> tuple[int, int, int]:
    """Vertices, rows, and distinct pairs of ends."""
    distinct = set(zip(edges["src"].to_pylist(), edges["dst"].to_pylist(), strict=True))
    return len({end for pair in distinct for end in pair}), edges.num_rows, len(distinct)


def of_kind(name: str, kind: str) -> pa.Table:
    return datasets.load(name).filter(pc.field("kind") == kind)


def pairs(name: str) -> zip[tuple[int, int]]:
    edges = datasets.load(name)
    return zip(edges["src"].to_pylist(), edges["dst"].to_pylist(), strict=True)


@pytest.mark.parametrize(
    ("name", "kind", "published"),
    [
        ("CollegeMsg", None, (1_899, 59_835, 20_296)),
        ("email-Eu-core-temporal", None, (986, 332_334, 24_929)),
        ("sx-mathoverflow", None, (24_818, 506_550, 239_978)),
        ("sx-mathoverflow", "a2q", (21_688, 107_581, 90_489)),
        ("sx-mathoverflow", "c2q", (16_836, 203_639, 101_329)),
        ("sx-mathoverflow", "c2a", (13_840, 195_330, 81_121)),
        ("higgs-twitter", "RT", (256_491, 354_930, 328_132)),
        ("higgs-twitter", "MT", (116_408, 171_237, 150_818)),
        ("higgs-twitter", "RE", (38_918, 36_902, 32_523)),
    ],
)
def test_temporal_graphs_have_the_published_sizes(name: str, kind: str | None, published: tuple[int, ...]) -> None:
    assert counts(of_kind(name, kind) if kind else datasets.load(name)) == published


@pytest.mark.parametrize(("name", "days"), [("CollegeMsg", 193), ("sx-mathoverflow", 2_350)])
def test_temporal_graphs_span_the_published_days(name: str, days: int) -> None:
    times = datasets.load(name)["time"]
    assert (times[-1].as_py() - times[0].as_py()).days == days


def test_edits_of_wikipedia_are_by_the_published_users_of_the_published_pages() -> None:
    edits = datasets.load("wikipedia-edits")
    numbers = [len(edits[column].unique()) for column in ("src", "dst", "language")]
    assert [edits.num_rows, *numbers] == [39_244, 10_531, 35_278, 51]


def test_e_mails_span_803_days_from_0() -> None:
    seconds = datasets.load("email-Eu-core-temporal")["time"].to_numpy()
    assert seconds[0] == 0
    assert seconds[-1] // 86_400 == 803


@pytest.mark.parametrize(
    ("name", "vertices", "edges", "weak", "strong"),
    [
        ("email-Eu-core", 1_005, 25_571, 986, 803),
        ("cit-HepPh", 34_546, 421_578, 34_401, 12_711),
        ("p2p-31", 62_586, 147_892, 62_561, 14_149),
        ("ego-Twitter", 81_306, 1_768_135, 81_306, 68_413),
        ("soc-Slashdot0902", 82_168, 948_464, 82_168, 71_307),
    ],
)
def test_static_graphs_have_the_published_components(
    name: str, vertices: int, edges: int, weak: int, strong: int
) -> None:
    graph = nx.DiGraph(pairs(name))
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (vertices, edges)
    assert max(map(len, nx.weakly_connected_components(graph))) == weak
    assert max(map(len, nx.strongly_connected_components(graph))) == strong


@pytest.mark.parametrize(("name", "triangles"), [("email-Eu-core", 105_461), ("p2p-31", 2_024), ("as-caida", 36_365)])
def test_static_graphs_have_the_published_triangles(name: str, triangles: int) -> None:
    graph = nx.Graph(pairs(name))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    assert sum(nx.triangles(graph).values()) == 3 * triangles


def test_members_are_of_42_departments() -> None:
    assert sorted(datasets.nodes("email-Eu-core")["department"].unique().to_pylist()) == list(range(42))


def test_events_are_of_230_kinds_among_7128_actors_on_365_days() -> None:
    events = datasets.load("icews14")
    assert counts(events)[:2] == (7_128, 90_730)
    assert len(events["event"].unique()) == 230
    assert len(events["day"].unique()) == 365
    assert {day.year for day in events["day"].unique().to_pylist()} == {2014}


def test_a_paper_is_submitted_in_the_month_of_its_number_but_for_a_few() -> None:
    papers = datasets.nodes("cit-HepPh")
    missing = papers["date"].null_count
    assert f"missing for {missing:,} papers" in datasets.describe("cit-HepPh").nodes
    assert f"of the {papers.num_rows - missing:,} dates" in datasets.describe("cit-HepPh").made
    dated = papers.drop_null()
    months = [f"{number:07d}"[:4] for number in dated["id"].to_pylist()]
    agree = [date.strftime("%y%m") == month for date, month in zip(dated["date"].to_pylist(), months, strict=True)]
    assert np.mean(agree) > 0.98


def test_a_paper_seldom_cites_a_later_one() -> None:
    dates = dict(zip(*(column.to_pylist() for column in datasets.nodes("cit-HepPh").columns), strict=True))
    citations = datasets.load("cit-HepPh")
    known = [
        (dates[citing], dates[cited])
        for citing, cited in zip(citations["src"].to_pylist(), citations["dst"].to_pylist(), strict=True)
        if dates[citing] and dates[cited]
    ]
    assert np.mean([citing >= cited for citing, cited in known]) > 0.98


@pytest.mark.parametrize("release", ["bullseye", "bookworm", "trixie"])
def test_a_release_holds_its_packages_and_what_they_need(release: str) -> None:
    packages, needs = (table.filter(pc.field(release)) for table in (datasets.nodes("debian"), datasets.load("debian")))
    present = set(packages["id"].to_pylist())
    assert set(needs["src"].to_pylist()) | set(needs["dst"].to_pylist()) <= present
    made = datasets.describe("debian").made
    assert f"{len(present):,}" in made
    assert f"{needs.num_rows:,}" in made


def test_needs_of_packages_are_distinct_of_three_kinds_and_each_in_some_release() -> None:
    needs = datasets.load("debian")
    assert needs.group_by(["src", "dst", "kind"]).aggregate([]).num_rows == needs.num_rows
    assert set(needs["kind"].unique().to_pylist()) == {"depends", "pre-depends", "recommends"}
    for table in (needs, datasets.nodes("debian")):
        assert pc.all(pc.or_(pc.or_(table["bullseye"], table["bookworm"]), table["trixie"])).as_py()
    missing = datasets.nodes("debian")["installed_kb"].null_count
    assert f"installed_kb (missing for {missing})" in datasets.describe("debian").nodes


@pytest.mark.parametrize(
    ("name", "without_route"), [("air-routes", "{} airports have no route"), ("openflights", "{:,} airports")]
)
def test_airports_lie_on_the_globe_and_some_have_no_route(name: str, without_route: str) -> None:
    airports, routes = datasets.nodes(name), datasets.load(name)
    assert pc.all(pc.less_equal(pc.abs(airports["lat"]), 90)).as_py()
    assert pc.all(pc.less_equal(pc.abs(airports["lon"]), 180)).as_py()
    served = set(routes["src"].to_pylist()) | set(routes["dst"].to_pylist())
    assert without_route.format(airports.num_rows - len(served)) in datasets.describe(name).made


def test_a_route_is_about_as_long_as_the_arc_between_its_airports() -> None:
    places = {
        row["id"]: np.radians([row["lat"], row["lon"]])
        for row in datasets.nodes("air-routes").select(["id", "lat", "lon"]).to_pylist()
    }
    routes = datasets.load("air-routes")
    (lat1, lon1), (lat2, lon2) = (
        np.stack([places[code] for code in routes[end].to_pylist()], 1) for end in ("src", "dst")
    )
    cosine = np.sin(lat1) * np.sin(lat2) + np.cos(lat1) * np.cos(lat2) * np.cos(lon1 - lon2)
    miles = 3_959 * np.arccos(np.clip(cosine, -1, 1))
    is_close = np.abs(miles - routes["miles"].to_numpy()) <= 2 + 0.02 * miles
    assert is_close.mean() > 0.98


def test_missing_codes_are_as_many_as_the_readme_says() -> None:
    assert f"of {datasets.nodes('air-routes')['icao'].null_count} airports" in datasets.describe("air-routes").made
    missing = datasets.load("openflights")["equipment"].null_count
    assert f"missing for {missing})" in datasets.describe("openflights").edges


def test_connections_between_systems_are_listed_once() -> None:
    assert counts(datasets.load("as-caida")) == (26_475, 53_381, 53_381)
    assert nx.Graph(pairs("as-caida")).number_of_edges() == 53_381


def test_a_road_is_as_long_as_the_line_between_its_ends_or_longer() -> None:
    places, roads = datasets.nodes("road-malta-osm"), datasets.load("road-malta-osm")
    lat, lon = (np.radians(places[name].to_numpy()) for name in ("lat", "lon"))
    a, b = roads["src"].to_numpy(), roads["dst"].to_numpy()
    straight = 6_371_000 * np.hypot(lat[a] - lat[b], (lon[a] - lon[b]) * np.cos(lat[a]))
    length = roads["length"].to_numpy()
    assert (length >= 0.99 * straight - 0.1).all()
    assert np.median(length / np.maximum(straight, 1)) < 1.1


def test_relations_of_words_come_in_pairs() -> None:
    kinds = {row["values"]: row["counts"] for row in datasets.load("wordnet30")["relation"].value_counts().to_pylist()}
    assert len(kinds) == 26
    assert kinds["hypernym"] == kinds["hyponym"] == 89_089
    for part in ("part", "member", "substance"):
        assert kinds[f"{part}_meronym"] == kinds[f"{part}_holonym"]
    related = counts(datasets.load("wordnet30"))[0]
    assert f"{datasets.nodes('wordnet30').num_rows - related:,} synsets" in datasets.describe("wordnet30").made
