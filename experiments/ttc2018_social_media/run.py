"""Both queries of the contest of 2018 on incremental queries, as views in SQL over all batches of all sizes.

    python -m experiments.ttc2018_social_media.run --data FOLDER --output experiments/ttc2018_social_media

FOLDER holds `model-SIZE.tar.gz` and `expected-results.csv.gz`, as published.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import statistics
import tarfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import duckdb
import pyarrow as pa

import graphtide as gt
from experiments.continuous_plots import panels, plain, save

# Replays of each size: the first one of a process meets kernels and memory that are not warm.
ROUNDS = 3

COLUMNS = {
    "users": {"id": int, "name": str},
    "posts": {"id": int, "at": datetime, "content": str, "author": int},
    "comments": {"id": int, "at": datetime, "content": str, "author": int, "parent": int},
    "friends": {"one": int, "other": int},
    "likes": {"person": int, "comment": int},
}

# Ten points for each comment below a post, and one for each like of those.
Q1 = """
with recursive below(comment, post) as (
    select c.id, p.id from comments c join posts p on c.parent = p.id
    union all
    select c.id, b.post from below b join comments c on c.parent = b.comment
),
points(post, score) as (
    select post, 10 from below
    union all
    select b.post, 1 from below b join likes l on l.comment = b.comment
)
select p.id, coalesce(sum(x.score), 0) as score, p.at
from posts p left join points x on x.post = p.id
group by p.id, p.at
order by score desc, p.at desc
limit 3
"""

# The sum of the squares of the sizes of groups of friends who like a comment: the pairs who are in one group.
Q2 = """
with recursive together(comment, one, other) as (
    select comment, person, person from likes
    union
    select t.comment, t.one, f.other
    from together t join friends f on f.one = t.other join likes l on l.person = f.other and l.comment = t.comment
)
select c.id, count(t.one) as score, c.at
from comments c left join together t on t.comment = c.id
group by c.id, c.at
order by score desc, c.at desc
limit 3
"""

Row = tuple[object, ...]


def batches(model: Path) -> Iterator[dict[str, list[Row]]]:
    """The first rows of each table, then those of each batch."""
    texts: dict[str, str] = {}
    with tarfile.open(model) as archive:
        for member in archive:
            stream = archive.extractfile(member)
            if stream is not None:
                texts[Path(member.name).name] = stream.read().decode()
    yield {table: [parsed(table, line) for line in lines(texts[f"csv-{table}-initial.csv"])] for table in COLUMNS}
    for name in sorted(each for each in texts if each.startswith("change")):
        rows: dict[str, list[Row]] = {table: [] for table in COLUMNS}
        for table, *values in lines(texts[name]):
            rows[table.lower()].append(parsed(table.lower(), values))
        yield rows


def lines(text: str) -> list[list[str]]:
    """Values by line."""
    return list(csv.reader(io.StringIO(text), delimiter="|", quoting=csv.QUOTE_NONE))


def parsed(table: str, values: list[str]) -> Row:
    """A row of a table."""
    read = {int: int, str: str, datetime: datetime.fromisoformat}
    return tuple(read[kind](value) for kind, value in zip(COLUMNS[table].values(), values, strict=True))


def replay(model: Path) -> Iterator[tuple[int, dict[str, str], float]]:
    """For each batch: its number, the answers of both queries as the contest writes them, the commit's seconds."""
    db = gt.Database()
    for table, columns in COLUMNS.items():
        db.table(table, **columns)
    views = {"Q1": db.view(Q1), "Q2": db.view(Q2)}
    for number, rows in enumerate(batches(model)):
        for table, new in rows.items():
            db.insert(table, new)
        start = time.perf_counter()
        db.commit()
        seconds = time.perf_counter() - start
        yield number, {name: "|".join(str(row[0]) for row in view.rows()) for name, view in views.items()}, seconds


