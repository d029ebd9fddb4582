# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Lengths of ropes that are led through points, and over pulleys without friction.

A pulley is a cylinder that a link carries, without ends. Between two points the pulleys of a rope
have parallel axes; across these its way is tangents and arcs, s = Σ t + Σ R w, and unrolled its
length is √(s² + z²). Tension on both sides of a pulley acts through its centre. Where a rope may
lift off a pulley, the tangent past it takes the place of those to it once its arc would be
negative: there both ways are equally long, and have the same direction. A drum is such a pulley of
a link that turns, and the rope's end a point on its rim; the joint's angle tells whole turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from uk_dynamics.arrays import Flags, Indices
from uk_dynamics.constraints.rows.mass_points import MassPoints
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics
from uk_dynamics.constraints.rows.row import ConstraintTerms, RobotRow, RowFamily
from uk_dynamics.constraints.rows.vectors import Array, apply, cross, dot
from uk_dynamics.core.linalg import (
    above,
    at_least,
    nearest_integer,
    polar_angle,
    square_root,
    where,
)

_TINY = 1e-300  # coinciding points give no direction instead of NaN


class _Way(NamedTuple):
    """Where a rope is, in world axes; k straight parts, c with those past pulleys."""

    points: Array  # it is led through, centres of pulleys among them, (k + 1, 3), in m
    step: Array  # from each to the next, (k, 3)
    axis: Array  # of the pulleys there, (k, 3); zero: there are none
    size: Array  # of each tangent across the axis, (c,)
    e: Array  # its direction across the axis, (c, 3)
    bent: Array  # 1/size where the rope takes it, 0 where it takes the other way, (c,)
    arcs: Array  # angles on the pulleys, (p,); below zero the rope is off
    lengths: Array  # of the stretches between points: across the axis, along it, unrolled, (3, s)
    along: Array  # direction of the rope across the axis, (k, 3)
    pull: Array  # direction of tension, (k, 3)


