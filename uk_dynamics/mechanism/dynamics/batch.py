# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Many states of one mechanism, one after the other."""

from __future__ import annotations

import numpy as np

from uk_dynamics.core.equation import Solution, Status
from uk_dynamics.mechanism.dynamics.dynamics import Dynamics
from uk_dynamics.mechanism.dynamics.samples import Samples
from uk_dynamics.mechanism.resolution.state import (
    BatchSolution,
    Inputs,
    States,
)

#: What the numbers in :attr:`BatchSolution.status` mean.
STATUSES = tuple(Status)


def evaluate_each(
    dynamics: Dynamics, given: States, inputs: Inputs, *, forces: bool
) -> BatchSolution:
    """One state after the other."""
    count = len(given.q)
    batch = empty(count, given.v.shape[1], dynamics.rows, forces=forces)
    for k in range(count):
        put(batch, k, dynamics.evaluate(*given.at(k, inputs)))
    return batch


def empty(count: int, nv: int, rows: int, *, forces: bool) -> BatchSolution:
    """A batch to be filled."""
    qdd, rank, status = np.zeros((count, nv)), np.zeros(count, np.intp), np.zeros(count, np.int8)
    if not forces:
        return BatchSolution(qdd, rank, status)
    return BatchSolution(
        qdd,
        rank,
        status,
        np.zeros((count, nv)),
        np.zeros((count, rows)),
        np.zeros((count, rows), bool),
        np.zeros((count, rows)),
    )


def put(batch: BatchSolution, k: int, solution: Solution) -> None:
    """Write a single solution into a batch as number k."""
    batch.qdd[k] = solution.qdd
    batch.rank[k] = solution.rank
    batch.status[k] = STATUSES.index(solution.status)
    for name in ("constraint_force", "multipliers", "determined", "residual"):
        array = getattr(batch, name)
        if array is not None:
            array[k] = getattr(solution, name)


def sample_each(dynamics: Dynamics, given: States, inputs: Inputs) -> Samples:
    """One state after the other; arguments as of :meth:`Dynamics.samples`."""
    places = [given.at(k, inputs) for k in range(len(given.q))]
    solutions = [dynamics.evaluate(*place) for place in places]
    residuals = [dynamics.residual(*place) for place in places]
    shape = (len(places), dynamics.rows)
    return Samples(
        np.array([solution.qdd for solution in solutions]),
        np.array([solution.rank for solution in solutions], dtype=np.intp),
        np.array([solution.joint_multipliers for solution in solutions]).reshape(shape),
        np.array([residual.position for residual in residuals]).reshape(shape),
        np.array([residual.velocity for residual in residuals]).reshape(shape),
        [solution.status for solution in solutions],
        solutions.__getitem__,
    )
