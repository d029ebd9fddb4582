"""Rows of a wheel, disc or blade that touches a plane: it rolls, does not slide, stays on it.

With n the normal of the plane (fixed in the parent) and a the axle (fixed in the child), the wheel
heads along h = a × n / |a × n|, sideways is s = n × h, and the point of the rim that is next to the
plane is c = −r u from the centre, u = (n − a (a·n)) / |a × n|. All of them turn inside both bodies,
so these rows are a family of their own. The body's velocity at the contact is w = u̇ + ω × c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from uk_dynamics.constraints.relative_motion import FrameKinematics, RelativeTwist
from uk_dynamics.constraints.rows import RowFrames
from uk_dynamics.constraints.vectors import Array, apply, cross, dot, skew

Direction = tuple[float, float, float]
RollingPart = Literal["rolling", "sideways", "height"]
ROLLING_PARTS: tuple[RollingPart, ...] = ("rolling", "sideways", "height")

_TINY = 1e-300  # a wheel lying flat has no heading: a zero row, which the rank rule reports


@dataclass(frozen=True)
class RollingRow:
    """One direction of a wheel's contact with a plane.

    Attributes:
        label: rolling, sideways or height.
        normal: Of the plane, in the parent frame, unit.
        axle: In the child frame, unit.
        radius: In m; zero for a blade.
    """

    label: RollingPart
    normal: Direction
    axle: Direction
    radius: float

    @property
    def order(self) -> Literal["position", "velocity"]:
        """The height is a matter of positions, sliding one of velocities."""
        return "position" if self.label == "height" else "velocity"


class _Contact(NamedTuple):
    """Vectors of m rows in the world, (m, 3), and numbers, (m, 1).

    Attributes:
        normal: n.
        axle: a.
        cosine: a·n, 0 for an upright wheel.
        lean: |a × n|, 1 for an upright wheel.
        heading: h.
        sideways: s = n × h = (a − n (a·n)) / |a × n|.
        up: u, from the contact to the centre.
        arm: c, from the centre to the contact, in m.
    """

    normal: Array
    axle: Array
    cosine: Array
    lean: Array
    heading: Array
    sideways: Array
    up: Array
    arm: Array


@dataclass(frozen=True)
class RollingRows:
    """Velocity of the contact point along h or s (ψ̇ = h·w), or its height (ψ = n·d − r|a × n|).

    The height's rate is n·w, since the contact is the lowest point of the rim. A blade or skate is
    a wheel of radius zero, of which only the sideways row is meant.

    Attributes:
        frames: Frames of the rows: the plane goes through the parent's origin, the child's origin
            is the centre of the wheel.
        normal: n in the parent frame, unit, (m, 3).
        axle: a in the child frame, unit, (m, 3).
        radius: r, (m,), in m.
        selection: 1 for the direction of the row among h, s, n, (m, 3).
    """

    frames: RowFrames
    normal: Array
    axle: Array
    radius: Array
    selection: Array

    @classmethod
    def of(cls, frames: RowFrames, rows: Sequence[RollingRow]) -> RollingRows:
        """Stack rows."""
        return cls(
            frames,
            normal=np.array([row.normal for row in rows]),
            axle=np.array([row.axle for row in rows]),
            radius=np.array([row.radius for row in rows]),
            selection=np.eye(3)[[ROLLING_PARTS.index(row.label) for row in rows]],
        )

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6), and residuals (m,) in m, zero for rows of velocity level."""
        point, offset = self.frames.origins(kinematics)
        contact = self._contact(kinematics)
        force = self._directions(contact.heading, contact.sideways, contact.normal)
        moment = apply(skew(point + contact.arm), force)
        height = dot(contact.normal, offset) - self.radius * contact.lean[:, 0]
        return np.concatenate((force, moment), axis=1), self.selection[:, 2] * height

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """h'·w + h·(ω × c') with ' the derivative seen from the parent, (m,), in m/s².

        In it a' = ω × a, (a·n)' = a'·n and |a × n|' = −(a·n)(a·n)'/|a × n|.
        """
        n, a, cosine, lean, h, s, up, arm = self._contact(kinematics)
        pair = self.frames.pair
        spin = skew(twist.angular.take(pair, 0))
        velocity = twist.linear.take(pair, 0) + apply(spin, arm)
        axle_rate = apply(spin, a)
        cosine_rate = dot(axle_rate, n)[:, None]
        growth = cosine * cosine_rate / lean
        heading_rate = (cross(axle_rate, n) + growth * h) / lean
        sideways_rate = (axle_rate - cosine_rate * n + growth * s) / lean
        up_rate = (growth * up - cosine * axle_rate - cosine_rate * a) / lean
        arm_rate = -self.radius[:, None] * up_rate
        direction_rate = self._directions(heading_rate, sideways_rate, np.zeros_like(n))
        direction = self._directions(h, s, n)
        return dot(direction_rate, velocity) + dot(direction, apply(spin, arm_rate))

    def _directions(self, heading: Array, sideways: Array, normal: Array) -> Array:
        chosen = self.selection[:, :, None]
        return chosen[:, 0] * heading + chosen[:, 1] * sideways + chosen[:, 2] * normal

    def _contact(self, kinematics: FrameKinematics) -> _Contact:
        rotation = kinematics.rotation
        n = apply(rotation.take(self.frames.parent, 0), self.normal)
        a = apply(rotation.take(self.frames.child, 0), self.axle)
        ahead = cross(a, n)
        cosine = dot(a, n)[:, None]
        lean = np.sqrt(dot(ahead, ahead) + _TINY)[:, None]
        up = (n - cosine * a) / lean
        return _Contact(
            normal=n,
            axle=a,
            cosine=cosine,
            lean=lean,
            heading=ahead / lean,
            sideways=(a - cosine * n) / lean,
            up=up,
            arm=-self.radius[:, None] * up,
        )
