# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Feedback laws of the examples as nodes: a simulator in lockstep, over DDS."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy")

from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from support.nodes.ros_fixtures import Ros
from support.repository import ROOT

from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = pytest.mark.ros

PLANNING = ROOT / "examples" / "planning"
RATE = 200.0  # Hz, as of the examples
PUSH = 0.5  # s


def motion(
    ros: Ros, start_node: Any, start_process: Any, program: str, mechanism: str, duration: float
) -> tuple[np.ndarray, Callable[[str], np.ndarray], Callable[[str], np.ndarray]]:
    """Times in s, and positions and velocities by joint, of a machine under a program."""
    node, states = ros.node(), {}

    def keep(message: JointState) -> None:
        pairs = zip(message.position, message.velocity, strict=True)
        states[nanoseconds(message.header.stamp)] = dict(zip(message.name, pairs, strict=True))

    node.create_subscription(JointState, "joint_states", keep, QoSProfile(depth=5000))
    parameters = {
        "mechanism": mechanism,
        "rate": RATE,
        "lockstep": True,
        "command_mode": "joint_state",
        "backend": "interpreted",
    }
    processes = [
        start_node("simulator", parameters=parameters),
        start_process([sys.executable, str(PLANNING / program), "--node"]),
    ]
    ros.until(lambda: max(states, default=0) >= duration * 1e9, "the motion", 90.0)
    for process in processes:
        assert process.stop() == 0
    times = sorted(states)
    assert len(times) > 0.5 * duration * RATE, "the ears of a busy machine may miss some"

    def column(which: int) -> Callable[[str], np.ndarray]:
        return lambda joint: np.array([states[t][joint][which] for t in times])

    return np.array(times) * 1e-9, column(0), column(1)


@pytest.mark.slow
def test_the_table_is_balanced_and_a_push_is_recovered_from(
    ros: Ros, start_node: Any, start_process: Any, tmp_path: Path
) -> None:
    shutil.copy(PLANNING / "inverted_linkage.urdf", tmp_path)
    data = yaml.safe_load((PLANNING / "inverted_linkage.yaml").read_text())
    # 60 N on the cart for a tenth of a second, of which the controller knows nothing
    bump = f"60.0*exp(-((t - {PUSH})/0.05)**2)"
    data["forces"] = {"push": {"type": "expression", "joints": {"cart": 1.0}, "expression": bump}}
    pushed = tmp_path / "pushed.yaml"
    pushed.write_text(yaml.safe_dump(data))
    times, position, _ = motion(
        ros, start_node, start_process, "balance.py", str(pushed), duration=4.5
    )
    leg, cart = position("left_leg"), position("cart")
    assert np.abs(leg[times < 0.5 * PUSH]).max() < 1e-6  # upright until then
    assert 0.05 < np.abs(leg).max() < 0.7  # it falls by e^7 in a second where nothing is done
    assert np.abs(leg[-1]) < 5e-3
    assert np.abs(cart[-1]) < 2e-2


@pytest.mark.slow
def test_the_predictive_controller_keeps_the_speed_in_lockstep(
    ros: Ros, start_node: Any, start_process: Any
) -> None:
    pytest.importorskip("casadi")
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    _, position, velocity = motion(
        ros, start_node, start_process, "five_bar_mpc.py", "five_bar", duration=1.2
    )
    crank = position("crank")
    assert crank[0] == pytest.approx(0.6, abs=1e-9)
    assert crank[-1] > 1.4  # of 2.4 rad; 35 N m take it to the speed in 0.7 s
    assert 1.4 < np.abs(velocity("crank")).max() < 1.5
