"""Constraints as a file declares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from uk_dynamics.constraints.expressions.families import FAMILY_KEYS
from uk_dynamics.constraints.kinds.joints.expression import Expression
from uk_dynamics.constraints.kinds.kind import Kind
from uk_dynamics.constraints.kinds.registry import kind_named
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.files.frame_specification import FrameSpec
from uk_dynamics.mechanism.files.friction_specification import FrictionSpec
from uk_dynamics.mechanism.files.reference_specification import ReferenceSpec
from uk_dynamics.mechanism.files.switching_specification import SwitchingSpec
from uk_dynamics.mechanism.files.wording import inside


@dataclass(frozen=True)
class StabilizationSpec:
    """How a violation decays: b −= 2ζω ψ̇ + ω²ψ with ω = 2π · frequency.

    Attributes:
        frequency: In Hz; 0 is no stabilisation.
        damping_ratio: ζ, without unit; 1 is critical.
    """

    frequency: float = 5.0
    damping_ratio: float = 1.0

    @classmethod
    def from_data(
        cls, data: Mapping[str, Any], default: StabilizationSpec | None = None
    ) -> StabilizationSpec:
        """Build it from checked data; what the data leave out comes from ``default``."""
        base = default or cls()
        return cls(
            float(data.get("frequency", base.frequency)),
            float(data.get("damping_ratio", base.damping_ratio)),
        )


@dataclass(frozen=True)
class ConstraintSpec:
    """A constraint between two frames, or between joints: structural, or a task.

    Attributes:
        name: Its key in the file.
        kind: What holds: its kind, with the keys of that kind.
        parent: Frame that axes refer to; None where the kind has none or it is the world.
        child: Frame that is held; None where the kind has none.
        level: Place in the hierarchy, 1 first.
        priority: Of tasks: 1 is served first where motors cannot serve all.
        stabilization: How a violation decays.
        reference: Wanted value of each row over time; None is zero.
        friction: Of the joint; None: there is none.
        feedback: Of tasks: whether the stabilisation is distributed like the rest of what the task
            asks (baumgarte), or by the acceleration of least norm (generalized_inverse).
        compliance: In m/N; 0 is rigid.
        switching: How it is switched on and off; None: it always holds.
    """

    name: str
    kind: Kind
    parent: FrameSpec | None = None
    child: FrameSpec | None = None
    level: int = 1
    priority: int = 1
    stabilization: StabilizationSpec = StabilizationSpec()
    reference: ReferenceSpec | None = None
    friction: FrictionSpec | None = None
    feedback: Literal["baumgarte", "generalized_inverse"] = "baumgarte"
    compliance: float = 0.0
    switching: SwitchingSpec | None = None

    @property
    def type(self) -> str:
        """Name of the kind, as the file has it."""
        return self.kind.name

    @classmethod
    def from_data(
        cls,
        name: str,
        data: Mapping[str, Any],
        default: StabilizationSpec,
        *,
        file: str,
        place: str,
    ) -> ConstraintSpec:
        """Build the constraint from checked data.

        Raises:
            MechanismFileError: Keys that make no constraint of this kind, a quaternion of zero
                length, both frames on one link, friction where there can be none, a reference of
                another size, a compliance without stabilisation, or keys of switchable constraints
                on one that is not.
        """
        frames = {
            role: FrameSpec.from_data(data[role], file=file, place=f"{place}.{role}")
            for role in ("parent", "child")
            if role in data
        }
        if len({frame.link for frame in frames.values()}) < len(frames):
            problem = f'both frames are on "{data["child"]["link"]}"; name two links'
            raise MechanismFileError(problem, file=file, place=f"{place}.child.link")
        for key in FAMILY_KEYS:
            if key in data and data["type"] != Expression.name:
                problem = "a family needs both indices and for_each, such as {cells: 5}, {i: cells}"
                raise MechanismFileError(problem, file=file, place=f"{place}.{key}")
        with inside(file, place):
            kind = kind_named(data["type"]).from_data(data)
        friction = None
        if "friction" in data:
            with inside(file, f"{place}.friction"):
                friction = FrictionSpec.from_data(data["friction"], kind)
        reference = None
        if "reference" in data:
            reference = ReferenceSpec.from_data(
                data["reference"], kind.row_count, file=file, place=f"{place}.reference"
            )
        spec = cls(
            name=name,
            kind=kind,
            parent=frames.get("parent"),
            child=frames.get("child"),
            level=int(data.get("level", 1)),
            priority=int(data.get("priority", 1)),
            stabilization=StabilizationSpec.from_data(data.get("stabilization", {}), default),
            reference=reference,
            friction=friction,
            feedback=data.get("feedback", {}).get("form", cls.feedback),
            compliance=float(data.get("compliance", 0.0)),
            switching=SwitchingSpec.from_data(data, file=file, place=place),
        )
        if spec.compliance and not spec.stabilization.frequency:
            problem = (
                "a compliant constraint needs a stabilization frequency above 0, at which it yields"
            )
            raise MechanismFileError(problem, file=file, place=f"{place}.compliance")
        return spec
