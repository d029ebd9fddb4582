"""Constraints as a file declares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from uk_dynamics.constraints.rolling_rows import ROLLING_PARTS
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.expression_specification import FAMILY_KEYS, ExpressionSpec
from uk_dynamics.mechanism.frame_specification import FrameSpec, Vector, unit_axis
from uk_dynamics.mechanism.friction_specification import FrictionSpec
from uk_dynamics.mechanism.reference_specification import ReferenceSpec
from uk_dynamics.mechanism.switching_specification import SwitchingSpec
from uk_dynamics.mechanism.weighted_joints import WeightedJoints, weighted_joints

_ROW_COUNTS = {
    "point": 3,
    "hinge": 5,
    "weld": 6,
    "universal": 4,
    "cylindrical": 4,
    "prismatic": 5,
    "planar": 3,
    "distance": 1,
    "joint": 1,
    "joint_coupling": 1,
}
_ROWS_PER_AXIS = ("frame", "relative_frame", "frame_velocity", "center_of_mass")


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
class RollingSpec:
    """A wheel, disc or blade on a plane through the parent's origin.

    Attributes:
        normal: Of the plane, in the parent frame, unit, (3,).
        radius: Of the wheel, in m; 0: a blade.
        directions: Of the contact's velocity that vanish, of rolling, sideways; height: it touches.
    """

    normal: Vector
    radius: float
    directions: tuple[str, ...]

    @classmethod
    def from_data(cls, data: Mapping[str, Any], *, file: str, place: str) -> RollingSpec:
        """Build it from checked data.

        Raises:
            MechanismFileError: A normal of zero length, or a blade that shall roll.
        """
        radius = float(data.get("radius", 0.0))
        directions = data.get("directions", ["rolling", "sideways"] if radius else ["sideways"])
        if not radius and "rolling" in directions:
            problem = "a blade (radius 0) cannot roll; give a radius, such as 0.1, or [sideways]"
            raise MechanismFileError(problem, file=file, place=f"{place}.directions")
        normal = unit_axis(data.get("normal", (0, 0, 1)), file=file, place=f"{place}.normal")
        # The order of the rows is always the same, whatever the order in the file.
        ordered = tuple(part for part in ROLLING_PARTS if part in directions)
        return cls(normal, radius, ordered)


@dataclass(frozen=True)
class ConstraintSpec:
    """What shall hold between two frames, or between joints: by structure, or as a task.

    Attributes:
        name: Its key in the file.
        type: point, hinge, weld, universal, cylindrical, prismatic, planar, distance, frame,
            relative_frame, frame_velocity, no_slip, center_of_mass, joint, joint_coupling or
            expression.
        parent: Frame that axes refer to; None for types of joints, and of type center_of_mass
            where it is the world.
        child: Frame that is held; None for types of joints and center_of_mass.
        axis: Unit vector in the parent frame, (3,), of type no_slip the axle in the child frame;
            None for types without an axis.
        axes: The constrained directions, of x y z rx ry rz, in declared order.
        distance: Of type distance: between the origins, in m, positive.
        joints: Of type joint_coupling: joints with their factors k in Σ k q = offset; of type
            joint the one joint, with 1.
        offset: Of type joint_coupling: in rad or m.
        rolling: Of type no_slip: the wheel.
        expressed_in: Of type frame_velocity: whose axes, ``parent`` or ``child``.
        links: Of type center_of_mass: whose masses count; empty: all that move.
        expression: Of type expression: its rows.
        level: Place in the hierarchy, 1 first.
        priority: Of tasks: which give way where motors cannot serve all; 1 is served first.
        stabilization: How a violation decays.
        reference: Wanted value of each row over time; None is zero.
        friction: What rubs in the joint; None: nothing.
        feedback: Of tasks: whether the stabilisation is distributed like the rest of what the task
            asks (baumgarte), or by the acceleration of least norm (generalized_inverse).
        compliance: How far it gives way, in m/N; 0 is rigid.
        switching: How it is switched on and off; None: it always holds.
    """

    name: str
    type: str
    parent: FrameSpec | None = None
    child: FrameSpec | None = None
    axis: Vector | None = None
    axes: tuple[str, ...] = ()
    distance: float | None = None
    joints: WeightedJoints = ()
    offset: float = 0.0
    rolling: RollingSpec | None = None
    expressed_in: str = "parent"
    links: tuple[str, ...] = ()
    expression: ExpressionSpec | None = None
    level: int = 1
    priority: int = 1
    stabilization: StabilizationSpec = StabilizationSpec()
    reference: ReferenceSpec | None = None
    friction: FrictionSpec | None = None
    feedback: Literal["baumgarte", "generalized_inverse"] = "baumgarte"
    compliance: float = 0.0
    switching: SwitchingSpec | None = None

    @property
    def row_count(self) -> int:
        """Number of rows it has in A."""
        if self.expression is not None:
            return len(self.expression.rows)
        if self.rolling is not None:
            return len(self.rolling.directions)
        return len(self.axes) if self.type in _ROWS_PER_AXIS else _ROW_COUNTS[self.type]

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
            MechanismFileError: An axis or quaternion of zero length, both frames on one link,
                factors that are all zero, friction where nothing rubs, a reference of another
                size, a compliance without stabilisation, or keys of switchable constraints on one
                that is not.
        """
        frames = {
            role: FrameSpec.from_data(data[role], file=file, place=f"{place}.{role}")
            for role in ("parent", "child")
            if role in data
        }
        rolling = None
        if data["type"] == "no_slip":
            rolling = RollingSpec.from_data(data, file=file, place=place)
        if len({frame.link for frame in frames.values()}) < len(frames):
            problem = f'both frames are on "{data["child"]["link"]}"; name two links'
            raise MechanismFileError(problem, file=file, place=f"{place}.child.link")
        axis = None
        if "axis" in data:
            axis = unit_axis(data["axis"], file=file, place=f"{place}.axis")
        joints: WeightedJoints = ()
        if "joint" in data:
            joints = ((data["joint"], 1.0),)
        elif "joints" in data:
            joints = weighted_joints(data["joints"], file=file, place=f"{place}.joints")
        friction = None
        if "friction" in data:
            friction = FrictionSpec.from_data(
                data["friction"],
                data["type"],
                data.get("axes", ()),
                file=file,
                place=f"{place}.friction",
            )
        expression = None
        for key in FAMILY_KEYS:
            if key in data and data["type"] != "expression":
                problem = "a family needs both indices and for_each, such as {cells: 5}, {i: cells}"
                raise MechanismFileError(problem, file=file, place=f"{place}.{key}")
        if data["type"] == "expression":
            expression = ExpressionSpec.from_data(data, file=file, place=place)
        spec = cls(
            name=name,
            type=data["type"],
            axis=axis,
            axes=tuple(data.get("axes", ())),
            distance=float(data["distance"]) if "distance" in data else None,
            joints=joints,
            offset=float(data.get("offset", 0.0)),
            rolling=rolling,
            expressed_in=data.get("expressed_in", cls.expressed_in),
            links=tuple(data.get("links", ())),
            expression=expression,
            level=int(data.get("level", 1)),
            priority=int(data.get("priority", 1)),
            stabilization=StabilizationSpec.from_data(data.get("stabilization", {}), default),
            parent=frames.get("parent"),
            child=frames.get("child"),
            friction=friction,
            feedback=data.get("feedback", {}).get("form", cls.feedback),
            compliance=float(data.get("compliance", 0.0)),
            switching=SwitchingSpec.from_data(data, file=file, place=place),
        )
        if spec.compliance and not spec.stabilization.frequency:
            problem = (
                "a compliant constraint needs a stabilization frequency above 0: it gives way at "
                "that frequency"
            )
            raise MechanismFileError(problem, file=file, place=f"{place}.compliance")
        if "reference" not in data:
            return spec
        reference = ReferenceSpec.from_data(
            data["reference"], spec.row_count, file=file, place=f"{place}.reference"
        )
        return replace(spec, reference=reference)
