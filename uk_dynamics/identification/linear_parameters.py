# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Parameters in which the equations of motion are linear: their names, values and sizes."""

import fnmatch
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import PARAMETERS_OF_A_LINK, parameters_of_body

Kind = Literal["link", "damping", "friction", "armature", "joint_spring", "force", "motor"]
DEFAULT = ("links.*", "joints.*.damping", "joints.*.friction", "joints.*.spring.*", "forces.*")
_UNITS_OF_A_LINK = ("kg", *("kg m",) * 3, *("kg m^2",) * 6)
_PART = 0.1  # of all that moves: what counts as the mass of a payload


@dataclass(frozen=True)
class LinearParameter:
    """A number that forces are proportional to."""

    name: str  # such as ``links.coupler.mass`` or ``joints.crank.friction``
    unit: str  # in SI
    kind: Kind  # what it belongs to
    owner: str  # link, joint, force or motor
    part: str  # which number of it
    value: float  # in the files
    # what counts as large, which the estimate is expected to stay within; 0: as large as the data
    # allow
    size: float = 0.0
    signed: bool = False  # whether it may be negative


def matching(
    patterns: Sequence[str],  # in which ``*`` stands for anything
    known: Collection[str],
    usual: Sequence[str],  # patterns that may match nothing
    kind: str,  # of what the names are, for errors
) -> tuple[str, ...]:
    """Names that match a pattern, each once; raises UnknownNameError where none does."""
    chosen: dict[str, None] = {}
    for pattern in patterns:
        found = fnmatch.filter(known, pattern)
        if not found and pattern not in usual:
            raise UnknownNameError(kind, pattern, known)
        chosen |= dict.fromkeys(found)
    return tuple(chosen)


def linear_parameters(
    mechanism: Mechanism,  # whose
    patterns: Sequence[str] = DEFAULT,  # names in which ``*`` stands for anything
    payload: str | None = None,  # a link that carries a body that is in no file
) -> tuple[LinearParameter, ...]:
    """Those whose names match a pattern, and those of a payload on a link that moves."""
    known = {parameter.name: parameter for parameter in _all(mechanism)}
    chosen = {name: known[name] for name in matching(patterns, known, DEFAULT, "parameter")}
    if payload is not None:
        body = mechanism.model.body_frames[mechanism.model.frame_index(payload)].body
        if body < 0:
            raise InputError("does not move, and a payload on it has no effect", place=payload)
        mass = _PART * mechanism.model.total_mass
        for parameter in _of_body("payload", payload, np.zeros(10), mass, _length(mechanism)):
            chosen[parameter.name] = parameter
    return tuple(chosen.values())


def _all(mechanism: Mechanism) -> Iterator[LinearParameter]:
    model, length = mechanism.model, _length(mechanism)
    for link in model.description.links:
        moves = model.body_frames[model.frame_index(link.name)].body >= 0
        if moves and (link.mass or link.inertia.any()):
            values = parameters_of_body(link.mass, link.center_of_mass, link.inertia)
            mass = max(link.mass, 1e-3 * model.total_mass)
            yield from _of_body("links", link.name, values, mass, length)
    known = mechanism.parameters
    for name, parameter in known.items():
        section, _, rest = name.partition(".")
        owner, _, part = rest.partition(".")
        if section == "joints" and part in ("damping", "friction", "armature"):
            kind: Kind = cast("Kind", part)
            yield LinearParameter(name, parameter.unit, kind, owner, part, parameter.value)
        elif part in ("spring.stiffness", "stiffness", "damping"):
            kind = "joint_spring" if section == "joints" else "force"
            signed = part == "stiffness" and section == "forces"
            last = part.rpartition(".")[2]
            yield LinearParameter(
                name, parameter.unit, kind, owner, last, parameter.value, signed=signed
            )
        elif part in ("spring.rest", "rest", "length"):
            kind = "joint_spring" if section == "joints" else "force"
            before = name.rpartition(".")[0]
            stiffness = known[f"{before}.stiffness"]
            unit = stiffness.unit.partition("/")[0]
            value = stiffness.value * parameter.value
            yield LinearParameter(
                f"{before}.preload", unit, kind, owner, "preload", value, signed=True
            )
    for name in mechanism.actuators.names:
        yield LinearParameter(f"motors.{name}.constant", "", "motor", name, "constant", 1.0, 1.0)


def _of_body(
    section: str, link: str, values: Array, mass: float, length: float
) -> Iterator[LinearParameter]:
    sizes = mass * np.array([1.0, *[length] * 3, *[length**2] * 6])
    kind: Kind = "link"
    rows = zip(PARAMETERS_OF_A_LINK, _UNITS_OF_A_LINK, values.tolist(), sizes.tolist(), strict=True)
    for part, unit, value, size in rows:
        yield LinearParameter(
            f"{section}.{link}.{part}", unit, kind, link, part, value, size, part != "mass"
        )


def _length(mechanism: Mechanism) -> float:
    """What counts as the size of a link, in m."""
    joints = [joint.pose.translation for joint in mechanism.model.description.joints]
    return max((float(np.linalg.norm(x)) for x in joints), default=0.0) or mechanism.size or 1.0
