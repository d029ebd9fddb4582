# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Closing the loops: from a guess to a configuration on all constraints, and on tasks with them."""

import math
from dataclasses import replace

import numpy as np

from uk_dynamics.arrays import Array, Flags
from uk_dynamics.core.linalg import RowBasis, coordinate_scale
from uk_dynamics.exceptions import AssemblyError, InputError
from uk_dynamics.mechanism.assembly.assembly_search import Assembly, Search
from uk_dynamics.mechanism.files import SolverSpec
from uk_dynamics.mechanism.resolution.natural_scale import natural_row_scale
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.tasks import Tasks

_OF_DIGITS = 1e-5  # of the machine's size: a smaller loop-closure error is a matter of digits
_MEASURED = 1e-2  # of the machine's size: what is open by more was not meant to close here
_MARGIN = 2.0  # the error differs from configuration to configuration
_WIDER = 4.0  # so do the rows that it leaves independent
_SHOWN_ROWS = 8


def remedy(
    mechanism: ResolvedMechanism,
    found: Assembly,
    guess: Array,
    free: Flags,
    t: float,
    tolerance: float,
) -> str:
    """The ways to close loops that nearly close; empty where they are open, or rows are too few.

    found: Of the search from the guess, (nq,), with these free velocities, (nv,); tolerance:
    Largest residual of a closed loop, in m or rad.
    """
    missing = max(found.violations.values(), default=0.0)
    if not missing <= _MEASURED * mechanism.size:
        return ""
    above = f"this is above the closure tolerance of {tolerance:.3g}; "
    enough = _rounded_up(_MARGIN * missing / mechanism.size)
    widen = "a larger one ({:g} as closure_tolerance under solver, or as --tolerance)"
    needed: list[str] = []
    while enough <= _MEASURED:
        solver = mechanism.spec.solver.closing_within(enough)
        search = Search(mechanism, free, t, solver=solver)
        there = search.run(guess, enough * mechanism.size, within_limits=True)
        needed = _independent_rows(mechanism, there.q, solver)
        wider = mechanism.spec.solver.closing_within(_WIDER * enough)
        # Loops may happen to close nearby but for little. What repeats other rows but for errors of
        # measurement is found where a wider tolerance changes nothing more.
        unchanged = there.closed and _independent_rows(mechanism, there.q, wider) == needed
        enough = _rounded_up(_WIDER * enough)
        if unchanged:
            break
    widen = widen.format(min(enough, _MEASURED))
    if not 0 < len(needed) < len(mechanism.row_names) or enough > _WIDER * _MEASURED:
        digits = f"{above}write lengths and angles with more digits, or set {widen}"
        return digits if missing <= _OF_DIGITS * mechanism.size else ""
    loops = [name for name, error in there.violations.items() if error > tolerance]
    rows = [row for row in needed if row.rpartition(".")[0] in loops]
    kept = ", ".join(rows[:_SHOWN_ROWS]) + (", ..." if len(rows) > _SHOWN_ROWS else "")
    return (
        f"{above}the loop has redundant rows, which agree only if lengths and angles are exact:"
        f" write more digits, set {widen}, keep only the rows that are needed"
        f" ({kept}: type frame with these axes), or give {', '.join(loops)} a compliance"
    )


def _rounded_up(value: float) -> float:
    """A positive number rounded up to one digit."""
    unit = 10.0 ** math.floor(math.log10(value))
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.0e}")


def _independent_rows(mechanism: ResolvedMechanism, q: Array, solver: SolverSpec) -> list[str]:
    """Names of the rows that tolerances leave independent, in file order."""
    constraints, model = mechanism.constraints, mechanism.model
    length = mechanism.spec.model.length
    workspace = model.workspace()
    workspace.update_positions(q)
    A, _ = constraints.position(workspace, 0.0, q, mechanism.references.sample(0.0))
    scale = natural_row_scale(model, constraints, q, solver, length=length, whiten=False)
    columns = np.asfortranarray((A * coordinate_scale(workspace.mass.diagonal())).T)
    basis = RowBasis(columns, scale, solver.rank_tolerance)
    return [mechanism.row_names[row] for row in sorted(basis.independent)]


_LEADING_STEPS = 32  # for one turn of a joint: short against what can be closed directly
_TASK_STEPS = 8
_OTHER_STARTS = 16
_STARTED = 240  # velocities of all other starts together: large machines have fewer of them
_NEAR = 1e-2  # of the machine's size: a loop-closure error below belongs to this place


def assemble(
    mechanism: ResolvedMechanism,
    guess: Array,
    hold: tuple[str, ...],
    t: float = 0.0,
    tolerance: float | None = None,
) -> Assembly:
    """Close the loops inside the joint limits; constraints of velocities alone hold no position.

    Where the search from the guess ends in a dead end, the held coordinates are led from a closed
    configuration to their values, closing the loops in every step.
    """
    if tolerance is None:
        tolerance = mechanism.closure_tolerance
    free = free_velocities(mechanism, hold)
    search = Search(mechanism, free, t)
    result = search.run(guess, tolerance, within_limits=True)
    if result.closed:
        return result
    if result.reversed:
        return _from_other_starts(mechanism, search, guess, free, tolerance) or result
    missing = max(result.violations.values(), default=0.0)
    led = _lead(mechanism, search, guess, free, tolerance)
    if led is not None:
        return led
    # The guess may be singular, as where all links are stretched. Loops that nearly close are wrong
    # by their lengths, and would close elsewhere as something else.
    if free.all() and missing > _NEAR * mechanism.size:
        other = _from_other_starts(mechanism, search, guess, free, tolerance)
        if other is not None:
            return other
    outside = search.run(guess, tolerance, within_limits=False)
    if outside.closed and outside.limit_violations:
        shown = "; ".join(str(v) for v in outside.limit_violations[:3])
        reason = f"from here it closes only outside the joint limits: {shown}"
        return replace(result, reason=reason, closes_beyond=outside.limit_violations)
    advice = remedy(mechanism, result, guess, free, t, tolerance)
    return replace(result, reason=advice or result.reason, has_remedy=bool(advice))


