"""The motion a machine is meant to make, for drives that close their own loops around it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uk_dynamics.control.servo_modes import Decision
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Array, Inputs, State


class Setpoint(NamedTuple):
    """What drives shall do at one instant.

    Attributes:
        q: Positions, (nq,), in m or rad.
        v: Velocities, (nv,), in m/s or rad/s.
        qdd: Accelerations on the way there, (nv,).
        efforts: Motor efforts that cause them, (motors,), in N or N·m.
        duration: Time until then, in s.
    """

    q: Array
    v: Array
    qdd: Array
    efforts: Array
    duration: float


class DesiredMotion:
    """Follows the commands of a servo controller from the first measured state on.

    The controller is asked at the desired state, not at the measured one: it makes up for what
    steps of finite length leave, and the drives for what the machine leaves.
    """

    def __init__(self, mechanism: Mechanism, dynamics: Dynamics | None = None) -> None:
        """Prepare.

        Args:
            mechanism: What moves; its joints have one degree of freedom each.
            dynamics: What projects; None: the interpreted evaluator.
        """
        self._model = mechanism.model
        self._dynamics: Dynamics = dynamics or InterpretedDynamics(mechanism)
        self._state: State | None = None
        self._qdd: Array = np.zeros(mechanism.model.nv)
        self._elapsed = 0.0

    def reset(self) -> None:
        """The next measured state is where the motion begins."""
        self._state = None
        self._elapsed = 0.0

    def at(self, measured: State, inputs: Inputs | None = None) -> State:
        """The desired state at the time of a measured one, on the loops.

        Args:
            measured: Its time counts; the first one is where the motion begins.
            inputs: What is known of the structure; None: what the file says.

        Raises:
            SimulationError: The loops are too far open.
        """
        if self._state is None:
            ahead = measured
        else:
            self._elapsed = measured.t - self._state.t
            ahead = self._moved(self._state, self._elapsed)
        self._state = self._dynamics.project(ahead, inputs)
        return self._state

    def follow(self, command: Decision) -> Setpoint:
        """Where a command takes the motion in a time as long as the last step took.

        Args:
            command: Decided at the state that :meth:`at` gave.
        """
        if self._state is None:
            raise ValueError("ask for the state first")
        self._qdd = command.qdd
        next_state = self._moved(self._state, self._elapsed)
        return Setpoint(next_state.q, next_state.v, command.qdd, command.efforts, self._elapsed)

    def _moved(self, state: State, h: float) -> State:
        q = self._model.integrate(state.q, h * (state.v + 0.5 * h * self._qdd))
        return State(state.t + h, q, state.v + h * self._qdd)
