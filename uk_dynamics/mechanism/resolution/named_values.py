# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Values of a mechanism that users give by names: states, poses, forces."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.arrays import Values
from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism.resolution.actuators import Actuators
from uk_dynamics.mechanism.resolution.state import Array, Inputs, State
from uk_dynamics.model import RobotModel
from uk_dynamics.model.kinematics import Workspace

#: The origin of a link or frame, by name, or a point in it: its name and three numbers in m.
Point = str | tuple[str, Sequence[float]]
_EXPECTED = 'expected the name of a link, or a point in it, such as ("link", (0.1, 0, 0))'


def split_point(point: Point) -> tuple[str, Array]:
    """Name of a link, and a point in its frame, (3,), in m; StateError: it is no such point."""
    name, place = (point, np.zeros(3)) if isinstance(point, str) else _pair(point)
    if not isinstance(name, str):
        raise StateError(f'{_EXPECTED}, found "{point}"')
    return name, _finite(place, 3, f"point in {name}")


def placed(model: RobotModel, workspace: Workspace, point: Point) -> tuple[int, Array, Array]:
    """Frame that carries a point of a link, where that is, (3,), in m, and the frame's rotation."""
    name, inside = split_point(point)
    index = model.frame_index(name)
    rotation = workspace.rotation[index]
    return index, workspace.translation[index] + rotation @ inside, rotation


def wrench_forces(model: RobotModel, wrenches: Mapping[Point, ArrayLike], q: Array) -> Array:
    """Σ Jᵀ w, (nv,), in N or N·m, of forces (3,) or forces and torques (6,) in world axes.

    Raises:
        UnknownNameError: A link does not exist.
        StateError: Wrong sizes, or numbers that are not finite.
    """
    workspace = model.workspace()
    workspace.update_positions(q)
    total = np.zeros(model.nv)
    for point, given in wrenches.items():
        index, where, _ = placed(model, workspace, point)
        size = 3 if np.size(given) == 3 else 6
        wrench = np.zeros(6)
        wrench[:size] = _finite(given, size, f"wrench on {model.frame_names[index]}")
        about_origin = np.concatenate((wrench[:3], wrench[3:] + np.cross(where, wrench[:3])))
        total += (about_origin @ workspace.jacobian) * model.ancestor_mask[index]
    return total


def _pair(point: object) -> tuple[object, object]:
    if isinstance(point, tuple) and len(point) == 2:
        return point
    raise StateError(f'{_EXPECTED}, found "{point}"')


def _finite(given: object, size: int, what: str) -> Array:
    """Finite numbers of a size."""
    try:
        numbers = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise StateError(f"{what}: expected {size} numbers, found {given!r}") from None
    if numbers.shape != (size,) or not np.isfinite(numbers).all():
        raise StateError(f"{what}: expected {size} finite numbers, found {given!r}")
    return numbers


class NamedValues:
    """Checks values against the names of a robot and its motors."""

    model: RobotModel
    actuators: Actuators
    initial_guess: Array  # configuration near which the loops close, (nq,)

    def configuration(self, values: Values | None = None) -> Array:
        """A checked configuration (nq,): an array, or the initial guess with joints replaced."""
        if values is None:
            return self.initial_guess.copy()
        return self.model.to_positions(values, default=self.initial_guess)

    def state(self, q: Values | None = None, v: Values | None = None, t: float = 0.0) -> State:
        """A checked state; names left out are at the initial guess, their velocities zero.

        Args:
            q: Positions by name or (nq,), in m or rad; None is the initial guess.
            v: Velocities by name or (nv,), in m/s or rad/s; None is rest.
            t: Time, in s.

        Raises:
            UnknownNameError: A name does not exist.
            StateError: Wrong sizes, or numbers that are not finite.
        """
        if not math.isfinite(t):
            raise StateError(f"expected a finite time in s, found {t}", place="t")
        velocity = np.zeros(self.model.nv) if v is None else self.model.to_velocities(v)
        return State(float(t), self.configuration(q), velocity)

    def pose(
        self, link: Point, q: Values | None = None, *, relative_to: Point | None = None
    ) -> tuple[Array, Array]:
        """Where a link is: forward kinematics, of positions that close the loops or do not.

        Args:
            link: Its name, or that of another frame of the URDF; or a point in it, such as
                ``("coupler", (0.2, 0, 0))``.
            q: Positions by name or (nq,), such as ``state.q``; None is the initial guess.
            relative_to: Link, or point in it, from which it is seen; None: the world.

        Returns:
            Origin, or the point, (3,), in m, and rotation that maps its axes to those, (3, 3).

        Raises:
            UnknownNameError: A name does not exist.
            StateError: Wrong size, or numbers that are not finite.
        """
        workspace = self.model.workspace()
        workspace.update_positions(self.configuration(q))

        _, place, rotation = placed(self.model, workspace, link)
        if relative_to is None:
            return place, rotation.copy()
        _, origin, axes = placed(self.model, workspace, relative_to)
        return axes.T @ (place - origin), axes.T @ rotation

    def wrench_forces(self, wrenches: Mapping[Point, ArrayLike], q: Values | None = None) -> Array:
        """Generalized forces of forces and torques on links: what ``tau`` takes everywhere.

        Args:
            wrenches: Force in N, (3,), or force and torque in N and N·m, (6,), in world axes, by
                link, where they act at its origin, or by a point in it, such as
                ``("coupler", (0.2, 0, 0))``.
            q: Positions by name or (nq,), such as ``state.q``; None is the initial guess.

        Returns:
            Σ Jᵀ w, (nv,), in N or N·m.

        Raises:
            UnknownNameError: A name does not exist.
            StateError: Wrong sizes, or numbers that are not finite.
        """
        return wrench_forces(self.model, wrenches, self.configuration(q))

    def inputs(self, tau: Values | None = None, *, efforts: Values | None = None) -> Inputs:
        """Checked inputs from joint forces and motor efforts, which add up.

        Args:
            tau: Generalized forces by joint name or (nv,), in N or N·m.
            efforts: Motor efforts by motor name or (motors,), in N or N·m.

        Raises:
            UnknownNameError: A name does not exist.
            StateError: Wrong sizes, or numbers that are not finite.
        """
        force = np.zeros(self.model.nv) if tau is None else self.model.to_velocities(tau)
        if efforts is not None:
            force = force + self.actuators.generalized_force(efforts)
        return Inputs(tau=force)
