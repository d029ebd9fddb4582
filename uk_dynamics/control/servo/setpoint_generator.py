# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Setpoints for drives with their own position or velocity loop: the desired motion, integrated."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from uk_dynamics.control.command import MotorCommand
from uk_dynamics.mechanism.dynamics import Dynamics, InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism

_SAME = 1e-9  # s; stamps and sums of periods differ by rounding


class Setpoint(NamedTuple):
    """Desired joint state at an instant."""

    after: float  # the measured state that is answered, in s; at most 0: it is, or was, there
    q: Array  # positions, (nq,), in m or rad
    v: Array  # velocities, (nv,), in m/s or rad/s
    qdd: Array  # accelerations, (nv,), in m/s² or rad/s²
    efforts: Array  # motor efforts, (motors,), in N or N·m


@dataclass
class _Knot:
    """A desired state, and the command for the period that begins there; None: not yet."""

    state: State
    command: MotorCommand | None = None


class SetpointGenerator:
    """Integrates the accelerations of a controller, starting from the first measured state.

    The controller is evaluated at the desired state, not at the measured one: it corrects the
    integration error, and the drives correct the tracking error of the machine. The desired motion
    is a series of states one period apart, which is never changed once it has been said: drives get
    it some periods ahead, so that a point arrives before its time has come. A floating base moves
    as the joints and the feet that stand make it move; what else pushes it is not answered.
    """

    def __init__(
        self,
        mechanism: Mechanism,  # what moves
        period: float,  # from one desired state to the next, in s
        # projects states onto the constraints; None: the interpreted evaluator
        dynamics: Dynamics | None = None,
    ) -> None:
        """Prepare."""
        self._model = mechanism.model
        self._period = period
        self._dynamics: Dynamics = dynamics or InterpretedDynamics(mechanism)
        self._knots: deque[_Knot] = deque()

    def reset(self) -> None:
        """Start the motion at the next measured state."""
        self._knots.clear()

    def setpoints(
        self,
        measured: State,  # gives the time; the first one is where the motion starts
        ahead: float,  # time that is covered after it, at least, in s
        # the command for a desired state; its acceleration lasts for a period
        law: Callable[[State], MotorCommand],
        # active constraints and structural references at a time in s; None: as in the file
        inputs: Callable[[float], Inputs] | None = None,
        *,
        # time by which efforts are early, in s: what the drives need to cause them
        lead: float = 0.0,
    ) -> list[Setpoint]:
        """The desired motion from the time of a measured state on.

        Returns:
            The last setpoint that is not after the measured state, and those after it. The effort
            of a setpoint is that of the middle of the period which ends there: drives that sample
            the end of their period hold what is right on average.

        Raises:
            SimulationError: The loop-closure error is too large to be projected away.
            UkDynamicsError: As for the law.
        """
        knots = self._knots
        if not knots:
            knots.append(_Knot(self._projected(measured, inputs)))
        while knots[-1].state.t < measured.t + ahead - _SAME:
            last = knots[-1]
            last.command = law(last.state)
            knots.append(_Knot(self._projected(self._moved(last), inputs)))
        while len(knots) > 3 and knots[2].state.t <= measured.t + _SAME:
            knots.popleft()
        return self._sampled(measured.t, lead)

    def _projected(self, state: State, inputs: Callable[[float], Inputs] | None) -> State:
        return self._dynamics.project(state, None if inputs is None else inputs(state.t))

    @property
    def command(self) -> MotorCommand:
        """The last command of the law."""
        command = self._knots[-2].command if len(self._knots) > 1 else None
        if command is None:
            raise ValueError("call setpoints() first")
        return command

    def _sampled(self, t: float, lead: float) -> list[Setpoint]:
        states = [knot.state for knot in self._knots]
        commands = [knot.command for knot in self._knots if knot.command is not None]
        qdd = np.array([command.qdd for command in commands])
        qdd = 0.5 * (np.vstack((qdd[:1], qdd)) + np.vstack((qdd, qdd[-1:])))
        times = np.array([state.t for state in states])
        middles = times[:-1] + 0.5 * self._period
        given = np.array([command.efforts for command in commands])
        wanted = times - 0.5 * self._period + lead
        efforts = np.column_stack([np.interp(wanted, middles, one) for one in given.T])
        first = max(int(np.searchsorted(times, t + _SAME, side="right")) - 1, 0)
        return [
            Setpoint(state.t - t, state.q, state.v, qdd[k], efforts[k])
            for k, state in enumerate(states)
            if k >= first
        ]

    def _moved(self, knot: _Knot) -> State:
        """The state a period later, at constant acceleration."""
        state, h = knot.state, self._period
        qdd = np.zeros_like(state.v) if knot.command is None else knot.command.qdd
        q = self._model.integrate(state.q, h * (state.v + 0.5 * h * qdd))
        return State(state.t + h, q, state.v + h * qdd)
