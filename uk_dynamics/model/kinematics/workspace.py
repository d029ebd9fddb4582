# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Evaluation of a robot model at one state: mass matrix, bias, Jacobians, frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from uk_dynamics.exceptions import expect_size
from uk_dynamics.model.urdf.description import Array

PLACEMENT_BYTES = 12 * 8  # a rotation (column-major) and a translation, without padding


class _Memory:
    """Offers foreign memory through the array interface; the owner lives as long as the views."""

    def __init__(self, interface: dict[str, Any], owner: object) -> None:
        self.__array_interface__ = interface
        self.owner = owner


def live_view(array: Array, shape: tuple[int, ...], owner: object) -> Array:
    """The memory of ``array``, which belongs to ``owner``, column-major and of the given shape.

    The shape is not taken from the array: with one velocity a matrix arrives as a vector.
    """
    if array.size == 0:
        return np.zeros(shape)
    strides = tuple(8 * int(np.prod(shape[:axis])) for axis in range(len(shape)))
    return _strided(_address(array), shape, strides, owner)


def placement_views(placements: Any, owner: object) -> tuple[Array, Array] | None:
    """Views of all rotations and all translations of a Pinocchio vector of SE3.

    placements: ``data.oMf`` or alike, of length n >= 1. Returns: Rotations (n, 3, 3) and
    translations (n, 3); None where the memory is laid out otherwise.
    """
    rotations = [_address(item.rotation) for item in placements]
    translations = [_address(item.translation) for item in placements]
    steps = {PLACEMENT_BYTES} if len(rotations) > 1 else set()
    regular = (
        translations[0] - rotations[0] == 9 * 8
        and set(np.diff(rotations)) == steps
        and set(np.diff(translations)) == steps
        and placements[0].rotation.strides == (8, 24)
        and placements[0].translation.strides == (8,)
    )
    if not regular:
        return None
    count = len(rotations)
    rotation = _strided(rotations[0], (count, 3, 3), (PLACEMENT_BYTES, 8, 24), owner)
    translation = _strided(translations[0], (count, 3), (PLACEMENT_BYTES, 8), owner)
    return rotation, translation


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _strided(
    address: int, shape: tuple[int, ...], strides: tuple[int, ...], owner: object
) -> Array:
    interface = {
        "data": (address, False),
        "shape": shape,
        "strides": strides,
        "typestr": "<f8",
        "version": 3,
    }
    return np.asarray(_Memory(interface, owner))


class Workspace:
    """Memory for the evaluation of a model; one per thread.

    The arrays are live: they are allocated once and every update rewrites them in place, so copy
    what has to outlive the next update. World axes, m, rad, s, kg.
    """

    def __init__(self, model: Any) -> None:
        data = model.createData()
        self._model = model
        self._data = data
        self._energy_data: Any = None
        self._at_rest = np.zeros(int(model.nv))
        nv = int(model.nv)
        # M(q) with armature, symmetric, (nv, nv)
        self.mass: Array = live_view(data.M, (nv, nv), data)
        # h(q, v): Coriolis, centrifugal and gravity forces, (nv,)
        self.bias: Array = live_view(data.nle, (nv,), data)
        # spatial velocity of each joint's motion per velocity, in world axes, for the point that
        # passes the world origin; rows 0:3 linear, 3:6 angular, (6, nv). Multiplied by a row of
        # ``RobotModel.ancestor_mask`` it is the Jacobian of that frame
        self.jacobian: Array = live_view(data.J, (6, nv), data)
        # its time derivative, (6, nv)
        self.jacobian_rate: Array = live_view(data.dJ, (6, nv), data)
        pin.forwardKinematics(model, data, pin.neutral(model))
        pin.updateFramePlacements(model, data)
        views = placement_views(data.oMf, data)
        self._copies_placements = views is None
        if views is None:
            self._all_rotation = np.zeros((model.nframes, 3, 3))
            self._all_translation = np.zeros((model.nframes, 3))
        else:
            self._all_rotation, self._all_translation = views
        self._copy_placements()
        # Frame 0 is Pinocchio's own universe.
        # of each frame, maps its axes to world axes, (nframes, 3, 3)
        self.rotation: Array = self._all_rotation[1:]
        # of each frame's origin in the world, (nframes, 3)
        self.translation: Array = self._all_translation[1:]

    def update(self, q: Array, v: Array) -> None:
        """Fill every array for positions q (nq,) and velocities v (nv,).

        Raises:
            StateError: They have other sizes.
        """
        model, data = self._model, self._data
        expect_size("q", q, model.nq)
        expect_size("v", v, model.nv)
        pin.crba(model, data, q)
        pin.nonLinearEffects(model, data, q, v)
        # On the way to its derivatives it finds the Jacobian and its rate in world axes.
        pin.computeForwardKinematicsDerivatives(model, data, q, v, self._at_rest)
        pin.updateFramePlacements(model, data)
        self._copy_placements()

    def update_positions(self, q: Array) -> None:
        """Fill mass, jacobian, rotation and translation for positions q (nq,)."""
        pin.crba(self._model, self._data, q, pin.Convention.WORLD)  # computes the Jacobian as well
        pin.updateFramePlacements(self._model, self._data)
        self._copy_placements()

    def kinetic_energy(self, q: Array, v: Array) -> float:
        """Half vᵀ M(q) v with armature, in J; leaves the arrays of the last update alone."""
        data = self._for_energy()
        pin.crba(self._model, data, q)
        return 0.5 * float(v @ (data.M.reshape(len(v), len(v)) @ v))

    def potential_energy(self, q: Array) -> float:
        """Energy of gravity, zero with all masses at the world origin, in J; no array changes."""
        return float(pin.computePotentialEnergy(self._model, self._for_energy(), q))

    def _for_energy(self) -> Any:
        if self._energy_data is None:
            self._energy_data = self._model.createData()
        return self._energy_data

    def _copy_placements(self) -> None:
        if self._copies_placements:
            for index, placement in enumerate(self._data.oMf):
                self._all_rotation[index] = placement.rotation
                self._all_translation[index] = placement.translation
