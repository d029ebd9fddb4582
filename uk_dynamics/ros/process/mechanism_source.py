# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Mechanism, evaluator and servo laws of a node, from its parameters; the URDF also from ROS."""

import time
from collections.abc import Callable
from typing import Any

import rclpy
from builtin_interfaces.msg import Time
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

from uk_dynamics.compilation import Selection, select_backend
from uk_dynamics.control.servo import MODES, TASKS, ServoModes
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.diagnostics.publisher import MessageProblems
from uk_dynamics.ros.parameters.parameter import TABLES, Parameters
from uk_dynamics.ros.timing.clock import runs_on_simulated_time
from uk_dynamics.ros.topics.inputs import StateInput
from uk_dynamics.ros.topics.qos import LATCHED_QOS

_WAIT = "wait"  # the backend that is auto without a start while a compiler works


class MechanismNode(Node):
    """A node for one mechanism: its parameters, and what is wrong with messages that it gets."""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.settings = Parameters(self, TABLES[name])
        self.mechanism = load_mechanism(self, self.settings)
        self.problems = MessageProblems(self)

    def states(self, on_state: Callable[[Time], None], command_topic: str = "") -> StateInput:
        """Subscribe to states of the mechanism; see :class:`StateInput`."""
        about = self, self.mechanism, self.problems
        return StateInput(*about, on_state, command_topic=command_topic, settings=self.settings)

    def tasks(self) -> Tasks | None:
        """What the parameter ``tasks`` names; None: nothing."""
        file = self.settings["tasks"]
        return Tasks.from_file(file, self.mechanism) if file else None


def load_mechanism(node: Node, parameters: Parameters) -> Mechanism:
    """Read the mechanism that the parameters of a node name.

    The URDF is the first there is of: the parameter ``robot_description``, the file that the
    mechanism file names, the topic ``robot_description``.
    """
    spec = MechanismSpec.from_file(_required(parameters, "mechanism"))
    description = parameters["robot_description"] or None
    if description is None and spec.model.urdf is None:
        description = _await_description(node, parameters["robot_description_timeout"], spec.file)
    mechanism = Mechanism.from_spec(spec, robot_description=description)
    for warning in mechanism.warnings:
        node.get_logger().warning(warning)
    return mechanism


def selection(node: Node, parameters: Parameters, *, lockstep: bool = False) -> Selection:
    """What the parameter ``backend`` asks for, by the table of :func:`select_backend`.

    On simulated time and in lockstep ``auto`` waits for the compiler, so that a run can be repeated
    to the last bit, as ``wait`` does always; else it compiles in the background, beginning now.
    """
    backend = parameters["backend"]
    wait = lockstep or backend == _WAIT or runs_on_simulated_time(node)
    backend = "auto" if backend == _WAIT else backend
    return Selection(backend, "wait" if wait else "defer", 0, node.get_logger())


def prediction_selection(node: Node, parameters: Parameters) -> Selection:
    """As :func:`selection`, for an evaluator that is used only in loops with a delay.

    ``auto`` does not wait for the compiler, and compiles in the background after many calls; on
    simulated time, and with ``wait``, it takes what is in the cache.
    """
    backend = parameters["backend"]
    if backend == _WAIT or (backend == "auto" and runs_on_simulated_time(node)):
        backend = "cached"
    return Selection(backend, log=node.get_logger())


def make_dynamics(mechanism: Mechanism, asked: Selection) -> Dynamics:
    """The evaluator of a node, ready to evaluate and to project."""
    dynamics = select_backend(mechanism, asked)
    # A library that is loaded when it is first used must not delay the middle of a motion.
    dynamics.project(mechanism.start())
    return dynamics


def start_state(parameters: Parameters, mechanism: Mechanism) -> State:
    """Start of a simulation by the parameters ``tasks`` and ``start_on_tasks``."""
    if not parameters["start_on_tasks"]:
        return mechanism.start()
    return mechanism.start(tasks=Tasks.from_file(_required(parameters, "tasks"), mechanism))


def make_servo(
    node: Node, parameters: Parameters, mechanism: Mechanism, period: float | None
) -> ServoModes:
    """The servo laws by the parameters ``tasks`` and ``mode``; ``period`` between states in s."""
    tasks = None
    if parameters["tasks"] or parameters["mode"] == TASKS:
        others = ", ".join(mode for mode in MODES if mode != TASKS)
        tasks = Tasks.from_file(_required(parameters, "tasks", f"; mode {others}: none"), mechanism)
    return ServoModes(mechanism, tasks, period, backend=selection(node, parameters))


def _required(parameters: Parameters, name: str, otherwise: str = "") -> str:
    value: str = parameters[name]
    if not value:
        place = "a path, a package:// address or the name of a shipped one"
        raise InputError(f"name a {name} file: {place}{otherwise}", place=f"parameter {name}")
    return value


def _await_description(node: Node, timeout: float, file: str) -> str:
    """Wait for the topic with a separate node and executor: the node itself may be spinning."""
    received: list[str] = []
    topic = node.resolve_topic_name("robot_description")
    node.get_logger().info(f"{file} names no URDF, waiting for {topic}")
    listener = rclpy.create_node(
        f"{node.get_name()}_description_listener",
        namespace=node.get_namespace(),
        context=node.context,
        use_global_arguments=False,
        enable_rosout=False,
        start_parameter_services=False,
    )
    executor = SingleThreadedExecutor(context=node.context)
    try:
        executor.add_node(listener)
        listener.create_subscription(
            String, topic, lambda message: received.append(message.data), LATCHED_QOS
        )
        deadline = time.monotonic() + timeout
        while not received and node.context.ok() and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.1)
    finally:
        executor.shutdown()
        listener.destroy_node()
    if not received:
        raise InputError(
            f"no URDF: add model.urdf, set the parameter robot_description, or publish {topic}"
            f" (waited {timeout:g} s)",
            file=file,
        )
    return received[-1]
