# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Tasks files: checked, frozen, and free of any robotics library."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from uk_dynamics.core.servo import LONG_AGO
from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.files.constraint_families import write_out_families
from uk_dynamics.mechanism.files.constraint_specification import ConstraintSpec, read_constraints
from uk_dynamics.mechanism.files.file_location import Read
from uk_dynamics.mechanism.files.frame_specification import given
from uk_dynamics.mechanism.files.schema_check import check_schema
from uk_dynamics.mechanism.files.specification import Numbers, numbers

Interval = tuple[float, float]


@dataclass(frozen=True)
class OutsideForceSpec:
    """Bounds of a force and a torque from outside, whatever their directions."""

    name: str  # its key in the file
    link: str  # link or frame of the URDF at whose origin they act
    force: float = 0.0  # in N
    torque: float = 0.0  # in N·m


@dataclass(frozen=True)
class EncoderSpec:
    """What encoders make of the positions of measured joints."""

    resolution: float = 0.0  # step of their numbers, in rad or m; 0: exact
    noise: float = 0.0  # standard deviation before rounding, in rad or m
    filter: float = 0.0  # time constant of the low-pass filter of differences, in s; 0: none
    seed: int = 0  # of the noise

    @property
    def largest(self) -> float:
        """By how much a reading is off at most, with the noise within three deviations."""
        return 0.5 * self.resolution + 3.0 * self.noise


@dataclass(frozen=True)
class RobustSpec:
    """What is uncertain, and how the law meets it."""

    # intervals of parameters, by the names of ``mechanism.parameters``, in SI units
    parameters: tuple[tuple[str, Interval], ...] = ()
    # part by which the constant of each motor may differ from that of the model
    motors: tuple[tuple[str, float], ...] = ()
    forces: tuple[OutsideForceSpec, ...] = ()
    # confidence of the covariances of the mechanism file; 0: they are not used
    confidence: float = 0.0
    # ``layer``: proportional within the boundary layer, constant outside; ``surface``: the cubic
    # function of a generalised sliding surface, which takes the place of the damping of s
    form: Literal["layer", "surface"] = "layer"
    delay: float = 0.0  # of the loop besides half a control period, in s
    bandwidth: float | None = None  # of s within the boundary layer, in Hz; None: by the delay
    least_bandwidth: float | None = None  # once estimates are known, in Hz; None: the same
    # rate in 1/s with which a learned size of all of it is forgotten; None: sizes are as they stand
    leakage: float | None = None
    encoders: EncoderSpec | None = None  # of its machine; None: states are exact

    @classmethod
    def from_data(cls, data: Mapping[str, Any], file: str) -> "RobustSpec":
        """Build it from checked data; something is uncertain, and no interval is empty."""
        parameters = tuple(
            (name, (float(x[0]), float(x[1]))) for name, x in _of(data, "parameters")
        )
        for name, (low, high) in parameters:
            if low > high:
                problem = f"found [{low:g}, {high:g}]; write the smaller number first"
                raise MechanismFileError(problem, file=file, place=f"robust.parameters.{name}")
        forces = tuple(
            OutsideForceSpec(name, x["link"], **given(x, "force", "torque"))
            for name, x in _of(data, "forces")
        )
        identified = data.get("from") == "identified"
        found = cls(
            parameters,
            tuple((name, float(part)) for name, part in _of(data, "motors")),
            forces,
            float(data.get("confidence", 0.95)) if identified else 0.0,
            data.get("form", cls.form),
            **given(data, "delay", "bandwidth", "least_bandwidth", "leakage"),
            encoders=EncoderSpec(**data["encoders"]) if "encoders" in data else None,
        )
        if not (found.parameters or found.motors or found.forces or found.confidence):
            problem = "nothing is uncertain; give parameters, motors, forces or from: identified"
            raise MechanismFileError(problem, file=file, place="robust")
        if "confidence" in data and not identified:
            problem = "a confidence is of covariances; add from: identified"
            raise MechanismFileError(problem, file=file, place="robust.confidence")
        return found


def _of(data: Mapping[str, Any], key: str) -> list[tuple[str, Any]]:
    return list(data.get(key, {}).items())


