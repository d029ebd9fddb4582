"""How a file declares that a constraint can be switched on and off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from uk_dynamics.exceptions import MechanismFileError


@dataclass(frozen=True)
class SwitchingSpec:
    """How a constraint is switched on and off while the machine runs."""

    active: bool = True  # Whether it is on at the start
    # capture closes it on the pose found when it is switched on; require refuses to switch it on
    # away from its own pose
    on_activation: Literal["capture", "require"] = "capture"

    @classmethod
    def from_data(cls, data: Mapping[str, Any], *, file: str, place: str) -> SwitchingSpec | None:
        """Build it from the checked data of a constraint; None where it is not switchable."""
        if not data.get("switchable", False):
            for key in ("active", "on_activation"):
                if key in data:
                    problem = f"{key} is for constraints with switchable: true"
                    raise MechanismFileError(problem, file=file, place=f"{place}.{key}")
            return None
        spec = cls(data.get("active", True), data.get("on_activation", "capture"))
        if spec.on_activation == "capture" and "reference" in data:
            problem = (
                "a captured pose takes the place of the reference; leave the reference out, or set "
                "on_activation: require"
            )
            raise MechanismFileError(problem, file=file, place=f"{place}.on_activation")
        return spec
