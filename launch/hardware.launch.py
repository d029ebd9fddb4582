"""A machine behind ros2_control, or its simulation there: controllers, completer, servo control."""

import tempfile
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from uk_dynamics.control.ros2_control_files import (
    BROADCASTER,
    EFFORT_CONTROLLER,
    MACHINE_STATES_TOPIC,
    MOCK,
    TOPIC,
    complete_description,
    controllers,
)
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.mechanism import Mechanism

PACKAGE = "uk_dynamics"

ARGUMENTS = (
    ("mechanism", "five_bar", "Mechanism file, or the name of a shipped one."),
    ("tasks", "", "Tasks file, or the name of a shipped one; empty: no servo_controller."),
    ("hardware", MOCK, "Hardware plugin of ros2_control, package/Class."),
    ("simulator", "false", f"Let the simulator be the machine; hardware must be {TOPIC}."),
    ("namespace", "", "Namespace of all nodes, so that machines can run side by side."),
    ("rate", "500", "Updates of controller_manager per second."),
    ("autostart", "false", "Activate servo_controller once the controllers are active."),
    ("watchdog", "true", "Start command_watchdog, which takes commands back when nobody drives."),
)


def generate_launch_description():
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, default, description in ARGUMENTS
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=nodes)])


def nodes(context):
    given = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    wanted = {
        name: given[name].lower() == "true" for name in ("simulator", "autostart", "watchdog")
    }
    if wanted["simulator"] and given["hardware"] != TOPIC:
        raise InputError(f"the simulator needs hardware:={TOPIC}", place="hardware")
    mechanism = Mechanism.from_file(given["mechanism"])
    description = complete_description(mechanism, given["hardware"], given["namespace"])
    text = {"robot_description": ParameterValue(description, value_type=str)}
    file = Path(tempfile.mkdtemp(prefix="uk_dynamics_")) / f"{mechanism.name}_controllers.yaml"
    file.write_text(controllers(mechanism, int(given["rate"]), given["namespace"]))
    files = {name: ParameterValue(given[name], value_type=str) for name in ("mechanism", "tasks")}
    machine = {"mechanism": files["mechanism"]}

    def node(package, executable, *parameters, remappings=(), **options):
        return Node(
            package=package,
            executable=executable,
            namespace=given["namespace"],
            parameters=list(parameters),
            remappings=[("/tf", "tf"), ("/tf_static", "tf_static"), *remappings],
            output="screen",
            **options,
        )

    spawner = node(
        "controller_manager",
        "spawner",
        arguments=[BROADCASTER, EFFORT_CONTROLLER, "--param-file", str(file)],
    )
    started = [
        node("robot_state_publisher", "robot_state_publisher", text),
        node("controller_manager", "ros2_control_node", str(file)),
        spawner,
        node(PACKAGE, "joint_state_completer", machine),
    ]
    if wanted["simulator"]:
        states = [("joint_states", MACHINE_STATES_TOPIC)]
        mode = {"command_mode": "joint_state"}
        started.append(node(PACKAGE, "simulator", machine, mode, remappings=states))
    if wanted["watchdog"]:
        # needs the messages of controller_manager to deactivate, and commands zeros without them
        deactivated = EFFORT_CONTROLLER if installed("controller_manager_msgs") else ""
        started.append(node(PACKAGE, "command_watchdog", machine, {"controller": deactivated}))
    driving = []
    if given["tasks"]:
        settings = {"autostart": wanted["autostart"], "update_rate": float(given["rate"])}
        driving.append(node(PACKAGE, "servo_controller", files, settings))

    def controllers_done(event, context):
        if event.returncode:
            return [Shutdown(reason=f"the controllers did not start ({event.returncode})")]
        return driving

    started.append(
        RegisterEventHandler(OnProcessExit(target_action=spawner, on_exit=controllers_done))
    )
    return started


def installed(package):
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True
