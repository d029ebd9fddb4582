"""The parameters of all nodes, as data: the nodes declare them, the documentation lists them."""

from __future__ import annotations

from dataclasses import replace

from uk_dynamics.ros.parameters import Parameter

EFFORT_COMMANDS = "effort_controller/commands"
JOINT_COMMANDS = "joint_commands"
JOINT_TRAJECTORIES = "joint_trajectory_controller/joint_trajectory"

_MECHANISM = (
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
_RESIDUAL = Parameter(
    "residual_warning",
    1e-3,
    "Constraint violation above which diagnostics warn, in m or rad.",
    minimum=0.0,
    maximum=1e3,
    live=True,
)
_EFFORT_TOPIC = Parameter(
    "command_topic",
    EFFORT_COMMANDS,
    "Topic with the motor efforts, one number per actuator in the order of the mechanism file.",
)
_COMMAND_MODE = Parameter(
    "command_mode",
    "effort_array",
    "Type of the commands: effort_array (std_msgs/Float64MultiArray, by actuator) or"
    " joint_state (sensor_msgs/JointState, efforts by joint name, stamp of the state).",
    choices=("effort_array", "joint_state"),
)
_COMMAND_TOPIC = Parameter(
    "command_topic",
    "",
    f"Topic of the commands; when empty {EFFORT_COMMANDS}, or {JOINT_COMMANDS} for"
    " command_mode joint_state.",
)

SIMULATOR = (
    *_MECHANISM,
    Parameter(
        "rate",
        500.0,
        "Integration steps per simulated second.",
        unit="Hz",
        minimum=1.0,
        maximum=20000.0,
    ),
    Parameter(
        "publish_rate",
        0.0,
        "States published per simulated second; 0 publishes every step.",
        unit="Hz",
        minimum=0.0,
        maximum=20000.0,
    ),
    Parameter(
        "real_time_factor",
        1.0,
        "Simulated time per real time; 0 runs as fast as possible.",
        minimum=0.0,
        maximum=1000.0,
        live=True,
    ),
    Parameter(
        "integrator",
        "rk4",
        "How a step is taken; the state is projected onto the constraints after every step.",
        choices=("rk4", "semi_implicit_euler"),
    ),
    Parameter(
        "publish_clock",
        False,
        "Publish /clock, which starts at 0; only one node may do so.",
    ),
    Parameter(
        "publish_robot_description",
        False,
        "Publish the URDF on robot_description, for when no robot_state_publisher does.",
    ),
    Parameter("paused", False, "Start paused."),
    Parameter(
        "lockstep",
        False,
        "Wait for a command before every step: a JointState whose stamp echoes that of the last"
        " state. Stamps count from 0; rate and real_time_factor do not pace.",
    ),
    _COMMAND_MODE,
    _COMMAND_TOPIC,
    Parameter(
        "command_timeout",
        0.5,
        "Real time after which a command is forgotten and all efforts are zero; 0 keeps it.",
        unit="s",
        minimum=0.0,
        maximum=3600.0,
        live=True,
    ),
    _RESIDUAL,
)

FORWARD_DYNAMICS = (
    *_MECHANISM,
    Parameter(
        "effort_source",
        "joint_states",
        "Where motor efforts come from: joint_states (measured joint efforts) or commands"
        " (the topic command_topic).",
        choices=("joint_states", "commands"),
    ),
    _EFFORT_TOPIC,
    Parameter(
        "state_timeout",
        0.5,
        "Real time without a usable state after which diagnostics report an error.",
        unit="s",
        minimum=0.001,
        maximum=3600.0,
        live=True,
    ),
    _RESIDUAL,
)

_TASKS = Parameter(
    "tasks", "", "Tasks file: a path, a package:// address or the name of a shipped tasks file."
)

_SERVO_COMMAND_MODE = replace(
    _COMMAND_MODE,
    description="Type of the commands: effort_array (std_msgs/Float64MultiArray, by actuator),"
    " joint_state (sensor_msgs/JointState, efforts by joint name, stamp of the state) or trajectory"
    " (trajectory_msgs/JointTrajectory, one point for a joint_trajectory_controller).",
    choices=(*_COMMAND_MODE.choices, "trajectory"),
)
_SERVO_COMMAND_TOPIC = replace(
    _COMMAND_TOPIC,
    description=f"Topic of the commands; when empty {EFFORT_COMMANDS}, {JOINT_COMMANDS} or"
    f" {JOINT_TRAJECTORIES}, by command_mode.",
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

SERVO_CONTROLLER = (
    # they are read when the node is configured, and can be set until then
    *(
        replace(parameter, live=True)
        for parameter in (
            *_MECHANISM,
            _TASKS,
            _UPDATE_RATE,
            _SERVO_COMMAND_MODE,
            _SERVO_COMMAND_TOPIC,
        )
    ),
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
    _RESIDUAL,
)

COMMAND_WATCHDOG = (
    _MECHANISM[0],
    _COMMAND_MODE,
    _COMMAND_TOPIC,
    Parameter(
        "heartbeat_topic",
        "servo_controller/heartbeat",
        "Topic on which the controller says that it is alive and driving.",
    ),
    Parameter(
        "timeout",
        0.1,
        "Real time without a heartbeat after which efforts are zero.",
        unit="s",
        minimum=0.03,
        maximum=60.0,
        live=True,
    ),
    Parameter(
        "controller",
        "",
        "Controller of ros2_control that is deactivated as well; empty: none.",
    ),
    Parameter(
        "controller_manager",
        "controller_manager",
        "Node that is asked to deactivate it.",
    ),
)

JOINT_STATE_COMPLETER = (
    *_MECHANISM,
    Parameter(
        "state_timeout",
        0.5,
        "Time after which the measurement of a joint is too old, and how far the stamps of several"
        " sources may be apart.",
        unit="s",
        minimum=0.001,
        maximum=3600.0,
        live=True,
    ),
    Parameter(
        "velocity_filter",
        0.01,
        "Time constant of the low pass behind differences of positions, for joints whose velocity"
        " is not measured; 0: none.",
        unit="s",
        minimum=0.0,
        maximum=10.0,
        live=True,
    ),
    Parameter(
        "jump",
        0.5,
        "Way of a joint between two messages above which it has jumped, in rad or m.",
        minimum=1e-6,
        maximum=1e3,
        live=True,
    ),
    Parameter(
        "misfit_warning",
        1e-2,
        "Disagreement of redundant measurements above which diagnostics report an error, in rad"
        " or m.",
        minimum=0.0,
        maximum=1e3,
        live=True,
    ),
    Parameter(
        "condition_warning",
        100.0,
        "Amplification of measuring errors by the loops above which diagnostics warn.",
        minimum=1.0,
        maximum=1e12,
        live=True,
    ),
    _RESIDUAL,
)

TABLES = {
    "simulator": SIMULATOR,
    "forward_dynamics": FORWARD_DYNAMICS,
    "servo_controller": SERVO_CONTROLLER,
    "command_watchdog": COMMAND_WATCHDOG,
    "joint_state_completer": JOINT_STATE_COMPLETER,
}
