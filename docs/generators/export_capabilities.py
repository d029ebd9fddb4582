# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What each format can say, in its words; the page on export shows this table, a test tries it."""

from __future__ import annotations

from collections.abc import Mapping

from uk_dynamics.conversion import FORMATS, KINDS_OF

#: Format, in the order of the columns; a cell that is missing means that the format cannot say it.
COLUMNS = FORMATS
_URDFS = ("urdf-constraint", "urdf+", "gepetto")


def _urdf(words: str) -> dict[str, str]:
    return dict.fromkeys(_URDFS, words)


def _between_frames() -> dict[str, dict[str, str]]:
    """What the exporters call kinds between frames, those that most formats have first."""
    words: dict[str, dict[str, str]] = {}
    for to, known in KINDS_OF.items():
        for kind, word in known.items():
            words.setdefault(kind.name, {})[to] = word
    return dict(sorted(words.items(), key=lambda row: -len(row[1])))


CONSTRAINTS: Mapping[str, Mapping[str, str]] = {
    **_between_frames(),
    "joint": {"sdf": "fixed", "mjcf": "joint", "gepetto": "6d"}
    | dict.fromkeys(("urdf-constraint", "urdf+"), "fixed"),
    "joint_coupling": {"sdf": "mimic, gearbox", "mjcf": "joint"}
    | _urdf("mimic")
    | {"urdf+": "coupling, mimic"},
    "joint_coupling of three joints": {"mjcf": "equality of a tendon"},
    "rack_and_pinion": {"sdf": "mimic", "mjcf": "joint"} | _urdf("mimic") | {"urdf+": "coupling"},
    "a constraint that is off at the start": {"mjcf": "active"},
    "a reference that moves": {},
    "compliance": {},
    "friction of a constraint": {},
}

OTHERS: Mapping[str, Mapping[str, str]] = {
    "damping of a joint": {"sdf": "dynamics", "mjcf": "damping"} | _urdf("dynamics"),
    "dry friction of a joint": {"sdf": "dynamics", "mjcf": "frictionloss"} | _urdf("dynamics"),
    "spring of a joint": {"sdf": "spring_stiffness", "mjcf": "stiffness"},
    "armature": {"mjcf": "armature"},
    "contact of round bodies, planes and boxes": {"mjcf": "pair"},
    "hard stop": {"mjcf": "range"},
    "stop": {"sdf": "limit stiffness"},
    "velocity limit": {"sdf": "limit velocity"} | _urdf("limit velocity"),
    "motor of one joint": {"sdf": "plugin", "mjcf": "motor"}
    | _urdf("transmission")
    | {"gepetto": "name_mot"},
    "motor of several joints": {"mjcf": "motor of a tendon"},
    "power or rate limit": {},
    "joint_spring": {"mjcf": "tendon"},
    "line_spring": {"mjcf": "tendon"},
    "effort, wrench, expression": {},
    "gravity": {"mjcf": "option gravity"},
    "floating root": {"sdf": "no joint to the world", "mjcf": "freejoint"},
    "initial_guess": {"sdf": "drawn there", "mjcf": "ref"},
    "initial_velocity": {},
    "stabilization, level, solver": {},
    "shapes": {"sdf": "visual", "mjcf": "geom"} | _urdf("visual"),
}
