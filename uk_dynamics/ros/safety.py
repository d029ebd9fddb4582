"""What can go wrong while motors are driven, and what is done about it."""

from __future__ import annotations

from enum import Enum

ARRAY, JOINT_STATE, TRAJECTORY = "effort_array", "joint_state", "trajectory"


class Fault(Enum):
    """Reasons to stop driving motors; the text is what diagnostics and documentation say."""

    STALE_STATE = "no usable state for state_timeout (frozen, incomplete or not finite)"
    TIME_BACKWARDS = "the stamp of a state is older than that of the one before"
    TIME_JUMP = "the stamp of a state is ahead of the time that has passed by over state_timeout"
    POSITION_JUMP = "a joint is further than position_jump from where its velocity takes it"
    OVER_SPEED = "a joint is faster than speed_factor times its velocity limit"
    OPEN_LOOP = "a structural constraint is violated by more than residual_limit"
    SOLVER_FAILURE = "no efforts could be computed, or they are not finite"
    NO_LISTENER = "whoever took the commands has been gone for listener_timeout"
    EMERGENCY_STOP = "the service ~/emergency_stop was called"


class Reaction(Enum):
    """What is done; afterwards the node is inactive and silent, and has to be activated again."""

    RAMP = "efforts go to zero within ramp_time, then the node deactivates"
    ZERO = "zero efforts at once, and the node deactivates"
    BRAKE = "the joints come to rest within ramp_time; the node deactivates"


# The state is in doubt, so efforts are not held; nor are they cut off, which would jerk.
# A joint_trajectory_controller holds positions by the drives' own encoders, which are not in doubt;
# an empty trajectory it refuses, and after the end of one it goes on with the last velocity.
_RAMP = {ARRAY: Reaction.RAMP, JOINT_STATE: Reaction.RAMP, TRAJECTORY: Reaction.BRAKE}
_ZERO = {ARRAY: Reaction.ZERO, JOINT_STATE: Reaction.ZERO, TRAJECTORY: Reaction.BRAKE}

REACTIONS: dict[Fault, dict[str, Reaction]] = {
    Fault.STALE_STATE: _RAMP,
    Fault.TIME_BACKWARDS: _RAMP,
    Fault.TIME_JUMP: _RAMP,
    Fault.POSITION_JUMP: _RAMP,
    Fault.OVER_SPEED: _RAMP,
    Fault.OPEN_LOOP: _RAMP,
    Fault.SOLVER_FAILURE: _RAMP,
    Fault.NO_LISTENER: _ZERO,
    Fault.EMERGENCY_STOP: _ZERO,
}
