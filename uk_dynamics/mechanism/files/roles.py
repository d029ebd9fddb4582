"""Keys that only structural constraints have, or only tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.files.wording import place_text

_FOREIGN = {
    "tasks": {"friction": "friction is in the joints of a machine, not in its tasks; remove it"}
    | {"level": "level orders constraints of the mechanism file; of tasks it is priority"}
    | dict.fromkeys(
        ("compliance", "switchable", "active", "on_activation"),
        "this is for constraints of the mechanism file; motors enforce tasks",
    ),
    "constraints": {
        "priority": "priority orders tasks; of constraints it is level",
        "feedback": "feedback is what motors do about a task, joints do not; remove it",
    },
}


def refuse_foreign_keys(
    entries: Mapping[str, Mapping[str, Any]], role: Literal["tasks", "constraints"], file: str
) -> None:
    """Refuse what the shared schema allows but the role does not have."""
    for name, entry in entries.items():
        for key, problem in _FOREIGN[role].items():
            if key in entry:
                raise MechanismFileError(problem, file=file, place=place_text((role, name, key)))
