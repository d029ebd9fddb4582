# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""servo_controller drives machines that float, and stops where their base cannot be trusted."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.floating_five_bar import floating_five_bar, sweep
from support.nodes.floating_machine import joint_message, odometry, odometry_of, state_of
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros, StartProcess

from uk_dynamics import Mechanism, State, Tasks
from uk_dynamics.mechanism.kinematics import LoopMotion
from uk_dynamics.ros.nodes.servo_controller import ServoControllerNode
from uk_dynamics.ros.servo.fault_reactions import Fault
from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = [pytest.mark.ros, pytest.mark.together("floating base")]

# Three points of the ground rest on balls in the world: nine rows of rank six.
STANDS = "".join(
    f"  foot_{number}: {{type: point, parent: {{link: world, xyz: {place}}},"
    f" child: {{link: ground, xyz: {place}}}}}\n"
    for number, place in enumerate(([0, 0, 0], [2, 0, 0], [1, 1, 0]))
)


def run(
    ros: Ros, start_node: StartProcess, mechanism: Path, tasks: Path, duration: float
) -> list[State]:
    """States of simulator and servo_controller in lockstep at 500 Hz, from 0 to the duration."""
    node = ros.node()
    joints, bases = Ear(node, JointState, "joint_states"), Ear(node, Odometry, "odom")
    common = {"mechanism": str(mechanism), "command_mode": "joint_state", "lockstep": True}
    start_node(
        "simulator",
        parameters=common | {"rate": 500.0, "tasks": str(tasks), "start_on_tasks": True},
    )
    start_node(
        "servo_controller",
        parameters={
            **{key: value for key, value in common.items() if key != "lockstep"},
            "tasks": str(tasks),
            "update_rate": 500.0,
            "autostart": True,
            "state_timeout": 60.0,
            "backend": "wait",
        },
    )
    end = round(duration * 1e9)
    diagnostics = DiagnosticsEar(node, "servo_controller")

    def there() -> bool:
        # of the two nodes the controller may be the first
        waits = any(text in diagnostics.message for text in ("odom", "no usable joint_states yet"))
        assert diagnostics.level != b"\x02" or waits, diagnostics.message
        return any(nanoseconds(m.header.stamp) >= end for m in joints.messages[-5:])

    ros.until(there, f"{duration} s of motion", 120.0)
    loaded = Mechanism.from_file(mechanism)
    by_stamp = {nanoseconds(m.header.stamp): m for m in bases.messages}
    stamped = {nanoseconds(m.header.stamp): m for m in joints.messages}
    return [
        state_of(loaded, message, by_stamp[stamp])
        for stamp, message in sorted(stamped.items())
        if stamp in by_stamp
    ]


def worst(mechanism: Mechanism, tasks: Path, states: list[State], after: float) -> float:
    """Largest tracking error, in rad."""
    loaded = Tasks.from_file(tasks, mechanism)
    reference = loaded.references
    errors = [
        state.q[mechanism.model.position_index("crank")]
        - reference.one("sweep", state.t, None).value[0]
        for state in states
        if state.t > after
    ]
    return float(np.abs(errors).max())


@pytest.mark.slow
def test_a_free_flying_machine_tracks_and_keeps_its_momentum(
    ros: Ros, start_node: StartProcess, tmp_path: Path
) -> None:
    file = floating_five_bar(tmp_path, gravity="[0, 0, 0]")
    mechanism, tasks = Mechanism.from_file(file), sweep(tmp_path)
    states = run(ros, start_node, file, tasks, 1.5)
    assert len(states) > 700
    # efforts constant over 2 ms, at 1 Hz and 0.3 rad
    assert worst(mechanism, tasks, states, 0.0) < 1e-5
    assert all(
        np.abs(mechanism.dynamics().residual(state).position).max() < 1e-9 for state in states[::50]
    )
    momenta = np.array([momentum(mechanism, state) for state in states])
    # internal efforts change neither; the integration errs by its fourth order
    np.testing.assert_allclose(momenta, momenta[:1].repeat(len(momenta), 0), atol=1e-6, rtol=0)
    tilts = [mechanism.model.difference(states[0].q, state.q)[4] for state in states]
    assert np.ptp(tilts) > 0.05, "the base swings against the crank"


def momentum(mechanism: Mechanism, state: State) -> np.ndarray:
    """Linear and angular, about the world's origin, (6,)."""
    model = mechanism.model
    base = model.bases[0]
    workspace = model.workspace()
    workspace.update(state.q, state.v)
    in_base = (workspace.mass @ state.v)[base.velocity]
    motion = LoopMotion(mechanism)
    motion.update(state.q, state.v, 0.0)
    link = model.frame_index(base.link)
    rotation, place = workspace.rotation[link], workspace.translation[link]
    linear, angular = rotation @ in_base[:3], rotation @ in_base[3:]
    return np.concatenate([linear, angular + np.cross(place, linear)])


@pytest.mark.slow
def test_a_machine_that_stands_tracks_and_stays(
    ros: Ros, start_node: StartProcess, tmp_path: Path
) -> None:
    file = floating_five_bar(tmp_path)
    file.write_text(file.read_text() + STANDS)
    mechanism, tasks = Mechanism.from_file(file), sweep(tmp_path)
    states = run(ros, start_node, file, tasks, 1.5)
    assert worst(mechanism, tasks, states, 0.0) < 1e-5
    drift = [np.abs(mechanism.model.difference(states[0].q, s.q)[:6]).max() for s in states]
    assert max(drift) < 1e-9, "its feet hold"


