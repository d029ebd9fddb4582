# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Frames as a file declares them: a link and a pose in it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uk_dynamics.exceptions import MechanismFileError, inside

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

_SHORTEST = 1e-9


@dataclass(frozen=True)
class FrameSpec:
    """A frame fixed in a link."""

    link: str  # Name of a URDF link or frame
    xyz: Vector = (0.0, 0.0, 0.0)  # Origin in the link, (3,), in m
    quaternion: Quaternion = (0.0, 0.0, 0.0, 1.0)  # Rotation in the link, (x, y, z, w), of length 1

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "FrameSpec":
        """Build the frame from checked data; a quaternion must have length 1 within a tenth."""
        quaternion = quaternion_from_rpy(vector(data["rpy"])) if "rpy" in data else cls.quaternion
        if "quaternion" in data:
            quaternion = _unit_quaternion(data["quaternion"])
        return cls(data["link"], vector(data.get("xyz", cls.xyz)), quaternion)


def frames_of(data: Mapping[str, Any], *roles: str) -> dict[str, FrameSpec]:
    """Frames of a constraint or a force by role, as far as there are, each on another link."""
    frames = {}
    for role in roles:
        if role in data:
            with inside("", role):
                frames[role] = FrameSpec.from_data(data[role])
    if len({frame.link for frame in frames.values()}) < len(frames):
        problem = f'both frames are on "{data["child"]["link"]}"; name two links'
        raise MechanismFileError(problem, place="child.link")
    return frames


def given(data: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """The numbers that stand there of some keys; what is left out has its default."""
    return {key: float(data[key]) for key in keys if key in data}


def vector(values: Sequence[float]) -> Vector:
    """Three numbers as a tuple of floats."""
    x, y, z = (float(value) for value in values)
    return x, y, z


def quaternion_from_rpy(rpy: Vector) -> Quaternion:
    """Rotations about the fixed x, y and z axes, in this order, in rad, as (x, y, z, w)."""
    (sr, cr), (sp, cp), (sy, cy) = ((math.sin(a / 2), math.cos(a / 2)) for a in rpy)
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


def _unit_quaternion(values: Sequence[float]) -> Quaternion:
    length = math.hypot(*values)
    if not _SHORTEST < length < math.inf:
        problem = f"a quaternion of length {length:g} is no rotation; no rotation is [0, 0, 0, 1]"
        raise MechanismFileError(problem, place="quaternion")
    x, y, z, w = (value / length for value in values)
    if abs(length - 1.0) > 0.1:
        problem = (
            f"a quaternion [x, y, z, w] has length 1, found {length:.4g}; "
            f"did you mean [{x:.4g}, {y:.4g}, {z:.4g}, {w:.4g}]?"
        )
        raise MechanismFileError(problem, place="quaternion")
    return x, y, z, w
