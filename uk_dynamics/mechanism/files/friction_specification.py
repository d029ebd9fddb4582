"""Friction of a loop joint as a mechanism file declares it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from uk_dynamics.constraints.kinds import Kind
from uk_dynamics.exceptions import MechanismFileError


@dataclass(frozen=True)
class FrictionSpec:
    """Friction in a loop joint; see :mod:`uk_dynamics.forces.joint_friction`."""

    coulomb: float = 0.0  # Friction force per force that the joint transmits, without unit
    viscous: float = 0.0  # In N·s/m of sliding and N·m·s/rad of turning
    velocity: float = 1e-3  # Speed of the surfaces at which Coulomb friction is at tanh(1), in m/s
    radius: float = 0.0  # Of the pin or ball, in m

    @classmethod
    def from_data(cls, data: Mapping[str, Any], kind: Kind) -> FrictionSpec:
        """Build it from checked data."""
        if kind.friction is not None and kind.friction.refusal:
            raise MechanismFileError(kind.friction.refusal)
        spec = cls(**{key: float(value) for key, value in data.items()})
        if not (spec.coulomb or spec.viscous):
            problem = "neither coulomb nor viscous is above 0; give one, such as coulomb: 0.1"
            raise MechanismFileError(problem)
        kind.check_friction(spec.coulomb, spec.radius if "radius" in data else None)
        return spec
