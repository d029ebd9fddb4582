# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Words that errors about files share: where a value stands, and how it is shown."""

import json
import re

Place = tuple[str | int, ...]
"""Keys and list positions that lead from the top of a file to a value."""


def place_text(place: Place) -> str:
    """Write a place as ``constraints.right_pin.axes[1]``."""
    text = ""
    for step in place:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            plain = step if re.fullmatch(r"[\w-]{1,64}", step) else shown(step)
            text += f".{plain}" if text else plain
    return text


def shown(value: object) -> str:
    """Show a value inside an error message: one line, and not more than a few words."""
    if isinstance(value, dict):
        return "a mapping (key: value)" if value else "an empty mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    if value is None:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 48 else text[:40] + '..."'
