# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The specification of a sweep: its files, and its points."""

import functools
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from uk_dynamics.exceptions import InputError, MechanismFileError, UkDynamicsError, expect_names
from uk_dynamics.mechanism.files import (
    MechanismSpec,
    check_schema,
    find_file,
    place_text,
    read_yaml,
)
from uk_dynamics.mechanism.resolution import read_description
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.sweeps.distributions import check_values, combinations

_ENTRIES = "actuators", "constraints", "contacts", "forces"  # each needs several keys


@dataclass(frozen=True)
class Point:
    """One simulation, with all data that a worker needs."""

    key: str  # hash of everything that determines the result
    values: Mapping[str, Any]  # varied values by address
    mechanism: Mapping[str, Any]  # data of the mechanism file with the values in it
    # data of the tasks file with the values in it; None for no tasks
    tasks: Mapping[str, Any] | None
    robot: str  # digest of the robot description of the mechanism
    simulation: Mapping[str, Any]  # arguments of the simulation
    positions: Mapping[str, float]  # initial positions of joints, in m or rad
    velocities: Mapping[str, float]  # initial velocities of joints, in m/s or rad/s
    # names of mechanism and tasks file, and the directory of the mechanism file
    files: tuple[str, str, str]
    trajectory: bool  # whether all samples are stored
    parameters: Mapping[str, float] = field(default_factory=dict)  # of the mechanism, by name
    compiles: bool = False  # whether what is not in the cache is compiled first


@dataclass(frozen=True)
class SweepSpec:
    """A sweep file."""

    file: str  # name of the file as the user gave it, for errors
    data: Mapping[str, Any]  # its checked data
    mechanism: Mapping[str, Any]  # data of the mechanism file
    tasks: Mapping[str, Any] | None  # data of the tasks file, None for no tasks
    files: tuple[str, str, str]  # as in :class:`Point`

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> "SweepSpec":
        """Read a sweep file and the files that it names, and see that values combine."""
        shown = os.fspath(path)
        data = check_schema(read_yaml(Path(path), shown), "sweep", shown)
        check_values(data, shown)
        mechanism, name, folder = _read(data, "mechanism", path)
        tasks, tasks_name = None, ""
        if "tasks" in data:
            tasks, tasks_name, _ = _read(data, "tasks", path)
        elif any(address.startswith("tasks.") for address in data["vary"]):
            raise MechanismFileError(
                "there is no tasks file to vary; add tasks", file=shown, place="vary"
            )
        return cls(shown, data, mechanism, tasks, (name, tasks_name, folder))

    def points(self) -> list[Point]:
        """All points in declared order, the last address varying fastest; addresses are checked."""
        return [self._point(values) for values in combinations(self.data, self.file)]

    def _point(self, values: Mapping[str, Any]) -> Point:
        parts: dict[str, Any] = {
            "mechanism": self.mechanism,
            "tasks": self.tasks,
            "simulation": self.data["simulation"],
            "positions": {},
            "velocities": {},
            "parameters": {},
        }
        for address, value in values.items():
            section, _, path = address.partition(".")
            if section == "mechanism" and isinstance(value, float | int) and path in self._known:
                parts["parameters"][path] = float(value)
                continue
            if section == "mechanism":
                self._expect_entry(address, parts[section])
            try:
                parts[section] = _with(parts[section], path.split("."), value)
            except KeyError as error:
                place = place_text(("vary", address))
                problem = f'"{error.args[0]}" is not inside a mapping; use the keys of the file'
                raise MechanismFileError(problem, file=self.file, place=place) from None
        model = parts["mechanism"].get("model", {})
        parts["robot"] = self._robot(json.dumps(model, sort_keys=True))
        trajectory = bool(self.data.get("trajectories", False))
        content = json.dumps([parts, self.files, trajectory], sort_keys=True)
        key = hashlib.sha256(content.encode()).hexdigest()[:20]
        return Point(key=key, values=values, files=self.files, trajectory=trajectory, **parts)

    def _expect_entry(self, address: str, mechanism: Mapping[str, Any]) -> None:
        """Refuse a key of an entry that the mechanism file does not have: one key makes none."""
        _, section, *names = address.split(".")
        if section in _ENTRIES and len(names) > 1:
            kind, place = section.removesuffix("s"), place_text(("vary", address))
            expect_names(kind, names[:1], mechanism.get(section) or {}, file=self.file, place=place)

    @functools.cached_property
    def _known(self) -> frozenset[str]:
        """Names of the mechanism's parameters; none where it cannot be built."""
        name, _, folder = self.files
        text = json.dumps(self.mechanism, ensure_ascii=False)
        try:
            mechanism = Mechanism.from_spec(
                MechanismSpec.from_text(text, file=name, directory=folder)
            )
        except UkDynamicsError:
            return frozenset()
        return frozenset(mechanism.parameters)

    @functools.cached_property
    def _robot(self) -> Callable[[str], str]:
        """Digest of a robot; each robot is read once."""
        return functools.cache(self._digest)

    def _digest(self, model: str) -> str:
        """Digest of the URDF, xacro expanded, of a ``model``; empty where the points fail."""
        name, _, folder = self.files
        text = json.dumps({"schema": 1, "model": json.loads(model)}, ensure_ascii=False)
        try:
            spec = MechanismSpec.from_text(text, file=name, directory=folder)
            description = read_description(spec, None)
        except UkDynamicsError:
            return ""
        return hashlib.sha256(description.text.encode()).hexdigest()


def _read(
    sweep: Mapping[str, Any], kind: Any, path: str | os.PathLike[str]
) -> tuple[dict[str, Any], str, str]:
    """Data, displayed name and directory of the mechanism or tasks file of a sweep."""
    name = sweep[kind]
    relative = Path(path).parent / name
    try:
        found, shown = (relative, name) if relative.is_file() else find_file(name, kind)
        data = read_yaml(found, shown)
    except InputError as error:
        raise error.caused_by(os.fspath(path), kind) from None
    if not isinstance(data, dict):
        raise MechanismFileError(f"this is not a {kind} file", file=shown)
    return data, shown, str(found.parent.absolute())


def _with(data: Any, path: list[str], value: Any) -> Any:
    """The same data with one entry replaced; missing mappings on its path are created.

    Only the last key of the path may contain dots.
    """
    if not isinstance(data, dict):
        raise KeyError(path[0])
    if len(path) == 1:
        return {**data, path[0]: value}
    return {**data, path[0]: _with(data.get(path[0], {}), path[1:], value)}
