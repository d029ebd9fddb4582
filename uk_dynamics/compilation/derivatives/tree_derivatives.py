# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Inverse dynamics of a kinematic tree and its derivatives, on symbols.

All is in world axes at the world's origin, linear part first. Displacing the joints along the
velocity coordinate j moves everything behind that joint as a rigid body along its column J_j; what
is then left of the derivatives is the motion that the joint is carried with (Carpentier & Mansard,
*Analytical derivatives of rigid body dynamics algorithms*, RSS 2018, section V). With V and A of
the body that carries the joint, ψ_j = V × J_j and ξ_j = A × J_j + V × ψ_j,

    ∂f/∂q_j = J_j ×* f + Y ξ_j + B ψ_j,    ∂f/∂v_j = Y κ_j + B J_j,    κ_j = ψ_j + V_body × J_j,

for the force f on every body behind the joint, with its inertia Y and

    B u = Y (u × V) + u ×* (Y V) + V ×* (Y u).

B takes angular motions alone: by Jacobi's identity it vanishes on linear ones, is −2 h × on the
linear force, h the linear momentum, and 2 ω × (I − ½ tr I) − 2 (m c) × V × on the couple.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import numpy as np

from uk_dynamics.compilation.trace.sparse_vectors import Sparse, is_zero
from uk_dynamics.compilation.trace.symbolic_joints import cross, motions, skew, zeros
from uk_dynamics.compilation.trace.symbolic_tree import Inertia, SymbolicTree
from uk_dynamics.compilation.trace.symbols import Objects, Symbol, as_objects
from uk_dynamics.model.kinematics import Body


@dataclass(frozen=True)
class Load:
    """Inertia, momentum and force of a body and all that it carries."""

    mass: float
    moment: Objects  # m c, (3,)
    inertia: Objects  # about the world's origin, (3, 3)
    momentum: Objects  # linear, (3,)
    turning: Objects  # B on couples, (3, 3)
    force: Objects  # (6,)

    def __add__(self, other: "Load") -> "Load":
        return Load(*(getattr(self, x) + getattr(other, x) for x in self.__dataclass_fields__))

    def inertial(self, motion: Objects) -> Objects:
        """Product of the inertia Y with a motion, (6,)."""
        linear, angular = motion[:3], motion[3:]
        return _spatial(
            linear * self.mass - cross(self.moment, angular),
            self.inertia @ angular + cross(self.moment, linear),
        )

    def carried(self, motion: Objects) -> Objects:
        """Product of B with a motion, (6,)."""
        angular = motion[3:]
        return _spatial(cross(angular, self.momentum) * 2.0, self.turning @ angular)

    def carried_transposed(self, motion: Objects) -> Objects:
        """Angular part of the product of Bᵀ with a motion, (3,)."""
        couple = self.turning.T @ motion[3:]
        return cast(Objects, cross(self.momentum, motion[:3]) * 2.0 + couple)


