"""How motors share their work, as a tasks file declares it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Numbers = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class AllocationSpec:
    """What decides where tasks leave efforts open.

    Attributes:
        weights: Of the squares of the efforts in the sum that is least: 1/limit², one each, or by
            motor name.
        preload: Efforts to come close to where tasks leave freedom, by motor name, in N or N·m.
        internal_forces: What rows of loops shall bear in addition, by row name, in N or N·m.
    """

    weights: Literal["limits", "equal"] | Numbers = "limits"
    preload: Numbers = ()
    internal_forces: Numbers = ()

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> AllocationSpec:
        """Build it from checked data."""
        weights = data.get("weights", cls.weights)
        return cls(
            weights if isinstance(weights, str) else _numbers(weights),  # type: ignore[arg-type]
            _numbers(data.get("preload", {})),
            _numbers(data.get("internal_forces", {})),
        )


def _numbers(data: Mapping[str, float]) -> Numbers:
    return tuple((name, float(value)) for name, value in data.items())
