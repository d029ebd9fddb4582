# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Every fault, in every output mode: the reaction of the table, the cause named, then silence."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, UInt64MultiArray
from std_srvs.srv import Trigger
from support import readme_parts
from support.nodes.ros_ears import DiagnosticsEar, overrides
from support.nodes.ros_fixtures import Ros
from trajectory_msgs.msg import JointTrajectory

from uk_dynamics import Mechanism, simulate
from uk_dynamics.exceptions import InputError, SimulationError
from uk_dynamics.ros.nodes.servo_controller import ServoControllerNode
from uk_dynamics.ros.servo.fault_reactions import REACTIONS, Fault, Reaction, SafeStop

pytestmark = pytest.mark.ros

MODES = ("effort_array", "joint_state", "trajectory")
TYPES = {
    "effort_array": (Float64MultiArray, "effort_controller/commands"),
    "joint_state": (JointState, "joint_commands"),
    "trajectory": (JointTrajectory, "joint_trajectory_controller/joint_trajectory"),
}
SUSPENDED = pytest.mark.retry(
    reason="a loaded computer suspends processes, which is a fault of its own"
)
RAMP_TIME = 0.3
PERIOD = 0.01


class Bench:
    """A controller that drives a machine at rest, until something goes wrong."""

    def __init__(self, ros: Ros, mode: str, **parameters: Any) -> None:
        self.ros = ros
        values: dict[str, Any] = {
            "mechanism": "five_bar",
            "tasks": "five_bar_sweep",
            "command_mode": mode,
            "autostart": True,
            "ramp_time": RAMP_TIME,
            "state_timeout": 30.0,
            **parameters,
        }
        speed = values.pop("velocity", 0.0)
        self.controller = ros.add(ServoControllerNode(**overrides(**values)))
        self.node = ros.node()
        self.diagnostics = DiagnosticsEar(self.node, "servo_controller")
        self.efforts: list[tuple[float, float]] = []
        kind, topic = TYPES[mode]
        self._commands = self.node.create_subscription(
            kind, topic, lambda m: self._hear(m), QoSProfile(depth=500)
        )
        mechanism = Mechanism.from_file("five_bar")
        self.names = list(mechanism.joint_names)
        start = mechanism.start({"crank": 0.7}, {"crank": speed})
        self.q, self.v = start.q, start.v
        self._states = self.node.create_publisher(JointState, "joint_states", 10)
        self._now = 100.0
        ros.until(
            lambda: self._states.get_subscription_count() and self._heard_by_controller(), "ears"
        )
        # again and again the same state: without any time between them it is no jump either
        ros.until(lambda: self.send(0.0) or self.efforts, "the first effort")

    def _heard_by_controller(self) -> bool:
        return self.controller.loop.commands.subscribers > 0

    def _hear(self, message: Any) -> None:
        self.last = message
        if isinstance(message, JointTrajectory):
            data = message.points[0].effort
        else:
            data = message.data if isinstance(message, Float64MultiArray) else message.effort
        self.efforts.append((time.monotonic(), data[0]))

    def send(self, elapsed: float = PERIOD, **changes: Any) -> None:
        self._now += elapsed
        message = JointState(name=self.names)
        message.header.stamp = Time(
            sec=int(self._now), nanosec=round(self._now % 1.0 * 1e9) % 10**9
        )
        message.position, message.velocity = array("d", self.q), array("d", self.v)
        for field, value in changes.items():
            setattr(message, field, value)
        self._states.publish(message)

    def leave(self) -> None:
        self.node.destroy_subscription(self._commands)

    @property
    def active(self) -> bool:
        return self.controller.active


def _freeze(bench: Bench) -> None:
    """The same as when the source of the states is killed."""


def _go_back(bench: Bench) -> None:
    bench.send(-0.5)


def _go_ahead(bench: Bench) -> None:
    bench.send(60.0)


def _pause(bench: Bench) -> None:
    """As SIGSTOP to this process: no callback of the controller runs for a while."""
    time.sleep(0.5)
    bench.send(0.5)


