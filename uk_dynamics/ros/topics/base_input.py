# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Poses and twists of floating and planar joints from topics, by the stamps of joint states."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import MultiDOFJointState

from uk_dynamics.exceptions import InputError, StateError
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.model import FloatingBase, RobotModel, in_link_axes
from uk_dynamics.model.kinematics import floating_motion
from uk_dynamics.ros.diagnostics.publisher import MessageProblems
from uk_dynamics.ros.parameters.parameter import TABLES, Parameters
from uk_dynamics.ros.timing.clock import Watchdog, nanoseconds
from uk_dynamics.ros.topics.messages import LARGEST
from uk_dynamics.ros.topics.odometry_topics import TF, transform_messages
from uk_dynamics.ros.topics.qos import STATE_QOS
from uk_dynamics.ros.topics.serialized import POSE, TWIST, SerializedOdometry
from uk_dynamics.simulation.recording import odom_topic

_KEPT = 64  # samples of each base, of which one has the stamp of the joint state
_MULTI_DOF = "multi_dof_joint_states"
# The settings of what has no parameters of its own.
BASE_SETTINGS = {p.name: p.default for p in TABLES["viewer"] if p.name.startswith("base_")}


class BaseInput:
    """The last samples of each base, from the topics that ``base_source`` names."""

    def __init__(
        self,
        node: Node,
        model: RobotModel,
        problems: MessageProblems,
        settings: Parameters | Mapping[str, Any],
        on_base: Callable[[], None],
    ) -> None:
        """Subscribe; ``on_base`` is called after each valid sample."""
        self.watchdog = Watchdog()  # fed by valid samples
        self._model, self._problems, self._settings = model, problems, settings
        self._on_base = on_base
        self._bases = model.bases
        self._q, self._v = model.neutral(), np.zeros(model.nv)
        # by base and stamp in ns: positions and velocities of the joint
        self._known: list[dict[int, tuple[Array, Array]]] = [{} for _ in self._bases]
        source = settings["base_source"]
        if source == "odom":
            for number, base in enumerate(self._bases):
                receive = functools.partial(self._on_odometry, number, SerializedOdometry())
                topic = odom_topic(self._bases, base)
                node.create_subscription(Odometry, topic, receive, STATE_QOS, raw=True)
            self.topic = ", ".join(odom_topic(self._bases, base) for base in self._bases)
        elif source == _MULTI_DOF:
            self.topic = _MULTI_DOF
            problems.listen(MultiDOFJointState, self.topic, self._on_multi_dof, STATE_QOS)
        else:
            self.topic = TF
            kind = transform_messages()
            if kind is None:
                problem = "needs tf2_msgs, which is not installed; use odom"
                raise InputError(problem, place="parameter base_source")
            self._poses: dict[int, tuple[int, Array]] = {}
            problems.listen(kind, TF, lambda m: self.on_transforms(m.transforms), STATE_QOS)

    def forget(self) -> None:
        """Forget all samples."""
        self.watchdog.forget()
        for known in self._known:
            known.clear()

    def fill(self, stamp: int, q: Array, v: Array) -> bool:
        """Write the bases at a stamp in ns into q (nq,) and v (nv,); whether all are known.

        With ``base_lag`` the newest sample of a base counts, too, moved on by its twist.
        """
        lag = round(self._settings["base_lag"] * 1e9)
        found = []
        for known in self._known:
            at = stamp if stamp in known else next(reversed(known), None)
            if at is None or abs(stamp - at) > lag:
                return False
            found.append((stamp - at, *known[at]))
        w = np.zeros(self._model.nv)
        for base, (late, place, rates) in zip(self._bases, found, strict=True):
            q[base.position], v[base.velocity] = place, rates
            w[base.velocity] = 1e-9 * late * rates
        if w.any():
            q[:] = self._model.integrate(q, w)
        return True

    def _take(
        self, number: int, stamp: int, pose: Array, twist: Array, *, converted: bool = False
    ) -> str:
        """Keep a sample of a base, or return what is wrong with it."""
        base, known = self._bases[number], self._known[number]
        if not (np.abs(pose) < LARGEST).all() or not (np.abs(twist) < LARGEST).all():
            return f"pose or twist of {base.link} is not finite"
        try:
            if self._settings["base_twist"] == "parent" and not converted:
                twist = in_link_axes(pose, twist)
            base.place(self._q, self._v, pose, twist)
        except (StateError, InputError) as error:
            return str(error)
        if known and stamp < next(reversed(known)):
            known.clear()  # time went back, or samples are out of order
        known[stamp] = self._q[base.position].copy(), self._v[base.velocity].copy()
        if len(known) > _KEPT:
            del known[next(iter(known))]
        self.watchdog.feed()
        return ""

    def _on_odometry(self, number: int, sample: SerializedOdometry, data: bytes) -> None:
        base = self._bases[number]
        sample.read(data)
        if not names(sample.child, base):
            problem = f'child_frame_id is "{sample.child:.40}", expected "{base.link}"'
        else:
            numbers = sample.numbers
            problem = self._take(number, sample.stamp, numbers[POSE], numbers[TWIST])
        if problem:
            self._problems.note(odom_topic(self._bases, base), problem)
        else:
            self._on_base()

    def _on_multi_dof(self, message: MultiDOFJointState) -> str:
        stamp = nanoseconds(message.header.stamp)
        for number, base in enumerate(self._bases):
            if base.name not in message.joint_names:
                return f'"{base.name}" missing'
            at = message.joint_names.index(base.name)
            if at >= min(len(message.transforms), len(message.twist)):
                return f"no transform or no twist of {base.name}"
            twist = message.twist[at]
            motion = np.array([*_xyz(twist.linear), *_xyz(twist.angular)])
            if problem := self._take(number, stamp, _pose(message.transforms[at]), motion):
                return problem
        self._on_base()
        return ""

    def on_transforms(self, transforms: Iterable[TransformStamped]) -> str:
        """Take those of the bases; twists are differences of their poses."""
        for transform in transforms:
            for number, base in enumerate(self._bases):
                if not names(transform.child_frame_id, base):
                    continue
                stamp, pose = nanoseconds(transform.header.stamp), _pose(transform.transform)
                before = self._poses.get(number)
                self._poses[number] = stamp, pose
                if before is None or stamp <= before[0]:
                    continue
                twist = floating_motion(before[1], pose) / ((stamp - before[0]) * 1e-9)
                if problem := self._take(number, stamp, pose, twist, converted=True):
                    return problem
                self._on_base()
        return ""


def names(frame: str, base: FloatingBase) -> bool:
    """Whether a frame, perhaps with a prefix of its robot, is the link of a base."""
    return frame.rpartition("/")[2] == base.link


def _xyz(vector: Any) -> tuple[float, float, float]:
    return vector.x, vector.y, vector.z


def _pose(transform: Any) -> Array:
    turn = transform.rotation
    return np.array([*_xyz(transform.translation), turn.x, turn.y, turn.z, turn.w])