class Bench:
    """A controller that drives a machine at rest in free fall, until something goes wrong."""

    def __init__(self, ros: Ros, tmp_path: Path, **parameters: Any) -> None:
        self.ros = ros
        file = floating_five_bar(tmp_path, gravity="[0, 0, 0]")
        self.mechanism = Mechanism.from_file(file)
        values = {
            "mechanism": str(file),
            "tasks": str(sweep(tmp_path)),
            "autostart": True,
            "ramp_time": 0.3,
            "state_timeout": 1.0,
            "frozen_motion": 0.0,  # the machine of this bench does not move
            "backend": "interpreted",
            **parameters,
        }
        self.controller = ros.add(ServoControllerNode(**overrides(**values)))
        self.node = ros.node()
        self.diagnostics = DiagnosticsEar(self.node, "servo_controller")
        self.efforts: list[tuple[float, float]] = []
        self.node.create_subscription(
            Float64MultiArray,
            "effort_controller/commands",
            lambda m: self.efforts.append((time.monotonic(), m.data[0])),
            500,
        )
        self._joints = self.node.create_publisher(JointState, "joint_states", 10)
        self._bases = self.node.create_publisher(Odometry, "odom", 10)
        self.state = self.mechanism.start()
        self._now = 100.0
        self.stopped_at: int | None = None  # of efforts
        ros.until(
            lambda: (
                self.controller.active  # once it spins
                and self._joints.get_subscription_count()
                and self._bases.get_subscription_count()
                and self.controller.loop.commands.subscribers
            ),
            "ears",
        )

    def begin(self) -> None:
        self.ros.until(lambda: self.send(0.0) or self.efforts, "the first effort")
        for _ in range(5):
            self.send()
            for _ in range(4):
                self.ros.spin_once(0.002)

    def send(
        self, elapsed: float = 0.01, base: Callable[[Odometry], Odometry | None] = lambda m: m
    ) -> None:
        self._now += elapsed
        stamp = Time(sec=int(self._now), nanosec=round(self._now % 1.0 * 1e9) % 10**9)
        message = base(odometry(self.mechanism, self.state, stamp))
        if message is not None:
            self._bases.publish(message)
        self._joints.publish(joint_message(self.mechanism, self.state, stamp))

    def until_stopped(self, send: Callable[[], None]) -> str:
        def stopped() -> bool:
            if self.controller.active:
                send()
                for _ in range(4):  # joints, base, and what comes of them
                    self.ros.spin_once(0.002)
            if self.stopped_at is None and self.controller._stop.reason:
                self.stopped_at = len(self.efforts)
            return not self.controller.active

        self.ros.until(stopped, "the controller to stop")
        return str(self.controller._stop.reason)


def jumped(message: Odometry) -> Odometry:
    message.pose.pose.position.y += 0.3
    return message


def turned(message: Odometry) -> Odometry:
    """Half a turn about x, which no difference of quaternions shows."""
    pose = message.pose.pose
    place = [pose.position.x, pose.position.y, pose.position.z]
    twist = message.twist.twist
    motion = [getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz"]
    half = np.array([*place, np.sin(0.2), 0.0, 0.0, np.cos(0.2)])
    return odometry_of(message.child_frame_id, half, np.array(motion), message.header.stamp)


def drifting(message: Odometry) -> Odometry:
    """A twist that the pose does not follow: in axes of the wrong frame, or made up."""
    message.twist.twist.linear.z = 40.0
    return message


def late(message: Odometry) -> Odometry:
    stamp = message.header.stamp
    message.header.stamp = Time(sec=stamp.sec, nanosec=(stamp.nanosec + 1) % 10**9)
    return message


@pytest.mark.slow
@pytest.mark.retry(reason="a loaded computer suspends processes, which is a fault of its own")
@pytest.mark.parametrize(
    ("fault", "base", "reason"),
    [
        (Fault.BASE_STALE, lambda m: None, "nothing usable on odom for"),
        (Fault.BASE_STALE, late, "odom has not had the stamps of joint_states"),
        (Fault.BASE_JUMP, jumped, "root jumped by 0.3 m or rad"),
        (Fault.BASE_JUMP, turned, "root jumped by 0.4 m or rad"),
        (Fault.BASE_JUMP, drifting, "root jumped by 0."),
    ],
)
def test_a_base_that_is_not_to_be_trusted(
    fault: Fault, base: Callable[[Odometry], Odometry | None], reason: str, ros: Ros, tmp_path: Path
) -> None:
    # only what is missing is waited for
    timeout = 1.0 if fault is Fault.BASE_STALE else 30.0
    bench = Bench(ros, tmp_path, state_timeout=timeout)
    bench.begin()
    told = bench.until_stopped(lambda: bench.send(0.01, base))
    assert told.startswith(f"{fault.name.lower()}: ")
    assert reason in told
    ros.until(lambda: bench.efforts[-1][1] == 0.0, "the final message")
    # the ramp of the table: from the last effort, which may still be under way, to zero
    falling = np.abs([effort for _, effort in bench.efforts[bench.stopped_at :]])
    falling = falling[falling.argmax() :]
    assert falling[0] > 0.0
    assert (np.diff(falling) <= 1e-12).all()
    bench.diagnostics.until(ros, fault.name.lower())


def test_a_base_that_never_comes(ros: Ros, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uk_dynamics.ros.servo.state_guard._DISCOVERY", 1.0)
    bench = Bench(ros, tmp_path)
    told = bench.until_stopped(lambda: bench.send(0.01, lambda m: None))
    assert told.startswith("base_missing: nothing usable on odom, ")
    assert not any(effort for _, effort in bench.efforts), "nothing was commanded"
