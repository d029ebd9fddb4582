# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""joint_state_completer: complete states from partial, late, broken and several measurements."""

from __future__ import annotations

import math
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time
from rclpy.qos import ReliabilityPolicy, qos_profile_sensor_data, qos_profile_system_default
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from support.mechanism_builder import shipped
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros, StartProcess

from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.nodes.joint_state_completer import JointStateCompleter
from uk_dynamics.ros.timing.clock import nanoseconds
from uk_dynamics.ros.topics.joint_measurements import JointMeasurements
from uk_dynamics.ros.topics.qos import LATCHED_QOS

pytestmark = pytest.mark.ros

MS = 1_000_000
NAN = math.nan
SLIDES = tuple(f"leg_{i}_slide" for i in range(1, 7))


def message(
    names: Any, position: Any, velocity: Any = (), effort: Any = (), stamp: int = MS
) -> JointState:
    result = JointState(name=list(names))
    result.header.stamp = Time(sec=stamp // 10**9, nanosec=stamp % 10**9)
    result.position, result.velocity = array("d", position), array("d", velocity)
    result.effort = array("d", effort)
    return result


# --- putting messages together ------------------------------------------------------------------


def measurements(*, turning: bool = False) -> JointMeasurements:
    return JointMeasurements(("a", "b"), np.array([turning, False]))


def read(into: JointMeasurements, *arguments: Any, stamp: int, tau: float = 0.0) -> str:
    return into.read(message(*arguments), stamp, 0.5, tau)


def test_sources_are_put_together_and_the_older_is_carried_to_the_newer() -> None:
    both = measurements()
    assert read(both, ["a", "other"], [1.0, 9.0], [2.0, 9.0], [7.0, 9.0], stamp=MS) == ""
    assert not both.complete
    assert both.index.unknown == ("other",)
    assert read(both, ["b"], [3.0], [4.0], stamp=3 * MS) == ""
    assert both.complete
    position, stamp, problem = both.take(0.5)
    assert (stamp, problem) == (3 * MS, "")
    np.testing.assert_allclose(position, [1.0 + 2.0 * 2e-3, 3.0], atol=1e-15, rtol=0)
    assert list(both.effort) == [7.0, 0.0]
    assert not both.complete, "each joint has to be heard of anew"
    assert both.ages.max() < 60.0


def test_sources_whose_clocks_differ_are_not_put_together() -> None:
    both = measurements()
    read(both, ["a"], [1.0], [2.0], stamp=MS)
    read(both, ["b"], [1.0], [2.0], stamp=10**9)
    assert "stamp of a is 0.999 s behind" in both.take(0.5)[2]


@pytest.mark.parametrize("missing", [(), (NAN, NAN), (math.inf, -math.inf)])
def test_velocities_that_are_not_measured_are_differences_of_positions(missing: Any) -> None:
    both = measurements()
    read(both, ["a", "b"], [1.0, 2.0], missing, stamp=MS)
    assert not both.complete, "one position has no velocity"
    read(both, ["a", "b"], [1.02, 1.99], missing, stamp=11 * MS)
    assert both.complete
    assert both.differentiated.all()
    np.testing.assert_allclose(both.velocity, [2.0, -1.0], atol=1e-12, rtol=0)
    read(both, ["a", "b"], [1.02, 1.99], missing, stamp=11 * MS)
    np.testing.assert_allclose(both.velocity, [2.0, -1.0], atol=1e-12, rtol=0)
    # a step of the velocity passes the low pass by 1 − 1/e in one time constant
    read(both, ["a", "b"], [1.02, 1.99], missing, stamp=21 * MS, tau=0.01)
    np.testing.assert_allclose(both.velocity, np.exp(-1.0) * np.array([2.0, -1.0]), atol=1e-12)


def test_an_encoder_that_counts_within_one_turn_has_no_velocity_of_a_turn_per_sample() -> None:
    both = measurements(turning=True)
    read(both, ["a", "b"], [3.14, 0.0], stamp=MS)
    read(both, ["a", "b"], [3.15 - 2.0 * np.pi, 0.0], stamp=11 * MS)
    assert both.velocity[0] == pytest.approx(1.0, abs=1e-9)


def test_what_cannot_be_used_leaves_the_rest_of_the_message() -> None:
    both = measurements()
    problem = read(both, ["a", "b"], [NAN, 2.0], [0.0, 0.0], [NAN, 3.0], stamp=MS)
    assert problem == "position of a is nan"
    assert not both.complete
    assert read(both, ["a"], [1.0], [0.0], [NAN], stamp=MS) == ""
    assert both.complete
    assert np.isfinite(both.effort).all()
    for broken, words in (
        (message(["a", "a"], [1.0, 1.0]), "more than once"),
        (message(["a", "b"], [1.0]), "1 numbers in position"),
        (message(["a"], [1.0], [1.0, 2.0]), "2 numbers in velocity"),
        (message(["a"], [1.0], [1.0], [1.0, 2.0]), "2 numbers in effort"),
        (message([], []), "no names"),
    ):
        assert words in both.read(broken, 2 * MS, 0.5, 0.0)
    assert both.read(message(["c"], [1.0]), 2 * MS, 0.5, 0.0) == ""
    assert list(both.take(0.5)[0]) == [1.0, 2.0]


def test_late_messages_are_dropped_and_time_that_goes_back_starts_anew() -> None:
    both = measurements()
    read(both, ["a", "b"], [1.0, 2.0], [0.0, 0.0], stamp=10**9)
    assert "older" in read(both, ["a"], [5.0], [0.0], stamp=10**9 - MS)
    assert both.position[0] == 1.0
    assert not both.went_back
    assert read(both, ["a"], [5.0], [0.0], stamp=MS) == ""
    assert both.went_back
    assert both.position[0] == 5.0
    assert not both.complete, "b belongs to another time"


# --- the node -----------------------------------------------------------------------------------


class Bench:
    """The node with everything that talks to it."""

    def __init__(self, ros: Ros, mechanism: str = "five_bar", **parameters: Any) -> None:
        self.ros = ros
        parameters = {"mechanism": mechanism, "state_timeout": 60.0} | parameters
        ros.add(JointStateCompleter(**overrides(**parameters)))
        self.mechanism = shipped(mechanism)
        self.node = ros.node()
        self.states = Ear(self.node, JointState, "joint_states")
        self.diagnostics = DiagnosticsEar(self.node, "joint_state_completer")
        # as joint_state_broadcaster publishes
        self._measured = self.node.create_publisher(
            JointState, "measured_joint_states", qos_profile_system_default
        )
        ros.until(self._measured.get_subscription_count, "the node to listen")

    def send(self, *arguments: Any, **named: Any) -> None:
        self._measured.publish(message(*arguments, **named))

    def answer(self, *arguments: Any, stamp: int, **named: Any) -> JointState:
        """What the node says to a measurement with a stamp of its own."""

        def answered() -> bool:
            self.send(*arguments, stamp=stamp, **named)
            self.ros.spin_once()
            return any(nanoseconds(m.header.stamp) == stamp for m in self.states.messages)

        self.ros.until(answered, f"the state of stamp {stamp}")
        return self.states.messages[-1]


def test_state_of_all_joints_with_the_stamp_of_the_measurement(ros: Ros) -> None:
    bench = Bench(ros, "stewart_platform")
    mechanism = bench.mechanism
    pose = {"platform_x": 0.05, "platform_y": -0.02, "platform_z": 0.72}
    pose |= {"platform_yaw": 0.1, "platform_pitch": -0.05, "platform_roll": 0.08}
    state = mechanism.start(pose, dict.fromkeys(pose, 0.1))
    places = [mechanism.model.position_index(name) for name in SLIDES]
    other = [name for name in mechanism.joint_names if name not in SLIDES]
    answer = bench.answer(
        [*reversed(SLIDES), "gripper"],
        [*state.q[places][::-1], 0.3],
        [*state.v[places][::-1], 0.0],
        [*range(6, 0, -1), 0.0],
        stamp=5 * MS,
    )
    assert tuple(answer.name) == mechanism.joint_names
    np.testing.assert_allclose(answer.position, state.q, atol=1e-10, rtol=0)
    np.testing.assert_allclose(answer.velocity, state.v, atol=1e-9, rtol=0)
    efforts = dict(zip(answer.name, answer.effort, strict=True))
    assert [efforts[name] for name in SLIDES] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert not any(efforts[name] for name in other)
    bench.diagnostics.until(ros, "OK")
    values = bench.diagnostics.values
    assert values["unused_joints"] == "gripper"
    assert values["status"] == "complete"
    assert float(values["residual"]) < 1e-10
    assert 1.0 < float(values["condition"]) < 100.0
    assert all(float(values[f"age of {name}"]) < 60.0 for name in SLIDES)


def test_two_sources_make_one_state(ros: Ros) -> None:
    bench = Bench(ros, "parallel_2dof")
    q = dict(zip(bench.mechanism.joint_names, bench.mechanism.assemble(), strict=True))
    bench.answer(["a1", "a2", "a3"], [q[n] for n in ("a1", "a2", "a3")], [0.0] * 3, stamp=MS)
    said = len(bench.states.messages)
    bench.send(["a1"], [q["a1"]], [0.0], stamp=9 * MS)
    last = bench.answer(["a2", "a3"], [q["a2"], q["a3"]], [0.0, 0.0], stamp=10 * MS)
    np.testing.assert_allclose(last.position, list(q.values()), atol=1e-9, rtol=0)
    stamps = {nanoseconds(m.header.stamp) for m in bench.states.messages[said:]}
    assert stamps <= {MS, 10 * MS}, "no state before all joints were heard of"
    bench.diagnostics.until(ros, "OK")


def test_nothing_but_finite_numbers_and_closed_loops_leaves_the_node(ros: Ros) -> None:
    bench = Bench(ros, "slider_crank")
    bench.send(["crank"], [0.6], [NAN], [NAN], stamp=MS)
    bench.answer(["crank"], [0.61], [NAN], [NAN], stamp=11 * MS)
    for value in (NAN, math.inf, -1e300):
        bench.send(["crank"], [value], [0.0], stamp=12 * MS)
    bench.answer(["crank"], [0.62], [1e300], stamp=21 * MS)
    bench.diagnostics.until(ros, "position of crank")
    for said in bench.states.messages:
        assert np.isfinite([*said.position, *said.velocity, *said.effort]).all()
        residual = bench.mechanism.dynamics().residual(
            bench.mechanism.state(said.position, said.velocity)
        )
        assert np.abs(residual.position).max() < 1e-10
        assert np.abs(residual.velocity).max() < 1e-10


def test_a_source_without_clock_and_a_clock_that_is_set_back(ros: Ros) -> None:
    bench = Bench(ros)
    bench.answer(["crank"], [0.6], [0.0], stamp=100 * 10**9)
    bench.answer(["crank"], [0.7], [0.0], stamp=10**9)
    now = bench.node.get_clock().now().nanoseconds

    def stamped() -> bool:
        bench.send(["crank"], [0.8], [0.0], stamp=0)
        return nanoseconds(bench.states.messages[-1].header.stamp) >= now

    ros.until(stamped, "a state with the time of arrival")
    assert bench.states.messages[-1].position[0] == pytest.approx(0.8, abs=1e-12)


def test_joints_that_are_silent_are_named_until_they_speak(ros: Ros) -> None:
    bench = Bench(ros, "parallel_2dof")
    q = dict(zip(bench.mechanism.joint_names, bench.mechanism.assemble(), strict=True))

    def heard() -> bool:
        bench.send(["a1", "a3"], [q["a1"], q["a3"]], [0.0, 0.0])
        return bench.diagnostics.message == "not measured for 60 s or more: a2"

    ros.until(heard, "the silent joint")
    assert bench.diagnostics.level == b"\x02"
    assert not bench.states.messages
    bench.answer(["a2"], [q["a2"]], [0.0], stamp=2 * MS)


def test_contradicting_and_singular_measurements_are_reported(ros: Ros) -> None:
    bench = Bench(ros, "five_bar", condition_warning=2.0)
    bench.answer(["crank"], [0.2], [0.0], stamp=MS)
    bench.diagnostics.until(ros, "are amplified")
    bench.answer(["crank"], [0.0], [0.0], stamp=2 * MS)
    bench.diagnostics.until(ros, "singular: the measurements do not determine")
    bench.answer(["crank"], [0.9], [0.0], stamp=3 * MS)
    bench.diagnostics.until(ros, "the branch is doubtful until ~/reset")
    client = bench.node.create_client(Trigger, "joint_state_completer/reset")
    assert ros.call(client, Trigger.Request()).success
    bench.answer(["crank"], [0.9], [0.0], stamp=4 * MS)
    assert bench.states.messages[-1].position[0] == pytest.approx(0.9, abs=1e-12)
    ros.until(lambda: bench.diagnostics.values.get("branch_doubtful") == "false", "a sure branch")


def test_readers_of_every_quality_of_service_hear_it(ros: Ros) -> None:
    bench = Bench(ros)
    sensor = Ear(bench.node, JointState, "joint_states", qos_profile_sensor_data)
    bench.answer(["crank"], [0.6], [0.0], stamp=MS)
    (offered,) = bench.node.get_publishers_info_by_topic("joint_states")
    assert offered.qos_profile.reliability is ReliabilityPolicy.RELIABLE
    ros.until(
        lambda: bench.send(["crank"], [0.6], [0.0], stamp=2 * MS) or sensor.messages, "best effort"
    )


def test_measured_joints_that_leave_others_open_end_the_node(ros: Ros, tmp_path: Any) -> None:
    file = tmp_path / "open.yaml"
    file.write_text(
        "schema: 1\nmodel: {urdf: package://uk_dynamics/urdf/five_bar.urdf.xacro}\n"
        "initial_guess: {crank: 0.6}\nmeasured: [crank]\n"
    )
    with pytest.raises(InputError, match="do not determine coupler, middle, right"):
        JointStateCompleter(**overrides(mechanism=str(file)))


@pytest.mark.slow
def test_a_platform_is_controlled_by_the_encoders_of_its_legs(
    ros: Ros, start_node: StartProcess
) -> None:
    """Simulator, completer and controller as processes; states meet their truth by stamp."""
    name = {"mechanism": "stewart_platform"}
    patient = {"backend": "interpreted"}  # nothing is compiled while others wait
    start_node(
        "simulator",
        # slow enough that a busy computer cannot delay the control by many steps
        parameters={**name, **patient, "rate": 100, "real_time_factor": 0.3, "paused": True},
        remappings={"joint_states": "measured_joint_states"},
        namespace="arm",
    )
    start_node("joint_state_completer", parameters=name, namespace="arm")
    tasks = {"tasks": "stewart_platform_heave_roll", "autostart": True, "state_timeout": 5.0}
    start_node("servo_controller", parameters={**name, **patient, **tasks}, namespace="arm")
    node = ros.node()
    truth = Ear(node, JointState, "/arm/measured_joint_states")
    states = Ear(node, JointState, "/arm/joint_states")
    commands = Ear(node, Float64MultiArray, "/arm/effort_controller/commands")
    ros.until(lambda: commands.messages and any(commands.messages[-1].data), "controller")
    ros.call(node.create_client(SetBool, "/arm/simulator/pause"), SetBool.Request(data=False))
    ros.until(lambda: truth.messages and states.messages, "both kinds of states")
    start = nanoseconds(truth.messages[0].header.stamp)

    def moved() -> bool:
        return nanoseconds(states.messages[-1].header.stamp) - start > 600 * MS

    ros.until(moved, "0.6 s of motion")
    true = {nanoseconds(m.header.stamp): m for m in truth.messages}
    compared = 0
    for state in states.messages:
        machine = true.get(nanoseconds(state.header.stamp))
        if machine is None:
            continue
        compared += 1
        assert state.name == machine.name
        np.testing.assert_allclose(state.position, machine.position, atol=1e-9, rtol=0)
        np.testing.assert_allclose(state.velocity, machine.velocity, atol=1e-8, rtol=0)
    assert compared > 20
    # held against gravity, platform and legs stay in their workspace
    assert max(np.abs(np.subtract(states.messages[-1].position, truth.messages[0].position))) < 0.3


LEG = """
schema: 1
model: {urdf: "package://uk_dynamics/urdf/landing_leg.urdf.xacro"}
measured: [knee]
initial_guess: {height: 0.42, hip: -0.785, knee: -1.571}
constraints:
  foot:
    type: frame
    axes: [x, z]
    parent: {link: ground}
    child: {link: shank, xyz: [0.3, 0.0, 0.0]}
    switchable: true
"""


def test_a_foot_that_is_lifted_leaves_the_state_open_until_it_stands_again(
    ros: Ros, tmp_path: Path
) -> None:
    file = tmp_path / "leg.yaml"
    file.write_text(LEG)
    node = ros.node("switch")
    switch = node.create_publisher(JointState, "simulator/active_constraints", LATCHED_QOS)
    ros.add(JointStateCompleter(**overrides(mechanism=str(file), state_timeout=60.0)))
    states = Ear(node, JointState, "joint_states")
    diagnostics = DiagnosticsEar(node, "joint_state_completer")
    measured = node.create_publisher(
        JointState, "measured_joint_states", qos_profile_system_default
    )
    ros.until(measured.get_subscription_count, "the node to listen")

    def answer(stamp: int) -> list[float]:
        def answered() -> bool:
            measured.publish(message(["knee"], [-1.8], [0.0], stamp=stamp))
            ros.spin_once()
            return any(nanoseconds(m.header.stamp) == stamp for m in states.messages)

        ros.until(answered, f"the state of stamp {stamp}")
        return list(states.messages[-1].position)

    # Both links are 0.3 m and the foot is below the hip.
    standing = [0.6 * math.cos(0.9), -math.pi / 2 + 0.9, -1.8]
    assert answer(MS) == pytest.approx(standing, abs=1e-9)
    switch.publish(JointState())
    diagnostics.until(ros, "do not determine height, hip")
    lifted = message(["foot.x", "foot.z"], [0.1, 0.2])
    switch.publish(lifted)
    # It stands again, 0.1 m to the side and 0.2 m up.
    ros.until(lambda: "do not determine" not in diagnostics.message, "the next report")
    found = answer(2 * MS)
    x = 0.3 * math.cos(found[1]) + 0.3 * math.cos(found[1] + found[2])
    assert x == pytest.approx(0.1, abs=1e-9)
    z = found[0] + 0.3 * math.sin(found[1]) + 0.3 * math.sin(found[1] + found[2])
    assert z == pytest.approx(0.2, abs=1e-9)
