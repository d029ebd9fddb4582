"""Parameters that several nodes have, and the topics of the commands."""

from __future__ import annotations

from uk_dynamics.ros.parameters.parameter import Parameter, Parameters, live_number

EFFORT_COMMANDS = "effort_controller/commands"
JOINT_COMMANDS = "joint_commands"
JOINT_TRAJECTORIES = "joint_trajectory_controller/joint_trajectory"

# Values of command_mode, and the topic of each.
EFFORT_ARRAY, JOINT_STATE, TRAJECTORY = "effort_array", "joint_state", "trajectory"
_TOPICS = {
    EFFORT_ARRAY: EFFORT_COMMANDS,
    JOINT_STATE: JOINT_COMMANDS,
    TRAJECTORY: JOINT_TRAJECTORIES,
}

MECHANISM = (
    Parameter(
        "mechanism",
        "",
        "Mechanism file: a path, a package:// address or the name of a shipped mechanism.",
    ),
    Parameter(
        "robot_description",
        "",
        "URDF text for a mechanism file that names no URDF; when empty, it is taken from the topic"
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
RESIDUAL = live_number(
    "residual_warning",
    1e-3,
    "Constraint violation above which diagnostics warn, in m or rad.",
    (0.0, 1e3),
)
EFFORT_TOPIC = Parameter(
    "command_topic",
    EFFORT_COMMANDS,
    "Topic with the motor efforts, one number per actuator in the order of the mechanism file.",
)
COMMAND_MODE = Parameter(
    "command_mode",
    EFFORT_ARRAY,
    "Type of the commands: effort_array (std_msgs/Float64MultiArray, by actuator) or"
    " joint_state (sensor_msgs/JointState, efforts by joint name, stamp of the state).",
    choices=(EFFORT_ARRAY, JOINT_STATE),
)
COMMAND_TOPIC = Parameter(
    "command_topic",
    "",
    f"Topic of the commands; when empty, {EFFORT_COMMANDS}, or {JOINT_COMMANDS} for"
    " command_mode joint_state.",
)


def command_topic(settings: Parameters) -> str:
    """Topic of the commands by ``command_topic``, or by ``command_mode`` where that is empty."""
    return settings["command_topic"] or _TOPICS[settings["command_mode"]]
