# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Joint forces as a linear function of the inertial parameters of links."""

import numpy as np
import pinocchio as pin

from uk_dynamics.model.robot_model import RobotModel
from uk_dynamics.model.urdf.description import Array

# Pinocchio's order: mass, first moments of mass, moments about the link's origin.
PARAMETERS_OF_A_LINK = (
    *("mass", "moment.x", "moment.y", "moment.z"),
    *("inertia.xx", "inertia.xy", "inertia.yy", "inertia.xz", "inertia.yz", "inertia.zz"),
)
_PLACES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # of the moments in a matrix


def pseudo_inertia(parameters: Array) -> Array:
    """∫ (x, 1)(x, 1)ᵀ dm, (4, 4), of ten parameters; a possible body has a positive definite one.

    Source: Wensing, Kim, Slotine: Linear matrix inequalities for physically consistent inertial
    parameter identification (RA-L 2018), (17).
    """
    inertia = np.zeros((3, 3))
    for value, (i, j) in zip(parameters[4:], _PLACES, strict=True):
        inertia[i, j] = inertia[j, i] = value
    whole = np.empty((4, 4))
    whole[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    whole[:3, 3] = whole[3, :3] = parameters[1:4]
    whole[3, 3] = parameters[0]
    return whole


def parameters_of(pseudo: Array) -> Array:
    """The ten parameters of a pseudo-inertia, (10,); the inverse of :func:`pseudo_inertia`."""
    second = pseudo[:3, :3]
    inertia = np.trace(second) * np.eye(3) - second
    return np.array([pseudo[3, 3], *pseudo[:3, 3], *[inertia[i, j] for i, j in _PLACES]])


def parameters_of_body(mass: float, center: Array, inertia: Array) -> Array:
    """The ten parameters, (10,), of a mass in kg, its centre (3,) in m, and moments about it."""
    about = inertia + mass * (center @ center * np.eye(3) - np.outer(center, center))
    return np.array([mass, *(mass * center), *(about[i, j] for i, j in _PLACES)])


def body_of_parameters(parameters: Array) -> tuple[float, Array, Array]:
    """Mass in kg, centre (3,) in m and moments about it (3, 3) in kg m², of ten parameters."""
    mass = float(parameters[0])
    center = parameters[1:4] / mass if mass else np.zeros(3)
    about = np.zeros((3, 3))
    for value, (i, j) in zip(parameters[4:], _PLACES, strict=True):
        about[i, j] = about[j, i] = value
    return mass, center, about - mass * (center @ center * np.eye(3) - np.outer(center, center))


class InertialRegressor:
    """Y with M q̈ + h = Y π + armature · q̈, for the ten parameters π of each moving link."""

    def __init__(self, model: RobotModel) -> None:
        """Find the links that move."""
        self._model = model.pinocchio
        self._data = model.pinocchio.createData()
        self._nv = model.nv
        self._bodies = {}
        for link in model.link_names:
            frame = model.body_frames[model.frame_index(link)]
            if frame.body >= 0:
                pose = np.eye(4)
                pose[:3, :3], pose[:3, 3] = frame.rotation, frame.translation
                units = (parameters_of(pose @ pseudo_inertia(e) @ pose.T) for e in np.eye(10))
                self._bodies[link] = frame.body, np.column_stack(list(units))
        self._columns = np.zeros((model.nv, 0))

    @property
    def links(self) -> tuple[str, ...]:
        """The links that move."""
        return tuple(self._bodies)

    def body(self, link: str) -> int:
        """Number of the rigid body that a moving link is part of."""
        return self._bodies[link][0]

    def update(self, q: Array, v: Array, qdd: Array) -> None:
        """Set positions (nq,), velocities (nv,) and accelerations (nv,)."""
        found = pin.computeJointTorqueRegressor(self._model, self._data, q, v, qdd)
        self._columns = np.asarray(found).reshape(self._nv, -1)

    def of_link(self, link: str) -> Array:
        """Joint forces per unit of the ten parameters of a moving link, (nv, 10)."""
        body, mapped = self._bodies[link]
        return self._columns[:, 10 * body : 10 * body + 10] @ mapped
