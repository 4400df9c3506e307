"""The tables that a dataflow machine runs on: operators, scopes, instructions and its state.

One row of int64 fields each, filled by `dataflow.assembly` and read by the kernels. A *port* is the
slot of the batch that an operator put out in this activation; an operator that keeps an index has a
spine, and its port is then the spine's fresh batch.
"""

from __future__ import annotations

# Fields of an operator.
KIND = 0
DEPTH = 1  # time coordinates of its output
WIDTH = 2  # data columns of its output
SCOPE = 3
INPUT = 4
SECOND = 5
PARAMETERS = 6  # slot of a block of constants
SPINE = 7
PORT = 8
CARRY = 9  # what the calendar delivered for this activation
SCRATCH = 10  # what an operator keeps during a run: for Python to work on, or to know what it has put out
EMITTED = 12  # differences put out since the dataflow began
KEYS = 13  # leading columns of its arrangements that make the key
LATE = 14  # 1 if it was installed on indexes with a history that it has not read yet
HELD = 15  # the earliest epoch that a reader may still ask of its spine, NOT_HELD if none does
TOOK_AWAY = 16  # 1 if a reduction may have been given a negative diff
GAINED = 17  # one past the epoch in which a set of a monotone loop was last given a positive diff
OPERATOR_FIELDS = 18
NOT_HELD = 1 << 62

# Kinds of operators.
SOURCE = 0  # Python fills the port before the run
LINEAR = 1
CONCAT = 2
ENTER = 3
ENTER_AT = 4
LEAVE = 5
VARIABLE = 6
FEEDBACK = 7
ARRANGE = 8
JOIN = 9
REDUCE = 10
REDUCE_TOTAL = 11
CONSOLIDATE = 12
CALL = 13  # Python computes the port
IMPORT = 14
WEIGH = 15  # a number becomes weights, so that its sum is kept by adding
LEAVE_AT = 16
BEYOND = 17  # a join by comparison
IMPROVE = 18  # the best values of keys in a loop of which nothing is taken back

# Fields of a scope. Scope 0 is the outermost; the scopes inside one follow it without a gap.
SCOPE_DEPTH = 0  # time coordinates inside
CALENDAR = 1  # slot
INNER_END = 2  # one past the last scope inside
DOORS = 3  # slot: operators outside that feed the scope
LEAVES = 4  # slot: operators that carry results out
MOST_ROUNDS = 5
BODY = 6  # instruction
EXIT = 7  # instruction
MONOTONE = 8  # 1 if rows may stay in the round in which they came
UNUSED = 9  # the first round of a monotone loop after all that were begun
FIRST_NEW = 10  # the first round for new rows of a monotone loop after all that were begun before this run
WAITING = 11  # the round for which new rows wait in this run, -1 if they do not
AHEAD = 12  # 1 if what joins give for later rounds of a monotone loop is put out at once in this run
DOUBT = 13  # the first round of a monotone loop for which a row was called that may find support, in this run
SCOPE_FIELDS = 14

# Instructions: (what, operator or scope).
RUN = 0
HEAD = 1
TAIL = 2
END = 3
FREE = 4  # what an operator has put out: nothing reads it any more

# Fields of the machine's state.
LOWER = 0  # the run's epochs: LOWER <= epoch < UPPER
UPPER = 1
COUNTER = 2  # the next instruction
STOPPED_AT = 3  # operator or scope
DETAIL = 4
CANCEL = 5
BUDGET = 6  # instructions until control goes back to Python for a moment
ROUNDS = 7
COORDINATES = 8  # COORDINATES + d is coordinate d of the round in progress, d >= 1
STATE_FIELDS = 32

# Why the machine gave control back.
DONE = 0
CALLED = 1  # Python must fill the port of a CALL
EVALUATED = 2  # Python must apply the function of a REDUCE
NOT_SETTLED = 3
ARITHMETIC = 4  # DETAIL tells where
CANCELLED = 5
PAUSED = 6

# What a REDUCE computes: the first of its parameters.
COUNT = 0
THRESHOLD = 1  # then the least multiplicity that counts
FIRST = 2  # then how many rows
LAST = 3
TOTAL = 4  # then what to make of the weights
FUNCTION = 5

# What a TOTAL makes of the weights.
SUM_OF_INTS = 0
SUM_OF_FLOATS = 1
MEAN_OF_INTS = 2
MEAN_OF_FLOATS = 3

# A prioritized coordinate keeps its round in the low bits.
ROUND_BITS = 32
ROUND_MASK = (1 << 32) - 1
MOST_PRIORITY = (1 << 31) - 2
