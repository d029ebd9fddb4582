# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""All kinds, found in the sub-folders of this one: nothing lists them by hand."""

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from uk_dynamics.constraints.kinds.kind import Kind
from uk_dynamics.exceptions import UnknownNameError


@functools.cache
def kinds() -> Mapping[str, type[Kind]]:
    """All kinds by name: sub-folders in alphabetical order, and in each its files.

    A file ``hinge.py`` holds the kind of that name.
    """
    found: dict[str, type[Kind]] = {}
    for folder in _modules([str(Path(__file__).parent)], __package__, folders=True):
        for module in _modules(importlib.import_module(folder).__path__, folder, folders=False):
            name = module.rpartition(".")[2]
            here = vars(importlib.import_module(module)).values()
            own = [  # by module first: Python 3.10 takes aliases like dict[str, int] for types
                kind
                for kind in here
                if isinstance(kind, type) and kind.__module__ == module and issubclass(kind, Kind)
            ]
            if len(own) != 1 or own[0].name != name or name in found:
                raise ImportError(f'{module}: one kind named "{name}" is expected in this file')
            found[name] = own[0]
    return found


def _modules(path: Iterable[str], parent: str, *, folders: bool) -> list[str]:
    return sorted(
        f"{parent}.{entry.name}" for entry in pkgutil.iter_modules(path) if entry.ispkg is folders
    )


def kind_named(name: str) -> type[Kind]:
    """The kind of a name; UnknownNameError: there is none."""
    if name not in kinds():
        raise UnknownNameError("constraint type", name, kinds())
    return kinds()[name]


def kind_by_foreign_name(
    word: str,  # such as ``revolute``
    by: str,  # format or library, such as ``SDF``
) -> type[Kind] | None:
    """The kind that a format or library calls so, None where there is none."""
    return next((kind for kind in kinds().values() if word in kind.foreign_names.get(by, ())), None)


def foreign_words(by: str) -> list[str]:
    """What a format or library calls kinds, in alphabetical order."""
    return sorted({word for kind in kinds().values() for word in kind.foreign_names.get(by, ())})


_COMMON = "common.schema.json#/definitions/"
_CONSTRAINT = "constraint.schema.json#/definitions/"
#: Keys that every kind has, in the order in which errors list them.
SHARED: dict[str, dict[str, str]] = {
    "reference": {"$ref": f"{_CONSTRAINT}reference"},
    **{
        key: {"$ref": _COMMON + key}
        for key in (
            *("feedback", "level", "priority", "relaxed", "while_lifted", "compliance"),
            *("switchable", "active", "on_activation"),
            *("one_sided", "backlash", "restitution", "stabilization"),
        )
    },
    **{key: {"$ref": _CONSTRAINT + key} for key in ("indices", "for_each", "where")},
}


def definitions() -> dict[str, Any]:
    """Definitions ``constraint_type`` (the names), ``kinds`` (what each needs) and one per kind."""
    removed = ", ".join(f"{kind.name} {kind.removes}" for kind in kinds().values())
    return {
        "constraint_type": {
            "title": "Type",
            "description": f"Rows removed: {removed}.",
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


def _definition(kind: type[Kind]) -> dict[str, Any]:
    keys: dict[str, Any] = {"type": {}}
    for key, rule in kind.keys.items():
        title = {} if "$ref" in rule else {"title": key.replace("_", " ").capitalize()}
        keys[key] = {**title, **rule}
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
