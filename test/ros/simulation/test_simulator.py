# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The simulator: moves when and as told, whatever is sent to it."""

from __future__ import annotations

import math
import signal
import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from support.bad_messages import BAD_ARRAYS, BAD_COMMANDS
from support.mechanism_builder import joint, link
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros, StartProcess
from trajectory_msgs.msg import JointTrajectory

from uk_dynamics import Inputs, Mechanism
from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.nodes.simulator import Simulator
from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = pytest.mark.ros

COMMANDS = "effort_controller/commands"
OK, WARN, ERROR = b"\x00", b"\x01", b"\x02"

BODY = """<inertial><origin xyz="0 0 -1"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>"""
PENDULUM = f"""<robot name="pendulum">
  <link name="base"/> <link name="upper">{BODY}</link> <link name="lower">{BODY}</link>
  <joint name="swing" type="continuous"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="knee" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 -1"/><axis xyz="0 1 0"/></joint>
</robot>"""


@pytest.fixture
def pendulum(tmp_path: Path) -> str:
    (tmp_path / "pendulum.urdf").write_text(PENDULUM)
    file = tmp_path / "pendulum.yaml"
    file.write_text(
        "schema: 1\nmodel: {urdf: pendulum.urdf}\n"
        "actuators: {motor: {joint: swing}}\ninitial_guess: {swing: 0.5}\n"
    )
    return str(file)


class Bench:
    """A simulator with everything that talks to it."""

    def __init__(self, ros: Ros, mechanism: str = "five_bar", **parameters: Any) -> None:
        self.ros = ros
        self.simulator = ros.add(Simulator(**overrides(mechanism=mechanism, **parameters)))
        self.node = ros.node()
        self.states = Ear(self.node, JointState, "joint_states")
        self.diagnostics = DiagnosticsEar(self.node, "simulator")
        self._pause = self.node.create_client(SetBool, "simulator/pause")
        self._step = self.node.create_client(Trigger, "simulator/step")
        self._reset = self.node.create_client(Trigger, "simulator/reset")
        self._commands = self.node.create_publisher(Float64MultiArray, COMMANDS, 500)

    def pause(self, paused: bool = True) -> Any:
        return self.ros.call(self._pause, SetBool.Request(data=paused))

    def step(self) -> Any:
        return self.ros.call(self._step, Trigger.Request())

    def reset(self) -> Any:
        return self.ros.call(self._reset, Trigger.Request())

    def command(self, *efforts: float) -> None:
        self.ros.until(self._commands.get_subscription_count, "the simulator to listen")
        self._commands.publish(Float64MultiArray(data=array("d", efforts)))

    def state(self) -> JointState:
        return self.states.next(self.ros)

    def until_effort(self, effort: float) -> None:
        self.ros.until(
            lambda: self.states.messages and self.states.messages[-1].effort[0] == effort,
            f"effort {effort}",
        )


def test_paused_simulator_stands_still_steps_once_and_resets(ros: Ros) -> None:
    bench = Bench(ros, paused=True, publish_clock=True, rate=250.0)
    start = bench.state()
    assert list(bench.state().position) == list(start.position)
    assert nanoseconds(start.header.stamp) == 0
    expected = Mechanism.from_file("five_bar").assemble()
    np.testing.assert_array_equal(start.position, expected)
    for count in (1, 2, 3):
        assert bench.step().success
        ros.until(lambda: bench.states.messages[-1].header.stamp.nanosec == 4_000_000 * count)  # noqa: B023
    moved = bench.states.messages[-1]
    assert moved.velocity[0] != 0.0, "gravity moves it"
    assert bench.reset().success
    # the next one to come may have been sent before
    ros.until(lambda: nanoseconds(bench.states.messages[-1].header.stamp) == 0, "the start")
    back = bench.states.messages[-1]
    assert list(back.position) == list(start.position)
    assert list(back.velocity) == [0.0] * 4


