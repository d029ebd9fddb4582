# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Attitude of a link from its gyroscope and accelerometer: a complementary filter on SO(3)."""

import numpy as np

import uk_dynamics.core.linalg.rotations as so3
from uk_dynamics.arrays import Array

_STANDARD = 9.81  # m/s²
_QUIET = 1.0  # m/s²; specific forces further from gravity's say nothing of what is up


class AttitudeFilter:
    """The passive filter with bias estimation of Mahony, Hamel and Pflimlin (TAC 53, 2008, eq. 32).

    Angular rates are integrated; the direction of the specific force pulls roll and pitch, slowly.
    Heading follows from rates alone and drifts with what is left of their bias.
    """

    def __init__(self, pull: float = 0.05, learning: float = 2.0) -> None:
        self.rotation: Array = np.eye(3)  # from axes of the link to the world, whose z points up
        self.bias = np.zeros(3)  # of the gyroscope, in rad/s
        # gains in 1/s: towards measured gravity; of the bias while it is known how the link turns
        self.pull, self.learning = pull, learning

    def start(self, accelerometer: Array, heading: float = 0.0) -> None:
        """Begin at rest: with a specific force, (3,), in m/s², upwards, and a heading, in rad.

        The heading is about the world's z axis.
        """
        up = accelerometer / np.linalg.norm(accelerometer)
        forward = np.array([1.0, 0.0, 0.0])
        if abs(up[0]) > 0.9:  # the link's x axis is nearly vertical
            forward = np.array([0.0, 0.0, -np.sign(up[0])])
        x = forward - up * (up @ forward)
        x /= np.linalg.norm(x)
        level = np.vstack([x, np.cross(up, x), up])  # the world's axes in the link, heading 0
        cosine, sine = np.cos(heading), np.sin(heading)
        about = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
        self.rotation = about @ level

    def update(
        self,
        elapsed: float,  # since the last update, in s
        gyroscope: Array,  # mean rate since then, (3,), in rad/s
        accelerometer: Array,  # mean specific force since then, (3,), in m/s²
        *,
        known: Array | None = None,  # rate that others know, (3,), in rad/s; the rest is the bias
    ) -> Array:
        """Go on by a time; return the angular velocity without bias, in axes of the link, (3,)."""
        if known is not None:
            self.bias += (1.0 - np.exp(-self.learning * elapsed)) * (gyroscope - known - self.bias)
        rate = gyroscope - self.bias
        force = float(np.linalg.norm(accelerometer))
        correction = np.zeros(3)
        if abs(force - _STANDARD) < _QUIET:
            correction = np.cross(accelerometer / force, self.rotation[2])
        self.rotation = self.rotation @ so3.exp((rate + self.pull * correction) * elapsed)
        return np.asarray(rate)
