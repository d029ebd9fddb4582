# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The services of simulation_interfaces, over DDS and with the real messages.

The package is not on PyPI: tools/build_messages.py makes it for a run without an installation of
ROS.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("simulation_interfaces")

from geometry_msgs.msg import Pose
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from simulation_interfaces import srv
from simulation_interfaces.msg import (
    Bounds,
    EntityFilters,
    EntityState,
    Result,
    SimulationState,
    SimulatorFeatures,
)
from support.floating_five_bar import floating_five_bar
from support.nodes.ros_ears import Ear
from support.nodes.ros_fixtures import Ros, StartProcess

from uk_dynamics import Mechanism

pytestmark = pytest.mark.ros

OK, FAILED = Result.RESULT_OK, Result.RESULT_OPERATION_FAILED


class Client:
    """A simulator in a process of its own, and calls to it."""

    def __init__(self, ros: Ros, start_node: StartProcess, mechanism: str = "five_bar") -> None:
        self._ros, self.node = ros, ros.node()
        self.states = Ear(self.node, JointState, "joint_states")
        self.clock = Ear(self.node, Clock, "/clock")
        settings = {"mechanism": mechanism, "paused": True, "publish_clock": True, "rate": 250.0}
        start_node("simulator", parameters=settings)

    def call(self, kind: str, **fields: Any) -> Any:
        type_ = getattr(srv, kind)
        name = "".join(f"_{c.lower()}" if c.isupper() else c for c in kind)[1:]
        client = self.node.create_client(type_, f"simulator/{name}")
        response = self._ros.call(client, type_.Request(**fields))
        self.node.destroy_client(client)
        return response

    def entity(self, name: str) -> EntityState:
        response = self.call("GetEntityState", entity=name)
        assert response.result.result == OK, response.result.error_message
        return response.state

    def until_closed(self, mechanism: Mechanism) -> JointState:
        """A state after now."""
        message = self.states.next(self._ros)
        q = np.array(message.position)
        np.testing.assert_allclose(
            mechanism.assemble(q), q, atol=1e-9, err_msg="the loops are closed"
        )
        return message


def twist_of(state: EntityState) -> list[float]:
    linear, angular = state.twist.linear, state.twist.angular
    return [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]


