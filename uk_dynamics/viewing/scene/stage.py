# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where a scene is drawn, and what a camera has to know of it: size and corners."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import RobotModel
from uk_dynamics.model.urdf import Box, Cylinder, MeshFile, Visual

if TYPE_CHECKING:
    from viser import ViserServer
else:  # an extra whose import takes seconds
    ViserServer = Any

_LEAST_SIZE = 0.2  # m


@dataclass(frozen=True)
class Stage:
    """Box around the frames of a mechanism at its initial guess."""

    low: Array  # opposite corners, (3,), in m
    high: Array
    size: float  # length of its diagonal, in m; what is drawn is measured by it


def stage(mechanism: Mechanism) -> Stage:
    """Measure a mechanism."""
    workspace = mechanism.model.workspace()
    workspace.update_positions(mechanism.initial_guess)
    points = workspace.translation
    low, high = points.min(axis=0), points.max(axis=0)
    return Stage(low, high, max(float(np.linalg.norm(high - low)), _LEAST_SIZE))


_SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))


class Corners:
    """Origins of the links, and corners of the boxes around their shapes; of meshes the origin."""

    def __init__(self, model: RobotModel, visuals: Iterable[Visual], size: float) -> None:
        """Of what stands still, such as ground, count up to the ``size`` of the scene, in m."""
        self._count = len(model.link_names)
        above = {joint.child: joint for joint in model.description.joints}

        def moves(link: str) -> bool:
            joint = above.get(link)
            return joint is not None and (joint.type != "fixed" or moves(joint.parent))

        links, corners = [], []
        for visual in visuals:
            half = np.minimum(_half(visual), np.inf if moves(visual.link) else 0.5 * size)
            pose = visual.pose
            corners.append(pose.translation + (_SIGNS * half) @ pose.rotation.T)
            links.append(model.link_names.index(visual.link))
        self._links = np.repeat(np.array(links, dtype=int), len(_SIGNS))
        self._corners = np.concatenate([np.zeros((0, 3)), *corners])

    def at(self, rotation: Array, translation: Array) -> Array:
        """Places of the corners, links at rotations (n, 3, 3) and translations (n, 3), in m."""
        turned = np.einsum("kij,kj->ki", rotation[self._links], self._corners)
        return np.concatenate([translation[: self._count], translation[self._links] + turned])


def _half(visual: Visual) -> Array:
    """Half the edges of the box around a shape, (3,), in m."""
    shape = visual.shape
    if isinstance(shape, Box):
        return 0.5 * np.array(shape.size)
    if isinstance(shape, MeshFile):
        return np.zeros(3)
    if isinstance(shape, Cylinder):
        return np.array([shape.radius, shape.radius, 0.5 * shape.length])
    return np.full(3, shape.radius)
