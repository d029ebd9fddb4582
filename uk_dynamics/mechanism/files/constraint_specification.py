# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constraints as a file declares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from uk_dynamics.constraints.expressions import FAMILY_KEYS
from uk_dynamics.constraints.kinds import Kind, kind_named
from uk_dynamics.constraints.kinds.joints import Expression
from uk_dynamics.constraints.references import Reference
from uk_dynamics.core.equation import DAMPING_RATIO, FREQUENCY
from uk_dynamics.exceptions import MechanismFileError, inside
from uk_dynamics.forces import FrictionLaw
from uk_dynamics.mechanism.files.frame_specification import FrameSpec, frames_of, given
from uk_dynamics.mechanism.files.reference_specification import read_reference
from uk_dynamics.mechanism.files.yaml_file import place_text

Section = Literal["tasks", "constraints"]
# Keys that the shared schema allows and one of the roles does not have.
_FOREIGN: Mapping[Section, Mapping[str, str]] = {
    "tasks": {"friction": "friction is in the joints of a machine, not in its tasks; remove it"}
    | {"level": "level orders constraints of the mechanism file; of tasks it is priority"}
    | dict.fromkeys(
        ("compliance", "switchable", "active", "on_activation", "restitution", "backlash"),
        "this is for constraints of the mechanism file; motors enforce tasks",
    ),
    "constraints": {
        "priority": "priority orders tasks; of constraints it is level",
        "feedback": "feedback is what motors do about a task, joints do not; remove it",
        "relaxed": "relaxed is for tasks, which motors enforce; constraints are switchable",
        "while_lifted": "while_lifted is for tasks, which motors enforce",
    },
}


@dataclass(frozen=True)
class SwitchingSpec:
    """How a constraint is switched on and off while the machine runs."""

    active: bool = True  # Whether it is on at the start
    # capture closes it on the pose found when it is switched on; require refuses to switch it on
    # away from its own pose
    on_activation: Literal["capture", "require"] = "capture"

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> SwitchingSpec | None:
        """Build it from the checked data of a constraint; None where it is not switchable."""
        if not data.get("switchable", False):
            for key in ("active", "on_activation"):
                if key in data:
                    problem = f"{key} is for constraints with switchable: true"
                    raise MechanismFileError(problem, place=key)
            return None
        spec = cls(data.get("active", True), data.get("on_activation", "capture"))
        if spec.on_activation == "capture" and "reference" in data:
            problem = (
                "a captured pose takes the place of the reference; leave the reference out, or set "
                "on_activation: require"
            )
            raise MechanismFileError(problem, place="on_activation")
        return spec


@dataclass(frozen=True)
class FrictionSpec(FrictionLaw):
    """Friction in a loop joint; see :mod:`uk_dynamics.forces.loop_and_contact_friction`."""

    exact: bool = False  # Whether it sticks, instead of creeping below ``velocity``
    static: float = 0.0  # At most while it sticks, as ``coulomb``; 0 where it is not exact

    @classmethod
    def from_data(cls, data: Mapping[str, Any], kind: Kind) -> FrictionSpec:
        """Build it from checked data."""
        if kind.friction is not None and kind.friction.refusal:
            raise MechanismFileError(kind.friction.refusal)
        exact = bool(data.get("exact", False))
        spec = cls(**given(data, "coulomb", "viscous", "velocity", "radius", "static"))
        if not (spec.coulomb or spec.viscous):
            problem = "neither coulomb nor viscous is above 0; give one, such as coulomb: 0.1"
            raise MechanismFileError(problem)
        kind.check_friction(spec.coulomb, spec.radius if "radius" in data else None)
        if not exact:
            if spec.static:
                problem = "static friction is that of a joint that sticks; add exact: true"
                raise MechanismFileError(problem, place="static")
            return spec
        if not spec.coulomb:
            problem = "is of Coulomb friction; give for example coulomb: 0.1, or leave it out"
            raise MechanismFileError(problem, place="exact")
        if "velocity" in data:
            problem = "regularises friction, which exact: true does not; leave one of them out"
            raise MechanismFileError(problem, place="velocity")
        spec = replace(spec, exact=True, static=float(data.get("static", spec.coulomb)))
        if spec.static < spec.coulomb:
            problem = f"expected at least coulomb, {spec.coulomb:g}, found {spec.static:g}"
            raise MechanismFileError(problem, place="static")
        return spec


@dataclass(frozen=True)
class StabilizationSpec:
    """How a violation decays: b −= 2ζω ψ̇ + ω²ψ with ω = 2π · frequency."""

    frequency: float = FREQUENCY  # in Hz; 0 is no stabilisation
    damping_ratio: float = DAMPING_RATIO  # ζ, without unit; 1 is critical

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
class RelaxationSpec:
    """Where a task asks for nothing; see :func:`relaxed_share`."""

    joint: str  # or a coordinate of one
    within: float
    blend: float
    at: float = 0.0
    every: float = 0.0  # 0: there is one such place


