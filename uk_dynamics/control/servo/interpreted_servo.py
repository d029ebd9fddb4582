# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo law of some tasks in NumPy and LAPACK."""

import functools

import numpy as np

from uk_dynamics.control.friction_compensation import compensate_friction
from uk_dynamics.control.servo.robust_servo import Nominal, robust_servo
from uk_dynamics.core.equation import Solution
from uk_dynamics.core.servo import LimitedAllocation, ServoSolution, servo_efforts
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import (
    Demand,
    InterpretedDynamics,
    Prepared,
    References,
    ServoOutcome,
    Standing,
    TrackingErrors,
)
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.model.kinematics import Workspace

_DEPENDENT = 1e-8  # of the largest: smaller singular values of rows of contacts are rounding


class InterpretedServo:
    """Evaluates the servo law for every kind of constraint; see :class:`ServoEvaluator`."""

    def __init__(self, tasks: Tasks, *, friction: bool = True) -> None:
        self._tasks = tasks
        self._mechanism = tasks.mechanism
        self._friction = friction
        self._dynamics = InterpretedDynamics(tasks.mechanism, tasks.model)
        self._workspace = tasks.model.workspace()
        self._allocation = LimitedAllocation(
            tasks.priorities,
            tasks.allocation.weights,
            tasks.mechanism.spec.solver.task_rank_tolerance,
            tasks.side,
        )

    def loop_closure_error(self, state: State, inputs: Inputs) -> float:
        """Largest residual of the structure, in m or rad."""
        return float(np.abs(self._dynamics.residual(state, inputs).position).max(initial=0.0))

    def errors(self, state: State, references: References | None = None) -> TrackingErrors:
        """Residuals and rates of the task rows."""
        self._workspace.update(state.q, state.v)
        rows = self._tasks.evaluate(self._workspace, state.q, state.v, state.t, references)
        return TrackingErrors(rows.residual, rows.rate)

    def evaluate(
        self, state: State, demand: Demand, references: References | None = None
    ) -> ServoOutcome:
        """The closed form, with the friction that its efforts cause."""
        nominal, free, with_friction = self._nominal(state, demand, references)
        prepared, S = nominal.prepared, nominal.S

        def response(efforts: Array) -> Array:
            return prepared.factorization.admissible(S @ efforts)

        servo, robust, regression, drift = nominal.servo, None, None, None
        if self._tasks.corrected:
            drift = demand.desired - nominal.servo.wanted
        if demand.robust is not None:
            servo, robust, regression = robust_servo(self._tasks, nominal, demand.robust)
            robust = robust if demand.robust.acts else None
        return ServoOutcome(
            servo, free, with_friction.qdd, response, robust, drift=drift, regression=regression
        )

    def nominal(self, state: State, demand: Demand) -> Nominal:
        """The law without a robust term; valid until the next evaluation."""
        return self._nominal(state, demand)[0]

    def _nominal(
        self, state: State, demand: Demand, references: References | None = None
    ) -> tuple[Nominal, Solution, Solution]:
        """The law without a robust term, and the motion at rest.

        The motion is that without efforts: without the friction that they cause, and with it.
        """
        inputs = demand.inputs
        prepared = self._dynamics.prepare(state, inputs)
        rows = self._tasks.evaluate(prepared.workspace, state.q, state.v, state.t, references)
        feedback = None
        if self._tasks.by_generalized_inverse.any():
            feedback = np.where(self._tasks.by_generalized_inverse, demand.feedback, 0.0)
        mechanism = self._mechanism
        S, A_t, b_t = mechanism.actuators.matrix, rows.A, demand.desired - rows.bias
        weights, preload = demand.weights, demand.preload
        if demand.standing is not None:
            J, held = self._standing_rows(prepared.workspace, state, demand.standing)
            asked = demand.standing.asked
            A_t, b_t = np.concatenate((J, A_t * asked[:, None])), np.append(held, b_t * asked)
            S, weights = np.concatenate((S, J.T), axis=1), self._weights(demand)
            preload = None if preload is None else np.append(preload, np.zeros(len(J)))
        law = functools.partial(
            servo_efforts,
            prepared.factorization,
            S=S,
            A_t=A_t,
            b_t=b_t,
            weights=weights,
            preload=preload,
            distribution=self._tasks.spec.distribution,
            feedback=feedback,
            share=self._tasks.share(state.q),
            side=self._tasks.side,
            rank_tolerance=mechanism.spec.solver.task_rank_tolerance,
        )
        free = with_friction = self._without_efforts(prepared, state, inputs)
        servo = law(free.qdd)
        if self._friction and (mechanism.friction.dry or mechanism.nonideal is not None):
            servo, with_friction = compensate_friction(
                self._dynamics, prepared, state, inputs, S, lambda free: law(free.qdd), servo
            )
        nominal = Nominal(
            prepared, state, inputs, A_t, b_t, lambda b: law(free.qdd, b_t=b), servo, free.qdd, S
        )
        return nominal, free, with_friction

    def _standing_rows(
        self, workspace: Workspace, state: State, standing: Standing
    ) -> tuple[Array, Array]:
        """J, (3k, nv), and its right-hand side, of the contacts that stand.

        Points of a foot that still turns cannot all slow down alike: the right-hand side is the
        nearest that some acceleration has.
        """
        contacts = self._tasks.standing
        assert contacts is not None
        rows = contacts.evaluate(workspace, state.q, state.v)
        own = (3 * standing.points[:, None] + np.arange(3)).ravel()
        J, wanted = rows.A[own], contacts.right_hand_side(rows)[own]
        return J, J @ np.linalg.lstsq(J, wanted, rcond=_DEPENDENT)[0]

    def _weights(self, demand: Demand) -> Array:
        """Of squares of efforts, and of forces: less of a share costs more, (nu + 3k,)."""
        contacts, standing = self._tasks.standing, demand.standing
        assert contacts is not None
        assert standing is not None
        return np.append(demand.weights, np.repeat(contacts.weight / standing.share**2, 3))

    def allocate(
        self, servo: ServoSolution, demand: Demand, lower: Array, upper: Array
    ) -> tuple[Array, bool]:
        """Efforts within limits, and whether they are optimal."""
        allocation, standing, stand = self._allocation, demand.standing, {}
        allocation.weights = demand.weights
        if standing is not None:
            contacts = self._tasks.standing
            assert contacts is not None
            allocation.weights = self._weights(demand)
            stand = {"friction": contacts.friction[standing.points], "most": standing.most}
        efforts = allocation.solve(
            servo.map,
            servo.wanted,
            lower,
            upper,
            servo.efforts,
            served=servo.fully_reachable,
            **stand,
        )
        return efforts, allocation.finished

    def _without_efforts(self, prepared: Prepared, state: State, inputs: Inputs) -> Solution:
        """The motion of the structure with zero motor efforts."""
        if self._friction:
            return self._dynamics.solve(prepared, state, inputs)
        terms = prepared.terms
        resistance = self._mechanism.passive.resistance(state.v)
        return prepared.factorization.solve(terms.F - resistance, terms.b)
