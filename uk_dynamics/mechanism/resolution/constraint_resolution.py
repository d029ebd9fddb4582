# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constraints and tasks of a file, their frames and joints looked up in a robot by name."""

from __future__ import annotations

from collections.abc import Sequence

from uk_dynamics.constraints.kinds import Setting
from uk_dynamics.constraints.kinds.joints import JointCoupling
from uk_dynamics.constraints.references import (
    Constant,
    Live,
    ReferenceSet,
)
from uk_dynamics.constraints.rows import Constraint
from uk_dynamics.mechanism.files.constraint_specification import ConstraintSpec, StabilizationSpec
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.wording import inside
from uk_dynamics.mechanism.resolution.robot_resolution import frame_name
from uk_dynamics.model import RobotModel

STANDING = (Constant, Live)  # references that do not move by themselves


def resolve_constraint(
    spec: ConstraintSpec, model: RobotModel, file: str, section: str
) -> Constraint:
    """Look up the frames and joints of one declared constraint."""
    frames = {role: model.frame_index(frame_name(spec, role)) for role, _ in spec.frames}
    links = {role: frame.link for role, frame in spec.frames}
    with inside(file, f"{section}.{spec.name}"):
        rows = spec.kind.rows(Setting(model, frames, links))
    return Constraint(
        name=spec.name,
        kind=spec.type,
        rows=rows,
        parent=frames.get("parent"),
        child=frames.get("child"),
        frequency=spec.stabilization.frequency,
        damping_ratio=spec.stabilization.damping_ratio,
        level=spec.level,
        compliance=spec.compliance,
    )


def structural_constraints(spec: MechanismSpec, model: RobotModel) -> tuple[Constraint, ...]:
    """Declared constraints, then a coupling per URDF mimic joint."""
    declared = [resolve_constraint(c, model, spec.file, "constraints") for c in spec.constraints]
    return (*declared, *_mimic_constraints(model, spec.stabilization))


def _mimic_constraints(model: RobotModel, stabilization: StabilizationSpec) -> list[Constraint]:
    """Q − multiplier · q_source = offset for every mimic joint."""
    couplings = []
    for mimic in model.mimic:
        terms = ((mimic.joint, 1.0), (mimic.source, -mimic.multiplier))
        kind = JointCoupling(terms, mimic.offset)
        couplings.append(
            Constraint(
                name=f"mimic_{mimic.joint}",
                kind=kind.name,
                rows=kind.rows(Setting(model, {}, {})),
                frequency=stabilization.frequency,
                damping_ratio=stabilization.damping_ratio,
            )
        )
    return couplings


def resolve_references(
    specs: Sequence[ConstraintSpec], constraints: Sequence[Constraint], role: str
) -> ReferenceSet:
    """The references of constraints or tasks."""
    return ReferenceSet(
        role,
        {constraint.name: len(constraint.rows) for constraint in constraints},
        {spec.name: spec.reference for spec in specs if spec.reference is not None},
    )
