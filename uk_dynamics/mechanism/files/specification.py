# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Mechanism files: checked, frozen, and free of any robotics library."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar

from uk_dynamics import resources
from uk_dynamics.constraints.rows import weighted_joints
from uk_dynamics.core.servo import LIMITS
from uk_dynamics.escaping import control_character
from uk_dynamics.exceptions import InputError, MechanismFileError, inside, located
from uk_dynamics.mechanism.files.constraint_families import write_out_families
from uk_dynamics.mechanism.files.constraint_specification import (
    ConstraintSpec,
    StabilizationSpec,
    read_constraints,
)
from uk_dynamics.mechanism.files.estimates_specification import EstimatesSpec
from uk_dynamics.mechanism.files.file_location import Read, find_file
from uk_dynamics.mechanism.files.force_specification import ContactSpec, ForceSpec
from uk_dynamics.mechanism.files.frame_specification import Vector, given, vector
from uk_dynamics.mechanism.files.schema_check import check_schema
from uk_dynamics.mechanism.files.solver_specification import SolverSpec
from uk_dynamics.mechanism.files.yaml_file import place_text
from uk_dynamics.model.urdf import actuation_tags, read_urdf

Numbers = tuple[tuple[str, float], ...]
_T = TypeVar("_T")


@dataclass(frozen=True)
class ModelSpec:
    """The tree of links and joints, and what surrounds it."""

    # Path (relative to the mechanism file), package:// URI or .xacro as written in the file; None:
    # the robot_description is given otherwise
    urdf: str | None = None
    xacro: tuple[tuple[str, str], ...] = ()  # Arguments of the .xacro file, by name
    gravity: Vector = (0.0, 0.0, -9.81)  # Acceleration of gravity in the world, (3,), in m/s²
    # How the first link stands in the world: fixed, floating or planar
    root: Literal["fixed", "floating", "planar"] = "fixed"
    length: float = 1.0  # Weighs rotations (rad) against translations, in m


@dataclass(frozen=True)
class JointSpec:
    """Properties of one joint besides the URDF's; N·m and rad, for sliding joints N and m."""

    armature: float = 0.0  # Inertia of the rotor seen at the joint, in kg·m² or kg
    damping: float | None = None  # Viscous damping in N·m·s/rad or N·s/m; None: the URDF's
    friction: float | None = None  # Coulomb friction in N·m or N; None: the URDF's
    # Static friction in N·m or N, below which the joint sticks; 0: friction is regularised
    stiction: float = 0.0
    spring_stiffness: float = 0.0  # In N·m/rad or N/m; 0 is no spring
    spring_rest: float = 0.0  # Joint position without spring effort, in rad or m
    # Of the spring-dampers at the limits, in N·m/rad or N/m; 0 is no stop
    stop_stiffness: float = 0.0
    stop_damping: float = 0.0  # In N·m·s/rad or N·s/m
    stop_hard: bool = False  # Whether the limits are one-sided constraints
    stop_restitution: float = 0.0  # of hard stops, without unit

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> JointSpec:
        """Build it from checked data; a stop is a spring or hard, or else a MechanismFileError."""
        values = given(data, "armature", "damping", "friction", "stiction")
        for part in ("spring", "stop"):
            values |= {f"{part}_{key}": float(v) for key, v in data.get(part, {}).items()}
        stop = data.get("stop", {"hard": True})
        if bool(stop.get("hard")) is ("stiffness" in stop or "damping" in stop):
            problem = "a stop is either a spring, stiffness: 1.0e+4, or hard: true"
            raise MechanismFileError(problem, place="stop")
        if "restitution" in stop and not stop.get("hard"):
            problem = "restitution is of hard stops; springs have a damping"
            raise MechanismFileError(problem, place="stop.restitution")
        return cls(**{**values, "stop_hard": bool(values.get("stop_hard", False))})


@dataclass(frozen=True)
class ActuatorSpec:
    """A motor."""

    name: str  # Its key in the file
    joints: Numbers  # Joints it drives, with the factor of its effort on each
    effort_limit: float | None = None  # In N·m or N; None: not declared here
    power_limit: float | None = None  # Driving or braking, in W; None: there is none
    rate_limit: float | None = None  # Of the commanded effort, in N·m/s or N/s; None: there is none
    jerk_limit: float | None = None  # Of that rate, in N·m/s² or N/s²; None: there is none


