# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A stand-in for controller_manager and its spawner, in this process or as processes.

``python peer_controller_manager.py ros2_control_node ...`` takes the arguments of its namesake, as
does ``spawner``. controller_manager_msgs is in no package that pip installs, so the two agree on
services of their own, as does what deactivates: ``controller_manager/<controller>/deactivate``.
``controller_manager/activity`` has the names of active controllers.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import partial
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String
from std_srvs.srv import SetBool
from support.peers.peer_controllers import (
    ForwardCommandController,
    JointGroupEffortController,
    JointStateBroadcaster,
)
from support.peers.peer_hardware import Drives, EchoingDrives, JointStateTopicSystem
from support.peers.peer_joint_trajectory_controller import JointTrajectoryController

TYPES: dict[str, Callable[..., Any]] = {
    "joint_state_broadcaster/JointStateBroadcaster": JointStateBroadcaster,
    "forward_command_controller/ForwardCommandController": ForwardCommandController,
    "effort_controllers/JointGroupEffortController": JointGroupEffortController,
    "joint_trajectory_controller/JointTrajectoryController": JointTrajectoryController,
}
PLUGINS = {
    "joint_state_topic_hardware_interface/JointStateTopicSystem": JointStateTopicSystem,
    "my_drives/Drives": Drives,
    "my_drives/EchoingDrives": EchoingDrives,
}


LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class ControllerManager:
    """Waits for ``robot_description``, then reads, updates and writes in a fixed rhythm.

    Controllers are nodes of their own, with the parameters of the process and the arguments in
    ``<controller>.node_options_args``.

    Attributes:
        hardware: The systems of the URDF; empty before it has come.
        controllers: By name, since they were asked for.
        active: Names of those that are updated.
        switches: Names of those whose deactivation was asked for, in order.
        before_switch: Called when it is asked for.
    """

    def __init__(self, make_node: Callable[..., Node], **options: Any) -> None:
        self._make_node = make_node
        self._options = options
        self.node = make_node("controller_manager", **_with_parameters(options))
        self.hardware: list[JointStateTopicSystem] = []
        self.controllers: dict[str, Any] = {}
        self.active: list[str] = []
        self._updated: dict[str, float] = {}
        self.switches: list[str] = []
        self.before_switch: Callable[[], None] = lambda: None
        self.order: Any = None
        self.node.create_subscription(String, "robot_description", self._describe, LATCHED)
        self._activity = self.node.create_publisher(String, "~/activity", LATCHED)
        self.period = 1.0 / self.node.get_parameter("update_rate").value
        self.node.create_timer(self.period, self.cycle)

    def _describe(self, message: String) -> None:
        if self.hardware:  # reloading is not supported
            return
        for block in ET.fromstring(message.data).findall("ros2_control"):
            plugin = PLUGINS[block.findtext("hardware/plugin") or ""]
            self.hardware.append(plugin(self.node, block))

    def load(self, name: str) -> Any:
        """Configure a controller."""
        kind = TYPES[self.node.get_parameter(f"{name}.type").value]
        arguments = f"{name}.node_options_args"
        given = dict(self._options)
        if self.node.has_parameter(arguments):
            wanted = [*given.get("cli_args", ["--ros-args"]), "--ros-args"]
            given["cli_args"] = [*wanted, *self.node.get_parameter(arguments).value[1:]]
        node = self._make_node(name, **_with_parameters(given))
        more = (self.order,) if kind is JointStateBroadcaster else ()
        self.controllers[name] = kind(node, self.hardware, *more)
        own = node.has_parameter("update_rate")
        self.controllers[name].rate = own and node.get_parameter("update_rate").value
        self.node.create_service(SetBool, f"~/{name}/switch", partial(self._switch, name))
        return self.controllers[name]

    def activate(self, name: str) -> None:
        self.controllers[name].activate()
        self.active.append(name)
        self._activity.publish(String(data=" ".join(self.active)))

    def deactivate(self, name: str) -> None:
        self.active.remove(name)
        self.controllers[name].deactivate()
        self._activity.publish(String(data=" ".join(self.active)))

    def _switch(self, name: str, request: Any, response: SetBool.Response) -> SetBool.Response:
        """Switch now, before anything else is heard; asked again it is done already.

        The real one takes until the end of its control cycle, 3 to 8 ms, in which it may or may not
        hear commands that came after the request.
        """
        response.success = True
        if request.data:
            if name not in self.active:
                self.activate(name)
            return response
        self.switches.append(name)
        self.before_switch()
        if name in self.active:
            self.deactivate(name)
        return response

    def cycle(self) -> None:
        if not self.hardware:
            return
        for system in self.hardware:
            system.read()
        now = self.node.get_clock().now()
        stamp = now.to_msg()
        for name in list(self.active):
            if not self._due(name, now.nanoseconds * 1e-9):
                continue
            if not self.controllers[name].update(stamp, self.period):
                self.deactivate(name)
        for system in self.hardware:
            system.write()

    def _due(self, name: str, now: float) -> bool:
        """Whether a controller with an update rate of its own is nearest to it in this update."""
        rate = self.controllers[name].rate
        if rate and name in self._updated:
            passed = (now - self._updated[name]) * rate
            if abs(passed - 1.0) > abs(passed + self.period * rate - 1.0):
                return False
        self._updated[name] = now
        return True


