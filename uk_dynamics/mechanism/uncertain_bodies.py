# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Directions in which a machine may differ from its model, and wrenches that bodies take for them.

All is written over arrays of floats or of symbols.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.rows import FrameKinematics
from uk_dynamics.mechanism.resolution.parameters import MOMENTS
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.model import RobotModel

Symbols = NDArray[Any]  # floats, or symbols


class Direction(NamedTuple):
    """One direction of θ: a change of parameters, of a motor, or an outside force."""

    values: tuple[tuple[str, float], ...] = ()  # by how much parameters change, by name
    motor: int = -1  # whose constant changes
    link: str = ""  # at whose origin a force acts
    axis: int = 0  # 0 to 2 force, 3 to 5 torque, in world axes
    size: float = 1.0  # part of the constant; N or N·m


def wrench_row(model: RobotModel, kinematics: FrameKinematics, link: str, axis: int) -> Symbols:
    """Generalized forces of a unit force or torque at the origin of a link, (nv,).

    Axis 0 to 2: force along a world axis; 3 to 5: torque.
    """
    index = model.frame_index(link)
    J = kinematics.jacobian * model.ancestor_mask[index]
    row: Symbols = _at_point(J, kinematics.translation[index])[axis]
    return row


def _at_point(J: Symbols, point: Symbols) -> Symbols:
    """Velocity of a point, and angular velocity, (6, nv), of those at the origin of the world."""
    x, y, z = point
    linear = (J[0] + J[4] * z - J[5] * y, J[1] + J[5] * x - J[3] * z, J[2] + J[3] * y - J[4] * x)
    return np.stack([*linear, *J[3:]])


class UncertainBody:
    """A link some of whose inertial parameters are uncertain."""

    def __init__(
        self, mechanism: ResolvedMechanism, link: str, directions: list[Direction]
    ) -> None:
        own = next(x for x in mechanism.model.description.links if x.name == link)
        self._link, self._center, self._mass = link, own.center_of_mass, own.mass
        self._gravity = mechanism.model.gravity
        # by direction, in axes of the link: changes of mass, centre and inertia
        self._changes: dict[int, tuple[float, Array, Array]] = {}
        for p, one in enumerate(directions):
            mass, center, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
            for name, x in one.values:
                what, _, part = name.removeprefix(f"links.{link}.").partition(".")
                if what == "mass":
                    mass = x
                elif what == "center":
                    center["xyz".index(part)] = x
                elif what == "inertia":
                    i, j = MOMENTS[part]
                    inertia[i, j] = inertia[j, i] = x
            if mass or center.any() or inertia.any():
                self._changes[p] = mass, center, inertia
        self._count = len(directions)

    def jacobian(self, model: RobotModel, kinematics: FrameKinematics) -> Symbols:
        """Of the centre of mass, and of the rotation, (6, nv)."""
        index = model.frame_index(self._link)
        J = kinematics.jacobian * model.ancestor_mask[index]
        return _at_point(J, self._place(kinematics, index))

    def _place(self, kinematics: FrameKinematics, index: int) -> Symbols:
        place: Symbols = kinematics.translation[index] + kinematics.rotation[index] @ self._center
        return place

    def wrenches(
        self, model: RobotModel, kinematics: FrameKinematics, v: Symbols, motion: Symbols
    ) -> Symbols:
        """Force and torque at the centre that each direction takes, (directions, 6).

        ``motion`` is the Jacobian times q̈, (6,); see :meth:`jacobian`.
        """
        index = model.frame_index(self._link)
        mask, R = model.ancestor_mask[index], kinematics.rotation[index]
        place = self._place(kinematics, index)
        twist = (kinematics.jacobian * mask) @ v
        drift = (kinematics.jacobian_rate * mask) @ v
        omega, speed = twist[3:], twist[:3] + np.cross(twist[3:], place)
        alpha = motion[3:] + drift[3:]
        bias = drift[:3] + np.cross(drift[3:], place) + np.cross(omega, speed)
        fall = motion[:3] + bias - self._gravity
        found: Symbols = np.full((self._count, 6), 0.0, dtype=motion.dtype)
        for p, (mass, center, inertia) in self._changes.items():
            force, torque = mass * fall, 0.0 * fall
            if center.any():
                shift = R @ center
                moved = np.cross(alpha, shift) + np.cross(omega, np.cross(omega, shift))
                force = force + self._mass * moved
                torque = torque + self._mass * np.cross(shift, fall)
            if inertia.any():
                spin = R.T @ omega
                local = inertia @ (R.T @ alpha) + np.cross(spin, inertia @ spin)
                torque = torque + R @ local
            found[p] = np.concatenate((force, torque))
        return found
