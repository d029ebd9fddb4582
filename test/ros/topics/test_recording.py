# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Topics are recorded as they are on the wire, and come back onto their topics."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mcap_ros2")

from nav_msgs.msg import Odometry
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.floating_five_bar import floating_five_bar
from support.mechanism_builder import joint, link
from support.nodes.floating_machine import state_of
from support.nodes.ros_ears import Ear, overrides
from support.nodes.ros_fixtures import Ros, StartProcess
from support.robot_and_sled import robot_and_sled

import uk_dynamics as ukd
from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.nodes.recorder import Recorder
from uk_dynamics.ros.timing.clock import nanoseconds
from uk_dynamics.ros.topics.odometry_topics import odom_topic
from uk_dynamics.ros.topics.topic_recorder import TopicRecorder
from uk_dynamics.simulation.recording.mcap_writer import McapReader

pytestmark = pytest.mark.ros

# As the command line runs it, also where its entry point is not installed yet.
REPLAY = """
import argparse, sys
from uk_dynamics.ros.demo.replay import register
parser = argparse.ArgumentParser()
register(parser.add_subparsers())
arguments = parser.parse_args()
sys.exit(arguments.run(arguments))
"""


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_touches_is_recorded(ros: Ros, start_node, tmp_path):
    path, file = tmp_path / "live.mcap", tmp_path / "puck.yaml"
    lift = joint("z", "base", "puck", kind="prismatic", axis="0 0 1")
    (tmp_path / "puck.urdf").write_text(
        f"<robot name='puck'>{link('base')}{link('puck', 2.0)}{lift}</robot>"
    )
    file.write_text(
        "schema: 1\nmodel: {urdf: puck.urdf}\ninitial_guess: {z: 0.02}\n"
        "contacts: {foot: {parent: {link: base}, child: {link: puck}, friction: 0.2}}\n"
    )
    recorder = TopicRecorder(ros.node("recorder"), ukd.Mechanism.from_file(file), path)
    start_node("simulator", parameters={"mechanism": str(file), "rate": 100.0})
    wanted = ("/joint_states", "/simulator/contacts")
    ros.until(lambda: min(recorder.counts[t] for t in wanted) > 60, "a recording", 60.0)
    recorder.close()
    foot = ukd.Trajectory.load(path).contact("foot")
    assert foot.closed[-1]
    assert foot.normal[-1] == pytest.approx(2.0 * 9.81, rel=1e-9)
    assert foot.gap[-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_a_machine_that_floats_is_recorded_and_comes_back(
    ros: Ros, start_node, start_process, tmp_path
):
    path, mechanism_file = tmp_path / "live.mcap", floating_five_bar(tmp_path)
    mechanism = ukd.Mechanism.from_file(mechanism_file)
    recorder = TopicRecorder(ros.node("recorder"), mechanism, path)
    settings = {"mechanism": str(mechanism_file), "rate": 100.0, "backend": "interpreted"}
    simulator = start_node("simulator", parameters=settings)
    wanted = ("/joint_states", "/odom")
    ros.until(lambda: min(recorder.counts[t] for t in wanted) > 40, "a recording", 60.0)
    recorder.close()
    simulator.end()
    motion = ukd.Trajectory.load(path)
    assert motion.names.positions == mechanism.model.position_names
    assert len(motion.t) > 30
    base = mechanism.model.bases[0]
    heights = np.array([base.pose(q)[2] for q in motion.q])
    speeds = np.array([base.twist(v)[2] for v in motion.v])
    # it does not turn, and falls with the speed that it says
    fallen = np.cumsum(0.5 * (speeds[1:] + speeds[:-1]) * np.diff(motion.t))
    np.testing.assert_allclose(heights[1:] - heights[0], fallen, atol=1e-6, rtol=0)
    assert heights[-1] < heights[0] - 1e-3
    node = ros.node()
    joints, bases = Ear(node, JointState, "joint_states"), Ear(node, Odometry, "odom")
    start_process([sys.executable, "-c", REPLAY, "replay", str(path), "--wait", "20"])
    ros.until(lambda: len(joints.messages) > 20 and len(bases.messages) > 20, "the replay")
    heard = {nanoseconds(m.header.stamp) for m in bases.messages}
    assert sum(nanoseconds(m.header.stamp) in heard for m in joints.messages) > 15


def cart(directory: Path) -> Path:
    """The five-bar on a ground that slides and turns in the horizontal plane, and does."""
    file = floating_five_bar(directory)
    text = file.read_text().replace("root: floating", "root: planar")
    file.write_text(f"{text}initial_velocity: {{root.vx: 0.4, root.vy: -0.2, root.wz: 2.0}}\n")
    return file


@pytest.mark.slow
@pytest.mark.parametrize("machine", [cart, robot_and_sled])
def test_bases_in_a_plane_come_back_from_nodes(
    ros: Ros,
    start_node: StartProcess,
    start_process: StartProcess,
    tmp_path: Path,
    machine: Callable[[Path], Path],
) -> None:
    """From the simulator to the file of the recorder, and from there onto topics again."""
    path, file = tmp_path / "live.mcap", machine(tmp_path)
    mechanism = ukd.Mechanism.from_file(file)
    model = mechanism.model
    settings = {"mechanism": str(file)}
    heard = Motions(ros, mechanism)
    recorder = start_node("recorder", parameters={**settings, "file": str(path)})
    moving = {**settings, "rate": 50.0, "backend": "interpreted", "publish_clock": True}
    simulator = start_node("simulator", parameters=moving)
    sizes: dict[int, int] = {}

    def written() -> int:
        """How many joint states are in the file; read where it has grown."""
        size = path.stat().st_size if path.exists() else 0
        if size > 100 and size not in sizes:
            found = McapReader(path).messages(decode=False)
            sizes[size] = sum(message.topic == "/joint_states" for message in found)
        return sizes.get(size, 0)

    ros.until(lambda: heard.count > 30 and written() > 30, "a recording")
    assert simulator.end()
    assert recorder.end()
    motion, seen = ukd.Trajectory.load(path), heard.states()
    assert not motion.warnings
    assert motion.names.positions == model.position_names
    assert motion.names.velocities == model.velocity_names
    assert len(motion.t) > 20
    assert np.ptp(motion.q, axis=0)[model.bases[-1].position].max() > 0.1, "it moves"
    recorded = {
        round(t * 1e9): np.append(q, v)
        for t, q, v in zip(motion.t, motion.q, motion.v, strict=True)
    }
    # what was heard from the simulator is what the file has
    common = recorded.keys() & seen
    assert len(common) > 20
    for stamp in common:
        np.testing.assert_allclose(recorded[stamp], seen[stamp], atol=1e-9, rtol=0)
    replayed = Motions(ros, mechanism)
    start_process([sys.executable, "-c", REPLAY, "replay", str(path), "--loop", "--speed", "2"])
    ros.until(lambda: replayed.count > 15 and len(replayed.states()) > 15, "the replay")
    for stamp, numbers in replayed.states().items():
        np.testing.assert_allclose(numbers, recorded[stamp], atol=1e-9, rtol=0)


class Motions:
    """States of all joints and bases of a mechanism that were heard, by stamp."""

    def __init__(self, ros: Ros, mechanism: ukd.Mechanism) -> None:
        node, bases = ros.node(), mechanism.model.bases
        self._mechanism = mechanism
        self._ears = [Ear(node, JointState, "joint_states")]
        self._ears += [Ear(node, Odometry, odom_topic(bases, base)) for base in bases]

    @property
    def count(self) -> int:
        """Number of joint states."""
        return len(self._ears[0].messages)

    def states(self) -> dict[int, np.ndarray]:
        """Positions and velocities, by stamp in ns."""
        joints, *odoms = (
            {nanoseconds(m.header.stamp): m for m in ear.messages} for ear in self._ears
        )
        found = {}
        for stamp in set(joints).intersection(*odoms):
            state = state_of(self._mechanism, joints[stamp], *(odom[stamp] for odom in odoms))
            found[stamp] = np.append(state.q, state.v)
        return found


def test_what_was_heard_is_soon_in_the_file(ros: Ros, tmp_path):
    path = tmp_path / "live.mcap"
    node = ros.node("recorder")
    recorder = TopicRecorder(node, ukd.Mechanism.from_file("four_bar"), path)
    publisher = ros.node().create_publisher(JointState, "joint_states", 10)
    ros.until(publisher.get_subscription_count, "the recorder to listen")
    sent = count(1)

    def written() -> list[int]:
        return [nanoseconds(m.content.header.stamp) for m in McapReader(path).messages()]

    def say() -> None:
        message = JointState(name=["hinge"], position=[0.1])
        message.header.stamp.nanosec = next(sent)
        publisher.publish(message)

    ros.until(lambda: say() or len(written()) > 3, "messages in a file that is still open")
    first = written()
    assert first == list(range(first[0], first[0] + len(first)))
    recorder.close()
    heard = recorder.counts["/joint_states"]
    assert len(written()) == heard > len(first) - 1
    say()
    for _ in range(10):
        ros.spin_once()
    assert recorder.counts["/joint_states"] == heard  # it is over
    assert not ukd.Trajectory.load(path).warnings


@pytest.mark.slow
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
    recorded = {round(t * 1e9): q.tolist() for t, q in zip(motion.t, motion.q, strict=True)}

    def heard() -> dict[int, list[float]]:
        return {nanoseconds(state.header.stamp): list(state.position) for state in states}

    # what a busy computer loses in one round comes in another
    ros.until(lambda: len(states) > 2 * len(recorded) and len(heard()) >= len(recorded), "rounds")
    assert heard() == recorded
    assert not commands


@pytest.mark.slow
def test_a_recorded_time_comes_back_as_clock(ros: Ros, start_process, tmp_path):
    mechanism = ukd.Mechanism.from_file("five_bar")
    motion = ukd.simulate(mechanism, mechanism.start(), 0.3)
    path = tmp_path / "run.mcap"
    motion.save(path)
    node = ros.node(parameter_overrides=[Parameter("use_sim_time", value=True)])
    times = Ear(node, Clock, "/clock")
    states = Ear(node, JointState, "joint_states")
    command = [sys.executable, "-c", REPLAY, "replay", str(path), "--clock", "--loop"]
    start_process(command)
    ros.until(lambda: len(states.messages) > 2 * len(motion.t), "two rounds", 60.0)

    def ticks() -> set[int]:
        return {nanoseconds(tick.clock) for tick in times.messages}

    # what a busy computer loses in one round comes in another
    ros.until(lambda: len(ticks()) >= len(motion.t), "all times")
    assert ticks() == {round(t * 1e9) for t in motion.t}
    assert {nanoseconds(state.header.stamp) for state in states.messages} <= ticks()
    # a node under use_sim_time lives in the recording's time
    assert 0 <= node.get_clock().now().nanoseconds <= 300_000_000


@pytest.mark.slow
@pytest.mark.retry(
    reason="DDS may tell the publisher of the subscription before it tells the subscription of the"
    " publisher; what is published in between is lost"
)
def test_who_listens_hears_it_from_the_first_message_on(ros: Ros, start_process, tmp_path):
    mechanism = ukd.Mechanism.from_file("four_bar")
    motion = ukd.simulate(mechanism, mechanism.start(), 0.2)
    path = tmp_path / "run.mcap"
    motion.save(path)
    states = Ear(ros.node(), JointState, "joint_states")
    command = [sys.executable, "-c", REPLAY, "replay", str(path), "--wait", "60"]
    start_process(command)
    ros.until(lambda: len(states.messages) == len(motion.t), "all samples, once", 60.0)
    assert nanoseconds(states.messages[0].header.stamp) == 0


@pytest.mark.slow
def test_the_recorder_keeps_the_clock_and_replay_brings_it_back(
    ros: Ros, start_node, start_process, tmp_path
):
    path = tmp_path / "run.mcap"
    settings = {"mechanism": "four_bar"}
    moving = {**settings, "rate": 100.0, "publish_clock": True}
    simulator = start_node("simulator", parameters=moving)
    recorder = start_node("recorder", parameters={**settings, "file": str(path)})
    states = Ear(ros.node(), JointState, "joint_states")

    def written() -> int:
        """How many times are in the file, once it is begun."""
        begun = path.exists() and path.stat().st_size > 100
        return sum(m.topic == "/clock" for m in McapReader(path).messages()) if begun else 0

    ros.until(lambda: written() > 50, "times in the file")
    ros.until(lambda: len(states.messages) > 100, "states")
    assert recorder.end()
    assert simulator.end()
    motion = ukd.Trajectory.load(path)
    assert not motion.warnings  # such as that it was cut short
    assert motion.t[-1] < 60.0  # of the simulation, not of the wall clock
    clocks = [m for m in McapReader(path).messages() if m.topic == "/clock"]
    assert len(clocks) > 50
    times = Ear(ros.node("listener"), Clock, "/clock")
    start_process([sys.executable, "-c", REPLAY, "replay", str(path), "--clock", "--loop"])
    recorded = {nanoseconds(message.content.clock) for message in clocks}
    ros.until(lambda: len(times.messages) > 20, "time", 60.0)
    assert {nanoseconds(tick.clock) for tick in times.messages} <= recorded


def test_a_recorder_says_what_is_wrong_with_its_file(ros: Ros, tmp_path):
    with pytest.raises(InputError, match=r"parameter file: name a file that ends in \.mcap"):
        Recorder(**overrides(mechanism="four_bar", file="run.bag"))
    with pytest.raises(InputError, match="cannot be written"):
        Recorder(**overrides(mechanism="four_bar", file=str(tmp_path / "no" / "run.mcap")))
