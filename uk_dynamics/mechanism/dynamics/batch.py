# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Many states of one mechanism at once: checked inputs, and one state after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.core.equation import Solution, Status
from uk_dynamics.exceptions import InputError, StateError
from uk_dynamics.mechanism.dynamics.dynamics import Dynamics
from uk_dynamics.mechanism.dynamics.rollout import plan
from uk_dynamics.mechanism.dynamics.samples import Samples
from uk_dynamics.mechanism.resolution.state import (
    BatchSolution,
    Inputs,
    Plan,
    Rollout,
    States,
)

#: What the numbers in :attr:`BatchSolution.status` mean.
STATUSES = tuple(Status)


class Batches(ABC):
    """``evaluate_batch`` and ``rollout`` of an evaluator, whose arguments are checked here."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, int]:
        """Numbers of positions and velocities, nq and nv."""

    @abstractmethod
    def evaluate_states(
        self, given: States, inputs: Inputs, *, forces: bool, threads: int | None
    ) -> BatchSolution:
        """Answers at checked states; see :meth:`Dynamics.evaluate_batch`."""

    @abstractmethod
    def roll(self, given: Plan, inputs: Inputs, threads: int | None) -> Rollout:
        """Checked trajectories; see :meth:`Dynamics.rollout`."""

    def rollout(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        inputs: Inputs | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> Rollout:
        """Many trajectories at once; see :meth:`Dynamics.rollout`."""
        given = plan(*self.sizes, q, v, tau, **options)
        return self.roll(given, without_forces(inputs or Inputs()), threads)

    def evaluate_batch(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: Inputs | None = None,
        forces: bool = True,
        threads: int | None = None,
    ) -> BatchSolution:
        """Many states at once; see :meth:`Dynamics.evaluate_batch`."""
        shared = without_forces(inputs or Inputs())
        given = states(*self.sizes, t, q, v, tau)
        return self.evaluate_states(given, shared, forces=forces, threads=threads)


def without_forces(inputs: Inputs) -> Inputs:
    """Inputs that many states share, checked.

    Raises:
        InputError: They hold forces, which are an argument of their own.
    """
    if inputs.tau is not None:
        raise InputError("give generalized forces as tau, not in the inputs", place="inputs.tau")
    return inputs


def states(
    nq: int,  # positions
    nv: int,  # velocities
    t: ArrayLike,  # one time, or (K,), in s
    q: ArrayLike,  # (K, nq)
    v: ArrayLike,  # (K, nv)
    tau: ArrayLike | None,  # (K, nv), (nv,) for all states, or None
) -> States:
    """Arrays of one batch as whole C-ordered floats.

    Raises:
        StateError: Wrong shapes.
    """
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
    return States(times, positions, velocities, forces)


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
