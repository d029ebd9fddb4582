# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What an inertial measurement unit on a link of a simulated machine measures."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import uk_dynamics.core.linalg.rotations as so3
from uk_dynamics.core.linalg import to_quaternion
from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism.kinematics import LoopMotion, twist_map
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism


@dataclass(frozen=True)
class InertialNoise:
    """How a unit errs."""

    gyroscope: float = 0.0  # density of white noise, rad/s/√Hz
    accelerometer: float = 0.0  # density of white noise, m/s²/√Hz
    gyroscope_bias: Sequence[float] = (0.0, 0.0, 0.0)  # rad/s
    accelerometer_bias: Sequence[float] = (0.0, 0.0, 0.0)  # m/s²
    seed: int = 0  # of the noise


@dataclass(frozen=True)
class InertialSample:
    """Means over the time since the last sample, in axes of the link, as such units integrate."""

    orientation: Array  # of the link in the world, x y z w, without errors
    angular_velocity: Array  # (3,), in rad/s
    specific_force: Array  # acceleration of the link's origin minus gravity, (3,), in m/s²


class InertialUnit:
    """Measures at the origin of a link; impacts are in the mean acceleration of their sample."""

    def __init__(self, mechanism: Mechanism, link: str, noise: InertialNoise | None = None) -> None:
        """Look up ``link``, a link or frame of the machine."""
        self._index = mechanism.model.frame_index(link)
        self._link, self._gravity = link, mechanism.model.gravity
        self._noise = noise or InertialNoise()
        self._motion = LoopMotion(mechanism)
        self.reset()

    def reset(self) -> None:
        """Forget the last state, and begin the noise again."""
        self._random = np.random.default_rng(self._noise.seed)
        self._last: tuple[float, Array, Array] | None = None

    def sample(self, state: State) -> InertialSample:
        """The measurement at a state after the last one; at the first the link moves uniformly."""
        self._motion.update(state.q, state.v, state.t)
        J, _ = twist_map(self._motion, self._link, state.v)
        twist = J @ state.v
        rotation = self._motion.workspace.rotation[self._index].copy()
        acceleration, turn, middle = np.zeros(3), rotation.T @ twist[3:], rotation
        noise, spread = self._noise, 0.0
        if self._last is not None:
            t, before, velocity = self._last
            elapsed = state.t - t
            if not elapsed > 0.0:
                raise StateError(f"expected a time after {t:.6g} s, found {state.t:.6g}")
            acceleration = (twist[:3] - velocity) / elapsed
            way = so3.log(before.T @ rotation)
            turn = way / elapsed
            middle = before @ so3.exp(0.5 * way)
            spread = 1.0 / np.sqrt(elapsed)
        self._last = state.t, rotation, twist[:3].copy()
        random = self._random.standard_normal((2, 3)) * spread
        return InertialSample(
            to_quaternion(rotation),
            turn + noise.gyroscope * random[0] + np.asarray(noise.gyroscope_bias),
            middle.T @ (acceleration - self._gravity)
            + noise.accelerometer * random[1]
            + np.asarray(noise.accelerometer_bias),
        )