def test_a_simulator_starts_on_the_references_of_tasks(ros: Ros, tmp_path: Path) -> None:
    tasks = tmp_path / "swing.yaml"
    reference = "{type: sinusoid, offset: 0.9, amplitude: 0.3, frequency: 0.5}"
    tasks.write_text(
        f"schema: 1\ntasks: {{swing: {{type: joint, joint: crank, reference: {reference}}}}}"
    )
    bench = Bench(ros, paused=True, start_on_tasks=True, tasks=str(tasks))

    def swings(message: JointState) -> None:
        # the search ends at 1e-10; the middle leg of a parallelogram turns with the crank
        for name in ("crank", "middle"):
            at = list(message.name).index(name)
            assert message.position[at] == pytest.approx(0.9, abs=1e-9)
            assert message.velocity[at] == pytest.approx(0.3 * math.pi, abs=1e-9)

    swings(bench.state())
    assert bench.step().success
    ros.until(lambda: bench.states.messages[-1].position[0] > 0.9005, "the machine to move on")
    assert bench.reset().success
    ros.until(lambda: bench.states.messages[-1].position[0] < 0.9001, "the start")
    swings(bench.states.messages[-1])


def test_starting_on_tasks_needs_tasks(ros: Ros) -> None:
    with pytest.raises(InputError, match="parameter tasks: name a tasks file"):
        Simulator(**overrides(mechanism="five_bar", start_on_tasks=True))


def test_running_simulator_is_not_stepped_and_can_be_paused(ros: Ros) -> None:
    bench = Bench(ros)
    bench.state()
    refused = bench.step()
    assert not refused.success
    assert "pause it first" in refused.message
    assert bench.pause().success
    ros.until(lambda: bench.state().header.stamp == bench.state().header.stamp, "a standstill")
    here = bench.state().header.stamp
    assert bench.pause(False).success
    ros.until(lambda: bench.state().header.stamp != here, "motion")


def test_stamps_are_those_of_the_clock_however_long_the_start_takes(ros: Ros) -> None:
    """A controller takes the age of a state for the delay of its loop."""
    bench = Bench(ros)
    made = time.time()
    while time.time() < made + 0.2:
        pass

    def age() -> float:
        return time.time() - nanoseconds(bench.state().header.stamp) * 1e-9

    ros.until(lambda: abs(age()) < 0.05, "a state of now")


def test_free_motion_keeps_loops_and_energy(ros: Ros) -> None:
    bench = Bench(ros, real_time_factor=0.0, publish_clock=True, publish_rate=50.0)
    ros.until(
        lambda: bench.states.messages and bench.states.messages[-1].header.stamp.sec >= 1,
        "a second of motion",
    )
    mechanism = Mechanism.from_file("five_bar")
    dynamics = mechanism.dynamics()
    states = [mechanism.state(m.position, m.velocity) for m in bench.states.messages]
    energies = [dynamics.energy(state) for state in states]
    span = np.ptp([energy.kinetic for energy in energies])
    assert span > 1.0, "it has fallen"
    # RK4 at 1 ms leaves about 1e-10 of the energy in motion; projection is not allowed to feed it
    assert np.ptp([energy.total for energy in energies]) < 1e-8 * span
    for state in states:
        residual = dynamics.residual(state)
        assert np.abs(residual.position).max() < 1e-12, "rounding in metres"
        assert np.abs(residual.velocity).max() < 1e-11, "rounding in m/s"