@dataclass(frozen=True, eq=False)
class RopeRow(RobotRow):
    """Length of a rope, in m."""

    length: float
    points: MassPoints
    radius: Array  # of pulleys, (k + 1,), negative on the right, seen against the axis; 0: a point
    pulleys: Indices  # which of the points are pulleys, (p,)
    side: Array  # of them, 1 on the left, −1 on the right, (p,)
    middle: Array  # arcs are within half a turn of it, at q = 0, (p,), in rad
    winding: Array  # and change of it by joints that turn drums, (p, nq)
    lifts: Flags  # off which of the pulleys it lifts, l of them, drums among them, (p,)
    past: Array  # 1 for the straight parts that it then leaves out, two each, (l, k)
    carrier: Indices  # which of the points carries the axis of each straight part, (k,)
    axis: Array  # of the pulleys at each straight part in that link, (k, 3); zero: there are none
    # direction of the rope where it ends on the rim of a drum, in that link, which carries the axis
    # there, for the part from the centre to this end, (k, 3); zero for other parts
    mark: Array
    together: Array  # which straight parts are one stretch between two points, (s, k)

    @classmethod
    def collect(cls, rows: "Sequence[tuple[str, RopeRow]]", nq: int, nv: int) -> "RopeRows":
        """See :meth:`RobotRow.collect`."""
        return RopeRows(tuple(row for _, row in rows))

    def way(self, kinematics: FrameKinematics, q: Array) -> _Way:
        """Where it is: d = t e + (Rₖ₊₁ − Rₖ) n × e across the axes n, and w from part to part."""
        points, first = self.points.places(kinematics), self.pulleys[self.lifts] - 1
        turned = kinematics.rotation.take(self.points.frame[self.carrier], 0)
        step, axis = points[1:] - points[:-1], apply(turned, self.axis)
        offset, d = self._and_past(self.radius[1:] - self.radius[:-1]), self._and_past(step)
        n = np.concatenate((axis, axis[first]))
        flat = d - dot(n, d)[:, None] * n
        square = at_least(dot(flat, flat) - offset**2, 0.0) + _TINY
        size = square_root(square)
        e = size[:, None] * flat - offset[:, None] * cross(n, flat)
        e = e / (square + offset**2)[:, None]
        k, rim = len(step), np.flatnonzero(self.mark.any(axis=1))
        e[rim] = apply(turned[rim], self.mark[rim])
        middle = self.middle + self.winding @ q
        now, share, arcs = e[:k], np.ones(k), self._arcs(axis, e, middle)
        if self.past.size:
            off = where(above(arcs[self.lifts], 0.0), 0.0, 1.0)
            share = np.concatenate((1.0 - off @ self.past, off))
            now = share[:k, None] * now + self.past.T @ (off[:, None] * e[k:])
            arcs = np.where(self.lifts, arcs, self._arcs(axis, now, middle))
        lying = np.where(self.lifts, at_least(arcs, 0.0), arcs)
        bent = share / size
        bent[rim] = size[rim] = 0.0
        on_pulleys = np.abs(self.radius[self.pulleys]) * lying
        across = self._together(share * size) + self.together[:, self.pulleys] @ on_pulleys
        along = self.together @ dot(axis, step)
        total = square_root(across * across + along * along + _TINY)
        parts = self.together.T
        pull = (parts @ (across / total))[:, None] * now + (parts @ (along / total))[:, None] * axis
        lengths = np.stack((across, along, total))
        return _Way(points, step, axis, size, e, bent, arcs, lengths, now, pull)

    def _arcs(self, axis: Array, e: Array, middle: Array) -> Array:
        """Angles from the part before each pulley to the part after it, (p,)."""
        met, left = e[self.pulleys - 1], e[self.pulleys]
        sine = self.side * dot(axis[self.pulleys], cross(met, left))
        angle = polar_angle(sine, dot(met, left))
        turn = 2.0 * np.pi
        return angle + turn * nearest_integer((middle - angle) / turn)

    def _and_past(self, parts: Array) -> Array:
        """Something of each straight part, (k, …), and its sums past pulleys, (c, …)."""
        return np.concatenate((parts, self.past @ parts))

    def _together(self, parts: Array) -> Array:
        """Sums over the stretches, (s,), of something of straight parts and of those past."""
        first = self.pulleys[self.lifts] - 1
        return np.concatenate((self.together, self.together[:, first]), axis=1) @ parts

    def pulled(self, kinematics: FrameKinematics, points: Array, forces: Array) -> Array:
        """Generalized force of forces on the points, (k + 1, 3) each: (nv,)."""
        wrenches = np.concatenate((forces, cross(points, forces)), axis=1)
        found: Array = ((self.points.moved.T @ wrenches) * kinematics.jacobian.T).sum(axis=1)
        return found

    def row(self, kinematics: FrameKinematics, way: _Way) -> Array:
        """A, (nv,): the rope does not turn the link whose pulleys keep it across their axes."""
        none = np.zeros((1, 3))
        forces = np.concatenate((none, way.pull)) - np.concatenate((way.pull, none))
        moments = self._carried.T @ cross(way.step, way.pull)
        turned: Array = (moments * kinematics.jacobian[3:].T).sum(axis=1)
        return self.pulled(kinematics, way.points, forces) - turned

    @property
    def _carried(self) -> Array:
        """1 where a velocity moves the link that carries the axis of a straight part, (k, nv)."""
        found: Array = self.points.moved[self.carrier] * np.any(self.axis, axis=1, keepdims=True)
        return found

    def evaluate(self, kinematics: FrameKinematics, q: Array, v: Array) -> tuple[Array, ...]:
        """Row (nv,), residual, and ψ̈ at q̈ = 0: Σ (s s̈ + ṡ² + z z̈ + ż² − ℓ̇²)/ℓ of stretches.

        Motions are seen from the links that carry the axes. A straight part adds
        e·Δa + (|u|² − (e·u)²)/t to s̈, with u = Δv across the axis.
        """
        way = self.way(kinematics, q)
        jacobian, moving = kinematics.jacobian, self.points.moved * v
        velocity = moving @ jacobian[:3].T + cross(moving @ jacobian[3:].T, way.points)
        _, _, acceleration = self.points.motion(kinematics, v)
        carried = self._carried * v
        spin, turning = carried @ jacobian[3:].T, carried @ kinematics.jacobian_rate[3:].T
        seen = velocity[1:] - velocity[:-1] - cross(spin, way.step)
        twice = cross(turning, way.step) + cross(spin, cross(spin, way.step) + 2.0 * seen)
        change = acceleration[1:] - acceleration[:-1] - twice
        climb = dot(way.axis, seen)
        u = seen - climb[:, None] * way.axis
        straight = np.stack((dot(way.along, u), dot(way.along, change)), axis=1)
        (s_1, s_2), u = (self.together @ straight).T, self._and_past(u)
        bend = dot(u, u) - dot(way.e, u) ** 2
        s_2 = s_2 + self._together(way.bent * bend)
        (s, z, length), z_1 = way.lengths, self.together @ climb
        z_2 = self.together @ dot(way.axis, change)
        rate = (s * s_1 + z * z_1) / length
        bias = (s * s_2 + s_1 * s_1 + z * z_2 + z_1 * z_1 - rate * rate) / length
        return self.row(kinematics, way), length.sum() - self.length, bias.sum()


@dataclass(frozen=True)
class RopeRows(RowFamily):
    """Rows of all ropes of a set, in their order: ψ = Σ ℓ − L."""

    ropes: tuple[RopeRow, ...]

    def position(self, kinematics: FrameKinematics, t: float, q: Array) -> tuple[Array, Array]:
        """A and residuals in m; see :class:`RowFamily`."""
        found = [(rope, rope.way(kinematics, q)) for rope in self.ropes]
        psi = [way.lengths[2].sum() - rope.length for rope, way in found]
        return np.stack([rope.row(kinematics, way) for rope, way in found]), np.stack(psi)

    def evaluate(
        self, kinematics: FrameKinematics, t: float, q: Array, v: Array
    ) -> ConstraintTerms:
        """The rows at a state; see :class:`RowFamily`."""
        found = [rope.evaluate(kinematics, q, v) for rope in self.ropes]
        A, residual, bias = (np.stack(part) for part in zip(*found, strict=True))
        return ConstraintTerms(A, bias, residual, A @ v)

    def natural_scale(self, kinematics: FrameKinematics, q: Array) -> Array:
        """Magnitudes of both ends of each part, added."""
        found = []
        for rope in self.ropes:
            way = rope.way(kinematics, q)
            ends = np.zeros((2, *way.points.shape))
            ends[0, 1:], ends[1, :-1] = way.pull, way.pull
            found.append(sum(np.abs(rope.pulled(kinematics, way.points, end)) for end in ends))
        return np.array(found)
