"""The centre of mass of some links, as weighted points of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.rows.relative_motion import FrameKinematics
from uk_dynamics.constraints.rows.vectors import Array, apply, cross
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.model import RobotModel


@dataclass(frozen=True)
class MassPoints:
    """Centres of mass of n links, weighted by their part of the whole mass."""

    frame: NDArray[np.intp]  # Frame of each link, (n,)
    part: Array  # Mass of each link over the mass of all, (n,)
    center: Array  # Centre of mass in the link's frame, (n, 3), in m
    moved: Array  # 1 where a velocity coordinate moves a link, (n, nv)

    @classmethod
    def of(cls, names: Sequence[str], model: RobotModel) -> MassPoints:
        """The centre of mass of links."""
        for name in names:
            if name not in model.link_names:
                raise UnknownNameError("link", name, model.link_names)
        moves = model.ancestor_mask.max(axis=1, initial=0.0) > 0.0
        links = [
            link
            for link in model.description.links
            if link.mass > 0.0
            and (link.name in names if names else moves[model.frame_index(link.name)])
        ]
        if not links:
            raise InputError("these links have no mass; name links that do")
        frame = np.array([model.frame_index(link.name) for link in links], dtype=np.intp)
        masses = np.array([link.mass for link in links])
        return cls(
            frame=frame,
            part=masses / masses.sum(),
            center=np.array([link.center_of_mass for link in links]),
            moved=model.ancestor_mask[frame],
        )

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
