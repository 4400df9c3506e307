"""What the friends of each person talk about, and an alert when a neighbourhood gets loud.

`python -m examples.trends_nearby` follows words through a small circle of friends, in which a friendship ends.
"""

from __future__ import annotations

import graphtide as gt

FRIENDS = [("ann", "bob"), ("bob", "cid"), ("cid", "ann"), ("dan", "ann"), ("dan", "bob"), ("eve", "dan")]
POSTS = [("ann", "rain", 1), ("bob", "rain", 2), ("dan", "goal", 2), ("cid", "rain", 3), ("dan", "goal", 4)]


def main() -> None:
    """Trends of the last three hours, and who sees more than two posts in that time."""
    live = gt.LiveGraph(ids=str)
    live.apply(insert=FRIENDS)
    trends = live.ego(gt.TopK(2), window=gt.Within(3), along="both")
    loud = live.ego("count", window=gt.Within(3), along="both")
    loud.alert(lambda posts: posts > 2, lambda person, posts: print(f"{person} sees {posts} posts"))
    people, words, hours = zip(*POSTS, strict=True)
    for ego in (trends, loud):
        ego.write_many(list(people), list(words), list(hours))
    print("around ann:", trends.read("ann"))
    live.apply(delete=[("dan", "ann")])
    print("without dan:", trends.read("ann"))
    trends.advance(6)
    print("two hours later:", trends.read("ann"), trends.read("eve"))


if __name__ == "__main__":
    main()
