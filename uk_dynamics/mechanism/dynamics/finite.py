# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What evaluators refuse at their door: states and inputs of wrong size, or that are not finite."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.exceptions import InputError, StateError, expect_size
from uk_dynamics.mechanism.resolution.state import Array, Inputs, State, States
from uk_dynamics.model import RobotModel


def require_finite(model: RobotModel, state: State, inputs: Inputs | None = None) -> None:
    """Refuse a state, forces or references that no motion can be computed from.

    Args:
        model: Whose state it is.
        state: Time, q (nq,), v (nv,).
        inputs: Forces (nv,) and samples of references among them; None: nothing acts.

    Raises:
        StateError: Wrong sizes, or numbers that are not finite; names the joint or constraint.
    """
    if not math.isfinite(state.t):
        raise StateError(f"expected a finite time in s, found {state.t}", place="t")
    _require(state.q, model.position_names, "q", "position")
    _require(state.v, model.velocity_names, "v", "velocity")
    if inputs is None:
        return
    if inputs.tau is not None:
        require_finite_efforts(model, inputs.tau)
    for name, sample in (inputs.references or {}).items():
        require_finite_reference(name, sample)
    if isinstance(inputs.nonideal, np.ndarray):
        _require(inputs.nonideal, model.velocity_names, "nonideal", "non-ideal force")


def require_finite_reference(name: str, sample: ReferenceSample) -> None:
    """Refuse a sample of a reference that is not finite.

    Raises:
        StateError: Names the constraint or task.
    """
    if not all(np.isfinite(part).all() for part in sample):
        raise StateError("expected a finite reference, found nan or inf", place=name)


def require_finite_efforts(model: RobotModel, tau: Array) -> None:
    """Refuse generalized forces, (nv,), that are of another size or not finite.

    Raises:
        StateError: Names the joint.
    """
    _require(tau, model.velocity_names, "tau", "effort")


def require_finite_states(model: RobotModel, given: States) -> None:
    """Refuse many states as :func:`require_finite` does one; names the state by its number.

    Raises:
        StateError: Numbers that are not finite.
    """
    if not np.isfinite(given.t).all():
        raise StateError("expected finite times in s, found nan or inf", place="t")
    forces = (given.tau, model.velocity_names, "effort")
    for values, names, what in (
        (given.q, model.position_names, "position"),
        (given.v, model.velocity_names, "velocity"),
        *(() if given.tau is None else (forces,)),
    ):
        if not np.isfinite(values).all():
            k, i = np.argwhere(~np.isfinite(values))[0].tolist()
            problem = f"expected a finite {what}, found {values[k, i]} in state {k}"
            raise StateError(problem, place=names[i])


def require_finite_answer(model: RobotModel, qdd: Array) -> None:
    """Refuse an acceleration, (nv,), that finite numbers led to but that is not finite itself.

    Raises:
        InputError: Names the joint.
    """
    if not np.isfinite(qdd).all():
        name = model.velocity_names[int(np.flatnonzero(~np.isfinite(qdd))[0])]
        raise InputError(
            "the acceleration is not finite; check masses, inertias, velocities and forces for"
            " values that are too large",
            place=name,
        )


def _require(values: Array, names: Sequence[str], place: str, what: str) -> None:
    expect_size(place, values, len(names))
    if not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise StateError(f"expected a finite {what}, found {values[bad]}", place=names[bad])
