# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Leg odometry on ``odom``: from completed joint states, ``imu``, and sensors under the feet."""

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState

from uk_dynamics.control.estimation import LegOdometry
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.diagnostics.publisher import MessageProblems, Report
from uk_dynamics.ros.parameters.parameter import Parameters
from uk_dynamics.ros.timing.clock import Watchdog, steady_clock
from uk_dynamics.ros.topics.base_input import names
from uk_dynamics.ros.topics.contact_input import standing_points
from uk_dynamics.ros.topics.messages import LARGEST
from uk_dynamics.ros.topics.odometry_topics import BasePublishers
from uk_dynamics.ros.topics.qos import MEASURED_QOS
from uk_dynamics.simulation.recording import odom_topic

_LOOK_PERIOD = 0.5  # s between two looks for others who publish the base


class LegOdometryTopic:
    """Estimates the base whenever the joints are complete; silent where others publish it."""

    def __init__(
        self, node: Node, settings: Parameters, mechanism: Mechanism, problems: MessageProblems
    ) -> None:
        """Subscribe and publish."""
        self._odometry = LegOdometry(mechanism, ground=0.0 if settings["level_ground"] else None)
        self._base = mechanism.model.bases[0]
        self._node, self._settings = node, settings
        self._publishers = BasePublishers(node, mechanism.model.bases, settings["odom_frame"])
        self._topic = odom_topic(mechanism.model.bases, self._base)
        self._q, self._v = mechanism.model.neutral(), np.zeros(mechanism.model.nv)
        self._samples: list[Array] = []  # gyroscope and accelerometer, since the last update
        self._sample: Array | None = None
        self._standing: frozenset[str] = frozenset()
        self._imu, self._contacts = Watchdog(), Watchdog()
        self._start = mechanism.start().q
        self.others = False
        self.failure = ""
        problems.listen(Imu, "imu", self._on_imu, MEASURED_QOS)
        problems.listen(JointState, settings["contact_topic"], self._on_contacts, MEASURED_QOS)
        node.create_timer(_LOOK_PERIOD, self._look, clock=steady_clock())
        self.reset()

    def reset(self) -> None:
        """Begin again at the start of the mechanism file, at rest."""
        self._odometry.reset(self._base.pose(self._start)[:3].tolist())
        self._sample = None
        self._samples.clear()

    def update(self, stamp: Time, state: State, sensitivity: Array) -> None:
        """Go on to completed joints, (nv, d) as :meth:`StateCompletion.sensitivity`; publish."""
        if self._samples:
            self._sample = np.mean(self._samples, axis=0)
            self._samples.clear()
        if self._sample is None or not self._contacts.fed or self.others:
            return
        try:
            self._odometry.update(state, *self._sample, self._standing, sensitivity)
            self._odometry.place(self._q, self._v)
        except UkDynamicsError as error:
            self.failure = str(error)
            return
        self.failure = ""
        self._publishers.publish(stamp, self._q, self._v, self._odometry.covariances)

    def report(self, report: Report) -> None:
        """Add whether it publishes, who stands, and what is missing."""
        report.add("odometry", f"{self._topic} comes from others" if self.others else "legs")
        if self.others:
            return
        report.add("standing", ", ".join(sorted(self._standing)) or "none")
        timeout = self._settings["state_timeout"]
        topics = {"imu": self._imu, self._settings["contact_topic"]: self._contacts}
        for topic, watchdog in topics.items():
            if watchdog.age > timeout:
                age = watchdog.age
                report.error(f"nothing on {topic}" + (f" for {age:.3g} s" if age < 1e9 else " yet"))
        if self.failure:
            report.error(self.failure)

    def _look(self) -> None:
        """Others' bases are preferred; when they end, the legs begin again from where they are."""
        before, self.others = self.others, self._node.count_publishers(self._topic) > 1
        if before != self.others:
            log = self._node.get_logger()
            log.info(f"{self._topic} comes from {'others' if self.others else 'leg odometry'}")
            self.reset()

    def _on_imu(self, message: Imu) -> str:
        frame = message.header.frame_id
        if not names(frame, self._base):
            return f'frame_id is "{frame:.40}", expected "{self._base.link}"'
        rate, force = message.angular_velocity, message.linear_acceleration
        sample = np.array([[rate.x, rate.y, rate.z], [force.x, force.y, force.z]])
        if not (np.abs(sample) < LARGEST).all() or not sample[1].any():
            return "angular velocity or acceleration is not finite, or acceleration is zero"
        self._samples.append(sample)
        self._imu.feed()
        return ""

    def _on_contacts(self, message: JointState) -> str:
        """Feet stand on which at least ``standing_force`` acts."""
        least = self._settings["standing_force"]
        points, problem = standing_points(message, self._odometry.feet, least)
        if problem:
            return problem
        self._standing = points
        self._contacts.feed()
        return ""
