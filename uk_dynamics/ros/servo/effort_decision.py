# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What decides on efforts: setpoints of a trajectory, periods in C, or the law in Python."""

from collections.abc import Callable

from rclpy.node import Node

from uk_dynamics.constraints.references import References
from uk_dynamics.control import DelayPrediction, MotorCommand
from uk_dynamics.control.servo import ControlPeriods, ServoModes, Setpoint, SetpointGenerator
from uk_dynamics.exceptions import DelayError, InputError
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.ros.parameters.parameter import TRAJECTORY, Parameters
from uk_dynamics.ros.process.mechanism_source import prediction_selection

# Periods that trajectories reach ahead of the time at which they are sent: the next update of the
# drives and the one it looks ahead to, and two messages that are late.
_AHEAD = 4.0


class EffortDecision:
    """Decides on the efforts for measured states, each predicted to where its command acts."""

    def __init__(
        self, node: Node, settings: Parameters, modes: ServoModes, dynamics: Dynamics
    ) -> None:
        """Prepare; the dynamics are for the motion of setpoints."""
        mechanism, period = modes.mechanism, modes.control_period
        backend = prediction_selection(node, settings)
        self.prediction = DelayPrediction(mechanism, period, tasks=modes.tasks, backend=backend)
        self._modes, self._settings = modes, settings
        self._in_c = ControlPeriods(modes, self.prediction)
        self._command: MotorCommand | None = None  # the last one; C tells it when asked
        self._desired: SetpointGenerator | None = None
        if settings["command_mode"] == TRAJECTORY:
            if period is None:
                problem = "command_mode trajectory needs it: points are a period apart"
                raise InputError(problem, place="parameter update_rate")
            self._desired = SetpointGenerator(mechanism, period, dynamics)

    def reset(self) -> None:
        """Forget the commands sent so far."""
        self.prediction.reset()
        self._command = None

    def begin(self) -> None:
        """Begin at the next state."""
        if self._desired is not None:
            self._desired.reset()

    def command(self) -> MotorCommand:
        """The last command."""
        if self._command is None:
            self._command = self._in_c.command()
        return self._command

    def on(
        self,
        state: State,  # measured
        followed: References,  # what tasks follow instead of the references of their file
        inputs: Inputs,  # what the structure does now
        inputs_at: Callable[[float], Inputs],  # and at a time in s
        delay: float,  # of the loop, in s
    ) -> tuple[Array, list[Setpoint]]:
        """Efforts for a state; and setpoints, for drives that follow trajectories."""
        modes, prediction = self._modes, self.prediction
        if self._desired is not None:
            if delay > prediction.longest:
                raise DelayError(delay, prediction.longest)
            setpoints = self._desired.setpoints(
                state,
                delay + _AHEAD / self._settings["update_rate"],
                lambda desired: modes.command(desired, followed),
                inputs_at,
                lead=self._settings["command_delay"],
            )
            self._command = self._desired.command
            return self._command.efforts, setpoints
        if not (followed or modes.structure):
            efforts = self._in_c.efforts(state)
            if efforts is not None:
                self._command = None
                return efforts, []
        effective = prediction.at_effect(state, inputs)
        command = modes.command(effective, followed)
        prediction.sent(effective.t, command.efforts)
        self._command = command
        return command.efforts, []
