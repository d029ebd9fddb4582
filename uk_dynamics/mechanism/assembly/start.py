# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where a motion starts: velocities that agree with the constraints."""

from collections.abc import Mapping, Sequence

import numpy as np

from uk_dynamics.core.linalg import ZERO_ROW, coordinate_scale
from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism.assembly.assembly import (
    assemble,
    assemble_on_tasks,
    closed_configuration,
)
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array, State
from uk_dynamics.mechanism.tasks import Tasks

_NEWTON_STEPS = 30
_ROUNDING = 1e-12  # of rates, against the largest of them
_ADMITTED = 1e-9  # of rates that are left, likewise
_PART_OF_RANK = 0.1  # of the rank tolerance: which motions the rows leave free


def start(
    mechanism: ResolvedMechanism,
    positions: Mapping[str, float] | None = None,
    velocities: Mapping[str, float] | None = None,
    t: float = 0.0,
    *,
    tasks: Tasks | None = None,
) -> State:
    """The state a motion starts from; see :meth:`Mechanism.start`."""
    model, hold = mechanism.model, tuple(positions or ())
    guess = mechanism.configuration(positions or {})
    tasks = None if tasks is None else tasks.served
    if tasks is None:
        q = closed_configuration(mechanism, assemble(mechanism, guess, hold, t))
        held = dict(mechanism.spec.initial_velocity) | dict(velocities or {})
    else:
        found = assemble_on_tasks(mechanism, tasks, guess, hold, t)
        q, held = closed_configuration(mechanism, found, tasks, t), dict(velocities or {})
    v = consistent_velocity(mechanism, t, q, model.to_velocities(held), tuple(held), tasks)
    return State(float(t), q, v)


def consistent_velocity(
    mechanism: ResolvedMechanism,
    t: float,
    q: Array,
    v: Array,
    held: Sequence[str],
    tasks: Tasks | None = None,
) -> Array:
    """Velocities, (nv,), that satisfy constraints and tasks with those of the ``held`` joints.

    The other joints move as little as they can, each weighed by the root of its own inertia.
    """
    model = mechanism.model
    structure = mechanism.constraints
    sets = [(structure, structure.motion_rows & mechanism.hierarchy.acting(), mechanism.references)]
    if tasks is not None:
        sets.append((tasks.constraints, tasks.constraints.motion_rows, tasks.references))
    chosen = np.concatenate([rows for _, rows, _ in sets])
    rigid = np.ones(len(chosen), bool)
    rigid[: len(structure)] = mechanism.hierarchy.rigid
    rigid = rigid[chosen]  # what is compliant follows as far as it can
    if not chosen.any():
        return v
    free = np.ones(model.nv, dtype=bool)
    for name in held:
        free[model.velocity_index(name)] = False
    workspace = (tasks or mechanism).model.workspace()
    samples = [references.sample(t) for _, _, references in sets]
    linear = all(constraints.linear_in_rates for constraints, _, _ in sets)
    solver = mechanism.spec.solver
    tolerance = solver.rank_tolerance * (1.0 if solver.measured else _PART_OF_RANK)
    least = max(ZERO_ROW, solver.closure_tolerance)  # of a row, against the largest
    found = v.copy()
    for _ in range(_NEWTON_STEPS):
        workspace.update(q, found)
        evaluated = [
            constraints.evaluate(workspace, t, q, found, reference)
            for (constraints, _, _), reference in zip(sets, samples, strict=True)
        ]
        rate = np.concatenate([rows.rate for rows in evaluated])[chosen]
        size = 1.0 + float(np.abs(found).max())
        if float(np.abs(rate).max()) <= _ROUNDING * size:
            return found
        scale = coordinate_scale(workspace.mass.diagonal())[free]
        A = np.concatenate([rows.A for rows in evaluated])[np.ix_(chosen, free)] * scale
        # rows at their own size, so that the rank rule of the solver holds for each of them; but
        # not what is left of rows across the plane of a planar loop
        norm = np.linalg.norm(A, axis=1, keepdims=True)
        largest = norm.max(initial=0.0)
        norm[~rigid | (norm[:, 0] <= least * largest)] = largest or 1.0
        step = np.linalg.lstsq(A / norm, -rate / norm[:, 0], rcond=tolerance)[0]
        found[free] += scale * step
        if linear and float(np.abs(scale * step).max()) <= _ROUNDING * size:
            break
    worst = int(np.argmax(np.abs(rate) * rigid))
    if rigid[worst] and abs(rate[worst]) > max(_ADMITTED, mechanism.closure_tolerance) * size:
        names = mechanism.row_names + (tasks.row_names if tasks else ())
        name = names[int(np.flatnonzero(chosen)[worst])]
        lack = f"{abs(rate[worst]):.3g}"
        if tasks is not None:
            raise StateError(
                f"the rates of the references contradict {name} by {lack} m/s or rad/s; let them"
                " begin with other rates",
                file=tasks.spec.file,
                place="tasks",
            )
        raise StateError(
            f"the initial velocities contradict {name} by {lack} m/s or rad/s; give fewer of them,"
            " or others",
            file=mechanism.spec.file,
            place="initial_velocity",
        )
    return found
