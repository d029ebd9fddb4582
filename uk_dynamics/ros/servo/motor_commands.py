# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Commands to the motors: efforts by motor, efforts by joint, or points of a trajectory."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from uk_dynamics.control.servo import Setpoint
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import Array, Indices
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.parameters.parameter import (
    EFFORT_ARRAY,
    JOINT_STATE,
    REQUIRED,
    TRAJECTORY,
    Parameters,
    command_topic,
)
from uk_dynamics.ros.servo.command_authority import CommandAuthority
from uk_dynamics.ros.timing.clock import Watchdog, nanoseconds, runs_on_simulated_time, write_stamp
from uk_dynamics.ros.topics.qos import COMMAND_QOS
from uk_dynamics.ros.topics.serialized import JointStateMessage

_AT_ONCE = Duration(seconds=0.0)
_ON_ITS_WAY = 0.02  # s until subscribers should have acknowledged a command; rather short
_UNHEARD = 2.0  # s after which a subscriber that acknowledges nothing is one that nobody needs


class MotorCommands(ABC):
    """Publisher of the commands, on the topic of ``command_mode`` and ``command_topic``.

    What is not the final message is published only with authority.
    """

    kind: ClassVar[type[Any]]  # of the message

    def __init__(
        self, node: Node, settings: Parameters, mechanism: Mechanism, authority: CommandAuthority
    ) -> None:
        self._authority, self._settings = authority, settings
        self._idle = np.zeros(len(mechanism.actuators))
        self.publisher = node.create_publisher(self.kind, command_topic(settings), COMMAND_QOS)
        # simulations wait for commands; on simulated time, and in lockstep, each one counts
        self._lossless = runs_on_simulated_time(node) or settings["watchdog"] != REQUIRED
        self._first, self._last_sent = Watchdog(), Watchdog()  # until a command has arrived
        self._arrived, self._addressed = False, False
        self._prepare(mechanism)

    @abstractmethod
    def _prepare(self, mechanism: Mechanism) -> None:
        """Make the message."""

    def begin(self) -> None:
        """The next command is the first one."""
        self._first.forget()
        self._arrived = self._lossless

    @property
    def lost(self) -> bool:
        """Whether all commands since the beginning have been lost, as far as is known.

        This side of a connection may be complete long before the other one, on a busy computer by
        half a second, and what is sent in between never arrives. Nothing waits here: heartbeats of
        the same thread would be late.
        """
        if not self._arrived and self._first.fed:
            heard = self._addressed and self.publisher.wait_for_all_acked(_AT_ONCE)
            self._arrived = heard or self._first.age > _UNHEARD
        return self._first.fed and not self._arrived

    @property
    def on_its_way(self) -> bool:
        """Whether a command that has not been acknowledged may be so yet."""
        return self._addressed and self._last_sent.age < _ON_ITS_WAY

    @property
    def subscribers(self) -> int:
        """Number of subscribers of the topic."""
        return int(self.publisher.get_subscription_count())

    def send(self, efforts: Array, stamp: Time) -> None:
        """Command efforts, (motors,), in N or N·m, as the answer to the state of a stamp."""
        self._with_authority(lambda: self._send(efforts, stamp))

    def drive(self, efforts: Array, setpoints: Sequence[Setpoint], stamp: Time) -> None:
        """Command the desired motion where there is one, else efforts, (motors,), likewise."""
        if not self._arrived:
            self._addressed = self.subscribers > 0
            self._last_sent.feed()
            if not self._first.fed:
                self._first.feed()
        if setpoints:
            self._with_authority(lambda: self._drive(setpoints, stamp))
        else:
            self.send(efforts, stamp)

    def finish(self, stamp: Time) -> None:
        """Send the final message: zero efforts, or a stop; nothing where nothing was granted."""
        if not self._authority.waiting:
            self._finish(stamp)

    def _with_authority(self, publish: Callable[[], None]) -> None:
        """Publish a command between two looks at the clock.

        The process may be suspended in between; then the second look sends the final message right
        after a command that is out of date.
        """
        if self._authority.check():
            publish()
            self._authority.check()

    @abstractmethod
    def _send(self, efforts: Array, stamp: Time) -> None:
        """Publish efforts."""

    def _drive(self, setpoints: Sequence[Setpoint], stamp: Time) -> None:
        """Publish the desired motion."""
        self._send(setpoints[0].efforts, stamp)

    def _finish(self, stamp: Time) -> None:
        """Publish the final message."""
        self._send(self._idle, stamp)