def _with_parameters(options: dict[str, Any]) -> dict[str, Any]:
    return {**options, "automatically_declare_parameters_from_overrides": True}


def ros2_control_node() -> None:
    """Run a manager until SIGINT or SIGTERM, then deactivate everything, as ros2_control does."""
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    asked: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: asked.append(number))
    executor = SingleThreadedExecutor()

    def make_node(name: str, **options: Any) -> Node:
        node = rclpy.create_node(name, **options)
        executor.add_node(node)
        return node

    manager = ControllerManager(make_node)

    def serve(name: str, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.success = bool(manager.hardware)
        if response.success:
            manager.load(name)
            manager.activate(name)
        return response

    types = manager.node.get_parameters_by_prefix("")
    for name in [key.partition(".")[0] for key in types if key.endswith(".type")]:
        manager.node.create_service(SetBool, f"~/{name}", partial(serve, name))
    with contextlib.suppress(ExternalShutdownException):
        while rclpy.ok() and not asked:
            executor.spin_once(timeout_sec=0.05)
    for name in list(manager.active):
        efforts = [v for system in manager.hardware for v in system.commands.values()]
        print(f"deactivating {name} at {efforts}", flush=True)  # noqa: T201
        manager.deactivate(name)


def spawner() -> int:
    """Ask a manager for controllers, one after the other, until it has them."""
    rclpy.init(args=sys.argv)
    parser = argparse.ArgumentParser()
    parser.add_argument("controllers", nargs="+")
    parser.add_argument("--param-file", action="append")
    for patience in ("--switch-timeout", "--service-call-timeout"):
        parser.add_argument(patience, type=float)
    given = parser.parse_args(rclpy.utilities.remove_ros_args(sys.argv)[2:])
    node = rclpy.create_node("spawner")
    for name in given.controllers:
        client = node.create_client(SetBool, f"controller_manager/{name}")
        done = False
        while not done:
            client.wait_for_service()
            future = client.call_async(SetBool.Request(data=True))
            rclpy.spin_until_future_complete(node, future, timeout_sec=1.0)
            done = future.done() and future.result().success
    return 0


def robot_state_publisher() -> None:
    """Publish robot_description, which is all of its namesake that a manager needs."""
    rclpy.init(args=sys.argv)
    node = rclpy.create_node("robot_state_publisher")
    text = node.declare_parameter("robot_description", "").value
    publisher = node.create_publisher(String, "robot_description", LATCHED)
    publisher.publish(String(data=text))
    with contextlib.suppress(ExternalShutdownException, KeyboardInterrupt):
        rclpy.spin(node)


PROCESSES: dict[str, Callable[[], int | None]] = {
    process.__name__: process for process in (ros2_control_node, spawner, robot_state_publisher)
}

if __name__ == "__main__":
    sys.exit(PROCESSES[sys.argv[1]]())
