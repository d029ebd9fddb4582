# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Tasks files: checked, frozen, and free of any robotics library."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from uk_dynamics.mechanism.files.constraint_families import write_out_families
from uk_dynamics.mechanism.files.constraint_specification import ConstraintSpec, read_constraints
from uk_dynamics.mechanism.files.file_location import find_file
from uk_dynamics.mechanism.files.robust_specification import RobustSpec
from uk_dynamics.mechanism.files.schema_check import check_schema
from uk_dynamics.mechanism.files.specification import Numbers, numbers
from uk_dynamics.mechanism.files.standing_specification import StandingSpec
from uk_dynamics.mechanism.files.yaml_file import parse_yaml, read_yaml, yaml_text


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
class TasksSpec:
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
    def from_file(cls, path: str | os.PathLike[str]) -> "TasksSpec":
        """Read a tasks file.

        Args:
            path: Path, package:// URI, or the name of a shipped tasks file.

        Raises:
            MechanismFileError: The file is missing, unreadable or malformed.
        """
        found, shown = find_file(path, "tasks")
        return cls._from_data(read_yaml(found, shown), shown)

    @classmethod
    def from_text(cls, text: str, *, file: str = "<text>") -> "TasksSpec":
        """Read tasks from the text of a file, which errors call ``file``.

        Raises:
            MechanismFileError: The text is malformed.
        """
        return cls._from_data(parse_yaml(text, file), file)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "TasksSpec":
        """Read tasks from what a file would contain; ``schema`` may be left out.

        Raises:
            MechanismFileError: It is malformed.
        """
        return cls.from_text(yaml_text(data), file="<data>")

    @classmethod
    def _from_data(cls, raw: object, file: str) -> "TasksSpec":
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
