# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Forces and torques on links, given by name, as generalized forces."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.model import RobotModel
from uk_dynamics.model.kinematics import Workspace

#: The origin of a link or frame, by name, or a point in it: its name and three numbers in m.
Point = str | tuple[str, Sequence[float]]
_EXPECTED = 'expected the name of a link, or a point in it, such as ("link", (0.1, 0, 0))'


def split_point(point: Point) -> tuple[str, Array]:
    """Name of a link, and a point in its frame, (3,), in m.

    Raises:
        StateError: It is neither a name nor a name with three numbers.
    """
    name, place = (point, np.zeros(3)) if isinstance(point, str) else _pair(point)
    if not isinstance(name, str):
        raise StateError(f'{_EXPECTED}, found "{point}"')
    return name, _finite(place, 3, f"point in {name}")


def placed(model: RobotModel, workspace: Workspace, point: Point) -> tuple[int, Array, Array]:
    """Frame that carries a point, where the point is, (3,), in m, and the frame's rotation.

    Raises:
        UnknownNameError: A link does not exist.
        StateError: As of :func:`split_point`.
    """
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
