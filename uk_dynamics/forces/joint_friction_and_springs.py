# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Forces in joints of the tree: damping, dry friction smoothed about rest, springs, stops."""

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.core.linalg import above, at_least, where
from uk_dynamics.exceptions import InputError
from uk_dynamics.model import RobotModel

FRICTION_VELOCITY = 1e-2


@dataclass(frozen=True)
class JointForces:
    """What acts in one joint; N m and rad, or N and m."""

    damping: float | None = None  # viscous friction; None keeps the value of the URDF
    friction: float | None = None  # Coulomb friction; None keeps the value of the URDF
    spring_stiffness: float = 0.0  # of a spring towards ``spring_rest``
    spring_rest: float = 0.0  # position without spring force
    stop_stiffness: float = 0.0  # of the elastic stops at the joint's limits, zero for no stops
    stop_damping: float = 0.0  # of the stops while they are in contact


class PassiveForces:
    """Generalized forces of joint damping, friction, springs and stops.

    Coulomb friction is regularised, -f tanh(v / v0): it slows down but does not hold still. A stop
    is a spring and a damper that only push, max(0, k p - d v) at penetration p.
    """

    def __init__(
        self,
        model: RobotModel,  # gives names, limits, and the URDF's damping and friction
        joints: Mapping[str, JointForces] | None = None,  # what the URDF cannot say, by joint name
        *,
        friction_velocity: float = FRICTION_VELOCITY,  # v0 of the regularisation, rad/s or m/s
    ) -> None:
        """Collect the forces of a model's joints; InputError: no number, or stop without limit."""
        self._friction_velocity = _checked("friction_velocity", friction_velocity)
        if friction_velocity == 0.0:
            raise InputError("friction_velocity must be positive")
        damping, friction = model.damping.copy(), model.friction.copy()
        springs: list[tuple[float, ...]] = []
        stops: list[tuple[float, ...]] = []
        for name, forces in (joints or {}).items():
            at, place = model.velocity_index(name), model.position_index(name)
            _check(name, forces)
            damping[at] = damping[at] if forces.damping is None else forces.damping
            friction[at] = friction[at] if forces.friction is None else forces.friction
            if forces.spring_stiffness:
                springs.append((at, place, forces.spring_stiffness, forces.spring_rest))
            if forces.stop_stiffness or forces.stop_damping:
                lower, upper = float(model.lower[at]), float(model.upper[at])
                if math.isinf(lower) and math.isinf(upper):
                    raise InputError("a stop needs joint limits in the URDF", place=name)
                stops.append((at, place, forces.stop_stiffness, forces.stop_damping, lower, upper))
        self._negative_damping, self._friction = -damping, friction
        self._damped, self._rubbing = bool(damping.any()), bool(friction.any())
        self._springs, self._stops = bool(springs), bool(stops)
        self._spring_v, self._spring_q = _indices(springs)
        self._stiffness, self._rest = _columns(springs, 2, 2)
        self._stop_v, self._stop_q = _indices(stops)
        self._stop_stiffness, self._stop_damping, self._lower, self._upper = _columns(stops, 2, 4)
        # whether all of them have a potential: springs, and stops without damping
        self.conservative = not (self._damped or self._rubbing or bool(self._stop_damping.any()))
        # False when every force is zero, so that a caller may skip them
        self.active = self._damped or self._rubbing or self._springs or self._stops

    def force(self, q: Array, v: Array) -> Array:
        """The generalized force of all of them, (nv,), in N m or N."""
        return self.resistance(v) + self.at_places(q, v)

    def at_places(self, q: Array, v: Array) -> Array:
        """The part of springs and stops, (nv,); see :meth:`force`."""
        force = 0.0 * v
        if self._springs:
            force[self._spring_v] += self._stiffness * (self._rest - q[self._spring_q])
        if self._stops:
            under, over = self._penetration(q)
            resisting = self._stop_damping * v[self._stop_v]
            push_up = at_least(self._stop_stiffness * under - resisting, 0.0)
            push_down = at_least(self._stop_stiffness * over + resisting, 0.0)
            force[self._stop_v] += where(above(under, 0.0), push_up, 0.0)
            force[self._stop_v] -= where(above(over, 0.0), push_down, 0.0)
        return force

    def resistance(self, v: Array) -> Array:
        """The part of damping and friction, (nv,), in N m or N; see :meth:`force`."""
        force = v * self._negative_damping
        if self._rubbing:
            force -= self._friction * np.tanh(v / self._friction_velocity)
        return force

    def replaced(self, numbers: Mapping[tuple[str, int], Any]) -> "PassiveForces":
        """Make a copy with other numbers or symbols, by column and index of the velocity."""
        found = copy.copy(self)
        found._negative_damping = self._negative_damping.astype(object)
        found._friction = self._friction.astype(object)
        found._stiffness = self._stiffness.astype(object)
        found._rest = self._rest.astype(object)
        for (column, at), value in numbers.items():
            match column:
                case "damping":
                    found._negative_damping[at] = -value
                case "friction":
                    found._friction[at], found._rubbing = value, True
                case "spring":
                    found._stiffness[self._spring_v == at] = value
                case "rest":
                    found._rest[self._spring_v == at] = value
        return found

    def columns(self) -> dict[str, Array]:
        """The numbers of every joint, (nv,) each, where each joint has one freedom."""
        none = np.zeros(len(self._friction))
        spring, rest, stop, stop_damping = (none.copy() for _ in range(4))
        lower, upper = none - np.inf, none + np.inf
        spring[self._spring_v], rest[self._spring_v] = self._stiffness, self._rest
        stop[self._stop_v], stop_damping[self._stop_v] = self._stop_stiffness, self._stop_damping
        lower[self._stop_v], upper[self._stop_v] = self._lower, self._upper
        return {
            "damping": -self._negative_damping,
            "friction": self._friction,
            "friction_velocity": none + self._friction_velocity,
            "spring": spring,
            "rest": rest,
            "stop": stop,
            "stop_damping": stop_damping,
            "lower": lower,
            "upper": upper,
        }

    def potential_energy(self, q: Array) -> float:
        """Energy stored in springs and stops, in J."""
        energy = 0.0
        if self._springs:
            energy += 0.5 * np.sum(self._stiffness * (q[self._spring_q] - self._rest) ** 2)
        if self._stops:
            under, over = self._penetration(q)
            energy += 0.5 * np.sum(self._stop_stiffness * (under**2 + over**2))
        return energy

    def _penetration(self, q: Array) -> tuple[Array, Array]:
        position = q[self._stop_q]
        return at_least(self._lower - position, 0.0), at_least(position - self._upper, 0.0)


def _check(name: str, forces: JointForces) -> None:
    for field in ("damping", "friction", "spring_stiffness", "stop_stiffness", "stop_damping"):
        value = getattr(forces, field)
        if value is not None:
            _checked(f"{name}: {field}", value)
    if not math.isfinite(forces.spring_rest):
        raise InputError(f"{name}: spring_rest must be finite, found {forces.spring_rest}")


def _checked(what: str, value: float) -> float:
    if not (math.isfinite(value) and value >= 0.0):
        raise InputError(f"{what} must be a finite number >= 0, found {value}")
    return value


def _indices(rows: list[tuple[float, ...]]) -> tuple[Indices, Indices]:
    table = np.array([row[:2] for row in rows], dtype=np.intp).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _columns(rows: list[tuple[float, ...]], start: int, count: int) -> list[Array]:
    table = np.array([row[start:] for row in rows], dtype=float).reshape(-1, count)
    return list(table.T.copy())
