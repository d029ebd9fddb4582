# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A simulated mechanism with its nodes and viewers."""

from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from uk_dynamics.conversion.ros2_control_files import MACHINE_STATES_TOPIC, TOPIC
from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import share_directory
from uk_dynamics.ros.process.launch_files import (
    PRIORITY,
    RECORD,
    RVIZ,
    TRANSPORT,
    VIEW,
    ends_all,
    installed,
    launch_description,
    number,
    priority,
    read_files,
    switched_on,
    transport,
    watchers,
)

PACKAGE = "uk_dynamics"
PATIENCE = 1.0  # s without a state: a simulation on a busy computer may stall longer than a machine
# s; time stands still while somebody is waited for, so nothing is late before a process has ended
UNHURRIED = {"state_timeout": "3600", "heartbeat_timeout": "10"}
LONGEST_ANSWER = 20.0  # s of real time; longer than the heartbeat may be missed
# s of real time without a command, after which the simulated drives let go, as drives do whose
# controller_manager has died
DRIVE_TIMEOUT = 0.2
# s between the stamps of a state, by controller_manager, and of its base, by the simulator: at most
BASE_LAG = 0.05
HURRIED = {"state_timeout": str(PATIENCE), "base_lag": str(BASE_LAG)}
UPDATES = 10  # of controller_manager per step, in lockstep: at most; two are usual

# to hardware.launch.py, which also starts viewers and recorders
PASSED_ON = ["mechanism", "tasks", "namespace", "rviz", "view", "record", "priority", "transport"]

ARGUMENTS = (
    ("mechanism", "five_bar", "Mechanism file, or the name of a shipped one."),
    ("tasks", "", "Tasks file, or the name of a shipped one; empty: no servo_controller."),
    ("start_on_tasks", "false", "Start where the references of the tasks begin; needs tasks."),
    ("ros2_control", "false", "Put ros2_control between simulator and nodes, as on the machine."),
    (
        "real_time",
        "false",
        "With ros2_control: controller_manager counts real time; else simulator and nodes wait.",
    ),
    ("namespace", "", "Namespace of all nodes, so that mechanisms can run side by side."),
    ("rate", "500.0", "Steps, states and commands per second."),
    ("real_time_factor", "1.0", "Simulated time per real time; 0: as fast as possible."),
    ("paused", "false", "Start paused; the service simulator/pause starts the motion."),
    ("publish_clock", "false", "Publish /clock and let all nodes use it; only one simulator may."),
    PRIORITY,
    TRANSPORT,
    ("rviz", "auto", RVIZ),
    VIEW,
    RECORD,
)


def generate_launch_description():
    return launch_description(ARGUMENTS, nodes)


def nodes(given):
    files = {name: ParameterValue(given[name], value_type=str) for name in ("mechanism", "tasks")}
    mechanism = {"mechanism": files["mechanism"]}
    ros2_control = switched_on(given, "ros2_control")
    real_time = switched_on(given, "real_time")
    if real_time and not ros2_control:
        raise InputError("goes with ros2_control:=true", place="real_time")
    if not real_time and priority(given):
        raise InputError("goes with real_time:=true", place="priority")
    lockstep = ros2_control and not real_time
    clock = lockstep or switched_on(given, "publish_clock")
    on_tasks = switched_on(given, "start_on_tasks")
    if on_tasks and not given["tasks"]:
        raise InputError("needs tasks: without them there is no reference", place="start_on_tasks")
    machine = read_files(given)
    description = machine.model.description

    def node(package, executable, *parameters, kind=Node, remappings=(), **options):
        return kind(
            package=package,
            executable=executable,
            namespace=given["namespace"],
            parameters=[{"use_sim_time": clock}, *parameters],
            # a tree of transforms per namespace: links of the same name do not meet
            remappings=[("/tf", "tf"), ("/tf_static", "tf_static"), *remappings],
            output="screen",
            **options,
        )

    simulation = {
        "rate": number(given, "rate", 1.0, whole=ros2_control),
        "real_time_factor": number(given, "real_time_factor"),
        "paused": switched_on(given, "paused"),
        "publish_clock": clock,
        "manager_updates": UPDATES if lockstep else 0,
        "answer_timeout": LONGEST_ANSWER,
        "priority": priority(given),
        "ends_last": ros2_control,
        **({"command_timeout": DRIVE_TIMEOUT, "backend": "wait"} if real_time else {}),
        # or it would fall while its controller starts
        "brakes": bool(given["tasks"]),
        "tasks": files["tasks"],
        "start_on_tasks": on_tasks,
        "publish_robot_description": not (ros2_control or installed("robot_state_publisher")),
    }
    watching = []
    if ros2_control:
        started = behind_ros2_control(node, mechanism, simulation, given)
    else:
        started = [*transport(given), simulator(node, mechanism, simulation)]
        driving = []
        if given["tasks"]:
            settings = {
                "autostart": True,
                "state_timeout": PATIENCE,
                "update_rate": simulation["rate"],
            }
            driving.append(node(PACKAGE, "servo_controller", files, settings))
        started += driving
        if installed("robot_state_publisher"):
            text = {"robot_description": ParameterValue(description.text, value_type=str)}
            started.append(node("robot_state_publisher", "robot_state_publisher", text))
        watching = watchers(node, given, files, description.root, after=driving)
    lag = {"base_lag": BASE_LAG if real_time else 0.0}
    started.append(node(PACKAGE, "forward_dynamics", mechanism, lag))
    return [*started, *watching]


def behind_ros2_control(node, mechanism, simulation, given):
    """The simulator as the machine, and everything that a machine has."""
    real_time = not simulation["manager_updates"]
    for name, only in (("real_time_factor", 1.0), ("publish_clock", False)):
        if real_time and simulation[name] != only:
            raise InputError("goes with real_time:=false", place=name)
    machine = str(share_directory() / "launch" / "hardware.launch.py")
    arguments = {
        **{name: given[name] for name in PASSED_ON},
        "hardware": TOPIC,
        "rate": str(round(simulation["rate"])),
        "autostart": "true",
        "updates": str(simulation["manager_updates"] or 1),
        "use_sim_time": str(not real_time).lower(),
        **(HURRIED if real_time else UNHURRIED),
    }
    states = [("joint_states", MACHINE_STATES_TOPIC)]
    by_joint = {"command_mode": "joint_state"}
    return [
        # first: where something is missing, nothing is started
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(machine), launch_arguments=arguments.items()
        ),
        simulator(node, mechanism, simulation, by_joint, remappings=states),
    ]


def simulator(node, *parameters, **options):
    """The machine; when it ends, so does everything."""
    return node(
        PACKAGE, "simulator", *parameters, on_exit=ends_all("simulator has ended"), **options
    )
