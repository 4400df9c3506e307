"""The analyses: a program, its facts by release, and another engine that evaluates it from scratch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
from andersen import solve
from grounding import ground

from graphtide import datasets

HERE = Path(__file__).parent
Facts = dict[str, np.ndarray]
Rows = dict[str, np.ndarray]
# Static tables of commands, the API of modules and the Lua interpreter: with them there are over 20 million pairs.
LEFT_OUT = (
    r"commands\.c|module\.c|l[a-z]+lib\.c|l(api|code|debug|do|dump|func|gc|init|lex|mem|object|opcodes|parser|state"
    r"|string|table|tm|undump|vm|zio)\.c|lua_?\w*\.c|strbuf\.c|fpconv\.c"
)


@dataclass(frozen=True)
class Change:
    """What a release brings and takes, and all facts after it."""

    release: str
    coming: Facts
    going: Facts
    now: Facts


@dataclass(frozen=True)
class Analysis:
    """A program, its history, the relations that are compared, and the facts that are removed one by one."""

    name: str
    outputs: tuple[str, ...]
    removed: str
    fixed: dict[str, Any]
    history: Callable[[], Iterator[Change]]
    peer: str
    from_scratch: Callable[[Facts], Rows]

    @property
    def text(self) -> str:
        """The program."""
        return (HERE / f"{self.name}.dl").read_text()


def nulls() -> Analysis:
    """Which null reaches what, in redis."""
    return Analysis("nulls", ("null", "suspect"), "nullstore", {}, _redis, "DuckDB", _nulls_in_duckdb)


def points_to(left_out: str) -> Analysis:
    """What points to what in redis, without some files."""
    redis = datasets.facts("redis")
    names = redis.names["name"].to_pylist()
    kinds = {number: names[number] for number in np.unique(redis.at("7.0.0")["global"][:, 2]).tolist()}

    return Analysis(
        "points_to",
        ("points_to", "holds", "calls"),
        "assign",
        {"named": list(kinds.items())},
        lambda: _without(left_out),
        "worklist of bit sets",
        lambda facts: solve(facts, kinds),
    )


def kernel(folder: Path) -> Analysis:
    """Which modules of Linux call which services, and what nothing reaches."""
    return Analysis("kernel", ("depth", "unreached"), "edge", {}, lambda: _linux(folder), "DuckDB", _kernel_in_duckdb)


def doop(folder: Path) -> Analysis:
    """What points to what in a Java program with its library."""
    text = (HERE / "doop.dl").read_text()
    outputs = ("VarPointsTo", "CallGraphEdge", "Reachable")
    return Analysis(
        "doop", outputs, "AssignLocal", {}, lambda: _java(folder), "clingo", lambda facts: ground(text, facts, outputs)
    )


# -- redis


def _redis() -> Iterator[Change]:
    redis = datasets.facts("redis")
    for release in redis.releases:
        yield Change(release, *redis.changes(release), redis.at(release))


def _without(left_out: str) -> Iterator[Change]:
    redis = datasets.facts("redis")
    names = redis.names["name"].to_pylist()
    home: dict[str, str] = {}
    for each in _redis():
        for relation in ("function", "global"):
            home |= {names[row[0]]: names[row[1]] for row in each.coming.get(relation, np.empty((0, 2))).tolist()}
    owner = re.compile(r"(?:O:|O:heap@)?(@[^/!]+)")
    files = [home.get(found[1], "") if (found := owner.match(name)) else "" for name in names]
    is_kept = np.array([not re.fullmatch(left_out, file) for file in files])

    def kept(facts: Facts) -> Facts:
        # Functions stay, so that a call of one that is left out still has an object.
        return {
            name: rows if name in {"function", "extern"} else rows[is_kept[rows[:, 0]]] for name, rows in facts.items()
        }

    for each in _redis():
        yield Change(each.release, kept(each.coming), kept(each.going), kept(each.now))


def _nulls_in_duckdb(facts: Facts) -> Rows:
    with duckdb.connect() as db:
        for name, rows in facts.items():
            if name not in {"cfg", "callsite"}:
                table = pa.table({column: rows[:, n] for n, column in enumerate("abc"[: rows.shape[1]])})
                db.register(f"t_{name}", table)
        db.execute(_NULLS)
        null = _fetched(db, "select * from reaching")
        suspect = _fetched(
            db,
            "select b, count(*) from reaching semi join (select b as p from t_load union select a from t_store "
            "union select b from t_gep) on b = p group by b",
        )
    return {"null": null, "suspect": suspect}


_NULLS = """
create table place as with recursive p(v, o) as (
    select a, b from t_alloc union select a, a from t_global union select a, c from t_gep where c <> 0
    union select g.a, p.o from t_gep g join p on g.b = p.v where g.c = 0) select * from p;
create table address as select a from t_global union select a from t_function;
create table flow as
    select s.b as f, o as t from t_store s join place on s.a = v where s.b not in (from address)
    union select o, l.a from t_load l join place on l.b = v
    union select b, a from t_assign where b not in (from address)
    union select c.c, f.c from t_direct d join t_formal f on f.a = d.b join t_actual c on c.a = d.a and c.b = f.b
        where c.c not in (from address)
    union select r.b, c.b from t_direct d join t_callret c on c.a = d.a join t_retval r on r.a = d.b
        where r.b not in (from address);
