# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The inertial measurement unit of a simulated machine, on the topic ``imu``."""

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import Imu

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.parameters.parameter import Parameters
from uk_dynamics.ros.topics.qos import PUBLISHED_QOS
from uk_dynamics.ros.topics.serialized import (
    ACCELERATION,
    ANGULAR_VELOCITY,
    IMU,
    ORIENTATION,
    NumbersMessage,
)
from uk_dynamics.simulation import InertialNoise, InertialUnit

_COVARIANCE = 9  # numbers behind each vector
_UNKNOWN = -1.0  # first number of the covariance of what is not measured


class ImuTopic:
    """Publishes means between states; without a subscriber nothing is computed."""

    def __init__(self, node: Node, settings: Parameters, mechanism: Mechanism) -> None:
        """Prepare for the link of the parameters, or the floating one; without either none."""
        bases = [base.link for base in mechanism.model.bases if not base.planar]
        link = settings["imu_link"] or (bases[0] if len(bases) == 1 else "")
        self._unit: InertialUnit | None = None
        if not link:
            return
        noise = InertialNoise(
            settings["imu_gyroscope_noise"],
            settings["imu_accelerometer_noise"],
            _three(settings, "imu_gyroscope_bias"),
            _three(settings, "imu_accelerometer_bias"),
            settings["imu_seed"],
        )
        self._unit = InertialUnit(mechanism, link, noise)
        message = Imu()
        message.header.frame_id = link
        self._message = NumbersMessage(message, IMU)
        numbers = self._message.numbers
        numbers[ORIENTATION.stop] = _UNKNOWN
        rate = settings["publish_rate"] or settings["rate"]
        for part, density in (
            (ANGULAR_VELOCITY, noise.gyroscope),
            (ACCELERATION, noise.accelerometer),
        ):
            covariance = slice(part.stop, part.stop + _COVARIANCE)
            numbers[covariance] = (density**2 * rate * np.eye(3)).ravel()
        self._publisher = node.create_publisher(Imu, "imu", PUBLISHED_QOS)
        self._last = -np.inf

    def publish(self, stamp: Time, state: State) -> None:
        """Publish the measurement at a state, if it is a new one."""
        if self._unit is None or not self._publisher.get_subscription_count():
            return
        if state.t < self._last:
            self._unit.reset()
        elif state.t == self._last:  # a simulation that is paused
            self._message.publish(self._publisher, stamp)
            return
        self._last = state.t
        sample = self._unit.sample(state)
        self._message.numbers[ANGULAR_VELOCITY] = sample.angular_velocity
        self._message.numbers[ACCELERATION] = sample.specific_force
        self._message.publish(self._publisher, stamp)


def _three(settings: Parameters, name: str) -> tuple[float, ...]:
    """Three numbers of a text."""
    text: str = settings[name]
    try:
        numbers = tuple(map(float, text.split()))
    except ValueError:
        numbers = ()
    if len(numbers) != len("xyz") or not np.isfinite(numbers).all():
        raise InputError(
            f'expected three numbers such as "0.01 0 0", found "{text}"', place=f"parameter {name}"
        )
    return numbers
