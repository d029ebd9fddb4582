# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Tasks files: checked, frozen, and free of any robotics library."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from uk_dynamics.mechanism.files.constraint_families import write_out_families
from uk_dynamics.mechanism.files.constraint_specification import ConstraintSpec, read_constraints
from uk_dynamics.mechanism.files.file_location import Read
from uk_dynamics.mechanism.files.robust_specification import RobustSpec
from uk_dynamics.mechanism.files.schema_check import check_schema
from uk_dynamics.mechanism.files.specification import Numbers, numbers
from uk_dynamics.mechanism.files.standing_specification import StandingSpec


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
