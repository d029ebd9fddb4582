# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Numbers of a mechanism that can be varied: names, units, values, and where each of them is.

One table for all who vary, estimate or differentiate: a compiled library keeps the named ones as
inputs and serves all their values.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.exceptions import InputError, UnknownNameError, expect_names
from uk_dynamics.mechanism.files.constraint_specification import ConstraintSpec
from uk_dynamics.mechanism.files.force_specification import ForceSpec
from uk_dynamics.mechanism.files.specification import JointSpec, MechanismSpec
from uk_dynamics.mechanism.resolution.robot_resolution import frame_name
from uk_dynamics.model.urdf import ClosedLoops, RobotDescription

_AXES = "xyz"
_FRICTIONS = "friction", "static_friction"  # of contacts
# Places of the moments in a matrix, as URDF names them.
MOMENTS = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2)} | {
    "iyz": (1, 2)
}
_ANY_SIGN = ("center", "inertia", "origin", "parent", "child", "gravity", "frame", "rest")
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Parameter:
    """A number of a mechanism."""

    # as the user writes it, such as ``links.coupler.mass`` or ``forces.return.stiffness``
    name: str
    unit: str  # in SI
    value: float  # what the mechanism has now
    places: tuple[Path, ...]  # where it stands in the specification or in the robot description


class Source(NamedTuple):
    """What a mechanism is made from."""

    spec: MechanismSpec
    description: RobotDescription


def plain(spec: MechanismSpec, description: RobotDescription) -> Source:
    """A source with an entry for each joint, and loops as constraints only."""
    given = dict(spec.joints)
    moving = (joint.name for joint in description.joints if joint.type in ("revolute", "prismatic"))
    joints = tuple((name, given.get(name, JointSpec())) for name in moving)
    return Source(replace(spec, joints=joints), replace(description, loops=ClosedLoops()))


def parameters_of(source: Source) -> dict[str, Parameter]:
    """All parameters by name; of a source that is plain."""
    return {
        name: Parameter(name, unit, float(_get(source, places[0])), places)
        for name, unit, places in _entries(source)
    }


def check_estimates(spec: MechanismSpec, owners: Mapping[str, Collection[str]]) -> None:
    """Refuse estimates of what the machine does not have; owners are first parts of names."""
    for number, estimates in enumerate(spec.identified):
        place = f"identified[{number}].parameters"
        for name in estimates.names:
            section, _, rest = name.partition(".")
            expect_names("kind of parameter", (section,), owners, file=spec.file, place=place)
            if not any(rest == owner or rest.startswith(f"{owner}.") for owner in owners[section]):
                kind = "link" if section == "payload" else section.removesuffix("s")
                owner = rest.partition(".")[0]
                raise UnknownNameError(kind, owner, owners[section], file=spec.file, place=place)


def with_values(source: Source, values: Mapping[str, Any]) -> Source:
    """A source with other values, or symbols, of the parameters that are named."""
    known = parameters_of(source)
    for name, value in values.items():
        for place in known[name].places:
            source = _put(source, place, value)
    return source


def check_values(
    known: Mapping[str, Parameter], values: Mapping[str, Any], file: str, place: str = ""
) -> None:
    """Refuse names that do not exist and values that cannot be; they stand in a file at a place."""
    expect_names("parameter", values, known, file=file)
    for name, value in values.items():
        signed = any(part in _ANY_SIGN for part in name.split(".")[-2:])
        number = float(value) if isinstance(value, SupportsFloat) else math.nan  # text is none
        if not math.isfinite(number) or (number < 0.0 and not signed):
            kind = "a finite number" if signed else "a finite number >= 0"
            raise InputError(f"found {value!s:.40}; give {kind}", file=file, place=place + name)
        if name.startswith("contacts."):
            rubs = name.endswith("friction")
            if not (number > 0.0 if rubs else number <= 1.0):
                kind = "more than 0, without it there are other rows" if rubs else "0 to 1"
                raise InputError(f"found {value!s:.40}; give {kind}", file=file, place=place + name)


def frame_origins(source: Source) -> dict[str, Any]:
    """Origins of the frames that constraints and forces attach to links, (3,), by name."""
    constraints, forces = source.spec.constraints, source.spec.forces
    found = {frame_name(owner, role): x.xyz for owner in constraints for role, x in owner.frames}
    return found | {frame_name(owner, role): x.xyz for owner in forces for role, x in owner.frames}