class EffortArrayCommands(MotorCommands):
    """One number per motor in declared order, for forward_command_controller; without stamp."""

    kind = Float64MultiArray

    def _prepare(self, mechanism: Mechanism) -> None:
        self._message = Float64MultiArray()

    def _send(self, efforts: Array, stamp: Time) -> None:
        self._message.data = array("d", efforts)
        self.publisher.publish(self._message)


class JointStateCommands(MotorCommands):
    """Efforts of the driven joints, with the stamp of the state that they answer."""

    kind = JointState

    def _prepare(self, mechanism: Mechanism) -> None:
        _, names, self._matrix = _driven_joints(mechanism)
        self._message = JointStateMessage(names, "effort")

    def _send(self, efforts: Array, stamp: Time) -> None:
        np.matmul(self._matrix, efforts, out=self._message.effort)
        self._message.publish(self.publisher, stamp)


class TrajectoryCommands(MotorCommands):
    """Trajectories of some points: positions, velocities, accelerations and feed-forward efforts.

    The first point is at the state that is answered, or just before: header.stamp is not after it.
    So joint_trajectory_controller replaces what it has at once, in the middle of the new trajectory
    and without a segment of its own from where it was to there; a stamp in the future would be
    deferred, or replaced before its time, from version 6 on. The drives keep to the last point
    whatever happens to the node, so the final message stops them.
    """

    kind = JointTrajectory

    def _prepare(self, mechanism: Mechanism) -> None:
        self._joints, names, self._matrix = _driven_joints(mechanism)
        if bases := [name for name in names if name not in mechanism.joint_names]:
            problem = f"a trajectory has no {bases[0]}, which a motor drives; use joint_state"
            raise InputError(problem, place="parameter command_mode")
        self._places = [mechanism.model.position_index(name) for name in names]
        self._last: tuple[Array, Array] | None = None
        self._message = JointTrajectory(joint_names=names)

    def _drive(self, setpoints: Sequence[Setpoint], stamp: Time) -> None:
        first = setpoints[0].after
        write_stamp(self._message.header.stamp, nanoseconds(stamp) + round(1e9 * first))
        self._message.points = [
            _point(
                setpoint.q[self._places],
                setpoint.v[self._joints],
                setpoint.qdd[self._joints],
                self._matrix @ setpoint.efforts,
                setpoint.after - first,
            )
            for setpoint in setpoints
        ]
        self.publisher.publish(self._message)
        now = next((s for s in setpoints if s.after > 0.0), setpoints[-1])
        self._last = now.q[self._places], now.v[self._joints]

    def _send(self, efforts: Array, stamp: Time) -> None:
        """Do nothing: efforts alone are not a trajectory."""

    def _finish(self, stamp: Time) -> None:
        """Stop the joints within ``ramp_time``, without feed-forward efforts; begin now."""
        if self._last is None:
            return
        q, v = self._last
        duration = self._settings["ramp_time"]
        zero = np.zeros_like(v)
        write_stamp(self._message.header.stamp, 0)
        self._message.points = [_point(q + 0.5 * duration * v, zero, zero, zero, duration)]
        self.publisher.publish(self._message)
        self._last = None


def _point(q: Array, v: Array, qdd: Array, efforts: Array, after: float) -> JointTrajectoryPoint:
    """A point some time after the start, in s; all arrays (joints,)."""
    point = JointTrajectoryPoint()
    point.positions, point.velocities = array("d", q), array("d", v)
    point.accelerations, point.effort = array("d", qdd), array("d", efforts)
    write_stamp(point.time_from_start, round(1e9 * after))
    return point


# By command_mode.
COMMANDS: dict[str, type[EffortArrayCommands | JointStateCommands | TrajectoryCommands]] = {
    EFFORT_ARRAY: EffortArrayCommands,
    JOINT_STATE: JointStateCommands,
    TRAJECTORY: TrajectoryCommands,
}


def _driven_joints(mechanism: Mechanism) -> tuple[Indices, list[str], Array]:
    """Indices and names of the joints that motors drive, and their rows of the motor matrix."""
    matrix = mechanism.actuators.matrix
    driven = np.flatnonzero(matrix.any(axis=1))
    names = mechanism.model.velocity_names
    return driven, [names[joint] for joint in driven], matrix[driven]