def _from_other_starts(
    mechanism: ResolvedMechanism, search: Search, guess: Array, free: Flags, tolerance: float
) -> Assembly | None:
    """Search around the guess, further and further away; None: never closed."""
    # rows of a hinge are zero where its axes are parallel and where they are opposed, so that half
    # of all starts may end in reverse
    model, chance = mechanism.model, np.random.default_rng(0)
    count = min(_OTHER_STARTS, max(2, _STARTED // max(1, model.nv)))
    for number in range(1, count + 1):
        way = chance.uniform(-1.0, 1.0, model.nv) * (np.pi * number / count)
        way[~free] = 0.0
        found = search.run(model.integrate(guess, way), tolerance, within_limits=True)
        if found.closed:
            return found
    return None


def _lead(
    mechanism: ResolvedMechanism, search: Search, guess: Array, free: Flags, tolerance: float
) -> Assembly | None:
    """Move the held coordinates to the guess from the initial guess, closed; None: not possible."""
    if free.all():
        return None
    model = mechanism.model
    everything = Search(mechanism, np.ones_like(free), search.t)
    reached = everything.run(mechanism.initial_guess, tolerance, within_limits=True)
    for remaining in range(_LEADING_STEPS, 0, -1):
        if not reached.closed:
            return None
        way = model.difference(reached.q, guess)
        way[free] = 0.0
        start = model.integrate(reached.q, way / remaining)
        reached = search.run(start, tolerance, within_limits=True)
    return reached if reached.closed else None


def assemble_on_tasks(
    mechanism: ResolvedMechanism, tasks: Tasks, guess: Array, hold: tuple[str, ...], t: float = 0.0
) -> Assembly:
    """Close the loops where tasks are on their references; rows of velocities hold no position.

    From where the loops close around the guess the tasks are led to their references in steps, so
    that the branch is that of the guess.
    Where the references are out of reach: loops closed near the closest configuration, and by how
    much each task is off there. The guess is (nq,).
    """
    tolerance = mechanism.closure_tolerance
    found = assemble(mechanism, guess, hold, t)
    if not found.closed:
        return found
    free = free_velocities(mechanism, hold)
    search = Search(mechanism, free, t, tasks)
    error = search.error(found.q)
    error[: len(error) - np.count_nonzero(tasks.constraints.position_rows)] = 0.0
    for remaining in range(_TASK_STEPS - 1, -1, -1):
        away = error * (remaining / _TASK_STEPS)
        result = search.run(found.q, tolerance, within_limits=True, away=away)
        if not result.closed:
            break
        found = result
    if result.closed:
        return result
    best = search.run(found.q, tolerance, within_limits=True)
    if best.closed:
        return best
    outside = search.run(found.q, tolerance, within_limits=False)
    if outside.closed and outside.limit_violations:
        reason = "only outside the joint limits: "
        reason += "; ".join(str(violation) for violation in outside.limit_violations[:3])
    else:
        reason = "no further step brings it closer"
    there = Search(mechanism, free, t).run(best.q, tolerance, within_limits=True).q
    errors = dict(zip(tasks.row_names, _errors(tasks, search.error(there)), strict=True))
    violations = {
        name: max(abs(errors[row]) for row in tasks.row_names[rows])
        for name, rows in tasks.constraints.slices.items()
    }
    return replace(best, q=there, closed=False, reason=reason, violations=violations)


def closed_configuration(
    mechanism: ResolvedMechanism, result: Assembly, tasks: Tasks | None = None, t: float = 0.0
) -> Array:
    """The configuration of a successful assembly, (nq,), within the limits of held joints."""
    if not result.closed:
        off = tasks is not None and set(result.violations) <= set(tasks.names)
        raise AssemblyError(
            result.reason,
            result.violations,
            mechanism.model.positions_by_name(result.q),
            problem=f"the references are out of reach at t = {t:g} s" if off else "",
            file=tasks.spec.file if tasks is not None and off else mechanism.spec.file,
        )
    if result.limit_violations:  # of joints that were held there
        shown = "; ".join(str(violation) for violation in result.limit_violations[:3])
        problem = f"{shown}; choose a position within, or widen the limit in the URDF"
        raise InputError(problem, file=mechanism.spec.file)
    return result.q


def _errors(tasks: Tasks, residual: Array) -> list[float]:
    """Error of each task row from the residuals of a search; zero for rows of velocities."""
    held = np.flatnonzero(tasks.constraints.position_rows)
    errors = np.zeros(len(tasks.constraints))
    errors[held] = residual[len(residual) - len(held) :]
    return [float(error) for error in errors / tasks.constraints.reference_scale]


def free_velocities(mechanism: ResolvedMechanism, hold: tuple[str, ...]) -> Flags:
    """Velocity coordinates that are not held, (nv,)."""
    free = np.ones(mechanism.model.nv, dtype=bool)
    for name in hold:
        free[_velocities(mechanism, name)] = False
    return free


def _velocities(mechanism: ResolvedMechanism, name: str) -> list[int]:
    """Velocity coordinates of a joint: one, or all of a floating or planar joint."""
    # the positions of a floating or planar joint, such as ``root.x``, can only be held together
    model = mechanism.model
    if name in model.position_names and name not in model.velocity_names:
        name = name.rpartition(".")[0]
    parts = [other for other in model.velocity_names if other.startswith(f"{name}.")]
    return [model.velocity_index(part) for part in parts or [name]]
