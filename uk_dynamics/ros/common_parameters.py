"""Parameters that several nodes have, and the topics that they name by default."""

from __future__ import annotations

from uk_dynamics.ros.parameters import Parameter

EFFORT_COMMANDS = "effort_controller/commands"
JOINT_COMMANDS = "joint_commands"
JOINT_TRAJECTORIES = "joint_trajectory_controller/joint_trajectory"

MECHANISM = (
    Parameter(
        "mechanism",
        "",
        "Mechanism file: a path, a package:// address or the name of a shipped mechanism.",
    ),
    Parameter(
        "robot_description",
        "",
        "URDF text for a mechanism file that names no URDF; when empty it is taken from the topic"
        " robot_description.",
    ),
    Parameter(
        "robot_description_timeout",
        10.0,
        "Longest wait for the topic robot_description.",
        unit="s",
        minimum=0.1,
        maximum=3600.0,
    ),
)
BACKEND = Parameter(
    "backend",
    "auto",
    "What evaluates the mechanism: auto (compiled where that is possible, interpreted until it is"
    " ready; on simulated time the first start waits), compiled (the first start always waits), or"
    " interpreted.",
    choices=("auto", "compiled", "interpreted"),
)
RESIDUAL = Parameter(
    "residual_warning",
    1e-3,
    "Constraint violation above which diagnostics warn, in m or rad.",
    minimum=0.0,
    maximum=1e3,
    live=True,
)
EFFORT_TOPIC = Parameter(
    "command_topic",
    EFFORT_COMMANDS,
    "Topic with the motor efforts, one number per actuator in the order of the mechanism file.",
)
COMMAND_MODE = Parameter(
    "command_mode",
    "effort_array",
    "Type of the commands: effort_array (std_msgs/Float64MultiArray, by actuator) or"
    " joint_state (sensor_msgs/JointState, efforts by joint name, stamp of the state).",
    choices=("effort_array", "joint_state"),
)
COMMAND_TOPIC = Parameter(
    "command_topic",
    "",
    f"Topic of the commands; when empty {EFFORT_COMMANDS}, or {JOINT_COMMANDS} for"
    " command_mode joint_state.",
)
