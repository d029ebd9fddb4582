# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a recording says about its machine: units and limits of coordinates, motors, tasks."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import FloatingBase, described_bases


@dataclass(frozen=True)
class Coordinate:
    """A position coordinate."""

    unit: str  # ``rad``, ``m`` or, for parts of a quaternion or of a unit circle, ``1``
    lower: float = -math.inf  # limit, in that unit; infinite where there is none
    upper: float = math.inf  # as ``lower``
    speed: float = math.inf  # limit of its rate, in m/s or rad/s; infinite where there is none


@dataclass(frozen=True)
class MachineData:
    """What plots need to know; recordings of other programs have nothing of it."""

    coordinates: Mapping[str, Coordinate] = field(default_factory=dict)  # by name
    # travel of each motor per travel of the velocity coordinates that it drives
    motors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    # task rows that ask for the position of one coordinate, with its name
    followed: Mapping[str, str] = field(default_factory=dict)
    # data of floating and planar joints, by name
    floats: Mapping[str, Any] = field(default_factory=dict)
    # units of the parameters that are estimated
    parameters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, mechanism: Mechanism, tasks: Tasks | None = None) -> "MachineData":
        """Look everything up."""
        model, matrix = mechanism.model, mechanism.actuators.matrix
        coordinates = {name: Coordinate(unit) for name, unit in model.units.items()}
        for name in model.joint_names:
            k = model.velocity_index(name)
            limits = (model.lower[k], model.upper[k], model.velocity_limit[k])
            coordinates[name] = Coordinate(model.units[name], *map(float, limits))
        motors = {
            motor: {
                name: float(ratio)
                for name, ratio in zip(model.velocity_names, column, strict=True)
                if ratio
            }
            for motor, column in zip(mechanism.actuators.names, matrix.T, strict=True)
        }
        followed = {
            task.name: task.kind.trajectory_name(task.name) or task.name
            for task in (tasks.spec.tasks if tasks else ())
            if task.type == "joint"
        }
        floats = {base.name: base.data for base in model.bases}
        estimated = tasks.spec.adaptive if tasks else ()
        units = {name: mechanism.parameters[name].unit for name in estimated}
        return cls(coordinates, motors, followed, floats, units)

    @classmethod
    def from_text(cls, text: str) -> "MachineData":
        """The inverse of :meth:`text`."""
        found: dict[str, Any] = json.loads(text)
        coordinates = {
            name: Coordinate(
                values["unit"], *(float(values[key]) for key in ("lower", "upper", "speed"))
            )
            for name, values in found.get("coordinates", {}).items()
        }
        maps = (found.get(key, {}) for key in ("motors", "followed", "floats", "parameters"))
        return cls(coordinates, *maps)

    @property
    def bases(self) -> tuple[FloatingBase, ...]:
        """Floating and planar joints, with their places in q and v."""
        return described_bases(self.floats, self.coordinates)

    def text(self) -> str:
        """All of it as JSON; infinite numbers as ``inf``, which JSON has no number for."""
        coordinates = {
            name: {key: v if key == "unit" else repr(v) for key, v in asdict(one).items()}
            for name, one in self.coordinates.items()
        }
        maps = {"motors": self.motors, "followed": self.followed, "floats": self.floats}
        maps["parameters"] = self.parameters
        return json.dumps({"coordinates": coordinates, **maps})

    def unit(self, name: str) -> str:
        """Unit of a coordinate's travel, or of a task row."""
        if name in self.coordinates:
            return self.coordinates[name].unit
        if name in self.followed:
            return self.unit(self.followed[name])
        if not self.coordinates:
            return "rad or m"
        angular = (".rx", ".ry", ".rz", ".angle", ".wx", ".wy", ".wz")
        linear = (".x", ".y", ".z", ".vx", ".vy", ".vz", ".distance")
        return "rad" if name.endswith(angular) else "m" if name.endswith(linear) else "rad or m"

    def motor_unit(self, motor: str) -> str:
        """Unit of a motor's effort."""
        units = {self.unit(name) for name in self.motors.get(motor, ())}
        if units in ({"m"}, {"rad"}):
            return "N" if units == {"m"} else "N·m"
        return "N·m or N"
