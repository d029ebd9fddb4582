# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The corners of what links look like, so that a camera can see all of it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.model import RobotModel
from uk_dynamics.model.urdf import Box, Cylinder, MeshFile, Visual

_SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))


class Corners:
    """Origins of the links, and corners of the boxes around their shapes; of meshes the origin."""

    def __init__(self, model: RobotModel, visuals: Iterable[Visual], size: float) -> None:
        """Shapes that are larger than the scene, such as ground, count up to its ``size`` in m."""
        self._count = len(model.link_names)
        links, corners = [], []
        for visual in visuals:
            half = np.minimum(_half(visual), 0.5 * size)
            pose = visual.pose
            corners.append(pose.translation + (_SIGNS * half) @ pose.rotation.T)
            links.append(model.link_names.index(visual.link))
        self._links = np.repeat(np.array(links, dtype=int), len(_SIGNS))
        self._corners = np.concatenate([np.zeros((0, 3)), *corners])

    def at(self, rotation: Array, translation: Array) -> Array:
        """Where they are with the links at rotations (n, 3, 3) and translations (n, 3), in m."""
        turned = np.einsum("kij,kj->ki", rotation[self._links], self._corners)
        origins = translation[: self._count]
        found: Array = np.concatenate([origins, translation[self._links] + turned])
        return found


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
