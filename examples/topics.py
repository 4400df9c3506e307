"""What each strongly connected component talks about: the demonstration of CIDR13, with topics for hashtags."""

from __future__ import annotations

from datetime import date, timedelta

import pyarrow as pa
import pyarrow.compute as pc

import graphtide as gt
from examples.strongly_connected import strong_components
from graphtide import datasets


def top_topics(mentions: gt.Collection, topics: gt.Collection, k: int = 1) -> gt.Collection:
    """(label, size, topic, count): of each component of mentions (src, dst), the `k` topics its members use most.

    `topics` has a row (who, topic) for each use. Ties go to the topic that is later in the alphabet.
    """
    members = strong_components(mentions)
    sizes = members.group_by("label").count("size")
    used = topics.join(members, on={"who": "node"})
    counts = used.group_by("label", "topic").count("count")
    return sizes.join(counts.group_by("label").top_k(k, by="count"), on="label")


def main() -> None:
    """Slide a window of three days over political events: circles of actors, and what they do most."""
    events = datasets.load("icews14")
    flow = gt.Dataflow()
    mentions = flow.input("mentions", src=str, dst=str)
    topics = flow.input("topics", who=str, topic=str)
    top = top_topics(mentions, topics).output("top")

    def change(day: date, diff: int) -> None:
        rows = on(events, day)
        mentions.change(rows.select(["src", "dst"]), [diff] * len(rows))
        topics.change(rows.select(["src", "event"]).rename_columns(["who", "topic"]), [diff] * len(rows))

    for n in range(7):
        day = date(2014, 7, 14) + timedelta(days=n)
        change(day, 1)
        if n >= 3:
            change(day - timedelta(days=3), -1)
        flow.commit()
        if n >= 2:
            circles = sorted(top.rows(), key=lambda row: (-row[1], row[0]))
            print(f"to {day}: {len(circles)} circles, the largest: ", end="")
            print("; ".join(f"{size} actors, {topic} x{count}" for _, size, topic, count in circles[:3]))


def on(events: pa.Table, day: date) -> pa.Table:
    """The events of one day."""
    return events.filter(pc.field("day") == day)


if __name__ == "__main__":
    main()
