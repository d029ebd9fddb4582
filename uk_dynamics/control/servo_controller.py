"""Motor efforts that make a mechanism follow its tasks, in dynamics its loops constrain already."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.constraint_set import Rows
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.friction_compensation import compensate_friction
from uk_dynamics.core.servo import ServoSolution, servo_efforts
from uk_dynamics.core.solution import Solution
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import ActiveConstraints, Array, Inputs, State
from uk_dynamics.mechanism.tasks import Tasks


@dataclass(frozen=True, slots=True)
class Command:
    """What the controller decided at one state.

    Attributes:
        efforts: Motor efforts in declared order, (motors,), within the limits, in N or N·m.
        requested: The same before limiting.
        saturated: Names of the motors that were limited.
        unreachable: Names of the task rows that the motors cannot serve as asked, limits aside.
        tracking_error: Residual of each task row, (mt,), in m (angular rows: rad times the
            declared length).
        tracking_rate: Its rate, (mt,).
        servo: Ranks, reachability and what the tasks cannot get.
        free: Solution of the structure with motors at rest.
        violation: Largest residual of a structural constraint, in m or rad.
    """

    efforts: Array
    requested: Array
    saturated: tuple[str, ...]
    unreachable: tuple[str, ...]
    tracking_error: Array
    tracking_rate: Array
    servo: ServoSolution
    free: Solution
    violation: float


class ServoController:
    """The closed-form servo law (servo paper (35), in the dynamics constrained by the structure).

    Where tasks leave efforts open, uᵀ W u is least with W = 1/limit², so that motors of different
    kind and size share the work; or, if the tasks file says so, the motion deviates least from the
    free one (Gauss). Feedback of a task may have a distribution of its own, review (72). Friction
    of loop joints is allowed for, with the load that the efforts themselves put on them.

    Attributes:
        mechanism: What is controlled.
        tasks: What it shall do.
        weights: Diagonal of W, (motors,).
        active: Switchable constraints that are on; None: those that the mechanism file says.
    """

    def __init__(self, mechanism: Mechanism, tasks: Tasks) -> None:
        """Prepare the evaluation.

        Args:
            mechanism: With at least one motor.
            tasks: Made for this mechanism.

        Raises:
            InputError: The mechanism has no motors, or the tasks belong to another mechanism.
        """
        if tasks.mechanism is not mechanism:
            raise InputError("the tasks were made for another mechanism", file=tasks.spec.file)
        if not len(mechanism.actuators):
            raise InputError(
                "the mechanism has no motors; add actuators",
                file=mechanism.spec.file,
                place="actuators",
            )
        self.mechanism = mechanism
        self.tasks = tasks
        self.active: ActiveConstraints | None = None
        self._dynamics = InterpretedDynamics(mechanism, tasks.model)
        self._workspace = tasks.model.workspace()
        limits = mechanism.actuators.effort_limits
        # Without any declared limit all motors count alike; with some, the others get the largest.
        known = limits[np.isfinite(limits)]
        usual = float(known.max()) if len(known) else 1.0
        self.weights: Array = 1.0 / np.where(np.isfinite(limits), limits, usual) ** 2
        self._limits = limits
        self._by_generalized_inverse = np.zeros(len(tasks.constraints), dtype=bool)
        for task in tasks.spec.tasks:
            if task.feedback == "generalized_inverse":
                self._by_generalized_inverse[tasks.constraints.slices[task.name]] = True

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the task rows, ``task.label``."""
        return self.tasks.row_names

    def compute(self, state: State) -> dict[str, float]:
        """Efforts by motor name, in N or N·m, within the limits; see :meth:`command`.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        return self.mechanism.actuators.by_name(self.command(state).efforts)

    def command(
        self,
        state: State,
        references: Mapping[str, ReferenceSample] | None = None,
        *,
        preload: Mapping[str, float] | Array | None = None,
    ) -> Command:
        """Efforts and how they came about.

        Args:
            state: Where the mechanism is; t is the time of the references.
            references: Samples that replace those of the tasks file, by task name.
            preload: Efforts s to approach where the tasks leave freedom, by motor name or
                (motors,), in N or N·m.

        Raises:
            UnknownNameError: A reference or preload is for a task or motor that does not exist.
            StateError: A reference or preload has the wrong size.
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        inputs = Inputs(active=self.active)
        prepared = self._dynamics.prepare(state, inputs)
        free = self._dynamics.solve(prepared, state, inputs)
        rows: Rows = self.tasks.evaluate(prepared.workspace, state.q, state.v, state.t, references)
        constraints, actuators = self.tasks.constraints, self.mechanism.actuators
        wanted = rows.right_hand_side(constraints.damping, constraints.stiffness)
        feedback = None
        if self._by_generalized_inverse.any():
            feedback = np.where(self._by_generalized_inverse, wanted + rows.bias, 0.0)
        law = functools.partial(
            servo_efforts,
            prepared.factorization,
            S=actuators.matrix,
            A_t=rows.A,
            b_t=wanted,
            weights=self.weights,
            preload=None if preload is None else actuators.efforts(preload),
            distribution=self.tasks.spec.distribution,
            feedback=feedback,
            rank_tolerance=self.mechanism.spec.solver.task_rank_tolerance,
        )
        servo = law(free.qdd)
        if self.mechanism.friction.dry or self.mechanism.nonideal is not None:
            servo = compensate_friction(
                self._dynamics, prepared, state, inputs, actuators.matrix, law, servo
            )
        limited = np.clip(servo.efforts, -self._limits, self._limits)
        return Command(
            efforts=limited,
            requested=servo.efforts,
            saturated=_selected(actuators.names, limited != servo.efforts),
            unreachable=_selected(self.row_names, ~servo.reachable),
            tracking_error=rows.residual,
            tracking_rate=rows.rate,
            servo=servo,
            free=free,
            violation=float(np.abs(prepared.rows.residual).max(initial=0.0)),
        )

    def tracking_error(self, state: State) -> Array:
        """Residual of each task row, (mt,), as in :class:`Command`, without deciding anything."""
        workspace = self._workspace
        workspace.update(state.q, state.v)
        return self.tasks.evaluate(workspace, state.q, state.v, state.t).residual

    def inputs(self, command: Command) -> Inputs:
        """Inputs that apply a command to the mechanism."""
        return Inputs(tau=self.mechanism.actuators.matrix @ command.efforts, active=self.active)


def _selected(names: tuple[str, ...], chosen: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(names[index] for index in np.flatnonzero(chosen))
