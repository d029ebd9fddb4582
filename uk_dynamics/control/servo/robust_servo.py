# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The robust term of a servo law at a state, in NumPy; see :mod:`robust_rule`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from uk_dynamics.core.servo import Known, RobustTerm, ServoSolution, metric_square, robust_term
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Prepared, Robustness
from uk_dynamics.mechanism.resolution import Array, Inputs, State


class Nominal(NamedTuple):
    """The law without the robust term, at a state."""

    prepared: Prepared  # the model there
    state: State
    inputs: Inputs
    A_t: Array  # task rows, (mt, nv)
    b_t: Array  # what they ask for, (mt,)
    law: Callable[[Array], ServoSolution]  # of what they ask for, (mt,)
    servo: ServoSolution  # its answer
    free: Array  # acceleration without efforts, (nv,)
    S: Array  # generalized forces per unit effort, then per unit force of what stands


def robust_servo(
    tasks: Tasks, nominal: Nominal, surface: Array, known: Known
) -> tuple[ServoSolution, Robustness]:
    """The law with the robust term, and what that is.

    Args:
        tasks: With an uncertainty.
        nominal: Without it.
        surface: s = ė + k e of each row, (mt,).
        known: What is known of the uncertainty beforehand.
    """
    s = np.where(nominal.servo.controllable, surface, 0.0)
    term, direction = term_against(tasks, nominal, s, known)
    servo = nominal.law(nominal.b_t - term.factor * s) if direction else nominal.servo
    size = direction and float(np.abs(s).max()) * direction
    return servo, Robustness(
        size, float(term.bound[0]), float(term.authority[0]), float(term.factor[0])
    )


def term_against(
    tasks: Tasks, nominal: Nominal, s: Array, known: Known
) -> tuple[RobustTerm, float]:
    """The robust term against s, (mt,), and |s|/max s in the metric of the tasks; 0: s is zero."""
    assert tasks.uncertainty is not None
    uncertainty, mechanism = tasks.uncertainty, tasks.mechanism
    factorization, S = nominal.prepared.factorization, mechanism.actuators.matrix
    squares = disturbance(tasks, nominal).squares
    largest = float(np.abs(s).max(initial=0.0))
    sizes, direction = np.array([[1.0], [1.0], [0.0]]), 0.0
    if largest:
        unit = s / largest
        efforts = nominal.law(nominal.b_t + unit).efforts - nominal.servo.efforts
        motor, _ = factorization.admissible_coordinates(S)
        task, _ = factorization.admissible_coordinates(nominal.A_t.T)
        parts = uncertainty.motor_losses().items()
        lost = sum(part * abs(efforts[m]) * np.linalg.norm(motor[:, m]) for m, part in parts)
        moved = motor @ efforts
        own = metric_square(task.T @ task, unit)
        sizes = np.array([own, [moved @ moved], [lost]])
        direction = float(np.sqrt(own[0]))
        sizes[:2] *= largest * largest
        sizes[2] *= largest
    return robust_term(squares, uncertainty.groups, sizes, known), direction


class Disturbance(NamedTuple):
    """What uncertainty does to the model's motion at a state."""

    squares: Array  # |w|² of the columns of W, (directions,)
    X: Array  # rows of the uncertainty in the admissible motions, (freedoms, rows)


def disturbance(tasks: Tasks, nominal: Nominal) -> Disturbance:
    """W θ, with the efforts and acceleration of the model."""
    assert tasks.uncertainty is not None
    uncertainty, state, prepared = tasks.uncertainty, nominal.state, nominal.prepared
    factorization, there = prepared.factorization, prepared.workspace
    efforts = nominal.servo.efforts
    qdd = nominal.free + factorization.admissible(tasks.mechanism.actuators.matrix @ efforts)
    U = uncertainty.rows(tasks.model, there, state.t, state.q, state.v)
    X, _ = factorization.admissible_coordinates(U.T)
    W = X @ uncertainty.shares(tasks.model, there, state.v, U @ qdd, efforts).T
    return Disturbance(np.einsum("np,np->p", W, W), X)