def _entries(source: Source) -> Iterator[tuple[str, str, tuple[Path, ...]]]:
    spec, description = source
    yield from _of_vector("gravity", "m/s^2", ("spec", "model", "gravity"))
    for k, link in enumerate(description.links):
        if not (link.mass or link.inertia.any()):
            continue
        where: Path = ("description", "links", k)
        yield f"links.{link.name}.mass", "kg", ((*where, "mass"),)
        yield from _of_vector(f"links.{link.name}.center", "m", (*where, "center_of_mass"))
        for moment, (i, j) in MOMENTS.items():
            both = {(*where, "inertia", i, j), (*where, "inertia", j, i)}
            yield f"links.{link.name}.inertia.{moment}", "kg m^2", tuple(sorted(both, key=str))
    numbers = {name: k for k, (name, _) in enumerate(spec.joints)}
    for k, joint in enumerate(description.joints):
        place: Path = ("description", "joints", k, "pose", "translation")
        yield from _of_vector(f"joints.{joint.name}.origin", "m", place)
        if joint.name in numbers:
            yield from _of_joint(spec, joint.name, numbers[joint.name], k, joint.type == "revolute")
    yield from _of_contacts(spec)
    for k, force in enumerate(spec.forces):
        yield from _of_spring(force.name, force.type, k, [term[0] for term in force.joints], source)
    sections: dict[str, Sequence[ConstraintSpec | ForceSpec]] = {
        "constraints": spec.constraints,
        "forces": spec.forces,
    }
    for section, owners in sections.items():
        for k, owner in enumerate(owners):
            for n, (role, _) in enumerate(owner.frames):
                held: Path = (role,) if section == "constraints" else ("frames", n, 1)
                place = ("spec", section, k, *held, "xyz")
                yield from _of_vector(f"{section}.{owner.name}.{role}", "m", place)


def _of_vector(name: str, unit: str, place: Path) -> Iterator[tuple[str, str, tuple[Path, ...]]]:
    for axis, letter in enumerate(_AXES):
        yield f"{name}.{letter}", unit, ((*place, axis),)


def _of_joint(
    spec: MechanismSpec, name: str, number: int, in_urdf: int, turns: bool
) -> Iterator[tuple[str, str, tuple[Path, ...]]]:
    joint = spec.joints[number][1]
    where: Path = ("spec", "joints", number, 1)
    effort, length = ("N m", "rad") if turns else ("N", "m")
    units = {"damping": f"{effort} s/{length}", "friction": effort}
    if joint.stiction:
        units["stiction"] = effort
    for key, unit in units.items():
        place = (*where, key) if getattr(joint, key) is not None else None
        yield (f"joints.{name}.{key}", unit, (place or ("description", "joints", in_urdf, key),))
    yield f"joints.{name}.armature", "kg m^2" if turns else "kg", ((*where, "armature"),)
    if joint.spring_stiffness:
        yield (
            f"joints.{name}.spring.stiffness",
            f"{effort}/{length}",
            ((*where, "spring_stiffness"),),
        )
        yield f"joints.{name}.spring.rest", length, ((*where, "spring_rest"),)


def _of_contacts(spec: MechanismSpec) -> Iterator[tuple[str, str, tuple[Path, ...]]]:
    """Of entries with their points together; friction where there is some, which makes rows."""
    for name in dict.fromkeys(contact.name.partition(".")[0] for contact in spec.contacts):
        own = [k for k, c in enumerate(spec.contacts) if c.name.partition(".")[0] == name]
        keys = [
            *(key for key in _FRICTIONS if all(getattr(spec.contacts[k], key) for k in own)),
            "restitution",
        ]
        for key in keys:
            yield f"contacts.{name}.{key}", "", tuple(("spec", "contacts", k, key) for k in own)


def _of_spring(
    name: str, kind: str, number: int, joints: Sequence[str], source: Source
) -> Iterator[tuple[str, str, tuple[Path, ...]]]:
    if kind not in ("joint_spring", "line_spring"):
        return
    where: Path = ("spec", "forces", number)
    types = {joint.name: joint.type for joint in source.description.joints}
    turns = any(types.get(joint) == "revolute" for joint in joints)
    effort, length = ("N m", "rad") if turns else ("N", "m")
    rest = "rest" if kind == "joint_spring" else "length"
    units = {"stiffness": f"{effort}/{length}", "damping": f"{effort} s/{length}"}
    for key, unit in units.items():
        yield f"forces.{name}.{key}", unit, ((*where, key),)
    yield f"forces.{name}.{rest}", length, ((*where, "rest"),)


def _get(data: Any, path: Path) -> Any:
    for step in path:
        data = getattr(data, step) if isinstance(step, str) else data[step]
    return data


def _put(data: Any, path: Path, value: Any) -> Any:
    """Data with the entry at a path replaced; arrays hold objects where that is one."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        changed = {step: _put(getattr(data, step), rest, value)}
        return data._replace(**changed) if isinstance(data, Source) else replace(data, **changed)
    if isinstance(data, np.ndarray):
        array: NDArray[Any] = data.copy() if isinstance(value, float | int) else data.astype(object)
        array[tuple(path)] = value  # type: ignore[index]
        return array
    return (*data[:step], _put(data[step], rest, value), *data[step + 1 :])


class Varied(NamedTuple):
    """What distinguishes a mechanism from the one whose parameters it varies."""

    base: Source  # plain, with the values of the file
    names: tuple[str, ...]  # sorted; of what stays an input of compiled code
    values: NDArray[np.float64]  # of the mechanism that has this, in the same order
