"""The parameters of servo_controller: those it always has, and those of its tasks and motors."""

from __future__ import annotations

from dataclasses import replace

from uk_dynamics.control.servo.servo_modes import MODES, TASKS
from uk_dynamics.control.servo.task_gains import Gains
from uk_dynamics.ros.parameters.common import (
    BACKEND,
    COMMAND_MODE,
    COMMAND_TOPIC,
    EFFORT_COMMANDS,
    JOINT_COMMANDS,
    JOINT_TRAJECTORIES,
    MECHANISM,
    RESIDUAL,
    TRAJECTORY,
)
from uk_dynamics.ros.parameters.parameter import Parameter, live_number

_TASKS = Parameter(
    "tasks",
    "",
    "Tasks file: a path, a package:// address or the name of a shipped tasks file; modes"
    " gravity_compensation and hold need none.",
)
_COMMAND_MODE = replace(
    COMMAND_MODE,
    description="Type of the commands: effort_array (std_msgs/Float64MultiArray, by actuator),"
    " joint_state (sensor_msgs/JointState, efforts by joint name, stamp of the state) or trajectory"
    " (trajectory_msgs/JointTrajectory, one point for a joint_trajectory_controller).",
    choices=(*COMMAND_MODE.choices, TRAJECTORY),
)
_COMMAND_TOPIC = replace(
    COMMAND_TOPIC,
    description=f"Topic of the commands; when empty, {EFFORT_COMMANDS}, {JOINT_COMMANDS} or"
    f" {JOINT_TRAJECTORIES}, by command_mode.",
)
_BACKEND = replace(
    BACKEND,
    description="What evaluates the servo law, and projects the desired motion with"
    " command_mode trajectory: auto (compiled where that is possible, interpreted until it is"
    " ready; on simulated time the first start waits), compiled (the first start always waits), or"
    " interpreted.",
)
_UPDATE_RATE = Parameter(
    "update_rate",
    500.0,
    "States per second, as update_rate of controller_manager: efforts are computed for the middle"
    " of a period, and rate limits apply per period; 0: efforts are computed for the instant of the"
    " state, and rate limits are refused.",
    unit="Hz",
    minimum=0.0,
    maximum=20000.0,
)

# Read by configure; they can be set until then.
_CONFIGURED = (*MECHANISM, _BACKEND, _TASKS, _UPDATE_RATE, _COMMAND_MODE, _COMMAND_TOPIC)
CONFIGURED = tuple(parameter.name for parameter in _CONFIGURED)

SERVO_CONTROLLER = (
    *(replace(parameter, live=True) for parameter in _CONFIGURED),
    Parameter("autostart", False, "Configure and activate at the start."),
    live_number(
        "state_timeout",
        0.1,
        "Real time without a valid state after which the controller stops.",
        (0.001, 3600.0),
        "s",
    ),
    live_number(
        "listener_timeout",
        1.0,
        "Real time without a subscriber of the commands after which the controller stops.",
        (0.001, 3600.0),
        "s",
    ),
    live_number(
        "position_jump",
        0.1,
        "Difference between a position and the integrated velocity that counts as a jump, in m or"
        " rad.",
        (0.0, 1e3),
    ),
    live_number(
        "speed_factor",
        1.2,
        "Multiple of a joint's velocity limit (URDF) at which the controller stops.",
        (0.0, 1e3),
    ),
    live_number(
        "residual_limit",
        0.01,
        "Violation of a structural constraint at which the controller stops, in m or rad.",
        (0.0, 1e3),
    ),
    live_number(
        "ramp_time",
        0.2,
        "Time in which efforts go to zero when the controller stops; 0: at once.",
        (0.0, 60.0),
        "s",
    ),
    live_number(
        "blend_time",
        0.0,
        "Time in which the tracking error at activation decays along a smooth path; 0: feedback"
        " acts on it at once.",
        (0.0, 60.0),
        "s",
    ),
    Parameter(
        "mode",
        TASKS,
        "What the motors do: follow the tasks, compensate gravity only (not with command_mode"
        " trajectory), or hold the pose in which the mode begins.",
        choices=MODES,
        live=True,
    ),
    live_number(
        "transfer_time",
        0.2,
        "Time in which efforts change over to those of another mode, other gains or another"
        " preload; 0: at once.",
        (0.0, 60.0),
        "s",
    ),
    live_number(
        "hold_frequency",
        5.0,
        "Natural frequency of the joint feedback of mode hold.",
        (0.01, 1e3),
        "Hz",
    ),
    live_number(
        "hold_damping_ratio", 1.0, "Damping ratio of mode hold; 1 is critical.", (0.01, 10.0)
    ),
    live_number(
        "approach_speed",
        0.25,
        "Largest speed of the approach to a target pose.",
        (1e-6, 1e3),
        "m/s",
    ),
    live_number(
        "approach_acceleration",
        1.0,
        "Largest acceleration of the approach to a target pose.",
        (1e-6, 1e3),
        "m/s²",
    ),
    live_number(
        "approach_angular_speed",
        0.5,
        "Largest angular speed of the approach to a target pose.",
        (1e-6, 1e3),
        "rad/s",
    ),
    live_number(
        "approach_angular_acceleration",
        2.0,
        "Largest second derivative of the rotation vector on the approach to a target pose.",
        (1e-6, 1e3),
        "rad/s²",
    ),
    live_number(
        "tracking_warning",
        0.05,
        "Tracking error above which diagnostics warn, in m or rad.",
        (0.0, 1e3),
    ),
    RESIDUAL,
)


def gain_parameters(task: str, gains: Gains, rate: float, *, damped: bool) -> tuple[Parameter, ...]:
    """Feedback parameters of one task.

    Args:
        task: Its name.
        gains: Those of the tasks file.
        rate: States per second; 0: unknown. A tenth of it is the largest natural frequency for
            which efforts that are constant during a period serve well.
        damped: Whether a damping ratio applies.
    """
    frequency = live_number(
        f"gains.{task}.frequency",
        gains.frequency,
        f"Natural frequency of the feedback of task {task}; 0: no feedback.",
        (0.0, max(gains.frequency, rate / 10.0 or 1e3)),
        "Hz",
    )
    damping_ratio = live_number(
        f"gains.{task}.damping_ratio",
        gains.damping_ratio,
        f"Damping ratio of the feedback of task {task}; 1 is critical.",
        (0.0, max(gains.damping_ratio, 10.0)),
    )
    return (frequency, damping_ratio) if damped else (frequency,)


def row_parameter(row: str, force: float) -> Parameter:
    """Internal force of one constraint row; ``force`` in N or N·m is that of the tasks file."""
    return Parameter(
        f"internal_forces.{row}",
        force,
        f"Internal (squeeze) force of {row}, on top of what the motion needs.",
        unit="N or N m",
        live=True,
    )


def motor_parameters(motor: str, limit: float, preload: float) -> tuple[Parameter, ...]:
    """Parameters of one motor.

    Args:
        motor: Its name.
        limit: Effort limit of the mechanism file, in N or N·m; infinite where there is none.
        preload: That of the tasks file, in N or N·m.
    """
    return (
        live_number(
            f"limits.{motor}.effort",
            limit,
            f"Largest effort of {motor}, at most that of the mechanism file.",
            (0.0, limit),
            "N or N m",
        ),
        live_number(
            f"preload.{motor}",
            preload,
            f"Effort that {motor} stays close to where that does not affect the motion.",
            (min(-limit, preload), max(limit, preload)),
            "N or N m",
        ),
    )
