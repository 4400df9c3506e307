"""The table of a spine's runs: where a spine keeps what in its block of words."""

from __future__ import annotations

from graphtide.jit import leaf

__all__ = [
    "BULK",
    "EFFORT",
    "FRESH",
    "MERGED",
    "MOST_RUNS",
    "OPEN",
    "OWNER",
    "PROGRESS",
    "RUNS",
    "RUN_FIELDS",
    "RUN_TABLE",
    "SINCE",
    "SLOT",
    "SPINE_DEPTH",
    "SPINE_WIDTH",
    "run_slot",
]

OWNER = 0
SPINE_WIDTH = 1
SPINE_DEPTH = 2
EFFORT = 3
RUNS = 4
FRESH = 5
SINCE = 6  # slot of the frontier: its number of elements, then their coordinates
OPEN = 7  # the first epoch that is not committed
BULK = 8  # how many times the rows of its largest run it had, when an idle spine was last looked at
RUN_TABLE = 9

# Fields of a run.
RUN_FIELDS = 5
SLOT = 0
MERGED = 1  # slot of the merge with the next run, or none
PROGRESS = 2  # three words: see merge_some

MOST_RUNS = 256


@leaf
def run_slot(spine, r):
    """The batch of run `r`."""
    return spine[RUN_TABLE + r * RUN_FIELDS + SLOT]
