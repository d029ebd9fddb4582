"""The parameters of all nodes, as data: the nodes declare them, the documentation lists them."""

from __future__ import annotations

from uk_dynamics.ros.common_parameters import (
    BACKEND,
    COMMAND_MODE,
    COMMAND_TOPIC,
    EFFORT_TOPIC,
    MECHANISM,
    RESIDUAL,
)
from uk_dynamics.ros.parameters import Parameter
from uk_dynamics.ros.servo_parameters import SERVO_CONTROLLER
from uk_dynamics.ros.viewing_parameters import MARKERS, RECORDER, VIEWER

SIMULATOR = (
    *MECHANISM,
    BACKEND,
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
    COMMAND_MODE,
    COMMAND_TOPIC,
    Parameter(
        "brakes",
        False,
        "Hold the machine where it starts until the first usable command comes; time goes on. After"
        " ~/reset commands of the first second do not count: whoever drove is about to stop.",
    ),
    Parameter(
        "command_timeout",
        0.5,
        "Real time after which a command is forgotten and all efforts are zero; 0 keeps it.",
        unit="s",
        minimum=0.0,
        maximum=3600.0,
        live=True,
    ),
    Parameter("tasks", "", "Tasks file for start_on_tasks, or the name of a shipped one."),
    Parameter(
        "start_on_tasks",
        False,
        "Start where the references of the tasks begin, in position and velocity, near the initial"
        " guess; else where the mechanism file says.",
    ),
    RESIDUAL,
)

FORWARD_DYNAMICS = (
    *MECHANISM,
    BACKEND,
    Parameter(
        "effort_source",
        "joint_states",
        "Where motor efforts come from: joint_states (measured joint efforts) or commands"
        " (the topic command_topic).",
        choices=("joint_states", "commands"),
    ),
    EFFORT_TOPIC,
    Parameter(
        "state_timeout",
        0.5,
        "Real time without a usable state after which diagnostics report an error.",
        unit="s",
        minimum=0.001,
        maximum=3600.0,
        live=True,
    ),
    RESIDUAL,
)

COMMAND_WATCHDOG = (
    MECHANISM[0],
    COMMAND_MODE,
    COMMAND_TOPIC,
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
    *MECHANISM,
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
    RESIDUAL,
)

TABLES = {
    "simulator": SIMULATOR,
    "forward_dynamics": FORWARD_DYNAMICS,
    "servo_controller": SERVO_CONTROLLER,
    "command_watchdog": COMMAND_WATCHDOG,
    "joint_state_completer": JOINT_STATE_COMPLETER,
    "viewer": VIEWER,
    "markers": MARKERS,
    "recorder": RECORDER,
}
