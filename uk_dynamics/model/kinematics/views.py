"""NumPy views of memory that Pinocchio owns, which keep their owner alive."""

from __future__ import annotations

from typing import Any

import numpy as np

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

    Args:
        placements: ``data.oMf`` or alike, of length n >= 1.
        owner: What must stay alive.

    Returns:
        Rotations (n, 3, 3) and translations (n, 3); None where the memory is laid out otherwise.
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
