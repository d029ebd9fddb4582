# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Evaluation of a robot model at one state: mass matrix, bias, Jacobians, frames."""

from typing import Any

import numpy as np
import pinocchio as pin

from uk_dynamics.exceptions import expect_size
from uk_dynamics.model.urdf.description import Array


class Workspace:
    """Memory for the evaluation of a model; one per thread.

    Every update replaces the arrays by fresh ones. World axes, m, rad, s, kg.
    """

    mass: Array  # M(q) with armature, symmetric, (nv, nv)
    bias: Array  # h(q, v): Coriolis, centrifugal and gravity forces, (nv,)
    # spatial velocity of each joint's motion per velocity, in world axes, for the point that passes
    # the world origin; rows 0:3 linear, 3:6 angular, (6, nv). Multiplied by a row of
    # ``RobotModel.ancestor_mask`` it is the Jacobian of that frame
    jacobian: Array
    jacobian_rate: Array  # its time derivative, (6, nv)
    rotation: Array  # of each frame, maps its axes to world axes, (nframes, 3, 3)
    translation: Array  # of each frame's origin in the world, (nframes, 3)

    def __init__(self, model: Any) -> None:
        self.features: Any = {}  # of convex hulls, what their points stay with: ``HeldFeatures``
        self._model, self._data = model, model.createData()
        self._energy_data: Any = None
        self._at_rest = np.zeros(int(model.nv))
        self.update(pin.neutral(model), self._at_rest)

    def update(self, q: Array, v: Array) -> None:
        """Fill every array for positions q (nq,) and velocities v (nv,), of the right sizes."""
        model, data = self._model, self._data
        expect_size("q", q, model.nq)
        expect_size("v", v, model.nv)
        pin.crba(model, data, q)
        pin.nonLinearEffects(model, data, q, v)
        # On the way to its derivatives it finds the Jacobian and its rate in world axes.
        pin.computeForwardKinematicsDerivatives(model, data, q, v, self._at_rest)
        self._take_positions()
        self.bias, self.jacobian_rate = np.array(data.nle), self._of_velocities(data.dJ, 6)

    def update_positions(self, q: Array) -> None:
        """Fill mass, jacobian, rotation and translation for positions q (nq,)."""
        pin.crba(self._model, self._data, q, pin.Convention.WORLD)  # computes the Jacobian as well
        self._take_positions()

    def kinetic_energy(self, q: Array, v: Array) -> float:
        """Half vᵀ M(q) v with armature, in J; leaves the arrays of the last update alone."""
        data = self._for_energy()
        pin.crba(self._model, data, q)
        return 0.5 * float(v @ (self._of_velocities(data.M, len(v)) @ v))

    def potential_energy(self, q: Array) -> float:
        """Energy of gravity, zero with all masses at the world origin, in J; no array changes."""
        return float(pin.computePotentialEnergy(self._model, self._for_energy(), q))

    def _for_energy(self) -> Any:
        if self._energy_data is None:
            self._energy_data = self._model.createData()
        return self._energy_data

    def _take_positions(self) -> None:
        data = self._data
        pin.updateFramePlacements(self._model, data)
        self.mass = self._of_velocities(data.M, len(self._at_rest))
        self.jacobian = self._of_velocities(data.J, 6)
        # Frame 0 is Pinocchio's own universe.
        places = np.array([placement.homogeneous for placement in data.oMf])[1:]
        self.rotation, self.translation = places[:, :3, :3], places[:, :3, 3]

    def _of_velocities(self, array: Array, rows: int) -> Array:
        """A copy with a column for each velocity, also of a single one, (rows, nv)."""
        return np.array(array).reshape(rows, len(self._at_rest))
