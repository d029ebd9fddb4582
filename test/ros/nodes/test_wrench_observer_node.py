# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""wrench_observer: external forces over DDS, and honesty where there is no wrench."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros

from uk_dynamics import Mechanism
from uk_dynamics.ros.nodes.wrench_observer import WrenchObserverNode

pytestmark = pytest.mark.ros


class Bench:
    """The node with everything that talks to it."""

    def __init__(self, ros: Ros, **parameters: Any) -> None:
        self.ros = ros
        ros.add(WrenchObserverNode(**overrides(mechanism="five_bar", **parameters)))
        self.mechanism = Mechanism.from_file("five_bar")
        node = ros.node()
        self.efforts = Ear(node, JointState, "wrench_observer/external_efforts")
        self.wrenches = Ear(node, WrenchStamped, "wrench_observer/external_wrench")
        self.diagnostics = DiagnosticsEar(node, "wrench_observer")
        self._states = node.create_publisher(JointState, "joint_states", 10)
        ros.until(self._states.get_subscription_count, "the node to listen")
        self._count = 0

    def hold(self, effort: float) -> None:
        """A further state of a five-bar that stands still under an effort of its motor."""
        self._count += 1
        message = JointState(name=list(self.mechanism.joint_names))
        seconds, hundredths = divmod(self._count, 100)
        message.header.stamp = Time(sec=1 + seconds, nanosec=hundredths * 10_000_000)
        message.position = array("d", self.mechanism.assemble(crank=0.6))
        message.velocity = array("d", [0.0] * 4)
        message.effort = array("d", [effort, 0.0, 0.0, 0.0])
        self._states.publish(message)


def test_what_holds_a_machine_up_is_told_as_effort_and_as_force(ros: Ros) -> None:
    bench = Bench(ros, gain=1000.0, frame="coupler_link", axes="z")
    # without a motor the legs fall unless something pushes up: 3 legs of 1 kg with their centres
    # half way, and a coupler of 2 kg, are 3.5 kg m of first moment about the pins
    weight = 3.5 * 9.81 * math.cos(0.6)

    def told() -> bool:
        bench.hold(0.0)
        if not (bench.wrenches.messages and bench.efforts.messages):
            return False
        force = bench.wrenches.messages[-1].wrench.force.z * math.cos(0.6)
        return min(abs(bench.efforts.messages[-1].effort[0]), force) > 0.99 * weight

    ros.until(told, "the residual to settle")
    efforts, wrench = bench.efforts.messages[-1], bench.wrenches.messages[-1]
    assert list(efforts.name) == ["crank"]
    assert abs(efforts.effort[0]) == pytest.approx(weight, rel=0.01)
    assert wrench.header.frame_id == "coupler_link"
    # the same virtual power: a force at the end of the crank of 1 m
    assert wrench.wrench.force.z * math.cos(0.6) == pytest.approx(weight, rel=0.02)
    assert np.isfinite([wrench.wrench.force.x, wrench.wrench.torque.y]).all()


def test_a_wrench_that_one_freedom_cannot_tell_is_not_published(ros: Ros) -> None:
    bench = Bench(ros, frame="coupler_link")

    def said() -> bool:
        bench.hold(0.0)
        return "give fewer axes" in bench.diagnostics.message

    ros.until(said, "diagnostics to say so")
    assert bench.efforts.messages
    assert not bench.wrenches.messages
