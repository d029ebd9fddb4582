# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Views from the front, the side, above and aslant, and one that shows all of the machine."""

import math
from types import MappingProxyType
from typing import Any

import numpy as np

from uk_dynamics.mechanism.resolution import Array

# From where one looks: a planar mechanism lies in x and z, and its front is what y points away from
_FROM = MappingProxyType(
    {
        "Front": (0.0, -1.0, 0.0),
        "Side": (1.0, 0.0, 0.0),
        "Top": (0.0, -1e-3, 1.0),  # not quite along the upright, or it would not know up
        "Isometric": (1.0, -1.0, 0.8),
    }
)
FIT = "Fit"
PRESETS = (*_FROM, FIT)
START = (0.3, -1.1, 0.4)
_MARGIN = 1.3  # of the distance: links have a thickness
# Width over height: below, the panel covers the lower part of the page, as on phones.
_UPRIGHT = 0.7
_STILL = 1e-3  # of the distance: what a page reports is rounded
_UNCOVERED = 0.4  # of the height


def look(camera: Any, preset: str, points: Array) -> None:
    """Move a camera to one of ``PRESETS``, to see all points, (n, 3), in m."""
    if preset == FIT:
        direction = np.array(camera.position) - np.array(camera.look_at)
    else:
        direction = np.array(_FROM[preset])
    position, centre = placed(direction, points, float(camera.fov), float(camera.aspect))
    camera.up_direction = (0.0, 0.0, 1.0)
    camera.position, camera.look_at = position, centre


class Fitted:
    """A new camera that shows all of the machine until the user moves it."""

    def __init__(self, camera: Any) -> None:
        self._camera = camera
        self._aspect = math.nan  # of the picture, when the camera was placed last
        self._position: Array | None = None

    @property
    def due(self) -> bool:
        """Whether the picture has another shape, and the camera is where it was placed."""
        if self._position is None:
            return True
        moved = np.linalg.norm(self._camera.position - self._position)
        still = bool(moved <= _STILL * np.linalg.norm(self._position))
        return still and float(self._camera.aspect) != self._aspect

    def fit(self, points: Array) -> None:
        """Place the camera where it sees all points, (n, 3), in m."""
        camera = self._camera
        self._aspect = float(camera.aspect)
        self._position, centre = placed(np.array(START), points, float(camera.fov), self._aspect)
        camera.position, camera.look_at = self._position, centre


def placed(
    direction: Array,  # from what it looks at, of any length, (3,)
    points: Array,  # to be seen, (n, 3), in m
    fov: float,  # angle of view from top to bottom, in rad
    aspect: float,  # width of the picture over its height
) -> tuple[Array, Array]:
    """Where a camera stands in a direction and looks, so that it sees all points uncovered."""
    low, high = points.min(axis=0), points.max(axis=0)
    centre = 0.5 * (low + high)
    towards = -np.asarray(direction, dtype=float)
    size = float(np.linalg.norm(towards))
    towards = towards / size if size > 0.0 else np.array([0.0, 1.0, 0.0])
    right = np.cross(towards, (0.0, 0.0, 1.0))
    right /= max(float(np.linalg.norm(right)), 1e-12)
    up = np.cross(right, towards)
    seen = points - centre
    whole = math.tan(0.5 * fov)
    wide = whole * max(aspect, 1e-3)
    tall = whole * (_UNCOVERED if aspect < _UPRIGHT else 1.0)
    # each point has to lie within the pyramid of view
    depth = -(seen @ towards)
    needed = np.maximum(np.abs(seen @ up) / tall, np.abs(seen @ right) / wide) + depth
    distance = _MARGIN * max(float(needed.max(initial=0.0)), 0.1)
    below = centre - (whole - tall) * distance * up  # of what is uncovered, the middle
    return below - distance * towards, below
