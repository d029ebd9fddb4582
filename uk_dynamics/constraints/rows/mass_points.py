# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Points of several links, such as their centres of mass, and how they move."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics
from uk_dynamics.constraints.rows.vectors import apply, cross
from uk_dynamics.exceptions import InputError, expect_names
from uk_dynamics.model import RobotModel


@dataclass(frozen=True)
class MassPoints:
    """Centres of mass of n links, weighted by their part of the whole mass."""

    frame: Indices  # Frame of each link, (n,)
    part: Array  # Mass of each link over the mass of all, (n,)
    center: Array  # Centre of mass in the link's frame, (n, 3), in m
    moved: Array  # 1 where a velocity coordinate moves a link, (n, nv)

    @classmethod
    def of(cls, names: Sequence[str], model: RobotModel) -> "MassPoints":
        """The centre of mass of links."""
        expect_names("link", names, model.link_names)
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
        return self.part @ self.places(kinematics)

    def jacobian(self, kinematics: FrameKinematics) -> Array:
        """Its velocity per joint velocity, (3, nv)."""
        linear, angular = _columns(kinematics.jacobian)
        lever = self.moved.T @ (self.part[:, None] * self.places(kinematics))
        weight = self.part @ self.moved
        return (linear * weight[:, None] + cross(angular, lever)).T

    def bias(self, kinematics: FrameKinematics, v: Array) -> Array:
        """Its acceleration at zero joint acceleration, (3,), in m/s²."""
        return self.part @ self.motion(kinematics, v)[2]

    def motion(self, kinematics: FrameKinematics, v: Array) -> tuple[Array, Array, Array]:
        """Angular velocities, angular accelerations and those of the centres at q̈ = 0, (n, 3)."""
        linear, angular = _columns(kinematics.jacobian)
        linear_rate, angular_rate = _columns(kinematics.jacobian_rate)
        points, moving = self.places(kinematics), self.moved * v
        spin, turning = moving @ angular, moving @ angular_rate
        velocity = moving @ linear + cross(spin, points)
        return spin, turning, moving @ linear_rate + cross(turning, points) + cross(spin, velocity)

    def places(self, kinematics: FrameKinematics) -> Array:
        """Centres of mass of the links in the world, (n, 3), in m."""
        rotation = kinematics.rotation.take(self.frame, 0)
        return kinematics.translation.take(self.frame, 0) + apply(rotation, self.center)


def _columns(jacobian: Array) -> tuple[Array, Array]:
    """Linear and angular part of each column, (nv, 3) each."""
    return jacobian[:3].T, jacobian[3:].T
