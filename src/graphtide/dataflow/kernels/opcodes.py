"""The instructions of a linear operator, and the words of the program that they stand in.

A program is an int64 array, written by `dataflow.expressions.program` and read by
`dataflow.kernels.evaluate`:

    head          HEAD words: the counts below
    columns       the data columns of the batch that it reads
    constants     the codes of literals
    outputs       the place of each output column
    steps         STEP words per instruction: opcode, target, first, second, third
    pool          the sorted codes of IN_SET and the bounds of WITHIN, at the offsets that steps name

A *place* is where an instruction finds or leaves a column of codes: first the columns that are read,
then the constants, then the registers. Places hold codes as batches do, floats included, so that NULL
is one word everywhere and comparisons need no types.
"""

from __future__ import annotations

from typing import Final

# The head of a program.
PLACES: Final = 0
COLUMNS: Final = 1
CONSTANTS: Final = 2
OUTPUTS: Final = 3
STEPS: Final = 4
ORDERED: Final = 5  # the outputs begin with all data columns in order: a consolidated batch stays one
HEAD: Final = 6

STEP: Final = 5
NOTHING: Final = -1  # no place: the step has no such operand, or no guard

# Steps that may fail. Their third place is a guard: a failure counts in rows where it holds true.
ADD_INT: Final = 0
SUBTRACT_INT: Final = 1
MULTIPLY_INT: Final = 2
FLOAT_TO_INT: Final = 3
WITHIN: Final = 4  # no target; second: offset of the least and the greatest allowed code
LAST_FALLIBLE: Final = 4

# Steps over whole chunks.
ADD_FLOAT: Final = 5
SUBTRACT_FLOAT: Final = 6
MULTIPLY_FLOAT: Final = 7
DIVIDE_FLOAT: Final = 8
INT_TO_FLOAT: Final = 9
EQUAL: Final = 10
NOT_EQUAL: Final = 11
LESS: Final = 12
AT_MOST: Final = 13
AND: Final = 14
OR: Final = 15
NOT: Final = 16
IS_NULL: Final = 17
CHOOSE: Final = 18  # the second place where the first is true, else the third
COALESCE: Final = 19
LEAST: Final = 20
GREATEST: Final = 21
HASH: Final = 22  # second: the hash of what stands before
LAST_VECTOR: Final = 22

FILTER: Final = 23  # keep the rows in which the first place is true
IN_SET: Final = 24  # second: offset of the set, third: its size

# Steps that go row by row; null if an operand is.
DIVIDE_INT: Final = 32
MODULO_INT: Final = 33
FLOOR_DIVIDE_FLOAT: Final = 34
MODULO_FLOAT: Final = 35
FLOOR: Final = 36
CEIL: Final = 37
ROUND: Final = 38  # second: digits
SQRT: Final = 39
EXP: Final = 40
LOG: Final = 41
POWER: Final = 42
DATE_PART: Final = 43  # second: YEAR, MONTH or DAY
DATE_FLOOR: Final = 44  # second: months in a period
BIT_LENGTH: Final = 45

YEAR: Final = 0
MONTH: Final = 1
DAY: Final = 2
