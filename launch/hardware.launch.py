# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A machine behind ros2_control: controllers, state completion, servo control, watchdog."""

from pathlib import Path

from launch.actions import LogInfo, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.logging import launch_config
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from uk_dynamics.control.estimation import StateCompletion
from uk_dynamics.conversion.ros2_control_files import (
    BROADCASTER,
    CONTROLLER_TYPES,
    EFFORT_CONTROLLER,
    MOCK,
    TOPIC,
    UPDATE_BROADCASTER,
    ZEROING_CONTROLLER,
    complete_description,
    controllers,
)
from uk_dynamics.ros.process.launch_files import (
    PRIORITY,
    RECORD,
    RVIZ,
    TRANSPORT,
    VIEW,
    LastToEnd,
    ends_all,
    installed,
    launch_description,
    number,
    priority,
    read_files,
    require,
    scheduled,
    switched_on,
    transport,
    watchers,
)

PACKAGE = "uk_dynamics"
ACTIVATED = f"{BROADCASTER} and {EFFORT_CONTROLLER}"
# of the spawner, s: simulated time begins when the simulator has compiled, and may be paused
UNHURRIED = ("--switch-timeout", "3600", "--service-call-timeout", "3600")

ARGUMENTS = (
    ("mechanism", "five_bar", "Mechanism file, or the name of a shipped one."),
    ("tasks", "", "Tasks file, or the name of a shipped one; empty: no servo_controller."),
    ("hardware", MOCK, "Hardware plugin of ros2_control, package/Class."),
    ("namespace", "", "Namespace of all nodes, so that machines can run side by side."),
    ("rate", "500", "States and commands per second."),
    ("updates", "1", "Updates of controller_manager per state that is published."),
    ("autostart", "false", "Activate servo_controller once the controllers are active."),
    ("state_timeout", "0.1", "Time without a state after which servo_controller stops, in s."),
    (
        "watchdog",
        "true",
        "Start command_watchdog, which commands zero efforts when servo_controller fails.",
    ),
    ("heartbeat_timeout", "0.1", "Time without a heartbeat after which the watchdog acts, in s."),
    (
        "observe",
        "",
        "Start wrench_observer: a link where it tells external forces, or true: efforts only.",
    ),
    ("base_source", "odom", "Where floating bases come from: odom, multi_dof_joint_states or tf."),
    ("base_twist", "child", "Axes of the twists of floating bases: child or parent."),
    ("base_lag", "0", "Largest difference between stamps of joints and of floating bases, in s."),
    ("use_sim_time", "false", "Let all nodes use the time of /clock."),
    PRIORITY,
    TRANSPORT,
    ("rviz", "false", RVIZ),
    VIEW,
    RECORD,
)


def generate_launch_description():
    return launch_description(ARGUMENTS, nodes)


