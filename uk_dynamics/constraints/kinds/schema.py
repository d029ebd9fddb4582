"""The JSON Schema of constraints and tasks, as far as it depends on their kinds."""

from __future__ import annotations

from typing import Any

from uk_dynamics.constraints.kinds.kind import Kind
from uk_dynamics.constraints.kinds.registry import kinds

_COMMON = "common.schema.json#/definitions/"
_CONSTRAINT = "constraint.schema.json#/definitions/"
#: Keys that every kind has, in the order in which errors list them.
SHARED: dict[str, dict[str, str]] = {
    "reference": {"$ref": f"{_CONSTRAINT}reference"},
    **{
        key: {"$ref": _COMMON + key}
        for key in (
            "feedback",
            "level",
            "priority",
            "compliance",
            "switchable",
            "active",
            "on_activation",
            "stabilization",
        )
    },
    **{key: {"$ref": _CONSTRAINT + key} for key in ("indices", "for_each", "where")},
}


def definitions() -> dict[str, Any]:
    """Definitions ``constraint_type`` (the names), ``kinds`` (what each needs) and one per kind."""
    return {
        "constraint_type": {
            "title": "Type",
            "description": f"Rows removed: {', '.join(map(_rows, kinds().values()))}.",
            "type": "string",
            "enum": list(kinds()),
            "examples": ["hinge"],
        },
        "kinds": {
            "title": "Kinds",
            "description": "What each kind of constraint or task needs.",
            "allOf": [
                {
                    "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                    "then": {"$ref": f"{_CONSTRAINT}{name}_type"},
                }
                for name in kinds()
            ],
        },
    } | {f"{name}_type": _definition(kind) for name, kind in kinds().items()}


def _rows(kind: type[Kind]) -> str:
    return f"{kind.name} {kind.removes}"


def _definition(kind: type[Kind]) -> dict[str, Any]:
    keys: dict[str, Any] = {"type": {}, **kind.keys}
    for role in (*kind.frames, *kind.optional_frames):
        keys[role] = {"$ref": f"{_COMMON}frame"}
    if kind.friction is not None:
        keys["friction"] = {"$ref": "forces.schema.json#/definitions/friction"}
    return {
        "properties": keys | SHARED,
        "required": ["type", *kind.required, *kind.frames],
        "additionalProperties": False,
        **kind.conditions,
    }