def _slow_down(bench: Bench) -> None:
    """The drives take longer than can be predicted; states keep coming."""
    parameter = Parameter("command_delay", value=0.5)
    assert bench.controller.set_parameters([parameter])[0].successful
    bench.ros.until(lambda: bench.send() or not bench.active, "the end of the control")


def _repeat(bench: Bench) -> None:
    """As hardware whose manager gives old values new stamps."""
    bench.ros.until(lambda: bench.send() or not bench.active, "the end of the control")


def _jump(bench: Bench) -> None:
    bench.q = Mechanism.from_file("five_bar").assemble(crank=0.9)
    bench.send()


def _rush(bench: Bench) -> None:
    bench.v[:] = 1e4
    bench.send()


def _open(bench: Bench) -> None:
    bench.q[0] += 0.05
    bench.send()


def _break(bench: Bench) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise SimulationError("nothing to be solved", 0.0)

    bench.controller.loop.controller.command = fail
    bench.send()


def _leave(bench: Bench) -> None:
    bench.leave()


def _press(bench: Bench) -> None:
    client = bench.node.create_client(Trigger, "servo_controller/emergency_stop")
    assert bench.ros.call(client, Trigger.Request()).success


def _answer_no_more(bench: Bench) -> None:
    """A watchdog that has acknowledged one heartbeat, and no other."""
    topic = "servo_controller/heartbeat"
    grants = bench.node.create_publisher(UInt64MultiArray, f"{topic}/acknowledged", 10)

    def acknowledge(beat: UInt64MultiArray) -> None:
        grants.publish(UInt64MultiArray(data=[beat.data[0], beat.data[1], 10**9]))
        bench.node.destroy_subscription(ear)

    bench.ros.until(grants.get_subscription_count, "the controller")
    ear = bench.node.create_subscription(UInt64MultiArray, topic, acknowledge, 10)


# Those of bases are in test_floating_machine.py.
CAUSES: dict[Fault, tuple[Callable[[Bench], None], str, dict[str, Any]]] = {
    Fault.STALE_STATE: (_freeze, "no usable joint_states for", {"state_timeout": 0.3}),
    Fault.PAUSE: (_pause, "this process did not run for 0.", {"state_timeout": 0.3}),
    Fault.LONG_DELAY: (
        _slow_down,
        "a command takes effect 0.5 s after its state, 0.1 s at most are predicted",
        {"state_timeout": 1.0, "frozen_motion": 0.0},
    ),
    Fault.TIME_BACKWARDS: (_go_back, "time went back by 0.", {}),
    Fault.TIME_JUMP: (_go_ahead, "time went on by 60 s within ", {}),
    Fault.POSITION_JUMP: (_jump, " jumped by 0.2", {}),
    Fault.FROZEN_POSITION: (_repeat, " stands still for 0.3", {"state_timeout": 0.3}),
    Fault.OVER_SPEED: (_rush, "crank moves at 1e+04, its limit is", {"speed_factor": 2.0}),
    Fault.OPEN_LOOP: (_open, "constraints are violated by 0.", {"position_jump": 1.0}),
    Fault.SOLVER_FAILURE: (_break, "nothing to be solved", {}),
    Fault.NO_LISTENER: (_leave, "no subscriber of", {"listener_timeout": 0.2}),
    Fault.WATCHDOG_LOST: (_answer_no_more, "command_watchdog does not answer", {}),
    Fault.EMERGENCY_STOP: (_press, "stopped by ~/emergency_stop", {}),
}


@SUSPENDED
@pytest.mark.parametrize(
    ("fault", "mode"),
    [
        pytest.param(
            fault,
            mode,
            id=f"{fault.name.lower()}-{mode}",
            # one fault in every mode, every fault in one
            marks=[pytest.mark.slow] if fault is not Fault.STALE_STATE and mode != MODES[0] else [],
        )
        for fault, mode in product(CAUSES, MODES)
        # drives that follow trajectories watch their encoders themselves
        if (fault, mode) != (Fault.FROZEN_POSITION, "trajectory")
    ],
)
def test_reaction(ros: Ros, fault: Fault, mode: str) -> None:
    cause, text, parameters = CAUSES[fault]
    bench = Bench(ros, mode, **parameters)
    driving = bench.efforts[-1][1]
    assert abs(driving) > 1.0
    assert bench.active
    cause(bench)
    _expect_reaction(bench, fault, mode, text, driving)


