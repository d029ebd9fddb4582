# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A servo_controller on the bench: a machine that stands still, a manager, ears."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter, parameter_value_to_python
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, UInt64MultiArray
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros

from uk_dynamics import Mechanism, ServoController, Tasks
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.ros.nodes.servo_controller import ServoControllerNode

FILES = {"mechanism": "five_bar", "tasks": "five_bar_sweep"}


class Bench:
    """The controller with a machine that stands still and a manager of its life cycle."""

    def __init__(self, ros: Ros, **parameters: Any) -> None:
        self.ros = ros
        # a law without a past, for comparison, and no waiting, unless a test says otherwise
        settings = {**FILES, "update_rate": 0.0, "start_timeout": 0.0, **parameters}
        self.controller = ros.add(ServoControllerNode(**overrides(**settings)))
        self.node = ros.node()
        self.listen()
        self.diagnostics = DiagnosticsEar(self.node, "servo_controller")
        self.mechanism = Mechanism.from_file(settings["mechanism"])
        self.q = self.mechanism.start().q
        if "crank" in self.mechanism.joint_names:
            self.q = self.mechanism.assemble(crank=0.7)
        self._states = self.node.create_publisher(JointState, "joint_states", 10)
        self._change = self.node.create_client(ChangeState, "servo_controller/change_state")
        self._get = self.node.create_client(GetState, "servo_controller/get_state")

    def acknowledge(self) -> None:
        """Answer heartbeats as command_watchdog does, with a lease of a minute."""
        topic = "servo_controller/heartbeat"
        grants = self.node.create_publisher(UInt64MultiArray, f"{topic}/acknowledged", 10)

        def answer(beat: UInt64MultiArray) -> None:
            grants.publish(UInt64MultiArray(data=[*beat.data[:2], 60 * 10**9]))

        self.node.create_subscription(UInt64MultiArray, topic, answer, 10)

    def listen(self) -> None:
        """Subscribe to the commands."""
        self.commands = Ear(self.node, Float64MultiArray, "effort_controller/commands")

    def deafen(self) -> None:
        """Leave the commands without a subscriber."""
        (ear,) = (s for s in self.node.subscriptions if s.topic_name.endswith("/commands"))
        self.node.destroy_subscription(ear)
        self.ros.until(lambda: not self.node.count_subscribers("effort_controller/commands"))

    def change(self, name: str) -> bool:
        transition = Transition(id=getattr(Transition, f"TRANSITION_{name.upper()}"))
        request = ChangeState.Request(transition=transition)
        return bool(self.ros.call(self._change, request).success)

    @property
    def phase(self) -> str:
        return str(self.ros.call(self._get, GetState.Request()).current_state.label)

    def stamp(self, seconds: float) -> Time:
        """That of the state at a time."""
        return Time(sec=100 + int(seconds), nanosec=round(seconds % 1.0 * 1e9))

    def send(self, seconds: float = 0.0, **changes: Any) -> None:
        message = JointState(name=list(self.mechanism.joint_names))
        message.header.stamp = self.stamp(seconds)
        message.position, message.velocity = array("d", self.q), array("d", 0.0 * self.q)
        for field, value in changes.items():
            setattr(message, field, value)
        self._states.publish(message)

    def command(self, seconds: float = 0.0) -> float:
        """Send the state until it is answered."""
        heard = len(self.commands.messages)
        self.ros.until(
            lambda: self.send(seconds) or len(self.commands.messages) > heard, "a command"
        )
        return float(self.commands.messages[-1].data[0])

    def settle(self, seconds: float, effort: float, tolerance: float = 1e-6) -> None:
        """Send the state until the effort is the answer; stamps are rounded to ns."""
        self.ros.until(
            lambda: self.command(seconds) == pytest.approx(effort, abs=tolerance),
            f"effort {effort}",
        )

    def expected(self, t: float) -> float:
        tasks = Tasks.from_file("five_bar_sweep", self.mechanism)
        controller = ServoController(self.mechanism, tasks)
        return float(controller.command(State(t, self.q, np.zeros(4))).efforts[0])

    def set(self, name: str, value: Any) -> SetParametersResult:
        """Set a parameter over the service, as anybody would."""
        client = self.node.create_client(SetParameters, "servo_controller/set_parameters")
        request = SetParameters.Request(
            parameters=[Parameter(name, value=value).to_parameter_msg()]
        )
        return self.ros.call(client, request).results[0]

    def get(self, name: str) -> Any:
        """Value of a parameter, None where there is no such parameter."""
        client = self.node.create_client(GetParameters, "servo_controller/get_parameters")
        values = self.ros.call(client, GetParameters.Request(names=[name])).values
        return parameter_value_to_python(values[0]) if values else None