@dataclass(frozen=True)
class MechanismSpec(Read):
    """A mechanism file.

    Attributes:
        file: Name of the file as the user gave it, for errors.
        name: Name of the mechanism: the file's name without its ending.
        directory: Directory that relative paths in the file start from.
        model: The tree.
        joints: Joint properties by joint name.
        actuators: The motors in declared order.
        initial_guess: Joint positions near which the loops close, by joint name, in rad or m.
        initial_velocity: Joint velocities a motion starts with, by joint name, in rad/s or m/s.
        stabilization: What holds for constraints that say nothing else.
        constraints: Structural constraints in declared order.
        contacts: Points and spheres that may touch planes, in declared order.
        solver: How the equation of motion is solved.
        forces: Springs, dampers and constant forces in declared order.
        measured: Measured joints with the deviation of each, in rad or m, None where not said;
            empty: the joints that motors drive.
        identified: What was estimated from recordings, the latest last.
    """

    kind = "mechanism"

    file: str
    name: str
    directory: Path
    model: ModelSpec = ModelSpec()
    joints: tuple[tuple[str, JointSpec], ...] = ()
    actuators: tuple[ActuatorSpec, ...] = ()
    initial_guess: Numbers = ()
    initial_velocity: Numbers = ()
    stabilization: StabilizationSpec = field(default_factory=StabilizationSpec)
    constraints: tuple[ConstraintSpec, ...] = ()
    contacts: tuple[ContactSpec, ...] = ()
    solver: SolverSpec = field(default_factory=SolverSpec)
    forces: tuple[ForceSpec, ...] = ()
    measured: tuple[tuple[str, float | None], ...] = ()
    identified: tuple[EstimatesSpec, ...] = ()

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> MechanismSpec:
        """Read a mechanism file, or a URDF that needs none: it closes its loops itself.

        Args:
            path: Path, package:// URI, or the name of a shipped mechanism, such as ``five_bar``;
                of a ``.urdf`` or ``.xacro`` file, the motors are those that its
                ``<ros2_control>`` or ``<transmission>`` command.

        Raises:
            MechanismFileError: The file is missing, unreadable or malformed.
            UrdfError: The URDF is.
        """
        found, shown = find_file(path, cls.kind)
        if found.suffix in (".urdf", ".xacro"):
            return cls._from_urdf(found, shown)
        return super().from_file(path)

    @classmethod
    def _from_urdf(cls, path: Path, shown: str) -> MechanismSpec:
        with located(shown):
            tags = actuation_tags(read_urdf(path))
        motors = tuple(ActuatorSpec(tag.joint, ((tag.joint, 1.0),)) for tag in tags)
        name, model = path.name.partition(".")[0], ModelSpec(urdf=path.name)
        return cls(shown, name, path.parent.absolute(), model, actuators=motors)

    @classmethod
    def _from_data(cls, raw: object, file: str, directory: Path) -> MechanismSpec:
        written_out = write_out_families(raw, "constraints", file)
        written_out = write_out_families(written_out, "contacts", file)
        data = check_schema(written_out, "mechanism", file)
        stabilization, constraints = read_constraints(data, "constraints", file)
        if found := control_character(file):  # the name of the mechanism comes from it
            problem = f"the name of the file holds the control character {found}; rename it"
            raise MechanismFileError(problem, file=file)
        return cls(
            file=file,
            name="mechanism" if file.startswith("<") else Path(file).stem,
            directory=directory.absolute(),
            model=_model(data.get("model", {})),
            joints=_entries(data, "joints", file, lambda n, x: (n, JointSpec.from_data(x))),
            actuators=tuple(_actuator(n, d, file) for n, d in data.get("actuators", {}).items()),
            initial_guess=numbers(data.get("initial_guess", {})),
            initial_velocity=numbers(data.get("initial_velocity", {})),
            stabilization=stabilization,
            constraints=constraints,
            solver=SolverSpec.from_data(data.get("solver", {}), file=file),
            contacts=tuple(chain(*_entries(data, "contacts", file, _contacts))),
            forces=read_forces(data, file),
            measured=_measured(data.get("measured", ())),
            identified=tuple(
                EstimatesSpec.from_data(x, k, file)
                for k, x in enumerate(data.get("identified", ()))
            ),
        )

    def urdf_path(self) -> Path:
        """Absolute path of the URDF or xacro file.

        Raises:
            InputError: No URDF is declared, or there is no such file or package.
        """
        if self.model.urdf is None:
            raise InputError("no URDF is declared; add model.urdf", place="model")
        return resources.resolve(self.model.urdf, relative_to=self.directory)


def _model(data: Mapping[str, Any]) -> ModelSpec:
    return ModelSpec(
        urdf=data.get("urdf"),
        xacro=tuple((name, str(value)) for name, value in data.get("xacro", {}).items()),
        gravity=vector(data.get("gravity", ModelSpec.gravity)),
        root=data.get("root", ModelSpec.root),
        **given(data, "length"),
    )


def numbers(data: Mapping[str, float]) -> Numbers:
    """Numbers by name, in declared order."""
    return tuple((name, float(value)) for name, value in data.items())


def _measured(data: Sequence[str] | Mapping[str, float]) -> tuple[tuple[str, float | None], ...]:
    return numbers(data) if isinstance(data, Mapping) else tuple((name, None) for name in data)


def _entries(
    data: Mapping[str, Any], section: str, file: str, build: Callable[[str, Any], _T]
) -> tuple[_T, ...]:
    """What is built of each entry of a section; errors say where it stands."""
    found = []
    for name, entry in data.get(section, {}).items():
        with inside(file, place_text((section, name))):
            found.append(build(name, entry))
    return tuple(found)


def _contacts(name: str, data: Mapping[str, Any]) -> list[ContactSpec]:
    return list(ContactSpec.from_data(name, data))


def read_forces(data: Mapping[str, Any], file: str) -> tuple[ForceSpec, ...]:
    """The forces of checked data of a file."""
    return _entries(data, "forces", file, ForceSpec.from_data)


def _actuator(name: str, data: Mapping[str, Any], file: str) -> ActuatorSpec:
    place = place_text(("actuators", name, "joints"))
    joints = data["joints"] if "joints" in data else {data["joint"]: 1.0}
    with located(file, place):
        return ActuatorSpec(name, weighted_joints(joints), **given(data, *LIMITS))
