# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A URDF and a mechanism file with other values of their parameters."""

import contextlib
import copy
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uk_dynamics.conversion.robot.urdf_text import inertial, number, numbers, xml_text
from uk_dynamics.exceptions import InputError, MechanismFileError
from uk_dynamics.mechanism.files import EstimatesSpec, find_file, read_yaml, yaml_text
from uk_dynamics.mechanism.resolution import Parameter
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.urdf import RobotDescription

_COMMENT = "# Written by uk_dynamics {command}; what was estimated, and how well, is in {report}.\n"
_KEYS_OF_A_JOINT = ("damping", "friction", "armature")


def updated_files(
    mechanism: Mechanism,  # as its files have it
    values: Mapping[str, float],  # new ones, by the names of ``Mechanism.parameters``
    *,
    # what the efforts of motors are to be multiplied by, by motor
    gains: Mapping[str, float] | None = None,
    command: str,  # that writes them
    report: str,  # name of the file that tells about the estimates
    # for the section ``identified``, in place of older ones of the same parameters
    estimates: EstimatesSpec | None = None,
) -> dict[str, str]:
    """Texts of ``NAME.urdf`` and ``NAME.yaml``; InputError: a value is of a loop of the URDF."""
    changed = mechanism.with_parameters(values)
    known = mechanism.parameters
    names = {name: known[name] for name in values}
    robot = ET.fromstring(mechanism.model.description.text)
    _write_links(robot, changed.model.description, names)
    _write_joints(robot, names, values)
    path, shown = _file(mechanism)
    from_urdf = path.suffix in (".urdf", ".xacro")
    data: Any = {"schema": 1} if from_urdf else copy.deepcopy(read_yaml(path, shown))
    urdf = f"{mechanism.name}.urdf"
    data["model"] = {**data.get("model", {}), "urdf": urdf}
    for name, parameter in names.items():
        _write_value(data, name, parameter, values[name], mechanism.spec.file)
    for motor, gain in (gains or {}).items():
        _write_gain(data, motor, gain, mechanism)
    if estimates is not None:
        older = [x for x in mechanism.spec.identified if not set(x.names) <= set(estimates.names)]
        data["identified"] = [x.data() for x in (*older, estimates)]
    top = _COMMENT.format(command=command, report=report)
    return {urdf: xml_text(robot), f"{mechanism.name}.yaml": top + yaml_text(data)}


def _file(mechanism: Mechanism) -> tuple[Path, str]:
    """Where the mechanism was read from, and how errors call it."""
    for name in (mechanism.spec.file, mechanism.name):  # shipped ones are known by name
        with contextlib.suppress(MechanismFileError):
            path, shown = find_file(name, "mechanism")
            if path.is_file():
                return path, shown
    raise InputError("was not read from a file that could be updated", place=mechanism.name)


def _write_links(
    robot: ET.Element, description: RobotDescription, names: Mapping[str, Parameter]
) -> None:
    changed = {name.split(".")[1] for name in names if name.startswith("links.")}
    links = {link.name: link for link in description.links}
    for element in robot.findall("link"):
        name = element.get("name", "")
        if name in changed:
            for old in element.findall("inertial"):
                element.remove(old)
            element.insert(0, inertial(links[name]))


def _write_joints(
    robot: ET.Element, names: Mapping[str, Parameter], values: Mapping[str, float]
) -> None:
    joints = {element.get("name", ""): element for element in robot.findall("joint")}
    for name, parameter in names.items():
        if parameter.places[0][:2] != ("description", "joints"):
            continue
        _, owner, *rest = name.split(".")
        element = joints[owner]
        if rest[0] == "origin":
            origin = element.find("origin")
            if origin is None:
                origin = ET.SubElement(element, "origin", xyz="0 0 0", rpy="0 0 0")
            place = [float(x) for x in origin.get("xyz", "0 0 0").split()]
            place["xyz".index(rest[1])] = values[name]
            origin.set("xyz", numbers(place))
            continue
        dynamics = element.find("dynamics")
        if dynamics is None:
            dynamics = ET.SubElement(element, "dynamics")
        dynamics.set(rest[0], number(values[name]))


def _write_value(
    data: dict[str, Any], name: str, parameter: Parameter, value: float, file: str
) -> None:
    """Put a value that the mechanism file has, or is to have."""
    section, owner, *rest = name.split(".")
    if parameter.places[0][0] == "description":
        return
    if section == "gravity":
        gravity = list(data["model"].get("gravity", (0.0, 0.0, -9.81)))
        gravity["xyz".index(owner)] = value
        data["model"]["gravity"] = gravity
        return
    known = data.setdefault(section, {}) if section == "joints" else data.get(section, {})
    if section == "joints":
        entry = known.setdefault(owner, {})
        if rest[0] in _KEYS_OF_A_JOINT:
            entry[rest[0]] = value
        else:
            entry.setdefault("spring", {})[rest[1]] = value
        return
    if owner not in known:
        raise InputError("is declared in the URDF, and cannot be written", file=file, place=name)
    entry = known[owner]
    if len(rest) == 1:
        entry[rest[0]] = value
        return
    frame, axis = rest
    place = list(entry[frame].get("xyz", (0.0, 0.0, 0.0)))
    place["xyz".index(axis)] = value
    entry[frame] = {**entry[frame], "xyz": place}


def _write_gain(data: dict[str, Any], motor: str, gain: float, mechanism: Mechanism) -> None:
    """Multiply what a motor's effort does; its limit stays the one of its command."""
    entry = dict(data.setdefault("actuators", {}).get(motor, {}))
    spec = next(x for x in mechanism.spec.actuators if x.name == motor)
    at = mechanism.actuators.names.index(motor)
    entry.pop("joint", None)
    entry["joints"] = {joint: factor * gain for joint, factor in spec.joints}
    limit = float(mechanism.actuators.effort_limits[at])
    if limit < float("inf"):
        entry["effort_limit"] = limit
    data["actuators"][motor] = entry