@SUSPENDED
def test_old_values_are_answered_where_that_is_not_watched(ros: Ros) -> None:
    bench = Bench(ros, "effort_array", frozen_motion=0.0, state_timeout=0.3)
    for _ in range(60):
        heard = len(bench.efforts)
        bench.send()
        ros.until(lambda heard=heard: len(bench.efforts) > heard, "an answer")
    assert bench.active


def test_loops_are_judged_where_they_were_measured(ros: Ros) -> None:
    """Passive joints whose velocities are wrong open the loops of what is predicted by 0.08 m."""
    bench = Bench(ros, "effort_array", position_jump=1.0, update_rate=10.0)
    bench.v = np.array([3.0, 0.0, 0.0, 0.0])
    for _ in range(3):
        heard = len(bench.efforts)
        bench.send()
        ros.until(lambda heard=heard: len(bench.efforts) > heard, "an answer")
    assert bench.active


UNUSABLE: dict[str, dict[str, Any]] = {
    "nan": {"position": array("d", [float("nan")] * 4)},
    "infinite": {"velocity": array("d", [float("inf")] * 4)},
    "incomplete": {
        "name": ["crank"],
        "position": array("d", [0.7]),
        "velocity": array("d", [0.0]),
    },
    "without velocities": {"velocity": array("d")},
}


@SUSPENDED
@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("nan", MODES[0]),
        *(pytest.param("nan", mode, marks=pytest.mark.slow) for mode in MODES[1:]),
        *zip(("incomplete", "infinite", "without velocities"), MODES, strict=True),
    ],
)
def test_states_that_cannot_be_used_are_none(ros: Ros, kind: str, mode: str) -> None:
    bench = Bench(ros, mode, state_timeout=0.3)
    driving = bench.efforts[-1][1]
    heard = len(bench.efforts)

    def ended() -> bool:
        bench.send(**UNUSABLE[kind])  # they keep coming
        return not bench.active

    ros.until(ended, "the end of the control")
    unanswered = [e for _, e in bench.efforts[heard:] if abs(e) > abs(driving)]
    assert not unanswered, "no such state is answered"
    _expect_reaction(bench, Fault.STALE_STATE, mode, "no usable joint_states for", driving)


def _expect_reaction(bench: Bench, fault: Fault, mode: str, text: str, driving: float) -> None:
    """Wait for what the table says, and for silence."""
    ros = bench.ros
    ros.until(lambda: not bench.active, "the end of the control")
    # the same words may have been said before, of something that was no fault yet
    faults = tuple(f"{known.name.lower()}: " for known in Fault)
    ros.until(lambda: bench.diagnostics.message.startswith(faults), "the diagnostics of a fault")
    assert bench.diagnostics.message.startswith(f"{fault.name.lower()}: ")
    assert text in bench.diagnostics.message
    assert bench.diagnostics.level == b"\x02"
    if fault is Fault.NO_LISTENER:
        return  # what it says to nobody cannot be heard
    ros.until(lambda: bench.efforts[-1][1] == 0.0, "zero effort")
    if fault is Fault.FROZEN_POSITION:  # the tasks went on meanwhile, and the error grew
        last = max(range(len(bench.efforts)), key=lambda k: (abs(bench.efforts[k][1]), k))
        bench.efforts, driving = bench.efforts[last:], bench.efforts[last][1]
    heard = [effort for _, effort in bench.efforts]
    on_the_way = [e for e in heard if 0.0 < abs(e) < 0.99 * abs(driving)]
    if REACTIONS[fault][mode] is Reaction.RAMP:
        assert len(on_the_way) >= 3, "efforts go down step by step"
        assert np.all(np.diff(np.abs(on_the_way)) <= 0.0)
        began = max(t for t, e in bench.efforts if abs(e) >= 0.99 * abs(driving))
        ended = min(t for t, e in bench.efforts if e == 0.0 and t > began)
        assert ended - began > 0.5 * RAMP_TIME
    else:
        assert not on_the_way
    if REACTIONS[fault][mode] is Reaction.BRAKE:
        (point,) = bench.last.points
        assert point.time_from_start.nanosec == RAMP_TIME * 1e9
        assert list(point.velocities) == list(point.accelerations) == [0.0]
        assert abs(point.positions[0] - 0.7) < 0.01, "the desired motion had hardly begun"
    silent = len(bench.efforts)
    for _ in range(10):
        bench.send()
        ros.spin_once()
    assert len(bench.efforts) == silent, "no command after deactivation"


