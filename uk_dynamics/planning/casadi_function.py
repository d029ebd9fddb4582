# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The motion of a mechanism as a function of CasADi."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from uk_dynamics.compilation import Library, library_of
from uk_dynamics.compilation.verification import Comparison, Trial, derivative_answers, each, verify
from uk_dynamics.derivatives import MotionDerivatives, differentiable
from uk_dynamics.escaping import c_identifier
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism
from uk_dynamics.resources import optional_library

if TYPE_CHECKING:
    from casadi import Function


def casadi_function(mechanism: ResolvedMechanism) -> Function:
    """ẋ = f(x, u) with its exact Jacobians, in C.

    x = (q, v) holds all joint positions and velocities in the order of ``model.velocity_names``, u
    the motor efforts. Closed loops hold where x begins with closed loops: the acceleration keeps
    them, and the stabilisation of the mechanism file draws x back to them. So problems need no
    constraint for the loops; a condition on the final state should name independent coordinates
    alone.

    The function is compiled at the first call for a mechanism. Second derivatives are differences
    of the Jacobians.

    Raises:
        InputError: Its motion is no ẋ = f(x, u): a floating or planar joint, or something that
            depends on time; or it has no derivatives. Or CasADi is not installed.
        CompilationError: It cannot be compiled.
        WrongLibraryError: What was compiled answers otherwise than Python.
    """
    casadi = optional_library("casadi", "CasADi is not installed: pip install casadi")
    mechanism = differentiable(mechanism)
    library = library_of(mechanism, Library.DERIVATIVES)
    name = f"{c_identifier(mechanism.name)}_ode"
    if not hasattr(ctypes.CDLL(str(library)), name):
        raise no_state_form(mechanism)
    ode = casadi.external(name, str(library))
    jacobian = casadi.external(f"jac_{name}", str(library), {"enable_fd": True})
    x = casadi.MX.sym("x", 2 * mechanism.model.nv)
    u = casadi.MX.sym("u", len(mechanism.actuators))
    # CasADi asks a plain external's Jacobian for no differences
    options: dict[str, Any] = {"custom_jacobian": jacobian, "never_inline": True, "jac_penalty": 0}
    function: Function = casadi.Function(name, [x, u], [ode(x, u)], ["x", "u"], ["xdot"], options)
    title = f"the motion of {mechanism.name} for CasADi"
    verify(library, title, lambda: _answers(mechanism, function), part="casadi")
    return function


def no_state_form(mechanism: ResolvedMechanism) -> InputError:
    """What to raise where a motion is no ẋ = f(x, u)."""
    return InputError(
        "expected a motion x' = f(x, u); found joints whose positions are no vector, or"
        " something that depends on time",
        place=mechanism.name,
    )


def _answers(mechanism: ResolvedMechanism, function: Function) -> Iterator[Comparison]:
    """Compare the acceleration and its derivatives with those in Python."""
    python, matrix = MotionDerivatives(mechanism, "interpreted"), mechanism.actuators.matrix
    nv, nu = matrix.shape

    def expected(trial: Trial) -> dict[str, Array] | None:
        found = python.at(trial.state, Inputs(tau=matrix @ np.resize(trial.tau, nu)))
        if not found.exist or found.solution is None:
            return None
        by = found.acceleration
        derivatives = np.hstack([by.q, by.v, by.tau @ matrix])
        return {"acceleration": found.solution.qdd, "its derivatives": derivatives}

    def compiled(trial: Trial) -> dict[str, Array]:
        x, u = np.concatenate([trial.state.q, trial.state.v]), np.resize(trial.tau, nu)
        derivatives = np.hstack([part.full() for part in function.jacobian()(x, u, 0)])
        return {"acceleration": np.ravel(function(x, u))[nv:], "its derivatives": derivatives[nv:]}

    yield from derivative_answers(mechanism, expected, each(compiled))
