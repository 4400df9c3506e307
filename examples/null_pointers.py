"""Where nulls come from in a real C program, kept while it goes from release to release: Datalog on facts of redis."""

from __future__ import annotations

import pyarrow.compute as pc

import graphtide as gt
from graphtide import datasets

RULES = """
    // Within functions: through assignments, and through local variables.
    flow(V, W) :- assign(W, V).
    flow(V, O) :- store(P, V), alloc(P, O).
    flow(O, V) :- load(V, P), alloc(P, O).
    // Between functions: arguments and results.
    flow(A, V) :- direct(C, F), formal(F, I, V), actual(C, I, A).
    flow(R, V) :- direct(C, F), callret(C, V), retval(F, R).

    null(V, V) :- nullassign(V).
    null(P, O) :- nullstore(P), alloc(P, O).
    null(S, V) :- null(S, W), flow(W, V).

    followed(P) :- load(_, P); gep(_, P, _).
    suspect(P, count<>) :- followed(P), null(_, P).
"""


def main() -> None:
    """Follow the first releases, then ask why a pointer may be null and what one source is to blame for."""
    redis = datasets.facts("redis")
    names = redis.names["name"].to_pylist()
    rules = gt.Datalog(RULES)
    suspects = rules["suspect"]
    for release in redis.releases[:5]:
        coming, going = redis.changes(release)
        for change, facts in ((rules.insert, coming), (rules.delete, going)):
            for relation, rows in facts.items():
                if relation in rules.relations:
                    change(relation, rows)
        rules.commit()
        print(f"redis {release}: {len(suspects):,} pointers may be null, {suspects.changes().num_rows:,} changes")

    pointer, nulls = max(suspects.rows(), key=lambda row: (row[1], row[0]))
    print(f"{names[pointer]} may be null for {nulls:,} reasons")
    source = rules.query(f"null(S, {pointer})")["x1"][0].as_py()
    print(f"one is {names[source]}, by {len(rules.why(f'null({source}, {pointer})').steps)} steps")
    for relation in ("nullassign", "nullstore"):  # to delete what is not there changes nothing
        rules.delete(relation, [(source,)])
    rules.commit()
    went = suspects.changes().filter(pc.field("diff") < 0).num_rows
    print(f"without it, {went:,} pointers may be null for a reason less")


if __name__ == "__main__":
    main()
