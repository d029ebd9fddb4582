"""The parameters of all nodes, as data: declared by the nodes, listed in the documentation."""

from __future__ import annotations

from uk_dynamics.ros.parameters.common import (
    BACKEND,
    COMMAND_MODE,
    COMMAND_TOPIC,
    EFFORT_TOPIC,
    MECHANISM,
    RESIDUAL,
)
from uk_dynamics.ros.parameters.parameter import Parameter, live_number
from uk_dynamics.ros.parameters.servo_controller import SERVO_CONTROLLER

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
        "States published per simulated second; 0: every step.",
        unit="Hz",
        minimum=0.0,
        maximum=20000.0,
    ),
    live_number(
        "real_time_factor",
        1.0,
        "Simulated time per real time; 0: as fast as possible.",
        (0.0, 1000.0),
    ),
    Parameter(
        "integrator",
        "rk4",
        "Integration method; the state is projected onto the constraints after every step.",
        choices=("rk4", "semi_implicit_euler"),
    ),
    Parameter("publish_clock", False, "Publish /clock, starting at 0; only one node may do so."),
    Parameter(
        "publish_robot_description",
        False,
        "Publish the URDF on robot_description, where no robot_state_publisher does.",
    ),
    Parameter("paused", False, "Start paused."),
    Parameter(
        "lockstep",
        False,
        "Wait for a command before every step: a JointState with the stamp of the last state."
        " Stamps count from 0; the simulation is not paced by real_time_factor.",
    ),
    COMMAND_MODE,
    COMMAND_TOPIC,
    Parameter(
        "brakes",
        False,
        "Hold the mechanism at its start until the first valid command arrives, while time goes on."
        " Commands in the first second after ~/reset do not release the brakes: they come from a"
        " controller that is about to stop.",
    ),
    live_number(
        "command_timeout",
        0.5,
        "Real time after which a command expires and all efforts become zero; 0: never.",
        (0.0, 3600.0),
        "s",
    ),
    Parameter("tasks", "", "Tasks file for start_on_tasks, or the name of a shipped one."),
    Parameter(
        "start_on_tasks",
        False,
        "Start at the position and velocity at which the references of the tasks begin, near the"
        " initial guess; otherwise as the mechanism file says.",
    ),
    RESIDUAL,
)

FORWARD_DYNAMICS = (
    *MECHANISM,
    BACKEND,
    Parameter(
        "effort_source",
        "joint_states",
        "Source of the motor efforts: joint_states (measured joint efforts) or commands"
        " (the topic command_topic).",
        choices=("joint_states", "commands"),
    ),
    EFFORT_TOPIC,
    live_number(
        "state_timeout",
        0.5,
        "Real time without a valid state after which diagnostics report an error.",
        (0.001, 3600.0),
        "s",
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
        "Topic on which the controller reports that it is alive and whether it is active.",
    ),
    live_number(
        "timeout",
        0.1,
        "Real time without a heartbeat after which zero efforts are commanded.",
        (0.03, 60.0),
        "s",
    ),
    Parameter("controller", "", "Controller of ros2_control to deactivate as well; empty: none."),
    Parameter(
        "controller_manager", "controller_manager", "Controller manager that deactivates it."
    ),
)

JOINT_STATE_COMPLETER = (
    *MECHANISM,
    live_number(
        "state_timeout",
        0.5,
        "Age above which the measurement of a joint is too old, and the largest difference between"
        " the stamps of several sources.",
        (0.001, 3600.0),
        "s",
    ),
    live_number(
        "velocity_filter",
        0.01,
        "Time constant of the low-pass filter of differentiated positions, for joints whose"
        " velocity is not measured; 0: no filter.",
        (0.0, 10.0),
        "s",
    ),
    live_number(
        "jump",
        0.5,
        "Displacement of a joint between two messages that counts as a jump, in rad or m.",
        (1e-6, 1e3),
    ),
    live_number(
        "misfit_warning",
        1e-2,
        "Disagreement of redundant measurements above which diagnostics report an error, in rad"
        " or m.",
        (0.0, 1e3),
    ),
    live_number(
        "condition_warning",
        100.0,
        "Amplification of measurement errors by the loops above which diagnostics warn.",
        (1.0, 1e12),
    ),
    RESIDUAL,
)

_SHOWN_TASKS = Parameter(
    "tasks",
    "",
    "Tasks file whose targets and errors are shown: a path, a package:// address or the name of a"
    " shipped one; empty: none.",
)

VIEWER = (
    *MECHANISM,
    _SHOWN_TASKS,
    Parameter(
        "host",
        "127.0.0.1",
        "Address to serve at; any other address gives the network access to view and buttons.",
    ),
    Parameter("port", 8080, "Port to serve at; 0: any free port.", minimum=0, maximum=65535),
    Parameter(
        "simulator",
        "simulator",
        "Node whose services the buttons call, where the mechanism is simulated.",
    ),
    live_number(
        "state_timeout",
        0.5,
        "Age of the last state above which the view shows a warning.",
        (0.001, 3600.0),
        "s",
    ),
)

MARKERS = (
    *MECHANISM,
    _SHOWN_TASKS,
    Parameter(
        "rate",
        25.0,
        "Marker arrays per second at most; none without a subscriber.",
        unit="Hz",
        minimum=0.1,
        maximum=200.0,
    ),
    live_number(
        "arrow_length",
        0.35,
        "Length of the longest arrow of the last seconds, as a fraction of the mechanism's size.",
        (0.01, 10.0),
    ),
)

RECORDER = (
    *MECHANISM,
    Parameter("file", "", "Recording to write, .mcap; an existing file is replaced."),
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
