"""Tasks as a file declares them: what the motors shall do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from uk_dynamics.mechanism.files.constraint_families import write_out_families
from uk_dynamics.mechanism.files.constraint_specification import (
    ConstraintSpec,
    StabilizationSpec,
    refuse_foreign_keys,
)
from uk_dynamics.mechanism.files.file_location import find_file
from uk_dynamics.mechanism.files.schema_check import check_schema
from uk_dynamics.mechanism.files.wording import place_text
from uk_dynamics.mechanism.files.yaml_file import parse_yaml, read_yaml

Numbers = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class AllocationSpec:
    """What decides where tasks leave efforts open."""

    # Of the squares of the efforts in the sum that is least: 1/limit², one each, or by motor name
    weights: Literal["limits", "equal"] | Numbers = "limits"
    # Efforts to come close to where tasks leave freedom, by motor name, in N or N·m
    preload: Numbers = ()
    internal_forces: Numbers = ()  # Internal forces of rows of loops, by row name, in N or N·m

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> AllocationSpec:
        """Build it from checked data."""
        weights = data.get("weights", cls.weights)
        return cls(
            weights if isinstance(weights, str) else _numbers(weights),  # type: ignore[arg-type]
            _numbers(data.get("preload", {})),
            _numbers(data.get("internal_forces", {})),
        )


@dataclass(frozen=True)
class TasksSpec:
    """A tasks file.

    Attributes:
        file: Name of the file as the user gave it, for errors.
        tasks: What shall hold, in declared order.
        distribution: What is least where motors can serve them in several ways: effort, relative
            to the limits, or, with gauss, the deviation from the free motion.
        allocation: Weights of the efforts, and where they shall be where tasks leave them open.
    """

    file: str
    tasks: tuple[ConstraintSpec, ...]
    distribution: Literal["effort", "gauss"] = "effort"
    allocation: AllocationSpec = field(default_factory=AllocationSpec)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> TasksSpec:
        """Read a tasks file.

        Args:
            path: Path, package:// URI, or the name of a shipped tasks file.

        Raises:
            MechanismFileError: The file is missing, unreadable or malformed.
        """
        found, shown = find_file(path, "tasks")
        return cls._from_data(read_yaml(found, shown), shown)

    @classmethod
    def from_text(cls, text: str, *, file: str = "<text>") -> TasksSpec:
        """Read tasks from the text of a file, which errors call ``file``.

        Raises:
            MechanismFileError: The text is malformed.
        """
        return cls._from_data(parse_yaml(text, file), file)

    @classmethod
    def _from_data(cls, raw: object, file: str) -> TasksSpec:
        data = check_schema(write_out_families(raw, "tasks", file), "tasks", file)
        default = StabilizationSpec.from_data(data.get("defaults", {}).get("stabilization", {}))
        refuse_foreign_keys(data["tasks"], "tasks", file)
        return cls(
            file,
            tuple(
                ConstraintSpec.from_data(
                    name, task, default, file=file, place=place_text(("tasks", name))
                )
                for name, task in data["tasks"].items()
            ),
            data.get("distribution", cls.distribution),
            AllocationSpec.from_data(data.get("allocation", {})),
        )


def _numbers(data: Mapping[str, float]) -> Numbers:
    return tuple((name, float(value)) for name, value in data.items())
