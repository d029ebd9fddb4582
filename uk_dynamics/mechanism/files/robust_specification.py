# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a tasks file says about a machine that may differ from its model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.files.frame_specification import given

Interval = tuple[float, float]


@dataclass(frozen=True)
class OutsideForceSpec:
    """Bounds of a force and a torque from outside, whatever their directions."""

    name: str  # its key in the file
    link: str  # link or frame of the URDF at whose origin they act
    force: float = 0.0  # in N
    torque: float = 0.0  # in N·m


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

    @classmethod
    def from_data(cls, data: Mapping[str, Any], file: str) -> "RobustSpec":
        """Build it from checked data.

        Raises:
            MechanismFileError: Nothing is uncertain, or an interval is empty.
        """
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
            **given(data, "delay", "bandwidth"),
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
