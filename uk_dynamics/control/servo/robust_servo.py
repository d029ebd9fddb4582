# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The robust term of a servo law at a state, in NumPy; see :mod:`robust_rule`."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from uk_dynamics.core.linalg import metric_square
from uk_dynamics.core.servo import Adaptation, RobustTerm, ServoSolution, robust_term
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Prepared, Regression, RobustDemand, Robustness
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
    tasks: Tasks, nominal: Nominal, demand: RobustDemand
) -> tuple[ServoSolution, Robustness, Regression | None]:
    """The nominal law with the robust term against a demand, that term, and what estimates need."""
    s = np.where(nominal.servo.controllable, demand.surface, 0.0)
    term, direction, regression = term_against(tasks, nominal, s, demand)
    acts = direction and demand.acts
    servo = nominal.law(nominal.b_t - term.factor * s) if acts else nominal.servo
    size = direction and float(np.abs(s).max()) * direction
    numbers = (float(x[0]) for x in (term.bound, term.authority, term.factor, term.growth))
    return servo, Robustness(size, *numbers), regression


def term_against(
    tasks: Tasks, nominal: Nominal, s: Array, demand: RobustDemand
) -> tuple[RobustTerm, float, Regression | None]:
    """The robust term against s, (mt,), and |s|/max s in the metric of the tasks; 0: s is zero."""
    assert tasks.uncertainty is not None
    uncertainty, mechanism, known = tasks.uncertainty, tasks.mechanism, demand.known
    factorization, S = nominal.prepared.factorization, mechanism.actuators.matrix
    found, regression = disturbance(tasks, nominal, demand), None
    squares = found.squares
    if found.learns is not None:
        assert found.gram is not None
        squares = found.learns.larger(squares)
        told = found.learns.regression(found.shares, found.gram, s, known.learning)
        regression = Regression(*told, nominal.servo.map @ nominal.servo.efforts)
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
    return robust_term(squares, uncertainty.groups, sizes, known), direction, regression


class Disturbance(NamedTuple):
    """What uncertainty does to the model's motion at a state."""

    squares: Array  # |w|² of the columns of W, (directions,)
    X: Array  # rows of the uncertainty in the admissible motions, (freedoms, rows)
    shares: Array  # β, (directions, rows)
    learns: Adaptation | None = None  # where parameters are estimated
    gram: Array | None = None  # T Tᵀ, then


def disturbance(tasks: Tasks, nominal: Nominal, demand: RobustDemand | None = None) -> Disturbance:
    """W θ, with the efforts and acceleration of the model."""
    assert tasks.uncertainty is not None
    uncertainty, state, prepared = tasks.uncertainty, nominal.state, nominal.prepared
    factorization, there = prepared.factorization, prepared.workspace
    efforts = nominal.servo.efforts
    qdd = nominal.free + factorization.admissible(tasks.mechanism.actuators.matrix @ efforts)
    smooth = None if demand is None else demand.friction_v
    rates = state.v if smooth is None else smooth
    U = uncertainty.rows(tasks.model, there, state.t, state.q, rates)
    X, _ = factorization.admissible_coordinates(U.T)
    motion, learns, gram = U @ qdd, None, None
    if uncertainty.adaptive and demand is not None:
        T, _ = factorization.admissible_coordinates(nominal.A_t.T)
        assert demand.added is not None
        assert demand.lacking is not None
        assert demand.estimate is not None
        crossed = T.T @ X
        inertias = uncertainty.inertias(tasks.model, there, crossed)[list(uncertainty.adaptive)]
        learns = Adaptation(
            *(uncertainty.adaptive, crossed, inertias, demand.added, demand.lacking),
            *(demand.estimate, np.array([demand.adapts])),
        )
        gram = T.T @ T
        motion = learns.motion(motion, gram)
    shares = uncertainty.shares(tasks.model, there, state.v, motion, efforts)
    W = X @ shares.T
    return Disturbance(np.einsum("np,np->p", W, W), X, shares, learns, gram)
