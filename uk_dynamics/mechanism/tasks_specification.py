"""Tasks as a file declares them: what the motors shall do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.constraint_specification import ConstraintSpec, StabilizationSpec
from uk_dynamics.mechanism.file_location import find_file
from uk_dynamics.mechanism.schema_check import check_schema
from uk_dynamics.mechanism.wording import place_text
from uk_dynamics.mechanism.yaml_file import parse_yaml, read_yaml

Values = tuple[float, ...]


@dataclass(frozen=True)
class ReferenceSpec:
    """Wanted value over time, one number per row of the task.

    Attributes:
        type: constant (value), or sinusoid: offset + amplitude · sin(2π · frequency · t + phase).
        value: Of a constant, (rows,), in rad or m.
        offset: Of a sinusoid, (rows,), in rad or m.
        amplitude: (rows,), in rad or m.
        frequency: (rows,), in Hz, not negative.
        phase: (rows,), in rad.
    """

    type: str
    value: Values = ()
    offset: Values = ()
    amplitude: Values = ()
    frequency: Values = ()
    phase: Values = ()

    @classmethod
    def from_data(
        cls, data: Mapping[str, Any], rows: int, *, file: str, place: str
    ) -> ReferenceSpec:
        """Build the reference from checked data; a single number holds for every row.

        Raises:
            MechanismFileError: A list has another length than the task has rows.
        """
        keys = ("value",) if data["type"] == "constant" else _SINUSOID_KEYS
        values: dict[str, Values] = {}
        for key in keys:
            given = data.get(key, 0.0)
            if isinstance(given, list) and len(given) != rows:
                problem = (
                    f"found {len(given)} numbers for a task of {rows} "
                    f"{'row' if rows == 1 else 'rows'}; give {rows}, or one for all"
                )
                raise MechanismFileError(problem, file=file, place=f"{place}.{key}")
            listed = given if isinstance(given, list) else [given] * rows
            values[key] = tuple(float(number) for number in listed)
        return cls(data["type"], **values)


_SINUSOID_KEYS = ("offset", "amplitude", "frequency", "phase")


@dataclass(frozen=True)
class TaskSpec:
    """One task.

    Attributes:
        name: Its key in the file.
        type: joint, or a type of :class:`ConstraintSpec`.
        constraint: What shall hold; of type joint it is the coupling 1 · q of that joint.
        joint: Of type joint: its name; else None.
        reference: Wanted value of each row; None is zero.
    """

    name: str
    type: str
    constraint: ConstraintSpec
    joint: str | None = None
    reference: ReferenceSpec | None = None

    @property
    def stabilization(self) -> StabilizationSpec:
        """How an error decays."""
        return self.constraint.stabilization

    @classmethod
    def from_data(
        cls, name: str, data: Mapping[str, Any], default: StabilizationSpec, *, file: str
    ) -> TaskSpec:
        """Build the task from checked data.

        Raises:
            MechanismFileError: See :class:`ConstraintSpec` and :class:`ReferenceSpec`.
        """
        place = place_text(("tasks", name))
        joint = data.get("joint")
        shape = data
        if joint is not None:
            shape = {**data, "type": "joint_coupling", "joints": {joint: 1.0}}
        constraint = ConstraintSpec.from_data(name, shape, default, file=file, place=place)
        reference = None
        if "reference" in data:
            reference = ReferenceSpec.from_data(
                data["reference"], constraint.row_count, file=file, place=f"{place}.reference"
            )
        return cls(name, data["type"], constraint, joint, reference)


@dataclass(frozen=True)
class TasksSpec:
    """A tasks file.

    Attributes:
        file: Name of the file as the user gave it, for errors.
        tasks: The tasks in declared order.
    """

    file: str
    tasks: tuple[TaskSpec, ...]

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
        data = check_schema(raw, "tasks", file)
        default = StabilizationSpec.from_data(data.get("defaults", {}).get("stabilization", {}))
        return cls(
            file,
            tuple(
                TaskSpec.from_data(name, task, default, file=file)
                for name, task in data["tasks"].items()
            ),
        )