def test_table_is_complete() -> None:
    # test_floating_machine.py and test_standing_machine.py cause those
    of_floating_machines = {fault for fault in Fault if fault.name.startswith("BASE_")}
    of_others = of_floating_machines | {Fault.CONTACTS_STALE}
    assert set(REACTIONS) == set(Fault) == set(CAUSES) | of_others
    assert all(set(modes) == set(MODES) for modes in REACTIONS.values())


def test_after_a_fault_the_controller_can_be_activated_again(ros: Ros) -> None:
    bench = Bench(ros, "effort_array", start_timeout=0.0)
    _go_back(bench)
    ros.until(lambda: not bench.active, "the end of the control")
    change = bench.node.create_client(ChangeState, "servo_controller/change_state")
    request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_ACTIVATE))
    assert ros.call(change, request).success
    heard = len(bench.efforts)
    ros.until(lambda: bench.send() or len(bench.efforts) > heard + 2, "control again")
    assert abs(bench.efforts[-1][1]) > 1.0
    ros.until(lambda: "time_backwards" not in bench.diagnostics.message, "good diagnostics")


def test_before_the_first_state_nothing_is_stale(ros: Ros) -> None:
    node = ros.add(
        ServoControllerNode(
            **overrides(
                mechanism="five_bar", tasks="five_bar_sweep", autostart=True, state_timeout=0.05
            )
        )
    )
    diagnostics = DiagnosticsEar(ros.node(), "servo_controller")
    diagnostics.until(ros, "no usable joint_states yet")
    assert node.active


def test_a_watchdog_cannot_be_required_where_drives_hold_positions(ros: Ros) -> None:
    with pytest.raises(InputError, match=r"parameter watchdog: .*command_mode trajectory"):
        ServoControllerNode(
            **overrides(
                mechanism="five_bar",
                tasks="five_bar_sweep",
                command_mode="trajectory",
                watchdog="required",
                autostart=True,
            )
        )


def test_a_fast_motion_is_no_jump(ros: Ros) -> None:
    mechanism = Mechanism.from_file("five_bar")
    start = mechanism.start({"crank": 0.7}, {"crank": 5.0})
    motion = simulate(mechanism, start, 0.1, sample_period=PERIOD)
    assert np.min(np.abs(np.diff(motion.position("crank")))) > 0.04
    bench = Bench(ros, "effort_array", position_jump=0.01, speed_factor=100.0, velocity=5.0)
    for q, v in zip(motion.q, motion.v, strict=True):
        heard = len(bench.efforts)
        bench.q, bench.v = q, v
        bench.send()
        ros.until(lambda heard=heard: len(bench.efforts) > heard, "an answer")
        assert bench.active


def test_ramp_is_straight_and_ends(ros: Ros) -> None:
    now, sent, ended = 5.0, [], []
    settings = {"command_mode": "effort_array", "ramp_time": 0.4}
    stop = SafeStop(ros.node(), settings, sent.append, lambda: ended.append(now), lambda: now)
    stop.react(Fault.OVER_SPEED, "", np.array([4.0, -2.0]))
    now = 5.1
    stop.ramp()
    # one rounding of each of three operations
    np.testing.assert_allclose(sent[-1], [3.0, -1.5], rtol=0, atol=1e-12)
    now = 5.4000001
    stop.ramp()
    stop.ramp()
    assert ended == [now]
    assert len(sent) == 1


def test_documented_table_is_the_one_in_force() -> None:
    documented = {row[0]: row[1:] for row in readme_parts.table("faults")}
    for fault, reactions in REACTIONS.items():
        array_, joint_state, trajectory = (reactions[mode].value for mode in MODES)
        assert array_ == joint_state
        assert documented.pop(fault.name.lower()) == (fault.value, array_, trajectory)
    assert not documented
