"""The words by which kernels know a query, a run that can be gone on with, and a call."""

from __future__ import annotations

__all__ = [
    "ADJACENT",
    "ANCHOR",
    "ANSWERED",
    "ANSWERING",
    "ASIDE",
    "AT",
    "CALLS",
    "CHAIN",
    "CHANCE",
    "CHANGED",
    "COLLECTING",
    "COLUMN",
    "COMPLETING",
    "CONTROL_FIELDS",
    "DEGREES",
    "DONE",
    "DOUBTED",
    "DOUBT_FLAG",
    "DROPPED",
    "ENDLESS",
    "FINISH",
    "FIRST",
    "FREE_PLACES",
    "HEAD",
    "HIGHEST",
    "HIGH_DEGREE",
    "KIND",
    "LABELS",
    "LABEL_COUNT",
    "LAST",
    "LAST_ROUND",
    "LOOKS",
    "LOW_DEGREE",
    "MARKS",
    "MARK_WIDTH",
    "MARK_WORDS",
    "MOST",
    "NEED",
    "NEXT",
    "ORIGIN",
    "OUT",
    "OWN",
    "PLACES",
    "POSITION",
    "QUERIES",
    "QUERY_FIELDS",
    "RECOMPUTED",
    "REGION",
    "REGION_VERTICES",
    "REPORTING",
    "ROUND",
    "ROUNDS",
    "SCANS",
    "SCRATCH",
    "SEEDING",
    "SIDES",
    "SLOT",
    "SOURCE",
    "SPURIOUS",
    "STAGE",
    "STATES",
    "STEPS",
    "STUCK",
    "TARGET",
    "TICK",
    "TOO_FEW_CALLS",
    "TOO_FEW_CHANGES",
    "TOO_FEW_PLACES",
    "TOO_FEW_ROUNDS",
    "TOO_NARROW_MARKS",
    "TOO_NARROW_ROUNDS",
    "TOO_NARROW_STATES",
    "TOP",
    "TOUCHED",
    "USES_DEGREE",
    "VERTEX",
    "VERTICES",
    "WIDEST_ROUND",
    "WORK",
]

# A query: the addresses of its arrays, its program, and what it drops.
HEAD = 0
STATES = 1
ROUNDS = 2
FREE_PLACES = 3
PLACES = 4  # in the pool
VERTICES = 5
KIND = 6
OWN = 7  # 1 if every vertex begins with a state of its own
SIDES = 8  # of a vertex's lists that messages go out along: 1 out of it, 2 into it, 3 both
LAST_ROUND = 9  # or ENDLESS
HIGHEST = 10  # no step is at a later round
STEPS = 11  # kept in all
MARKS = 12
MARK_WORDS = 13  # 0 if nothing is ever dropped
MARK_WIDTH = 14  # of a table, in rounds; 0 for a filter
LOW_DEGREE = 15
HIGH_DEGREE = 16
CHANCE = 17
DROPPED = 18  # in all batches
RECOMPUTED = 19
SPURIOUS = 20
ANSWERED = 21  # vertices at rounds that were called for, in all batches
ASIDE = 22  # 1 if it keeps nothing, and so has nothing to be brought up to date
FINISH = 23  # of a program that sums: the address of what makes a state of a sum
USES_DEGREE = 24  # 1 if its messages depend on how many there are
# Of a query for one pair that is kept to a region (docs/design/07).
REGION = 25  # the address of its bits; 0 without a region
REGION_VERTICES = 26  # those that came later are outside
ANCHOR = 27  # the address of the bound, and of what landmarks said of the target then
ORIGIN = 28
TARGET = 29
DOUBTED = 30  # 1 if a user's function failed in this batch, or a sum of ints was too long
WORK = 31  # edges gone along to compute dropped steps again: by the length of the vertex's degree in bits
DEGREES = 20  # lengths that are told apart; the last stands for those above it
QUERY_FIELDS = WORK + DEGREES

ENDLESS = 2**31

# The state of a run, so that it can go on.
POSITION = 0  # among the queries, from FIRST to before LAST
STAGE = 1
ROUND = 2
AT = 3  # among the vertices of the round
TOUCHED = 4
CALLS = 5
TOP = 6  # no call is for a later round
CHANGED = 7
TICK = 8
NEED = 9
OUT = 10
LOOKS = 11  # edges gone along, in all
SCANS = 12  # vertices whose edges were gone through for support
WIDEST_ROUND = 13
FIRST = 14
LAST = 15
# What does not change from batch to batch: an argument each would cost more than most batches.
QUERIES = 16  # the address of the table of queries
ADJACENT = 17  # the address of the table of the edges
COLUMN = 18  # of the weights among those of the edges, or -1
LABELS = 19  # the address of what vertices begin with if each begins with a state of its own, and how many there are
LABEL_COUNT = 20
SCRATCH = 21  # the address of the table of scratch memory and changes
MOST = 22  # no round of a program without a last one may come after this one
DOUBT_FLAG = 23  # the address of the word that users' functions set in the thread that runs; 0 if none can
CONTROL_FIELDS = 24

SEEDING, COLLECTING, ANSWERING, COMPLETING, REPORTING = 0, 1, 2, 3, 4

# Why the kernel came back.
DONE = 0
TOO_FEW_CALLS = 1
TOO_FEW_PLACES = 2
TOO_FEW_ROUNDS = 3
TOO_NARROW_ROUNDS = 4
TOO_FEW_CHANGES = 5
TOO_NARROW_MARKS = 6
STUCK = 7
TOO_NARROW_STATES = 8

NEXT = 0
VERTEX = 1
SOURCE = 2
SLOT = 3
CHAIN = 4
