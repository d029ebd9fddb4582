"""Setpoints for drives with their own position or velocity loop: the desired motion, integrated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uk_dynamics.control.command import MotorCommand
from uk_dynamics.mechanism import Mechanism
from uk_dynamics.mechanism.dynamics import Dynamics, InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State


class Setpoint(NamedTuple):
    """Desired joint state at the end of a period."""

    q: Array  # positions, (nq,), in m or rad
    v: Array  # velocities, (nv,), in m/s or rad/s
    qdd: Array  # accelerations during the period, (nv,), in m/s² or rad/s²
    efforts: Array  # motor efforts that cause them, (motors,), in N or N·m
    duration: float  # of the period, in s


class SetpointGenerator:
    """Integrates the accelerations of a controller, starting from the first measured state.

    The controller is evaluated at the desired state, not at the measured one: it corrects the
    integration error, and the drives correct the tracking error of the machine.
    """

    def __init__(self, mechanism: Mechanism, dynamics: Dynamics | None = None) -> None:
        """Prepare.

        Args:
            mechanism: What moves; its joints have one degree of freedom each.
            dynamics: Projects states onto the constraints; None: the interpreted evaluator.
        """
        self._model = mechanism.model
        self._dynamics: Dynamics = dynamics or InterpretedDynamics(mechanism)
        self._state: State | None = None
        self._qdd: Array = np.zeros(mechanism.model.nv)
        self._elapsed = 0.0

    def reset(self) -> None:
        """Start the motion at the next measured state."""
        self._state = None
        self._elapsed = 0.0

    def desired_state(self, measured: State, inputs: Inputs | None = None) -> State:
        """The desired state at the time of a measured one, projected onto the constraints.

        Args:
            measured: Gives the time; the first one is where the motion starts.
            inputs: Active constraints and structural references; None: as in the mechanism file.

        Raises:
            SimulationError: The loop-closure error is too large to be projected away.
        """
        if self._state is None:
            ahead = measured
        else:
            self._elapsed = measured.t - self._state.t
            ahead = self._moved(self._state, self._elapsed)
        self._state = self._dynamics.project(ahead, inputs)
        return self._state

    def setpoint(self, command: MotorCommand) -> Setpoint:
        """The desired state one period ahead, the period being as long as the last one."""
        if self._state is None:
            raise ValueError("call desired_state() first")
        self._qdd = command.qdd
        next_state = self._moved(self._state, self._elapsed)
        return Setpoint(next_state.q, next_state.v, command.qdd, command.efforts, self._elapsed)

    def _moved(self, state: State, h: float) -> State:
        q = self._model.integrate(state.q, h * (state.v + 0.5 * h * self._qdd))
        return State(state.t + h, q, state.v + h * self._qdd)
