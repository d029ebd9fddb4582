# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A simulated mechanism: fixed steps, each projected onto the constraints."""

from collections.abc import Mapping

import numpy as np

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.core.equation import Solution
from uk_dynamics.core.integration import FIXED_METHODS
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism.contact import ContactStepping
from uk_dynamics.mechanism.dynamics import (
    Dynamics,
    EffortQueue,
    Instants,
    InterpretedDynamics,
    Motion,
    project_step,
    switch,
)
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism


class SimulatedMachine:
    """A mechanism under motor efforts that are constant during a step.

    ``efforts`` (motors,) are within their limits, ``saturated`` where those cut; ``tau`` (nv,) is
    their generalized force; ``state.t`` counts from the last reset.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        step_size: float,
        integrator: str = "rk4",
        dynamics: Dynamics | None = None,
        references: Mapping[str, ReferenceSample] | None = None,
        start: State | None = None,
        *,
        delay: float = 0.0,
    ) -> None:
        """Put the mechanism at its start: a state, or loops closed and velocities of the file.

        ``references`` are samples that replace those of structural constraints, read in every step.
        Commands act after ``delay``, in s, to the nearest step.
        """
        self.mechanism, self.step_size = mechanism, step_size
        self._take_step = FIXED_METHODS[integrator].step
        self.dynamics = dynamics or InterpretedDynamics(mechanism)
        self._motion: Motion | None = None
        self._contacts = ContactStepping(mechanism) if mechanism.one_sided else None
        self._integrator, self._references = integrator, references
        self._start = start or mechanism.start()
        self._limits = mechanism.actuators.effort_limits
        self._delay = delay
        self.efforts = np.zeros(len(mechanism.actuators))
        self.saturated = np.zeros(len(mechanism.actuators), dtype=bool)
        self.tau, self._no_force = np.zeros((2, mechanism.model.nv))
        self.steps = 0
        self.reset()

    def reset(self, *, keep_time: bool = False) -> None:
        """Return to the start: t = 0, motors off, constraints as in the mechanism file.

        With ``keep_time`` t goes on, and constraints that depend on it are closed at that time.
        """
        self.steps *= keep_time
        self._set_active(self.mechanism.hierarchy.initial)
        t = self.steps * self.step_size
        self.state = State(t, self._start.q.copy(), self._start.v.copy())
        if t and self.mechanism.driven_by_time:
            self.state = self.dynamics.project(self.state, self.inputs)
        self._coming = EffortQueue(len(self.efforts))
        self._act(np.zeros(len(self.efforts)))
        if self._contacts is not None:
            self._contacts.forget()

    def command(self, efforts: Array) -> None:
        """Set the motor efforts (motors,) before a step, clipped at their limits."""
        if not self._delay:
            self._act(efforts)
            return
        coming, t = self._coming, self.state.t
        coming.append(t + self._delay, efforts)
        due = np.count_nonzero(coming.rows[: len(coming), 0] < t + 0.5 * self.step_size)
        if due:
            self._act(coming.rows[due - 1, 1:])
            coming.leave_first(due)

    def _act(self, efforts: Array) -> None:
        np.clip(efforts, -self._limits, self._limits, out=self.efforts)
        np.not_equal(self.efforts, efforts, out=self.saturated)
        np.matmul(self.mechanism.actuators.matrix, self.efforts, out=self.tau)

    def step(self) -> None:
        """Take one step; when it fails, the state stays as it was."""
        state = self.state
        t = (self.steps + 1) * self.step_size
        if self._contacts is not None:
            self.state, active = self._contacts.advance(state, t, 1, self.dynamics, self.inputs)
            self._set_active(active)
            self.steps += 1
            return
        if self._motion is None:  # until it is compiled
            self._motion = self.dynamics.motion()
        if self._motion is not None and self._step_in_c(self._motion, t):
            return
        q, v = self._take_step(
            self.mechanism.model, self._acceleration, state.t, state.q, state.v, self.step_size
        )
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise SimulationError("the motion has become infinite; take smaller steps", state.t)
        self.state = project_step(self.mechanism, self.dynamics, state, State(t, q, v), self.inputs)
        self.steps += 1

    def _step_in_c(self, motion: Motion, t: float) -> bool:
        """Whether C could take the step to a time."""
        motion.act(self.inputs, self.efforts, self._no_force)
        found = motion.move(
            self.state,
            Instants.alone((self.state.t, t)),
            step=2.0 * self.step_size,  # one step, whatever rounding says
            method=self._integrator,
        )
        if found.phase != "done":
            return False
        self.state = found.state
        self.steps += 1
        return True

    def brake(self) -> None:
        """Advance time by a step while brakes hold the mechanism."""
        self.steps += 1
        self.state = State(self.steps * self.step_size, self.state.q, self.state.v)

    def place(self, state: State) -> None:
        """Go on from a state on the constraints; time and efforts stay as they are."""
        self.state = State(self.state.t, state.q, state.v)

    def switch(self, changes: Mapping[str, bool]) -> float:
        """Activate or deactivate constraints by name; return the kinetic energy lost, in J."""
        switched = switch(self.mechanism, self.dynamics, self.state, changes, self.inputs)
        self._set_active(switched.active)
        self.state = switched.state
        return switched.energy_lost

    def solution(self) -> Solution:
        """Constrained acceleration and forces at the present state."""
        return self.dynamics.evaluate(self.state, self.inputs)

    def contact_problem(self) -> str:
        """What steps since the last call did not solve of contacts; empty: they solved all."""
        return "".join(self._contacts.problem() or ()) if self._contacts is not None else ""

    def _set_active(self, active: ActiveConstraints) -> None:
        self.active = active
        self.inputs = Inputs(tau=self.tau, active=active, references=self._references)

    def _acceleration(self, t: float, q: Array, v: Array) -> Array:
        return self.dynamics.evaluate(State(t, q, v), self.inputs).qdd
