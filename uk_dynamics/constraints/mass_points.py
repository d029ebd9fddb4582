"""The centre of mass of some links, as weighted points of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.relative_motion import FrameKinematics
from uk_dynamics.constraints.vectors import Array, apply, cross


@dataclass(frozen=True)
class MassPoints:
    """Centres of mass of n links, weighted by their part of the whole mass.

    Attributes:
        frame: Frame of each link, (n,).
        part: Mass of each link over the mass of all, (n,).
        center: Centre of mass in the link's frame, (n, 3), in m.
        moved: 1 where a velocity coordinate moves a link, (n, nv).
    """

    frame: NDArray[np.intp]
    part: Array
    center: Array
    moved: Array

    def position(self, kinematics: FrameKinematics) -> Array:
        """Centre of mass in the world, (3,), in m."""
        center: Array = self.part @ self._points(kinematics)
        return center

    def jacobian(self, kinematics: FrameKinematics) -> Array:
        """Its velocity per joint velocity, (3, nv)."""
        linear, angular = _columns(kinematics.jacobian)
        lever = self.moved.T @ (self.part[:, None] * self._points(kinematics))
        weight = self.part @ self.moved
        columns: Array = linear * weight[:, None] + cross(angular, lever)
        return columns.T

    def bias(self, kinematics: FrameKinematics, v: Array) -> Array:
        """Its acceleration at zero joint acceleration, (3,), in m/s²."""
        linear, angular = _columns(kinematics.jacobian)
        linear_rate, angular_rate = _columns(kinematics.jacobian_rate)
        points = self._points(kinematics)
        moving = self.moved * v
        velocity = moving @ linear + cross(moving @ angular, points)
        weight = self.part @ self.moved
        lever = self.moved.T @ (self.part[:, None] * points)
        lever_rate = self.moved.T @ (self.part[:, None] * velocity)
        turning = cross(angular_rate, lever) + cross(angular, lever_rate)
        bias: Array = v @ (linear_rate * weight[:, None] + turning)
        return bias

    def _points(self, kinematics: FrameKinematics) -> Array:
        rotation = kinematics.rotation.take(self.frame, 0)
        return kinematics.translation.take(self.frame, 0) + apply(rotation, self.center)


def _columns(jacobian: Array) -> tuple[Array, Array]:
    """Linear and angular part of each column, (nv, 3) each."""
    return jacobian[:3].T, jacobian[3:].T