@dataclass(frozen=True)
class StandingSpec:
    """A contact of the mechanism file, or an entry of several points, that stands."""

    name: str  # its key in the file
    # when: always, while it is closed, or intervals from to, in s
    stands: Literal["always", "detected"] | tuple[Interval, ...] = "always"
    friction: float | None = None  # μ that forces may use; None: that of the mechanism file
    force_limit: float = np.inf  # of the normal force of each point, in N
    ramp: float = 0.05  # time in which forces rise and fall where a contact begins or ends, in s

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """When it stands by its plan; always, where it has none."""
        return ((-LONG_AGO, LONG_AGO),) if isinstance(self.stands, str) else self.stands

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any], file: str) -> "StandingSpec":
        """Build it from checked data; no interval is empty, and none overlap."""
        values = dict(data)
        stands = values.get("stands", cls.stands)
        if not isinstance(stands, str):
            values["stands"] = intervals = tuple((float(a), float(b)) for a, b in stands)
            ends = [end for interval in intervals for end in interval]
            if any(a >= b for a, b in pairwise(ends)):
                found = ", ".join(f"[{a:g}, {b:g}]" for a, b in intervals)
                problem = f"found {found}; intervals are [from, to] one after the other"
                raise MechanismFileError(problem, file=file, place=f"contacts.{name}.stands")
        return cls(name, **values)


@dataclass(frozen=True)
class AllocationSpec:
    """What decides where tasks leave efforts open."""

    # Of the squares of the efforts in the sum that is least: 1/limit², one each, or by motor name
    weights: Literal["limits", "equal"] | Numbers = "limits"
    # Efforts to come close to where tasks leave freedom, by motor name, in N or N·m
    preload: Numbers = ()
    internal_forces: Numbers = ()  # Internal forces of rows of loops, by row name, in N or N·m

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "AllocationSpec":
        """Build it from checked data."""
        weights = data.get("weights", cls.weights)
        return cls(
            weights if isinstance(weights, str) else numbers(weights),  # type: ignore[arg-type]
            numbers(data.get("preload", {})),
            numbers(data.get("internal_forces", {})),
        )


@dataclass(frozen=True)
class TasksSpec(Read):
    """A tasks file.

    Attributes:
        file: Name of the file as the user gave it, for errors.
        tasks: The tasks in declared order.
        distribution: What is least where motors can serve them in several ways: effort, relative
            to the limits, or, with gauss, the deviation from the free motion.
        allocation: Weights of the efforts, and desired ones where tasks leave them open.
        robust: What may differ from the model; None: nothing.
        contacts: Which contacts stand; empty: forces of contacts are no matter of the motors.
        adaptive: Parameters of ``robust`` that are estimated while the machine moves.
        observer: Bandwidth in Hz with which disturbances are observed, by task.
        velocity_observer: The same of the rates of the errors.
        contact_rows: So many rows at the front are those of contacts, whose forces are the last
            efforts; see ``compilation/runtime/compiled_standing.py``.
    """

    kind = "tasks"

    file: str
    tasks: tuple[ConstraintSpec, ...]
    distribution: Literal["effort", "gauss"] = "effort"
    allocation: AllocationSpec = field(default_factory=AllocationSpec)
    robust: RobustSpec | None = None
    contacts: tuple[StandingSpec, ...] = ()
    adaptive: tuple[str, ...] = ()
    observer: tuple[tuple[str, float], ...] = ()
    velocity_observer: tuple[tuple[str, float], ...] = ()
    contact_rows: int = 0

    @classmethod
    def _from_data(cls, raw: object, file: str, directory: Path) -> "TasksSpec":
        data = check_schema(write_out_families(raw, "tasks", file), "tasks", file)
        _, tasks = read_constraints(data, "tasks", file)
        return cls(
            file,
            tasks,
            data.get("distribution", cls.distribution),
            AllocationSpec.from_data(data.get("allocation", {})),
            RobustSpec.from_data(data["robust"], file) if "robust" in data else None,
            tuple(StandingSpec.from_data(n, x, file) for n, x in data.get("contacts", {}).items()),
            tuple(data.get("adaptive", ())),
            _bandwidths(data.get("observer", {}), tuple(task.name for task in tasks)),
            _bandwidths(data.get("velocity_observer", {}), tuple(task.name for task in tasks)),
        )


def _bandwidths(data: Any, tasks: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    """Of an observer, by task: one number is of all of them."""
    given = data if isinstance(data, Mapping) else dict.fromkeys(tasks, data)
    return tuple((name, float(x)) for name, x in given.items())