def test_a_loop_joint_sticks_up_to_its_friction_slides_and_sticks_again(
    ros: Ros, tmp_path: Path
) -> None:
    """A block on a slope, which a motor pushes along the level; in steps of moreau in C."""
    slope, mu, mass, push = 0.2, 0.3, 2.0, 4.0
    light = 1e-12  # of carriers, kg
    slides = {"kind": "prismatic", "limits": (-9.0, 9.0)}
    parts = link("base") + link("along", light, light) + link("up", light, light)
    parts += link("block", mass) + joint("turn", "up", "block")
    parts += joint("x", "base", "along", axis="1 0 0", **slides)
    parts += joint("z", "along", "up", axis="0 0 1", **slides)
    (tmp_path / "block.urdf").write_text(f'<robot name="block">{parts}</robot>')
    file = tmp_path / "block.yaml"
    file.write_text(
        "schema: 1\nmodel: {urdf: block.urdf}\nactuators: {push: {joint: x}}\n"
        "constraints: {guide: {type: prismatic, parent: {link: base}, child: {link: block},"
        f" axis: [{math.cos(slope)}, 0, {-math.sin(slope)}],"
        f" friction: {{exact: true, coulomb: {mu}}}}}}}\n"
    )
    bench = Bench(ros, str(file), backend="compiled", command_timeout=0.0)

    def speed(message: JointState) -> float:
        return float(np.linalg.norm(message.velocity))

    def rests() -> None:
        first = bench.state()
        since = nanoseconds(first.header.stamp)
        ros.until(lambda: nanoseconds(bench.state().header.stamp) > since + 100_000_000, "0.1 s")
        last = bench.states.messages[-1]
        assert max(speed(first), speed(last)) < 1e-12
        np.testing.assert_allclose(last.position, first.position, rtol=0.0, atol=1e-12)

    rests()
    bench.command(push)
    ros.until(lambda: speed(bench.state()) > 0.02, "the block to slide")
    first = bench.state()
    ros.until(lambda: speed(bench.state()) > 0.2, "it to gain speed")
    last = bench.states.messages[-1]
    load = mass * 9.81 * math.cos(slope) - push * math.sin(slope)
    gains = push * math.cos(slope) / mass + 9.81 * math.sin(slope) - mu * load / mass
    passed = (nanoseconds(last.header.stamp) - nanoseconds(first.header.stamp)) * 1e-9
    assert (speed(last) - speed(first)) / passed == pytest.approx(gains, rel=1e-6)  # stamps in ns
    bench.command(-push)
    ros.until(lambda: speed(bench.state()) < 1e-12, "it to stop")
    rests()


def test_published_accelerations_satisfy_constraints_and_dynamics(ros: Ros) -> None:
    bench = Bench(ros, rate=100.0)
    motions = Ear(bench.node, JointTrajectory, "simulator/dynamics")
    forces = Ear(bench.node, JointState, "simulator/constraint_forces")
    rows = Ear(bench.node, JointState, "simulator/constraint_states")
    bench.command(3.0)
    bench.until_effort(3.0)
    heard = len(motions.messages)
    ros.until(lambda: len(motions.messages) > heard + 10 and forces.messages and rows.messages)
    mechanism = Mechanism.from_file("five_bar")
    efforts = {nanoseconds(m.header.stamp): m.effort for m in bench.states.messages}
    force_of = {nanoseconds(m.header.stamp): np.array(m.effort) for m in forces.messages}
    multipliers_of = {nanoseconds(m.header.stamp): np.array(m.effort) for m in rows.messages}
    checked = 0
    for motion in motions.messages[heard:]:
        key = nanoseconds(motion.header.stamp)
        if not (key in efforts and key in force_of and key in multipliers_of):
            continue
        checked += 1
        assert tuple(motion.joint_names) == mechanism.joint_names
        (point,) = motion.points
        assert len(point.effort) == 0
        state = mechanism.state(point.positions, point.velocities)
        terms = mechanism.terms(state, Inputs(tau=np.array(efforts[key])))
        qdd = np.array(point.accelerations)
        # rounding of numbers of size 100 in N, N·m and their accelerations
        np.testing.assert_allclose(terms.A @ qdd, terms.b, atol=1e-9, rtol=0)
        np.testing.assert_allclose(terms.M @ qdd, terms.F + force_of[key], atol=1e-9, rtol=0)
        np.testing.assert_allclose(
            terms.A.T @ multipliers_of[key], force_of[key], atol=1e-9, rtol=0
        )
    assert checked >= 5
    assert tuple(rows.messages[0].name) == mechanism.row_names