create table reaching as with recursive n(a, b) as (
    select a, a from t_nullassign
    union select n.a, o from t_nullstore n join place on n.a = v
    union select n.a, f.c from t_nullactual n join t_direct d on d.a = n.a join t_formal f on f.a = d.b and f.b = n.b
    union select n.a, c.b from t_nullret n join t_direct d on d.b = n.a join t_callret c on c.a = d.a
    union select n.a, t from n join flow on n.b = f) select * from n;
"""


# -- linux

_SERVICES = ("panic", "_copy_from_user", "_copy_to_user", "schedule", "msleep", "kfree", "mutex_lock", "__kmalloc")
_RELEASES = ("6.1.170", "6.1.176", "6.1.190")


def _linux(folder: Path) -> Iterator[Change]:
    vertices = _read(folder / "vertices.tsv.gz")
    number, symbol = vertices["id"].to_numpy(), np.array(vertices["symbol"].to_pylist())
    is_core = np.array(vertices["module"].to_pylist()) == "vmlinux"
    fixed = {
        "function": number[np.array(vertices["type"].to_pylist()) == "FUNC"][:, None],
        "root": number[np.isin(symbol, ["init_module", "cleanup_module", "__this_module"])][:, None],
        "service": number[is_core & np.isin(symbol, _SERVICES)][:, None],
    }
    first = _read(folder / f"edges-{_RELEASES[0]}.tsv.gz")
    edges = set(zip(first["src"].to_pylist(), first["dst"].to_pylist(), first["kind"].to_pylist(), strict=True))
    none = np.empty((0, 3), object)
    yield Change(_RELEASES[0], {**fixed, "edge": _objects(edges)}, {"edge": none}, {**fixed, "edge": _objects(edges)})
    for release in _RELEASES[1:]:
        delta = _read(folder / f"delta-to-{release}.tsv.gz")
        rows = zip(*(delta[name].to_pylist() for name in ("op", "src", "dst", "kind")), strict=True)
        parts: dict[str, set[tuple[Any, ...]]] = {"+": set(), "-": set()}
        for op, *edge in rows:
            parts[op].add(tuple(edge))
        edges = (edges - parts["-"]) | parts["+"]
        yield Change(
            release,
            {"edge": _objects(parts["+"])},
            {"edge": _objects(parts["-"])},
            {**fixed, "edge": _objects(edges)},
        )


def _kernel_in_duckdb(facts: Facts) -> Rows:
    with duckdb.connect() as db:
        rows = facts["edge"]
        db.register(
            "edge", pa.table({"f": rows[:, 0].astype(int), "t": rows[:, 1].astype(int), "kind": list(rows[:, 2])})
        )
        for name in ("function", "root", "service"):
            db.register(name, pa.table({"v": facts[name][:, 0]}))
        db.execute("create table calls as select distinct f, t from edge where kind = 'call'")
        # Breadth first, by the key that the recursion keeps: a pair that was found before is not found deeper.
        db.execute("""
            create table depth as with recursive d(f, s, n) using key (f, s) as (
                select f, t, 1 from calls semi join service on t = v
                union select c.f, d.s, min(d.n) + 1 from d join calls c on c.t = d.f
                    anti join recurring.d r on r.f = c.f and r.s = d.s group by c.f, d.s) select * from d
        """)
        unreached = _fetched(
            db,
            "with recursive r(v) as (select v from root union select t from r join edge on f = v) "
            "select v from function anti join r using (v)",
        )
        return {"depth": _fetched(db, "select f, s, n from depth"), "unreached": unreached}


def _read(file: Path) -> pa.Table:
    return pv.read_csv(file, parse_options=pv.ParseOptions(delimiter="\t", quote_char=False))


def _objects(rows: set[tuple[Any, ...]]) -> np.ndarray:
    made = np.empty((len(rows), 3), object)
    for place, column in enumerate(zip(*sorted(rows), strict=True)):
        made[:, place] = column
    return made


def _fetched(db: duckdb.DuckDBPyConnection, query: str) -> np.ndarray:
    return np.column_stack(list(db.sql(query).fetchnumpy().values())).astype(np.int64)


# -- java

_NUMBERS = frozenset({"index", "arity"})


def _java(folder: Path) -> Iterator[Change]:
    facts: Facts = {}
    for name, columns in re.findall(r"^\.decl (\w+)\((.*)\)", (HERE / "doop.dl").read_text(), re.MULTILINE):
        file = folder / f"{name.replace('MethodModifier', 'Method-Modifier')}.facts.zst"
        if file.is_file():
            facts[name] = _lines(file, [each.split(":")[0] for each in columns.split(", ")])
    yield Change("all", facts, {}, facts)


def _lines(file: Path, columns: list[str]) -> np.ndarray:
    table = pv.read_csv(
        file,
        pv.ReadOptions(column_names=columns),
        pv.ParseOptions(delimiter="\t", quote_char=False),
        pv.ConvertOptions(
            column_types={name: pa.int64() if name in _NUMBERS else pa.string() for name in columns},
            strings_can_be_null=False,
            null_values=[],
        ),
    )
    made = np.empty((table.num_rows, table.num_columns), object)
    for place, column in enumerate(table.itercolumns()):
        made[:, place] = column.to_pylist()
    return made