def test_a_client_that_knows_only_the_standard(ros: Ros, start_node: StartProcess) -> None:
    """Steps, poses, twists, states and resets are those of the mechanism, with its loops closed."""
    client, mechanism = Client(ros, start_node), Mechanism.from_file("five_bar")
    features = client.call("GetSimulatorFeatures").features.features
    assert SimulatorFeatures.STEP_SIMULATION_MULTIPLE in features
    assert SimulatorFeatures.SPAWNING not in features
    found = client.call("GetEntities", filters=EntityFilters(filter="_link$|^five_bar$"))
    assert found.entities[0] == "five_bar"
    coupler = "five_bar/coupler_link"
    assert coupler in found.entities
    bounds = EntityFilters(bounds=Bounds(type=Bounds.TYPE_BOX))
    unsupported = client.call("GetEntities", filters=bounds)
    assert unsupported.result.result == Result.RESULT_FEATURE_UNSUPPORTED
    unknown = client.call("GetEntityState", entity="wheel")
    assert unknown.result.result == Result.RESULT_NOT_FOUND
    assert coupler in unknown.result.error_message

    # gravity: the twist is the acceleration times the time, as long as that is short
    first = client.entity(coupler)
    assert client.call("StepSimulation", steps=2).result.result == OK
    moved = client.entity(coupler)
    assert moved.header.stamp.nanosec == 8_000_000
    rate, speed = first.acceleration.linear, moved.twist.linear
    fall = np.array([rate.x, rate.y, rate.z]) * 0.008
    assert np.linalg.norm(fall) > 1e-3
    # what changes within 8 ms is of second order: 2 % of it
    np.testing.assert_allclose([speed.x, speed.y, speed.z], fall, atol=0.02 * np.linalg.norm(fall))

    # a twist that the loops allow, from the mechanism's own Jacobian, and one that they do not
    twist = mechanism.jacobian("coupler_link", np.array(client.until_closed(mechanism).position))
    given = EntityState()
    parts = twist.matrix @ np.full(len(mechanism.actuators), 0.3)
    for part, values in ((given.twist.linear, parts[:3]), (given.twist.angular, parts[3:])):
        part.x, part.y, part.z = values.tolist()
    turned = client.call("SetEntityState", entity=coupler, state=given, set_twist=True)
    assert turned.result.result == OK, turned.result.error_message
    np.testing.assert_allclose(twist_of(client.entity(coupler)), parts, atol=1e-9)
    given.twist.linear.y += 1.0  # out of the plane
    refused = client.call("SetEntityState", entity=coupler, state=given, set_twist=True)
    assert refused.result.result == FAILED
    assert "cannot move like that" in refused.result.error_message

    # back to the first pose, and nowhere out of reach
    back = client.call("SetEntityState", entity=coupler, state=first, set_pose=True)
    assert back.result.result == OK, back.result.error_message
    now, then = client.entity(coupler).pose, first.pose
    assert abs(now.position.x - then.position.x) + abs(now.position.z - then.position.z) < 1e-8
    client.until_closed(mechanism)
    far = EntityState(pose=Pose())
    far.pose.position.x = 50.0
    beyond = client.call("SetEntityState", entity=coupler, state=far, set_pose=True)
    assert beyond.result.result == srv.SetEntityState.Response.INVALID_POSE
    assert "does not reach" in beyond.result.error_message

    # running, stopped, with and without time
    playing = SimulationState(state=SimulationState.STATE_PLAYING)
    assert client.call("SetSimulationState", state=playing).result.result == OK
    assert client.call("GetSimulationState").state == playing
    assert client.call("StepSimulation", steps=1).result.result == FAILED
    stopped = SimulationState(state=SimulationState.STATE_STOPPED)
    assert client.call("SetSimulationState", state=stopped).result.result == OK
    again = client.call("SetSimulationState", state=stopped)
    assert again.result.result == srv.SetSimulationState.Response.ALREADY_IN_TARGET_STATE
    state = client.entity(coupler)
    assert state.header.stamp.nanosec == 0
    assert state.pose == first.pose
    client.call("StepSimulation", steps=3)
    scope = srv.ResetSimulation.Request.SCOPE_STATE
    assert client.call("ResetSimulation", scope=scope).result.result == OK
    assert client.entity(coupler).header.stamp.nanosec == 12_000_000
    np.testing.assert_array_equal(twist_of(client.entity(coupler)), 0.0)


def test_a_machine_that_floats_is_put_anywhere(
    ros: Ros, start_node: StartProcess, tmp_path: Path
) -> None:
    client = Client(ros, start_node, str(floating_five_bar(tmp_path)))
    bases = Ear(client.node, Odometry, "odom")
    turn = Rotation.random(random_state=3)
    given = EntityState()
    place, attitude = given.pose.position, given.pose.orientation
    place.x, place.y, place.z = 1.0, 2.0, 3.0
    attitude.x, attitude.y, attitude.z, attitude.w = turn.as_quat().tolist()
    given.twist.linear.x, given.twist.angular.z = 1.0, 2.0
    response = client.call(
        "SetEntityState",
        entity="floating_five_bar/ground",
        state=given,
        set_pose=True,
        set_twist=True,
    )
    assert response.result.result == OK, response.result.error_message
    ros.until(lambda: bases.messages and bases.messages[-1].pose.pose.position.x > 0.5)
    heard = bases.messages[-1]
    at, quaternion = heard.pose.pose.position, heard.pose.pose.orientation
    assert [at.x, at.y, at.z] == pytest.approx([1.0, 2.0, 3.0], abs=1e-9)
    found = Rotation.from_quat([quaternion.x, quaternion.y, quaternion.z, quaternion.w])
    assert (found.inv() * turn).magnitude() < 1e-9
    linear = heard.twist.twist.linear  # in axes of the base, that given in those of the world
    np.testing.assert_allclose(
        found.apply([linear.x, linear.y, linear.z]), [1.0, 0.0, 0.0], atol=1e-9
    )