def test_unusable_commands_are_ignored_and_reported(ros: Ros) -> None:
    bench = Bench(ros, command_timeout=0.0)
    bench.command(2.0)
    bench.until_effort(2.0)
    for data, _ in BAD_ARRAYS.values():
        wrong = [*data, 0.0] if len(data) == 1 else data  # five_bar has one motor
        bench.command(*wrong)
    bench.command(math.nan)
    bench.diagnostics.until(ros, "effort of crank_motor is nan")
    assert bench.diagnostics.level == WARN
    # a report may be made between two of them
    ignored = str(len(BAD_ARRAYS) + 1)
    ros.until(lambda: bench.diagnostics.values["ignored_messages"] == ignored, "all of them")
    state = bench.state()
    assert state.effort[0] == 2.0, "the last usable command holds"
    assert np.isfinite(state.position).all()


@pytest.mark.slow
def test_hundreds_of_non_finite_joint_commands_before_the_first_real_one(
    ros: Ros, capfd: pytest.CaptureFixture[str]
) -> None:
    bench = Bench(ros, command_mode="joint_state", command_topic="robot/joint_commands")
    publisher = bench.node.create_publisher(JointState, "robot/joint_commands", 500)
    ros.until(publisher.get_subscription_count, "the simulator to listen")
    nothing = JointState(name=["crank"], effort=array("d", [math.nan]))

    def ignored() -> int:
        return int(bench.diagnostics.values.get("ignored_messages", "0"))

    ros.until(lambda: publisher.publish(nothing) or ignored() >= 300, "300 ignored commands")
    assert bench.diagnostics.level == WARN
    assert "effort of crank is nan" in bench.diagnostics.message
    said = capfd.readouterr().err
    assert "nothing usable yet on robot/joint_commands: effort of crank is nan" in said
    assert said.count("is nan") == 1, "as every start behind ros2_control"
    for message, _ in BAD_COMMANDS.values():
        publisher.publish(message)
    publisher.publish(JointState(name=["crank"], effort=array("d", [4.0])))
    bench.until_effort(4.0)
    assert "ignored a message on robot/joint_commands" in capfd.readouterr().err


def test_effort_limits_hold_and_are_reported(ros: Ros) -> None:
    bench = Bench(ros, command_timeout=0.0)
    bench.command(-1e6)
    bench.until_effort(-60.0)
    bench.diagnostics.until(ros, "effort limit reached: crank_motor")


def test_stale_command_is_forgotten_and_reported(ros: Ros) -> None:
    bench = Bench(ros, command_timeout=0.2)

    def driven() -> bool:
        bench.command(5.0)
        return bench.state().effort[0] == 5.0

    ros.until(driven, "effort 5")
    bench.until_effort(0.0)
    bench.diagnostics.until(ros, "commands are stale")
    assert bench.diagnostics.level == WARN


def test_brakes_hold_the_machine_until_the_first_usable_command(ros: Ros) -> None:
    bench = Bench(ros, brakes=True)
    first = bench.state()
    bench.command(float("nan"))
    bench.diagnostics.until(ros, "is nan")
    standing = bench.state()
    assert nanoseconds(standing.header.stamp) > nanoseconds(first.header.stamp), "time goes on"
    assert standing.position == first.position
    assert bench.diagnostics.values["brakes_hold"] == "true"
    bench.command(0.0)
    ros.until(lambda: bench.state().position[0] < first.position[0] - 0.01, "the fall")
    bench.reset()
    ros.until(lambda: bench.state().position == first.position, "the start again")


def test_brakes_hold_after_a_reset_while_a_controller_is_still_stopping(ros: Ros) -> None:
    bench = Bench(ros, brakes=True)
    first = bench.state()
    bench.command(0.0)
    ros.until(lambda: bench.state().position[0] < first.position[0] - 0.01, "the fall")
    bench.reset()
    bench.command(1.0)  # of a ramp, say
    ros.until(lambda: bench.state().position == first.position, "the start again")
    start = nanoseconds(bench.state().header.stamp)
    ros.until(lambda: nanoseconds(bench.state().header.stamp) > start + 200_000_000, "0.2 s")
    assert bench.state().position == first.position
    assert bench.state().effort[0] == 0.0

    def falls() -> bool:
        bench.command(0.0)  # a controller that begins anew goes on longer than the first second
        return bench.state().position[0] < first.position[0] - 0.01

    ros.until(falls, "the next fall")


