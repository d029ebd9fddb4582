"""Friction of a loop joint as a mechanism file declares it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uk_dynamics.exceptions import MechanismFileError

_TURNING = ("point", "hinge", "universal")
_TRANSLATIONS = ("x", "y", "z")


@dataclass(frozen=True)
class FrictionSpec:
    """Friction in a loop joint; see :mod:`uk_dynamics.forces.joint_friction`.

    Attributes:
        coulomb: Friction force per force that the joint bears, without unit.
        viscous: In N·s/m of sliding and N·m·s/rad of turning.
        velocity: Speed of the surfaces at which Coulomb friction is at tanh(1), in m/s.
        radius: Of the pin or ball, in m.
    """

    coulomb: float = 0.0
    viscous: float = 0.0
    velocity: float = 1e-3
    radius: float = 0.0

    @classmethod
    def from_data(
        cls, data: Mapping[str, Any], kind: str, axes: Sequence[str], *, file: str, place: str
    ) -> FrictionSpec:
        """Build it from checked data.

        Args:
            data: What the key ``friction`` holds.
            kind: Type of the constraint.
            axes: Of type frame: the constrained directions.
            file: File of the declaration.
            place: Where it stands there.

        Raises:
            MechanismFileError: The joint cannot rub, or its friction would silently be nothing.
        """
        if kind == "weld":
            problem = "a weld does not move, so nothing rubs; remove the key, or use another type"
            raise MechanismFileError(problem, file=file, place=place)
        spec = cls(**{key: float(value) for key, value in data.items()})
        if not (spec.coulomb or spec.viscous):
            problem = "neither coulomb nor viscous is above 0; give one, such as coulomb: 0.1"
            raise MechanismFileError(problem, file=file, place=place)
        if not spec.coulomb:
            return spec
        if kind in ("frame", "relative_frame") and not set(axes) & set(_TRANSLATIONS):
            problem = (
                "Coulomb friction needs the force across the joint, but no translation is"
                " constrained; keep viscous alone, or add x, y or z to axes"
            )
            raise MechanismFileError(problem, file=file, place=f"{place}.coulomb")
        if kind in _TURNING and not spec.radius:
            problem = (
                f'a joint of type "{kind}" turns on a pin, whose radius gives the torque;'
                " give for example radius: 0.01"
            )
            raise MechanismFileError(problem, file=file, place=f"{place}.radius")
        if kind == "frame" and "radius" not in data:
            problem = (
                "which way a frame moves is not known here; give the radius of the pin on which it"
                " turns, for example radius: 0.01, or radius: 0 where it only slides"
            )
            raise MechanismFileError(problem, file=file, place=f"{place}.radius")
        return spec
