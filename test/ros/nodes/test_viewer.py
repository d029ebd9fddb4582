# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""viewer: it shows what is on the topics, and its buttons reach the simulator."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("viser")

import numpy as np
from sensor_msgs.msg import JointState
from support.nodes.ros_ears import Ear, overrides
from support.nodes.ros_fixtures import Ros

from uk_dynamics import Mechanism
from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.nodes.viewer import Viewer

pytestmark = pytest.mark.ros


@pytest.fixture
def viewer(ros: Ros) -> Viewer:
    return ros.add(Viewer(**overrides(mechanism="four_bar", port=0)))


def _shown(viewer: Viewer):
    return viewer._view.snapshot


def test_it_publishes_nothing_and_says_what_it_waits_for(ros: Ros, viewer: Viewer):
    ros.until(lambda: _shown(viewer) is not None, "a picture")
    assert "/joint_states" in _shown(viewer).message
    own = {name for name, _ in viewer.get_publisher_names_and_types_by_node("viewer", "/")}
    assert own <= {"/rosout", "/parameter_events"}


@pytest.mark.slow
def test_it_shows_the_machine_and_controls_the_simulator(ros: Ros, viewer: Viewer, start_node):
    start_node("simulator", parameters={"mechanism": "four_bar", "rate": 200.0, "paused": True})
    start = Mechanism.from_file("four_bar").start()
    ros.until(lambda: _shown(viewer) and _shown(viewer).mode, "states")
    assert abs(_shown(viewer).state.q - start.q).max() < 1e-9  # serialised as they are
    services = viewer.clients
    ros.until(lambda: all(client.service_is_ready() for client in services), "the simulator")
    states = Ear(ros.node(), JointState, "joint_states")

    viewer._view._panel.wishes.ask("play", lambda source: source.control("play"))
    ros.until(lambda: np.abs(_shown(viewer).state.q - start.q).max() > 0.05, "motion")
    viewer._view._panel.wishes.ask("pause", lambda source: source.control("pause"))
    ros.until(lambda: states.next(ros).header.stamp == states.next(ros).header.stamp, "a stop")
    viewer._view._panel.wishes.ask("reset", lambda source: source.control("reset"))
    ros.until(lambda: np.abs(_shown(viewer).state.q - start.q).max() < 1e-9, "the start")


def test_a_port_in_use_is_a_mistake_of_the_user(ros: Ros, viewer: Viewer):
    port = int(viewer.url.rpartition(":")[2])
    with pytest.raises(InputError, match=str(port)):
        Viewer(**overrides(mechanism="four_bar", port=port))