def test_a_simulator_that_ends_last_goes_on_until_zero_has_been_reported(
    ros: Ros, start_node: StartProcess
) -> None:
    """Who stops the machine behind ros2_control confirms its zero by the states that follow it."""
    parameters = {"mechanism": "five_bar", "ends_last": True, "command_timeout": 0.0}
    process = start_node("simulator", parameters=parameters)
    node = ros.node()
    states = Ear(node, JointState, "joint_states")
    commands = node.create_publisher(Float64MultiArray, COMMANDS, 500)

    def driven() -> bool:
        # again and again: the simulator may not know yet who publishes
        commands.publish(Float64MultiArray(data=[0.1]))
        return bool(states.messages) and states.messages[-1].effort[0] == 0.1

    ros.until(driven, "the effort")
    process.send_signal(signal.SIGINT)
    heard = len(states.messages)
    ros.until(lambda: len(states.messages) > heard + 100, "motion after the signal")
    assert process.running
    commands.publish(Float64MultiArray(data=[0.0]))
    ros.until(lambda: not process.running, "the end")
    assert process.exit_code == 0
    assert sum(m.effort[0] == 0.0 for m in states.messages[heard:]) > 20, "0.3 s at 500 Hz are 150"


def test_lost_motion_pauses_the_simulator_until_it_is_reset(ros: Ros, pendulum: str) -> None:
    bench = Bench(ros, pendulum)
    bench.state()
    bench.command(1e99)
    bench.command(1e99)
    bench.diagnostics.until(ros, "not finite")
    assert bench.diagnostics.level == ERROR
    refused = bench.pause(False)
    assert not refused.success
    assert "reset" in refused.message
    assert np.isfinite(bench.state().position).all()
    assert bench.reset().success
    assert bench.pause(False).success
    bench.diagnostics.until(ros, "OK")
    assert bench.state().position[0] == pytest.approx(0.5, abs=1.0), "it swings again"


@pytest.mark.slow
def test_diagnostics_tell_what_is_going_on(ros: Ros) -> None:
    bench = Bench(ros, rate=200.0)

    def value(key: str) -> float:
        return float(bench.diagnostics.values.get(key, "nan"))

    ros.until(lambda: value("time") > 1.5, "1.5 s of motion")
    # steps that a busy computer has missed are caught up in the report after
    paced = "a report of a pace that is kept"
    ros.until(lambda: value("real_time_factor") < 1.5 and value("rate") < 300.0, paced)
    ros.until(lambda: bench.diagnostics.level == OK, "a report without problems")
    values = bench.diagnostics.values
    assert values["rank"] == "3"
    assert values["rows"] == "4"
    assert values["undetermined_forces"] == "middle_pin, right_pin", "parallel legs share the load"
    assert float(values["residual"]) < 1e-12
    assert values["status"] == "ok"
    assert float(values["condition"]) >= 1.0
    start = Mechanism.from_file("five_bar")
    energy = start.energy(start.state(start.assemble())).total
    assert float(values["energy"]) == pytest.approx(energy, abs=1e-4 * abs(energy))  # six digits
    # how fast a shared computer is does not matter here, only that it is measured
    assert float(values["real_time_factor"]) > 0.0
    assert float(values["rate"]) > 0.0
    assert int(values["missed_ticks"]) >= 0


@pytest.mark.slow
def test_pace_changes_while_it_runs(ros: Ros) -> None:
    bench = Bench(ros, publish_clock=True, real_time_factor=0.01, rate=100.0)
    bench.state()
    (result,) = bench.simulator.set_parameters([Parameter("real_time_factor", value=0)])
    assert result.successful
    ros.until(lambda: bench.states.messages[-1].header.stamp.sec >= 3, "three simulated seconds")


