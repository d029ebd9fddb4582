"""The parameters that every servo_controller has."""

from __future__ import annotations

from dataclasses import replace

from uk_dynamics.control.servo_modes import MODES, TASKS
from uk_dynamics.ros.common_parameters import (
    BACKEND,
    COMMAND_MODE,
    COMMAND_TOPIC,
    EFFORT_COMMANDS,
    JOINT_COMMANDS,
    JOINT_TRAJECTORIES,
    MECHANISM,
    RESIDUAL,
)
from uk_dynamics.ros.parameters import Parameter

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
    choices=(*COMMAND_MODE.choices, "trajectory"),
)
_COMMAND_TOPIC = replace(
    COMMAND_TOPIC,
    description=f"Topic of the commands; when empty {EFFORT_COMMANDS}, {JOINT_COMMANDS} or"
    f" {JOINT_TRAJECTORIES}, by command_mode.",
)

_BACKEND = replace(
    BACKEND,
    description="What evaluates the law of the tasks, and projects the desired motion with"
    " command_mode trajectory: auto (compiled where that is possible, interpreted until it is"
    " ready; on simulated time the first start waits), compiled (the first start always waits), or"
    " interpreted.",
)
_UPDATE_RATE = Parameter(
    "update_rate",
    500.0,
    "States per second, as update_rate of controller_manager: efforts are made right for the middle"
    " of a period, and rate limits count per period; 0: right for the instant of the state, and"
    " rate limits are refused.",
    unit="Hz",
    minimum=0.0,
    maximum=20000.0,
)

# Read when the node is configured; they can be set until then.
_CONFIGURED = (*MECHANISM, _BACKEND, _TASKS, _UPDATE_RATE, _COMMAND_MODE, _COMMAND_TOPIC)
CONFIGURED = tuple(parameter.name for parameter in _CONFIGURED)

SERVO_CONTROLLER = (
    *(replace(parameter, live=True) for parameter in _CONFIGURED),
    Parameter("autostart", False, "Configure and activate without being asked."),
    Parameter(
        "state_timeout",
        0.1,
        "Real time without a usable state after which the controller stops.",
        unit="s",
        minimum=0.001,
        maximum=3600.0,
        live=True,
    ),
    Parameter(
        "listener_timeout",
        1.0,
        "Real time without a subscriber of the commands after which the controller stops.",
        unit="s",
        minimum=0.001,
        maximum=3600.0,
        live=True,
    ),
    Parameter(
        "position_jump",
        0.1,
        "Distance of a position from where the velocities take it that is no motion, m or rad.",
        minimum=0.0,
        maximum=1e3,
        live=True,
    ),
    Parameter(
        "speed_factor",
        1.2,
        "Part of a joint's velocity limit (URDF) that is too fast.",
        minimum=0.0,
        maximum=1e3,
        live=True,
    ),
    Parameter(
        "residual_limit",
        0.01,
        "Violation of a structural constraint at which the controller stops, in m or rad.",
        minimum=0.0,
        maximum=1e3,
        live=True,
    ),
    Parameter(
        "ramp_time",
        0.2,
        "Time in which efforts go to zero when the controller stops; 0: at once.",
        unit="s",
        minimum=0.0,
        maximum=60.0,
        live=True,
    ),
    Parameter(
        "blend_time",
        0.0,
        "Time in which the tracking error found at activation decays along a smooth path; 0: it is"
        " worked on at once.",
        unit="s",
        minimum=0.0,
        maximum=60.0,
        live=True,
    ),
    Parameter(
        "mode",
        TASKS,
        "What the motors do: follow the tasks, carry the weight alone (not with command_mode"
        " trajectory), or hold the machine where it is when they begin.",
        choices=MODES,
        live=True,
    ),
    Parameter(
        "transfer_time",
        0.2,
        "Time in which efforts go over to those of another mode, other gains or another preload;"
        " 0: at once.",
        unit="s",
        minimum=0.0,
        maximum=60.0,
        live=True,
    ),
    Parameter(
        "hold_frequency",
        5.0,
        "How stiffly mode hold brings joints back: natural frequency.",
        unit="Hz",
        minimum=0.01,
        maximum=1e3,
        live=True,
    ),
    Parameter(
        "hold_damping_ratio",
        1.0,
        "Damping of mode hold; 1 is critical.",
        minimum=0.01,
        maximum=10.0,
        live=True,
    ),
    Parameter(
        "approach_speed",
        0.25,
        "Largest speed on the way to a target pose.",
        unit="m/s",
        minimum=1e-6,
        maximum=1e3,
        live=True,
    ),
    Parameter(
        "approach_acceleration",
        1.0,
        "Largest acceleration on the way to a target pose.",
        unit="m/s²",
        minimum=1e-6,
        maximum=1e3,
        live=True,
    ),
    Parameter(
        "approach_angular_speed",
        0.5,
        "Largest angular speed on the way to a target pose.",
        unit="rad/s",
        minimum=1e-6,
        maximum=1e3,
        live=True,
    ),
    Parameter(
        "approach_angular_acceleration",
        2.0,
        "Largest acceleration of the rotation vector on the way to a target pose.",
        unit="rad/s²",
        minimum=1e-6,
        maximum=1e3,
        live=True,
    ),
    Parameter(
        "tracking_warning",
        0.05,
        "Tracking error above which diagnostics warn, in m or rad.",
        minimum=0.0,
        maximum=1e3,
        live=True,
    ),
    RESIDUAL,
)