@dataclass(frozen=True)
class ConstraintSpec:
    """A constraint between two frames, or between joints: structural, or a task."""

    name: str  # its key in the file
    kind: Kind  # what holds: its kind, with the keys of that kind
    # frame that axes refer to; None where the kind has none or it is the world
    parent: FrameSpec | None = None
    child: FrameSpec | None = None  # frame that is held; None where the kind has none
    level: int = 1  # place in the hierarchy, 1 first
    priority: int = 1  # of tasks: 1 is served first where motors cannot serve all
    stabilization: StabilizationSpec = StabilizationSpec()  # how a violation decays
    reference: Reference | None = None  # wanted value of each row over time; None is zero
    friction: FrictionSpec | None = None  # of the joint; None: there is none
    # of tasks: whether the stabilisation is distributed like the rest of what the task asks
    # (baumgarte), or by the acceleration of least norm (generalized_inverse)
    feedback: Literal["baumgarte", "generalized_inverse"] = "baumgarte"
    relaxed: RelaxationSpec | None = None  # of tasks: where it asks for nothing; None: nowhere
    # of tasks: the standing contact while which stands it asks for nothing; None: it always asks
    while_lifted: str | None = None
    compliance: float = 0.0  # in m/N; 0 is rigid
    switching: SwitchingSpec | None = None  # how it is switched on and off; None: it always holds
    # whether its row may be positive, at_least, or negative, at_most; None: neither
    one_sided: Literal["at_least", "at_most"] | None = None
    restitution: float = 0.0  # of a one-sided one, without unit

    @property
    def type(self) -> str:
        """Name of the kind, as the file has it."""
        return self.kind.name

    @property
    def frames(self) -> list[tuple[str, FrameSpec]]:
        """Its frames with their roles."""
        both = (("parent", self.parent), ("child", self.child))
        return [(role, frame) for role, frame in both if frame is not None]

    @classmethod
    def from_data(
        cls, name: str, data: Mapping[str, Any], default: StabilizationSpec, section: Section
    ) -> ConstraintSpec:
        """Build the constraint from checked data.

        Raises:
            MechanismFileError: Keys that make no constraint of this kind or are not for this
                section, a quaternion of zero length, both frames on one link, friction where there
                can be none, a reference of another size, a compliance without stabilisation, or
                keys of switchable constraints on one that is not. Its place is counted from here.
        """
        for key, problem in _FOREIGN[section].items():
            if key in data:
                raise MechanismFileError(problem, place=key)
        frames = frames_of(data, "parent", "child")
        for key in FAMILY_KEYS:
            if key in data and data["type"] != Expression.name:
                problem = "a family needs both indices and for_each, such as {cells: 5}, {i: cells}"
                raise MechanismFileError(problem, place=key)
        kind = kind_named(data["type"]).from_data(data)
        friction, reference = None, None
        if "friction" in data:
            with inside("", "friction"):
                friction = FrictionSpec.from_data(data["friction"], kind)
        if "reference" in data:
            place = place_text((section, name, "reference"))
            with inside("", "reference"):
                reference = read_reference(data["reference"], kind.row_count, place)
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
            relaxed=RelaxationSpec(**data["relaxed"]) if "relaxed" in data else None,
            while_lifted=data.get("while_lifted"),
            compliance=float(data.get("compliance", 0.0)),
            switching=SwitchingSpec.from_data(data),
            one_sided=_one_sided(data, kind, section),
            restitution=float(data.get("restitution", 0.0)),
        )
        if spec.compliance and not spec.stabilization.frequency:
            problem = (
                "a compliant constraint needs a stabilization frequency above 0, at which it yields"
            )
            raise MechanismFileError(problem, place="compliance")
        if friction is not None and friction.exact and spec.switching is not None:
            problem = "friction of what can be switched off is regularised; leave exact out"
            raise MechanismFileError(problem, place="friction.exact")
        return spec


def _one_sided(
    data: Mapping[str, Any], kind: Kind, section: Section
) -> Literal["at_least", "at_most"] | None:
    side: Literal["at_least", "at_most"] | None = data.get("one_sided")
    if side is None and "backlash" not in data:
        if "restitution" in data:
            problem = (
                "restitution is of one-sided constraints; add one_sided: at_least or at_most, or a"
                " backlash"
            )
            raise MechanismFileError(problem, place="restitution")
        return None
    others = ("switchable", "compliance", "friction", "reference", *(["backlash"] if side else []))
    for key in others if section == "constraints" else ():
        if data.get(key):
            problem = f"a one-sided constraint opens and closes by itself; {key} is for others"
            raise MechanismFileError(problem, place=key)
    if kind.row_count != 1:
        problem = f"a {kind.name} has no single number that could be bounded; use distance or joint"
        if section == "tasks":
            problem = f"found {kind.row_count} rows; a bound has one, such as axes: [z] of a frame"
        raise MechanismFileError(problem, place="one_sided" if side else "backlash")
    return side


def _flanks(spec: ConstraintSpec, backlash: float) -> tuple[ConstraintSpec, ...]:
    """A constraint with play as two that bound it from either side; without, itself."""
    if not backlash:
        return (spec,)
    lower, upper = (spec.kind.shifted(side * backlash) for side in (-0.5, 0.5))
    if lower is None or upper is None:
        problem = f"a {spec.type} has no flanks that could strike; couplings and distances have"
        raise MechanismFileError(problem, place="backlash")
    return (
        replace(spec, name=f"{spec.name}.lower", kind=lower, one_sided="at_least"),
        replace(spec, name=f"{spec.name}.upper", kind=upper, one_sided="at_most"),
    )


def read_constraints(
    data: Mapping[str, Any], section: Section, file: str
) -> tuple[StabilizationSpec, tuple[ConstraintSpec, ...]]:
    """Default stabilisation and constraints of the checked data of a file."""
    default = StabilizationSpec.from_data(data.get("defaults", {}).get("stabilization", {}))
    specs: list[ConstraintSpec] = []
    for name, entry in data.get(section, {}).items():
        with inside(file, place_text((section, name))):
            spec = ConstraintSpec.from_data(name, entry, default, section)
            specs += _flanks(spec, float(entry.get("backlash", 0.0)))
    return default, tuple(specs)