class TreeDerivatives:
    """Motions of the bodies at an acceleration of the joints, and what depends on the state."""

    def __init__(self, tree: SymbolicTree, velocity: Objects, acceleration: Objects) -> None:
        self._tree, self._bodies = tree, tree.bodies
        self.J = tree.jacobian  # columns of the velocities, (6, nv)
        self._columns = [
            range(body.velocity, body.velocity + len(motions(body))) for body in self._bodies
        ]
        # the body that each of them moves
        self.body_of = [i for i, columns in enumerate(self._columns) for _ in columns]
        # of each body, gravity aside, (bodies, 6)
        self.twist, self.acceleration = self._motion(velocity, acceleration)
        # acceleration that has the effect of gravity, (6,)
        self.falling = np.concatenate([as_objects((-tree.gravity).tolist()), zeros(3)])

    def place_derivatives(self) -> Iterator[tuple[Objects, Objects]]:
        """Columns of rotation, and origin, of the frames with their derivatives, (3,), (3, nv)."""
        nv = self.J.shape[1]
        for body, R, p in zip(
            self._tree.body_of_frame, self._tree.rotation, self._tree.translation, strict=True
        ):
            if body < 0:
                continue
            origin, axes = zeros(3, nv), [zeros(3, nv) for _ in range(3)]
            for j in self.behind(body):
                linear, angular = self.J[:3, j], self.J[3:, j]
                origin[:, j] = linear + cross(angular, p)
                for axis, turned in zip(R.T, axes, strict=True):
                    turned[:, j] = cross(angular, axis)
            yield p, origin
            yield from zip(R.T, axes, strict=True)

    def column_derivatives(self) -> Iterator[tuple[Objects, Objects]]:
        """Columns of J and of its rate with their derivatives, (6,) and (6, 2 nv)."""
        nv = self.J.shape[1]
        for k, i in enumerate(self.body_of):
            column, rate = zeros(6, 2 * nv), zeros(6, 2 * nv)
            for j in self.behind(i):
                # ∂J_k/∂q_j, zero for the axis of a joint with one freedom under itself
                turned = zeros(6) if j == k else motion_cross(self.J[:, j], self.J[:, k])
                V, _ = self.carrier(self.body_of[j])
                twist = motion_cross(self.J[:, j], self.twist[i] - V)
                column[:, j] = turned
                rate[:, j] = motion_cross(twist, self.J[:, k]) + motion_cross(self.twist[i], turned)
                rate[:, nv + j] = motion_cross(self.J[:, j], self.J[:, k])
            yield self.J[:, k], column
            yield self._tree.jacobian_rate[:, k], rate

    def carried_wrenches(self, wrenches: Objects) -> Objects:
        """Sums of wrenches over each body and all that it carries, (bodies, 6)."""
        return _carried(wrenches.copy(), self._bodies)

    def behind(self, body: int) -> Iterator[int]:
        """Velocities that move a body."""
        while body >= 0:
            yield from self._columns[body]
            body = self._bodies[body].parent

    def carrier(self, body: int) -> tuple[Objects, Objects]:
        """Twist and acceleration of the body that carries a joint."""
        parent = self._bodies[body].parent
        V = self.twist[parent] if parent >= 0 else zeros(6)
        return V, self.acceleration[parent] if parent >= 0 else zeros(6)

    def _motion(self, v: Objects, a: Objects) -> tuple[Objects, Objects]:
        count = len(self._bodies)
        twist, acceleration = zeros(count, 6), zeros(count, 6)
        for i, body in enumerate(self._bodies):
            if body.parent >= 0:
                twist[i], acceleration[i] = twist[body.parent], acceleration[body.parent]
            for k in self._columns[i]:
                twist[i] = twist[i] + self.J[:, k] * v[k]
                acceleration[i] = (
                    acceleration[i] + self.J[:, k] * a[k] + self._tree.jacobian_rate[:, k] * v[k]
                )
        return twist, acceleration

    def own_load(self, own: Inertia, R: Objects, p: Objects, V: Objects, A: Objects) -> Load:
        """Load of a body alone, by its inertia in its frame, its place, twist and acceleration."""
        mass, moment = own.mass, R @ own.moment
        half = moment + p * (mass * 0.5)
        # about the world's origin: −(h pᵀ + p hᵀ) + 2 h·p, the same above the diagonal and below
        square = np.outer(half, p)
        spread = (square[0, 0] + square[1, 1] + square[2, 2]) * 2.0
        turned = R @ own.matrix
        inertia = zeros(3, 3)
        for i in range(3):
            inertia[i, i] = turned[i] @ R[i] - square[i, i] * 2.0 + spread
            for j in range(i):
                inertia[i, j] = inertia[j, i] = turned[i] @ R[j] - (square[i, j] + square[j, i])
        moment = moment + p * mass
        momentum = V[:3] * mass - cross(moment, V[3:])
        half_trace = (inertia[0, 0] + inertia[1, 1] + inertia[2, 2]) * 0.5
        turning = (
            skew(V[3:]) @ (inertia - as_objects(np.eye(3).tolist()) * half_trace)
            - skew(moment) @ skew(V[:3])
        ) * 2.0
        load = Load(mass, moment, inertia, momentum, turning, zeros(6))
        force = load.inertial(A + self.falling) + force_cross(V, load.inertial(V))
        return replace(load, force=force)

    def with_carried(self, loads: list[Load]) -> list[Load]:
        """Sum the loads of each body and all that it carries, from those of each body alone."""
        return _carried(loads, self._bodies)


def motion_cross(x: Objects, y: Objects) -> Objects:
    """Spatial cross product of two motions, (6,)."""
    return _spatial(cross(x[3:], y[:3]) + cross(x[:3], y[3:]), cross(x[3:], y[3:]))


def force_cross(x: Objects, f: Objects) -> Objects:
    """Spatial cross product of a motion and a force, (6,)."""
    return _spatial(cross(x[3:], f[:3]), cross(x[3:], f[3:]) + cross(x[:3], f[:3]))


def _spatial(first: Objects, second: Objects) -> Objects:
    return cast(Objects, np.concatenate([first, second]))


def seeds(pairs: Iterator[tuple[Objects, Objects]]) -> dict[Symbol, Sparse]:
    """Symbols of vectors with their derivatives, row by row."""
    return {
        symbol: {k: x for k, x in enumerate(row) if not is_zero(x)}
        for vector, rows in pairs
        for symbol, row in zip(vector, rows, strict=True)
        if isinstance(symbol, Symbol)
    }


_Parts = TypeVar("_Parts", Objects, list[Load])


def _carried(parts: _Parts, bodies: Sequence[Body]) -> _Parts:
    """Add to what belongs to each body that of all bodies that it carries."""
    for i in reversed(range(len(bodies))):
        parent = bodies[i].parent
        if parent >= 0:
            parts[parent] = parts[parent] + parts[i]
    return parts
