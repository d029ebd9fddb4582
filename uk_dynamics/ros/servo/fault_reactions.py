# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Faults of servo_controller and the reactions to them: the table, and what carries it out."""

import time
from collections.abc import Callable
from enum import Enum

from rclpy.node import Node
from rclpy.timer import Timer

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.ros.parameters.parameter import EFFORT_ARRAY, JOINT_STATE, TRAJECTORY, Parameters
from uk_dynamics.ros.timing.clock import steady_clock

_RAMP_PERIOD = 0.005  # s


class Fault(Enum):
    """Reasons to stop the motors; the text is that of the documentation."""

    STALE_STATE = "no usable state for state_timeout (frozen, incomplete or not finite)"
    PAUSE = (
        "the process paused for state_timeout; or a joint jumped or ran off soon after half of it"
    )
    LONG_DELAY = "for state_timeout, commands would act over longest_prediction after their states"
    TIME_BACKWARDS = "the stamp of a state is older than that of the one before"
    TIME_JUMP = "the stamp of a state is ahead of the time that has passed by over state_timeout"
    POSITION_JUMP = "a joint is over position_jump further than velocities and motors can take it"
    BASE_MISSING = "joint_states have come for 5 s, and no base of a floating machine with them"
    BASE_STALE = "for state_timeout the base has not come, or not with the stamps of joint_states"
    BASE_JUMP = "a base is over position_jump further than its twist and the motors can take it"
    CONTACTS_STALE = "for state_timeout nothing usable has come on contact_topic"
    FROZEN_POSITION = (
        "a position stands still for state_timeout although the model moves it by frozen_motion"
    )
    OVER_SPEED = "a joint is faster than speed_factor times its velocity limit"
    OPEN_LOOP = "a structural constraint is violated by more than residual_limit"
    SOLVER_FAILURE = "no efforts could be computed, or they are not finite"
    NO_LISTENER = "the command topic has had no subscriber for listener_timeout"
    WATCHDOG_LOST = "command_watchdog does not acknowledge the heartbeat, or has taken over"
    EMERGENCY_STOP = "the service ~/emergency_stop was called"


class Reaction(Enum):
    """What the node does; afterwards it is inactive and silent until it is activated again."""

    RAMP = "efforts go to zero within ramp_time, then the node deactivates"
    ZERO = "zero efforts at once, and the node deactivates"
    BRAKE = "the joints come to rest within ramp_time; the node deactivates"


# The state is not trusted, so efforts are not held; nor are they cut off, which would jerk.
# A joint_trajectory_controller holds positions by the drives' own encoders, which are trusted; it
# rejects an empty trajectory, and after the end of one it continues with the last velocity.
_RAMP = {EFFORT_ARRAY: Reaction.RAMP, JOINT_STATE: Reaction.RAMP, TRAJECTORY: Reaction.BRAKE}
_ZERO = {EFFORT_ARRAY: Reaction.ZERO, JOINT_STATE: Reaction.ZERO, TRAJECTORY: Reaction.BRAKE}

# The watchdog may be commanding zeros at this very time, and a ramp would contradict them.
_AT_ONCE = (Fault.NO_LISTENER, Fault.WATCHDOG_LOST, Fault.EMERGENCY_STOP)
REACTIONS = {fault: _ZERO if fault in _AT_ONCE else _RAMP for fault in Fault}


class SafeStop:
    """Reacts to faults as the table says; ``reason`` is why the motors were stopped, or empty."""

    def __init__(
        self,
        node: Node,
        settings: Parameters,
        send: Callable[[Array], None],
        at_the_end: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``send`` commands efforts (motors,); ``at_the_end`` follows the ramp, or at once."""
        self.reason = ""
        self._node, self._settings = node, settings
        self._send, self._at_the_end, self._clock = send, at_the_end, clock
        self._timer: Timer | None = None  # of the ramp, while there is one

    def react(self, fault: Fault, reason: str, efforts: Array | None) -> None:
        """Stop for a fault; ``efforts`` are the last ones, (motors,), None before the first.

        A second fault during the ramp of a first one follows it in the reason.
        """
        told = f"{fault.name.lower()}: {reason}"
        self._node.get_logger().error(told)
        self.reason = f"{self.reason}; then {told}" if self._timer else told
        self.cancel()
        reaction = REACTIONS[fault][self._settings["command_mode"]]
        self._duration = self._settings["ramp_time"]
        if reaction is Reaction.RAMP and self._duration > 0.0 and efforts is not None:
            self._efforts, self._start = efforts.copy(), self._clock()
            self._timer = self._node.create_timer(_RAMP_PERIOD, self.ramp, clock=steady_clock())
        else:
            self._at_the_end()

    def cancel(self) -> None:
        """Send nothing any more."""
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def ramp(self) -> None:
        """Command the efforts of this instant, which go to zero linearly."""
        if self._timer is None:
            return
        left = 1.0 - (self._clock() - self._start) / self._duration
        if left > 0.0:
            self._send(left * self._efforts)
        else:
            self.cancel()
            self._at_the_end()
