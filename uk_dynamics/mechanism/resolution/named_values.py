# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Values of a mechanism that users give by names: states, poses, forces."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism.resolution.actuators import Actuators
from uk_dynamics.mechanism.resolution.state import Array, Inputs, State
from uk_dynamics.mechanism.resolution.wrenches import Point, placed, wrench_forces
from uk_dynamics.model import RobotModel


class NamedValues:
    """Checks values against the names of a robot and its motors."""

    model: RobotModel
    actuators: Actuators
    initial_guess: Array  # configuration near which the loops close, (nq,)

    def configuration(self, values: Mapping[str, float] | ArrayLike | None = None) -> Array:
        """A checked configuration (nq,): an array, or the initial guess with joints replaced."""
        if values is None:
            return self.initial_guess.copy()
        return self.model.to_positions(values, default=self.initial_guess)

    def state(
        self,
        q: Mapping[str, float] | ArrayLike | None = None,
        v: Mapping[str, float] | ArrayLike | None = None,
        t: float = 0.0,
    ) -> State:
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
        self,
        link: Point,
        q: Mapping[str, float] | ArrayLike | None = None,
        *,
        relative_to: Point | None = None,
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

    def wrench_forces(
        self, wrenches: Mapping[Point, ArrayLike], q: Mapping[str, float] | ArrayLike | None = None
    ) -> Array:
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

    def inputs(
        self,
        tau: Mapping[str, float] | ArrayLike | None = None,
        *,
        efforts: Mapping[str, float] | ArrayLike | None = None,
    ) -> Inputs:
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
