# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The motion as functions with CasADi's interface of external functions; acados takes them too."""

import re

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.derivatives.equation_derivatives import TracedDerivatives
from uk_dynamics.compilation.derivatives.patterns import motion_patterns
from uk_dynamics.compilation.emit.c_text import file_text, header, joined, part, table
from uk_dynamics.compilation.emit.motor_source import motors
from uk_dynamics.mechanism.resolution import ResolvedMechanism


def is_ode(mechanism: ResolvedMechanism, traced: TracedDerivatives) -> bool:
    """Whether the motion is x' = f(x, u): q a vector whose rate is v, and nothing depends on t."""
    time = traced.directions - 1
    timed = any(time in row for row in (*traced.motion, *traced.rows))
    model = mechanism.model
    return model.nq == model.nv and not timed and not mechanism.follows_references


def ode_source(mechanism: ResolvedMechanism, traced: TracedDerivatives, identifier: str) -> str:
    """C of the functions, whose names begin with the identifier, behind that of the derivatives."""
    return joined(
        motors(mechanism),
        header(
            "uk_ode.h",
            part("casadi_integer.h"),
            f"#define UK_ODE(before, after) before##{identifier}##after",
            table("double", "uk_acts", mechanism.hierarchy.acting()),
            *_patterns(mechanism, traced),
        ),
        part("casadi_functions.c"),
    )


def ode_prototypes(identifier: str) -> str:
    """Declarations of the same, without our prefix."""
    text = file_text("casadi_functions.c")
    prototypes = "".join(f"{x};\n" for x in re.findall(r"UK_EXPORT (.*\)) \{", text))
    words = re.findall(r"^UK_CASADI\(UK_ODE\((\w*), (\w+)\)", text, re.MULTILINE)
    return "\n".join(
        re.sub(r"\bname(##|\b)", f"{before}{identifier}{after}", prototypes)
        for before, after in words
    )


def _patterns(mechanism: ResolvedMechanism, traced: TracedDerivatives) -> list[str]:
    """Sparsity as CasADi wants it: rows, columns, 1 where it is full; else starts and rows."""
    nv, nu = mechanism.model.nv, len(mechanism.actuators)
    whole = motion_patterns(mechanism).acceleration
    state = np.zeros((2 * nv, 2 * nv), dtype=bool)
    state[:nv, nv:] = np.eye(nv, dtype=bool)
    state[nv:] = whole[:, : 2 * nv]
    effort = np.zeros((2 * nv, nu), dtype=bool)
    effort[nv:] = whole[:, traced.directions :] @ (mechanism.actuators.matrix != 0.0)
    tables = {
        "state_vector": [2 * nv, 1, 1],
        "effort_vector": [nu, 1, 1] if nu else [0, 1, 0, 0],
        "adjoint_vector": [2 * nv + nu, 1, 1],
        "state_square": [2 * nv, 2 * nv, 1],
        "effort_square": [2 * nv, nu, 1] if nu else [2 * nv, 0, 0],
        "nothing": [0, 0, 0],
        "unread": [2 * nv, 1, 0, 0],
        "state_pattern": _compressed(state),
        "effort_pattern": _compressed(effort),
    }
    return [table("casadi_int", f"uk_{name}", values) for name, values in tables.items()]


def _compressed(pattern: NDArray[np.bool_]) -> list[int]:
    columns, rows = np.nonzero(pattern.T)
    starts = np.searchsorted(columns, np.arange(pattern.shape[1] + 1))
    return [*pattern.shape, *starts.tolist(), *rows.tolist()]
