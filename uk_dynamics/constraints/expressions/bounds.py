"""Hard bounds on a user's text, so that no file can exhaust the machine."""

from __future__ import annotations

LONGEST_TEXT = 4000  # characters of one expression
DEEPEST_NESTING = 40  # parentheses, functions, signs and powers inside each other
MOST_OPERATIONS = 20_000  # of one expression with its sums written out
LARGEST_EXPONENT = 64.0  # of a constant power
LARGEST_INDEX_SET = 1000  # values of one index
MOST_ROWS = 2000  # of one family of expressions
LARGEST_FAMILY = 200_000  # operations of all rows of a constraint with their derivatives