def published(file: Path) -> dict[tuple[str, str, int], str]:
    """The answers by query, size and batch."""
    with gzip.open(file, "rt") as stream:
        return {
            (row["View"], row["ChangeSet"], int(row["Iteration"])): row["MetricValue"]
            for row in csv.DictReader(stream, delimiter=";")
        }


def main() -> None:
    """All sizes: answers held against the published ones, and the time that a batch takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    answers = published(given.data / "expected-results.csv.gz")
    sizes = sorted(int(size) for _, size, number in answers if number == 0)
    records = [
        measured(model, size, answers)
        for size in dict.fromkeys(sizes)
        if (model := given.data / f"model-{size}.tar.gz").exists()
    ]
    with (given.output / "results.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    draw(records, given.output / "plot.png")


def measured(model: Path, size: int, answers: dict[tuple[str, str, int], str]) -> dict[str, float]:
    """One size: how many answers equal the published ones, and milliseconds, medians of all batches and rounds."""
    equal, total = 0, 0
    firsts: list[float] = []
    times: list[float] = []
    for _ in range(ROUNDS):
        for number, found, seconds in replay(model):
            (times if number else firsts).append(1e3 * seconds)
            for name, answer in found.items():
                total += 1
                equal += answer == answers[name, str(size), number]
    again, theirs = asked_again(model)
    last = max(number for _, _, number in answers)
    rows = list(batches(model))
    record: dict[str, float] = {
        "size": size,
        "rows": sum(map(len, rows[0].values())),
        "rows_of_a_batch": statistics.median(sum(map(len, each.values())) for each in rows[1:]),
        "answers": total // ROUNDS,
        "equal": equal / ROUNDS,
        "equal_duckdb": sum(answer == answers[name, str(size), last] for name, answer in theirs.items()),
        "first_ms": round(statistics.median(firsts), 1),
        "batch_ms": round(statistics.median(times), 2),
        "slowest_batch_ms": round(max(times), 2),
        "duckdb_ms": round(1e3 * again, 1),
    }
    print(", ".join(f"{name} {value:g}" for name, value in record.items()))
    return record


def asked_again(model: Path) -> tuple[float, dict[str, str]]:
    """Seconds that DuckDB takes for both queries once all batches are in, and its answers."""
    peer = duckdb.connect()
    all_rows: dict[str, list[Row]] = {table: [] for table in COLUMNS}
    for rows in batches(model):
        for table, new in rows.items():
            all_rows[table] += new
    for table, columns in COLUMNS.items():
        given = pa.table(list(map(list, zip(*all_rows[table], strict=True))), names=list(columns))
        peer.register("given", given)
        peer.execute(f"create table {table} as select * from given")  # noqa: S608 - a table of ours
    seconds: list[float] = []
    answers: dict[str, str] = {}
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for name, query in (("Q1", Q1), ("Q2", Q2)):
            answers[name] = "|".join(str(row[0]) for row in peer.execute(query).fetchall())
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), answers


def draw(records: list[dict[str, float]], file: Path) -> None:
    """Milliseconds by size: a batch followed, the first rows, and DuckDB asking again."""
    figure, grid = panels(1, 1, (7, 4))
    axes = grid[0][0]
    sizes = [record["size"] for record in records]
    series = {
        "duckdb_ms": ("DuckDB, both queries asked again", "#8c8c8c"),
        "first_ms": ("first rows", "#55a868"),
        "slowest_batch_ms": ("slowest batch", "#dd8452"),
        "batch_ms": ("a batch, median", "#4c72b0"),
    }
    for name, (label, colour) in series.items():
        axes.plot(sizes, [record[name] for record in records], label=label, color=colour, marker="o")
    plain(axes, log="xy")
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.set_xlabel("size of the contest")
    axes.set_ylabel("milliseconds")
    axes.legend(frameon=False)
    save(figure, file, "Both queries of the contest as views, and asked again")


if __name__ == "__main__":
    main()
