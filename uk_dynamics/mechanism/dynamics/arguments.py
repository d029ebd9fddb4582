# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Arguments of evaluators, batches and rollouts, checked: sizes, and that numbers are finite."""

import math
from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.core.integration import FIXED_METHODS
from uk_dynamics.exceptions import InputError, StateError, expect_names, expect_size
from uk_dynamics.mechanism.resolution.state import Array, Inputs, Plan, RolloutMethod, State, States
from uk_dynamics.model import RobotModel

_ROLLOUT_METHODS = get_args(RolloutMethod)
METHODS = {name: FIXED_METHODS[name] for name in _ROLLOUT_METHODS if name in FIXED_METHODS}

# Numbers whose product OpenBLAS leaves to the calling thread; for more than 10,000 it wakes others,
# which take milliseconds on busy processors.
_BY_ONE_THREAD = 8192
_NOTHING = Inputs()


def without_forces(inputs: Inputs | None) -> Inputs:
    """Inputs that many states share, without forces, which are an argument; None: nothing."""
    if inputs is None:
        return _NOTHING
    if inputs.tau is not None:
        raise InputError("give generalized forces as tau, not in the inputs", place="inputs.tau")
    return inputs


def states(
    model: RobotModel,  # whose states they are
    t: ArrayLike,  # one time, or (K,), in s
    q: ArrayLike,  # (K, nq)
    v: ArrayLike,  # (K, nv)
    tau: ArrayLike | None,  # (K, nv), (nv,) for all states, or None
) -> States:
    """Arrays of one batch as whole C-ordered floats; StateError: wrong shapes, or not finite."""
    nq, nv = model.nq, model.nv
    positions = np.ascontiguousarray(q, dtype=float)
    count = len(positions) if positions.ndim else 0
    velocities = np.ascontiguousarray(v, dtype=float)
    times = np.atleast_1d(np.asarray(t, dtype=float))
    forces = None
    if tau is not None:
        forces = np.asarray(tau, dtype=float)
        if forces.shape == (nv,):
            forces = np.broadcast_to(forces, (count, nv))
        forces = np.ascontiguousarray(forces)
    expected = {"q": (positions, (count, nq)), "v": (velocities, (count, nv))}
    if forces is not None:
        expected["tau"] = (forces, (count, nv))
    for name, (found, shape) in expected.items():
        if found.shape != shape:
            raise StateError(f"expected shape {shape}, found {found.shape}", place=name)
    if times.shape not in ((1,), (count,)):
        raise StateError(f"expected shape ({count},), found {times.shape}", place="t")
    given = States(times, positions, velocities, forces)
    require_finite_states(model, given)
    return given


def plan(
    model: RobotModel,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    steps: int,
    dt: float,
    every: int,
    method: str,
    project: bool,
    t: float,
) -> Plan:
    """Check what a rollout is asked for: shapes, numbers, method; see :meth:`Dynamics.rollout`."""
    for name, value in (("steps", steps), ("every", every)):
        if value != int(value) or value < 1:
            raise InputError(f"expected a whole number of at least 1, found {value}", place=name)
    if steps % every:
        raise InputError(f"expected a divisor of the {steps} steps, found {every}", place="every")
    if not 0.0 < dt < math.inf:
        raise InputError(f"expected a positive number, found {dt}", place="dt")
    expect_names("method", [method], _ROLLOUT_METHODS, place="method")
    if method == "moreau" and not project:
        raise InputError("steps of moreau end on the constraints; expected True", place="project")
    arrays = (np.asarray(x, dtype=float) for x in (q, v))
    places, speeds = (x if x.ndim == 2 else np.atleast_2d(x) for x in arrays)
    given = states(model, t, places, speeds, None)
    forces = _forces(tau, len(given.q), steps, model.nv)
    if not _all_finite(forces):
        for each in forces.reshape(-1, model.nv):
            require_finite_efforts(model, each)
    return Plan(given.q, given.v, forces, steps, dt, every, method, project, t)


def _forces(tau: ArrayLike | None, count: int, steps: int, nv: int) -> Array:
    given = np.zeros(nv) if tau is None else np.asarray(tau, dtype=float)
    forces = given
    if forces.ndim == 1:
        forces = forces[None, None]
    elif forces.ndim == 2:
        forces = forces[:, None]
    fits = forces.ndim == 3 and forces.shape[2] == nv
    if not (fits and forces.shape[0] in (1, count) and forces.shape[1] in (1, steps)):
        raise StateError(
            f"expected shape ({nv},), ({count}, {nv}) or ({count}, {steps}, {nv}),"
            f" found {given.shape}",
            place="tau",
        )
    return np.ascontiguousarray(forces)


def require_finite(model: RobotModel, state: State, inputs: Inputs | None = None) -> None:
    """Refuse what no motion can be computed from: a StateError names joint or constraint."""
    if not math.isfinite(state.t):
        raise StateError(f"expected a finite time in s, found {state.t}", place="t")
    _require(state.q, model.position_names, "q", "position")
    _require(state.v, model.velocity_names, "v", "velocity")
    if inputs is None:
        return
    if inputs.tau is not None:
        require_finite_efforts(model, np.asarray(inputs.tau, dtype=float))
    for name, sample in (inputs.references or {}).items():
        require_finite_reference(name, sample)
    if isinstance(inputs.nonideal, np.ndarray):
        _require(inputs.nonideal, model.velocity_names, "nonideal", "non-ideal force")


def require_finite_reference(name: str, sample: ReferenceSample) -> None:
    """Refuse a sample of a reference that is not finite, with the name of constraint or task."""
    if not all(np.isfinite(part).all() for part in sample):
        raise StateError("expected a finite reference, found nan or inf", place=name)


def require_finite_efforts(model: RobotModel, tau: Array) -> None:
    """Refuse generalized forces, (nv,), of another size or not finite, with the joint's name."""
    _require(tau, model.velocity_names, "tau", "effort")


def require_finite_states(model: RobotModel, given: States) -> None:
    """Refuse many states as :func:`require_finite` does one; names the state by its number."""
    if all(values is None or _all_finite(values) for values in given):
        return
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


def _all_finite(values: Array) -> bool:
    """Tell whether all numbers are finite."""
    # vdot, which unlike dot does not warn, is quicker than asking each
    if values.size > _BY_ONE_THREAD:
        numbers, half, size = values.reshape(-1), (values.size + 1) // 2, _BY_ONE_THREAD
        one, other = numbers[:half], numbers[-half:]
        products = sum(
            np.vdot(one[k : k + size], other[k : k + size]) for k in range(0, half, size)
        )
    else:
        products = np.vdot(values, values)
    # products of the largest numbers are infinite
    return math.isfinite(products) or bool(np.isfinite(values).all())


def require_finite_answer(model: RobotModel, qdd: Array) -> None:
    """Refuse an acceleration, (nv,), that finite numbers led to but that is not finite itself."""
    if not np.isfinite(qdd).all():
        raise InputError(
            "the acceleration is not finite; check masses, inertias, velocities and forces for"
            " values that are too large",
            place=model.velocity_names[int(np.flatnonzero(~np.isfinite(qdd))[0])],
        )


def _require(values: Array, names: Sequence[str], place: str, what: str) -> None:
    expect_size(place, values, len(names))
    if not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise StateError(f"expected a finite {what}, found {values[bad]}", place=names[bad])
