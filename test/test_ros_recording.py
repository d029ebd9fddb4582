"""Topics are recorded as they are on the wire, and come back onto their topics."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mcap_ros2")

from ros_fixtures import Ros
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

import uk_dynamics as ukd
from uk_dynamics.ros.topic_recorder import TopicRecorder

pytestmark = pytest.mark.ros

# As the command line runs it, also where its entry point is not installed yet.
REPLAY = """
import argparse, sys
from uk_dynamics.ros.replay import register
parser = argparse.ArgumentParser()
register(parser.add_subparsers())
arguments = parser.parse_args()
sys.exit(arguments.run(arguments))
"""


def test_what_a_simulator_publishes_is_recorded(ros: Ros, start_node, tmp_path):
    path = tmp_path / "live.mcap"
    mechanism = ukd.Mechanism.from_file("four_bar")
    recorder = TopicRecorder(ros.node("recorder"), mechanism, path)
    settings = {"mechanism": "four_bar"}
    start_node("forward_dynamics", parameters=settings)
    start_node("simulator", parameters={**settings, "rate": 100.0})
    wanted = ("/joint_states", "/forward_dynamics/constraint_states")
    ros.until(lambda: min(recorder.counts[t] for t in wanted) > 60, "a recording", 60.0)
    recorder.close()
    motion = ukd.Trajectory.load(path)
    assert motion.name == "four_bar"
    assert motion.names.constraint_rows == mechanism.row_names
    assert len(motion.t) > 50
    assert (motion.t[1:] > motion.t[:-1]).all()
    # it falls, on its constraints
    assert abs(motion.q[-1] - motion.q[0]).max() > 1e-3
    dynamics = mechanism.dynamics()
    for q in motion.q[::10]:
        assert abs(dynamics.residual(mechanism.state(q)).position).max() < 1e-9
    assert not motion.warnings


def test_a_recording_comes_back_without_commands(ros: Ros, start_process, tmp_path):
    mechanism = ukd.Mechanism.from_file("five_bar")
    motion = ukd.simulate(mechanism, mechanism.start(), 0.3)
    path = tmp_path / "run.mcap"
    motion.save(path)
    states, commands = [], []
    node = ros.node()
    node.create_subscription(JointState, "joint_states", states.append, 100)
    node.create_subscription(Float64MultiArray, "effort_controller/commands", commands.append, 100)
    start_process([sys.executable, "-c", REPLAY, "replay", str(path), "--loop", "--speed", "3"])
    ros.until(lambda: len(states) > 2 * len(motion.t), "two rounds", 60.0)
    first = next(k for k, state in enumerate(states) if state.header.stamp.nanosec == 0)
    for sample, state in zip(motion.q, states[first:], strict=False):
        assert list(state.position) == sample.tolist()
    assert not commands