def nodes(given):
    wanted = {name: switched_on(given, name) for name in ("autostart", "watchdog", "use_sim_time")}
    plugin = given["hardware"]
    # others may be in a package of another name, and controller_manager tells what it misses
    plugins = [*CONTROLLER_TYPES.values(), *([plugin] if plugin == TOPIC else [])]
    packages = [kind.partition("/")[0] for kind in plugins]
    require(["robot_state_publisher", "controller_manager", *packages], "hardware.launch.py")
    rate = int(number(given, "rate", 1.0, whole=True))
    mechanism = read_files(given)
    StateCompletion(mechanism)  # says what is not measured, before anything is started
    description = complete_description(mechanism, plugin, given["namespace"])
    text = {"robot_description": ParameterValue(description, value_type=str)}
    name = "_".join([*given["namespace"].strip("/").split("/"), mechanism.name, "controllers.yaml"])
    file = Path(launch_config.log_dir) / name.lstrip("_")
    updates = int(number(given, "updates", 1.0, whole=True))
    # with the first one, no effort stays at the drives when another program deactivates it
    types = (ZEROING_CONTROLLER, CONTROLLER_TYPES[EFFORT_CONTROLLER])
    effort_type = next(kind for kind in types if installed(kind.partition("/")[0]))
    file.write_text(controllers(mechanism, rate, given["namespace"], updates, effort_type))
    files = {name: ParameterValue(given[name], value_type=str) for name in ("mechanism", "tasks")}
    machine = {"mechanism": files["mechanism"]}
    base = {name: given[name] for name in ("base_source", "base_twist")}
    base["base_lag"] = number(given, "base_lag")
    real_time = {"priority": priority(given)}

    def node(package, executable, *parameters, kind=Node, ends=True, **options):
        if ends:
            options["on_exit"] = ends_all(f"{executable} has ended")
        return kind(
            package=package,
            executable=executable,
            namespace=given["namespace"],
            parameters=[*parameters, {"use_sim_time": wanted["use_sim_time"]}],
            output="screen",
            **options,
        )

    def watcher(package, executable, *parameters, **options):
        tf = [("/tf", "tf"), ("/tf_static", "tf_static")]
        return node(package, executable, *parameters, ends=False, remappings=tf, **options)

    driving = []
    if given["tasks"]:
        settings = {
            "autostart": wanted["autostart"],
            "state_timeout": number(given, "state_timeout", 0.001),
            "update_rate": float(rate),
            "backend": "wait",  # no first efforts while compilers take the processor
            "watchdog": "required" if wanted["watchdog"] else "optional",
        }
        driving.append(node(PACKAGE, "servo_controller", files, base, settings, real_time))
    guarding = []
    if wanted["watchdog"]:
        # needs the messages of controller_manager to deactivate, and commands zeros without them
        deactivated = EFFORT_CONTROLLER if installed("controller_manager_msgs") else ""
        watchdog = {
            "controller": deactivated,
            "effort_topic": "measured_joint_states",
            "timeout": number(given, "heartbeat_timeout", 0.05),
            # above the one it watches, which may be busy for ever
            "priority": real_time["priority"] and real_time["priority"] + 1,
        }
        guarding.append(
            node(
                PACKAGE,
                "command_watchdog",
                machine,
                watchdog,
                kind=LastToEnd,
                after=driving,
                # interrupted, it may have to miss a heartbeat first, and commands zeros then
                sigterm_timeout=str(5.0 + watchdog["timeout"]),
            )
        )
    observing = []
    if given["observe"] and given["observe"].lower() != "false":
        frame = "" if given["observe"].lower() == "true" else given["observe"]
        observer = {"frame": ParameterValue(frame, value_type=str)}
        observing.append(node(PACKAGE, "wrench_observer", machine, base, observer, ends=False))
    manager = node(
        "controller_manager",
        "ros2_control_node",
        str(file),
        kind=LastToEnd,
        # the last effort is zero, and has reached the drives, before controllers are deactivated
        after=[*driving, *guarding],
        # its threads that exchange messages; the one that updates sets its own
        **scheduled(given, "ros2_control_node"),
    )
    spawner = node(
        "controller_manager",
        "spawner",
        ends=False,
        arguments=[
            *(BROADCASTER, *([UPDATE_BROADCASTER] if updates > 1 else []), EFFORT_CONTROLLER),
            *("--param-file", str(file)),
            *(UNHURRIED if wanted["use_sim_time"] else ()),
        ],
    )

    def controllers_done(event, context):
        if context.is_shutdown:
            return []
        if event.returncode:
            return ends_all("the controllers did not start")(event, context)
        return [LogInfo(msg=f"{ACTIVATED} are active"), *driving]

    root = mechanism.model.description.root
    return [
        *transport(given),
        LogInfo(msg=f"waiting for controller_manager to activate {ACTIVATED}"),
        *watchers(watcher, given, {**files, **base}, root, after=[*driving, *guarding]),
        watcher("robot_state_publisher", "robot_state_publisher", text),
        manager,
        *guarding,
        node(PACKAGE, "joint_state_completer", machine, real_time),
        *observing,
        spawner,
        RegisterEventHandler(OnProcessExit(target_action=spawner, on_exit=controllers_done)),
    ]