def test_everything_is_below_the_namespace_but_clock_and_diagnostics(ros: Ros) -> None:
    ros.add(
        Simulator(
            namespace="left",
            **overrides(
                mechanism="five_bar",
                publish_clock=True,
                publish_robot_description=True,
                publish_rate=50.0,
            ),
        )
    )
    node = ros.node()
    clock = Ear(node, Clock, "/clock")
    states = Ear(node, JointState, "/left/joint_states")
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    descriptions = Ear(node, String, "/left/robot_description", latched)
    ros.until(lambda: len(states.messages) > 5 and clock.messages and descriptions.messages)
    assert "<robot" in descriptions.messages[0].data
    times = [nanoseconds(message.header.stamp) for message in states.messages]
    assert set(np.diff(times)) == {20_000_000}, "publish_rate is in simulated time"
    own = [name for name, _ in node.get_topic_names_and_types() if "simulator" in name]
    assert own
    assert all(name.startswith("/left/simulator/") for name in own)


def test_mechanism_without_urdf_takes_robot_description(ros: Ros, tmp_path: Path) -> None:
    file = tmp_path / "bare.yaml"
    file.write_text("schema: 1\nactuators: {motor: {joint: swing}}\n")
    options = {"mechanism": str(file), "paused": True}
    with pytest.raises(InputError, match="publish /robot_description"):
        Simulator(**overrides(**options, robot_description_timeout=0.1))
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = ros.node().create_publisher(String, "robot_description", latched)
    publisher.publish(String(data=PENDULUM))
    ros.add(Simulator(**overrides(**options)))
    states = Ear(ros.node("listener"), JointState, "joint_states")
    assert states.next(ros).name == ["swing", "knee"]
    given = Simulator(**overrides(**options, robot_description=PENDULUM))
    given.destroy_node()


def test_the_machine_that_moves_may_differ_from_the_mechanism_file(
    ros: Ros, tmp_path: Path
) -> None:
    file = tmp_path / "reality.yaml"
    file.write_text("schema: 1\nparameters: {links.coupler_link.mass: 3.0}\n")
    bench = Bench(ros, plant=str(file), paused=True)
    motion = Ear(bench.node, JointTrajectory, "simulator/dynamics")
    qdd = motion.next(ros).points[0].accelerations
    mechanism = Mechanism.from_file("five_bar").with_parameters({"links.coupler_link.mass": 3.0})
    expected = mechanism.dynamics().evaluate(mechanism.start(), Inputs()).qdd
    # compiled or not: rounding of some rad/s²
    np.testing.assert_allclose(qdd, expected, rtol=0, atol=1e-9)


def test_a_machine_with_encoders_tells_what_they_resolve(ros: Ros, tmp_path: Path) -> None:
    resolution, rate, delay = 0.0007, 250.0, 0.02
    file = tmp_path / "reality.yaml"
    file.write_text(f"schema: 1\nencoders: {{resolution: {resolution}}}\ndelay: {delay}\n")
    still = {"paused": True, "publish_clock": True, "command_timeout": 0.0}
    bench = Bench(ros, plant=str(file), rate=rate, **still)
    mechanism = Mechanism.from_file("five_bar")
    measured = [mechanism.model.position_index(name) for name in mechanism.measured.names]
    told = [bench.state()]
    bench.command(3.0)
    ros.until(lambda: bench.simulator._run.commands.watchdog.fed, "the command")
    for k in range(1, 10):
        assert bench.step().success
        ros.until(lambda: nanoseconds(bench.states.messages[-1].header.stamp) == 4_000_000 * k)  # noqa: B023
        told.append(bench.states.messages[-1])
    q = np.array([message.position for message in told])
    v = np.array([message.velocity for message in told])
    counts = q[:, measured] / resolution
    np.testing.assert_allclose(counts, np.round(counts), rtol=0, atol=1e-6)
    assert (q[0, measured] != mechanism.assemble()[measured]).any()
    differences = np.diff(q[:, measured], axis=0) * rate
    np.testing.assert_allclose(v[1:, measured], differences, rtol=0, atol=1e-9)
    for position in q:  # the loops give the others, closed to the tolerance of the file
        state = mechanism.state(position)
        assert np.abs(mechanism.dynamics().residual(state).position).max() < 1e-8
    # 20 ms are five steps of 4 ms: what came before the first one acts in the sixth
    assert [message.effort[0] for message in told] == [0.0] * 6 + [3.0] * 4
