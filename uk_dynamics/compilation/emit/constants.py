# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The header ``uk_config.h``: constants of Python that C has too, whatever the mechanism.

Each is stated in the module of its rule alone.
"""

from collections.abc import Mapping
from functools import cache
from types import ModuleType

from uk_dynamics.compilation.emit.c_text import defines, header
from uk_dynamics.compilation.emit.layout import (
    BEYOND_TIMES,
    EXPRESSION_OPERATIONS,
    OPERATION_NAMES,
    REFERENCE_HEAD,
    REFERENCE_KINDS,
)
from uk_dynamics.constraints.rows import HULL_CONSTANTS
from uk_dynamics.core.equation import projection
from uk_dynamics.core.integration import (
    ADAPTIVE_CONSTANTS,
    GAUSS_CONSTANTS,
    METHOD_CODES,
    PART_OF_A_STEP,
)
from uk_dynamics.core.linalg import MASSLESS, NO_INERTIA, rank_rule
from uk_dynamics.core.servo import (
    LEAST_SHARE,
    LIMITS,
    MET,
    NEVER,
    PAST,
    POWERS,
    SEARCH_CONSTANTS,
    STOOD,
    TOUCHES,
    continuation_rule,
    control_constants,
)
from uk_dynamics.mechanism.dynamics import FOLLOWS_WITHIN, STEP_CONSTANTS

#: What status numbers of a solution mean.
STATUSES = {"OK": 0, "NEAR_SINGULAR": 1, "INCONSISTENT": 2}

#: Why a state has no answer.
FAILURES = {"SINGULAR_MASS": 1, "NOT_NUMBERS": 2, "OPEN_LOOPS": 3, "JUMPED": 4}


@cache
def constants() -> Mapping[str, float]:
    """All of them by name, which in C follows ``UK_``."""
    parts: tuple[Mapping[str, float], ...] = (
        STATUSES,
        FAILURES,
        _stated_in(rank_rule),
        {"MASSLESS": MASSLESS, "NO_INERTIA": NO_INERTIA},
        projection.CONSTANTS,
        STEP_CONSTANTS,
        ADAPTIVE_CONSTANTS,
        GAUSS_CONSTANTS,
        METHOD_CODES,
        {"PART_OF_A_STEP": PART_OF_A_STEP},
        SEARCH_CONSTANTS,
        {"LEAST_SHARE": LEAST_SHARE, "TOUCHES": TOUCHES, "NEVER": NEVER, "STOOD": STOOD},
        _stated_in(control_constants),
        {"LIMITS": len(LIMITS), "PAST": PAST, "POWERS": POWERS},
        {"MET": MET, "FOLLOWS_WITHIN": FOLLOWS_WITHIN},
        _stated_in(continuation_rule),
        HULL_CONSTANTS,
        REFERENCE_KINDS,
        BEYOND_TIMES,
        EXPRESSION_OPERATIONS,
        {"REFERENCE_HEAD": REFERENCE_HEAD},
    )
    found: dict[str, float] = {}
    for part in parts:
        assert not found.keys() & part.keys()
        found |= part
    return found


def _stated_in(module: ModuleType) -> dict[str, float]:
    """Numbers of a module by name; tolerances that a mechanism file may set are not among them."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, int | float) and name.isupper() and not name.endswith("TOLERANCE")
    }


@cache
def config() -> str:
    """The text of the header."""
    lines = [*defines(constants()), _operations()]
    return header("uk_config.h", "/* Constants of all mechanisms. */", *lines)


def _operations() -> str:
    """Cases of a switch: what each operation of an expression makes of its operands."""
    forms = {"negate": "-(a)", "choose": "(a) != 0.0 ? (b) : (c)"}
    forms |= {name: f"{name}(a, b)" for name in ("pow", "atan2")}
    cases = [
        f"case UK_{code}: out = "
        + (forms.get(name, f"{name}(a)") if name.isalnum() else f"(a) {name} (b)")
        + "; break;"
        for name, code in OPERATION_NAMES.items()
    ]
    return "#define UK_OPERATIONS(out, a, b, c) " + " ".join(cases)
