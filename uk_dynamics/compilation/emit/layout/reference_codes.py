# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Numbers by which tables of references tell C what they hold; see ``references.c``."""

#: Numbers before the data of an entry.
REFERENCE_HEAD = 4
#: Kinds of entries.
REFERENCE_KINDS = {"SAMPLE": 0, "SINUSOID": 1, "POLYNOMIALS": 2, "EXPRESSIONS": 3}
#: What polynomials are outside their times: a spline holds its ends, a trajectory is at rest at the
#: very end too, a periodic one repeats, a single polynomial has no ends.
BEYOND_TIMES = {"HOLDS": 0, "RESTS": 1, "REPEATS": 2, "GOES_ON": 3}
_INFIX = {"+": "PLUS", "-": "MINUS", "*": "TIMES", "/": "OVER", "<": "LESS", "<=": "LESS_OR_EQUAL"}
_OTHERS = (
    *("negate", "choose", "pow", "atan2", "fabs", "sqrt", "sin", "cos", "tan", "sinh", "cosh"),
    *("tanh", "exp", "log", "asin", "acos", "atan"),
)
#: Operation of a symbol: its name in C.
OPERATION_NAMES = _INFIX | {name: name.upper() for name in _OTHERS}
EXPRESSION_OPERATIONS = {name: code for code, name in enumerate(OPERATION_NAMES.values())}
