# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Keys that several kinds have: what they mean, as JSON Schema, and how they are read."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from uk_dynamics.constraints.rows.joint_rows import weighted_joints
from uk_dynamics.constraints.rows.row import Direction
from uk_dynamics.exceptions import MechanismFileError, located

_SHORTEST = 1e-9


def number(unit: str, description: str, example: float, **rules: Any) -> dict[str, Any]:
    """A number in a unit."""
    known = {"type": "number", "x-unit": unit, "description": description}
    return {**known, "examples": [example], **rules}


def direction(description: str, example: list[int], **rules: Any) -> dict[str, Any]:
    """A vector whose length does not count."""
    return {"description": description, **_VECTOR, "examples": [example], **rules}


def several(items: Mapping[str, Any]) -> dict[str, Any]:
    """One or more of a kind, each at most once."""
    return {"type": "array", "items": items, "minItems": 1, "uniqueItems": True}


_NUMBER = {"type": "number"}
_VECTOR: dict[str, Any] = {"type": "array", "items": _NUMBER, "minItems": 3, "maxItems": 3}
AXIS = direction(
    "Direction of the joint's axis in the parent frame (the normal of a planar joint); any length"
    " but zero.",
    [0, 1, 0],
)
AXES: dict[str, Any] = {
    "title": "Constrained axes",
    "description": "Directions of the parent frame that are constrained: x y z translations, rx ry"
    " rz rotations; each at most once.",
    **several({"type": "string", "enum": ["x", "y", "z", "rx", "ry", "rz"]}),
    "examples": [["x", "z"]],
}
JOINT: dict[str, Any] = {"$ref": "common.schema.json#/definitions/joint"}
JOINTS: dict[str, Any] = {"$ref": "common.schema.json#/definitions/weighted_joints"}
OFFSET = number(
    "rad or m", "The weighted sum of the joint positions, in rad or m; default 0.", 0.0, default=0.0
)


def unit_axis(values: Sequence[float], key: str) -> Direction:
    """Scale a direction to length 1."""
    length = math.hypot(*values)
    if not _SHORTEST < length < math.inf:
        problem = f"an axis of length {length:g} has no direction; write for example [0, 1, 0]"
        raise MechanismFileError(problem, place=key)
    x, y, z = (float(value) / length for value in values)
    return x, y, z


def read_value(value: Any, rule: Mapping[str, Any], key: str) -> Any:
    """A value as its schema means it: lists of numbers are directions, other lists tuples."""
    if rule == JOINTS:
        with located(place=key):
            return weighted_joints(value)
    if isinstance(value, list):
        return unit_axis(value, key) if rule["items"] == _NUMBER else tuple(value)
    return float(value) if rule.get("type") == "number" else value
