"""A simulated mechanism with its nodes, robot_state_publisher and RViz where they are installed."""

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.resources import share_directory

PACKAGE = "uk_dynamics"

ARGUMENTS = (
    ("mechanism", "five_bar", "Mechanism file, or the name of a shipped one."),
    ("tasks", "", "Tasks file, or the name of a shipped one; empty: no servo_controller."),
    ("namespace", "", "Namespace of all nodes, so that mechanisms can run side by side."),
    ("rate", "500.0", "Steps, states and commands per second."),
    ("real_time_factor", "1.0", "Simulated time per real time; 0: as fast as possible."),
    ("paused", "false", "Start paused; the service simulator/pause starts the motion."),
    ("publish_clock", "false", "Publish /clock and let all nodes use it; only one simulator may."),
    ("rviz", "true", "Start RViz where it is installed."),
)


def generate_launch_description():
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, default, description in ARGUMENTS
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=nodes)])


def nodes(context):
    given = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    files = {name: ParameterValue(given[name], value_type=str) for name in ("mechanism", "tasks")}
    mechanism = {"mechanism": files["mechanism"]}
    clock = given["publish_clock"].lower() == "true"
    description = Mechanism.from_file(given["mechanism"]).model.description

    def node(package, executable, *parameters, **options):
        return Node(
            package=package,
            executable=executable,
            namespace=given["namespace"],
            parameters=[{"use_sim_time": clock}, *parameters],
            # a tree of transforms per namespace: links of the same name do not meet
            remappings=[("/tf", "tf"), ("/tf_static", "tf_static")],
            output="screen",
            **options,
        )

    simulation = {
        "rate": float(given["rate"]),
        "real_time_factor": float(given["real_time_factor"]),
        "paused": given["paused"].lower() == "true",
        "publish_clock": clock,
        "publish_robot_description": not installed("robot_state_publisher"),
    }
    started = [
        node(PACKAGE, "simulator", mechanism, simulation),
        node(PACKAGE, "forward_dynamics", mechanism),
    ]
    if given["tasks"]:
        # a simulation on a busy computer may pause longer than a machine
        patience = {"autostart": True, "state_timeout": 1.0}
        rate = {"update_rate": float(given["rate"])}
        started.append(node(PACKAGE, "servo_controller", files, rate, patience))
    if installed("robot_state_publisher"):
        text = {"robot_description": ParameterValue(description.text, value_type=str)}
        started.append(node("robot_state_publisher", "robot_state_publisher", text))
    if installed("rviz2") and given["rviz"].lower() == "true":
        view = str(share_directory() / "rviz" / "mechanism.rviz")
        started.append(node("rviz2", "rviz2", arguments=["-d", view, "-f", description.root]))
    return started


def installed(package):
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True
