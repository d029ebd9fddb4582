# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which joints a robot description says are driven: ``<ros2_control>`` and ``<transmission>``."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from uk_dynamics.model.urdf.description import RobotDescription

_BY_PREFERENCE = ("effort", "velocity", "position")


@dataclass(frozen=True)
class ActuationTag:
    """A joint that a tag names as driven."""

    joint: str  # its name
    actuator: str  # name of the motor; empty where the tag has none
    tag: str  # ``ros2_control`` or ``transmission``
    command: str  # command interface: effort, velocity, position, or what else is written
    reduction: float = 1.0  # mechanical reduction, 1 where none is written
    # of the effort command, in N m or N; infinite where none is written
    effort_limit: float = math.inf


def actuation_tags(description: RobotDescription) -> tuple[ActuationTag, ...]:
    """Read the driven joints; ``<ros2_control>`` is what runs today and comes first.

    Joints that do not exist and what cannot be read as a number are passed over: nothing here is
    more than a hint.
    """
    robot = ET.fromstring(description.text)
    known = {joint.name for joint in description.joints}
    found: dict[str, ActuationTag] = {}
    for tag in (*_ros2_control(robot), *_transmissions(robot)):
        if tag.joint in known:
            found.setdefault(tag.joint, tag)
    return tuple(found.values())


def _ros2_control(robot: ET.Element) -> Iterator[ActuationTag]:
    for system in robot.iterfind("ros2_control"):
        geared = {
            joint.get("name"): (transmission, joint)
            for transmission in system.iterfind("transmission")
            for joint in transmission.iterfind("joint")
        }
        for joint in system.iterfind("joint"):
            interfaces = {i.get("name", ""): i for i in joint.iterfind("command_interface")}
            if not interfaces or joint.get("mimic") == "true":
                continue
            command = next((n for n in _BY_PREFERENCE if n in interfaces), next(iter(interfaces)))
            transmission, end = geared.get(joint.get("name"), (None, None))
            actuator = None if transmission is None else transmission.find("actuator")
            reduction = None if end is None else end.find("mechanical_reduction")
            yield ActuationTag(
                joint=joint.get("name", ""),
                actuator="" if actuator is None else actuator.get("name", ""),
                tag="ros2_control",
                command=command,
                reduction=_number(reduction, 1.0),
                effort_limit=_effort_limit(interfaces.get("effort")),
            )


def _transmissions(robot: ET.Element) -> Iterator[ActuationTag]:
    for transmission in robot.iterfind("transmission"):
        actuator = transmission.find("actuator")
        reduction = None if actuator is None else actuator.find("mechanicalReduction")
        for joint in transmission.iterfind("joint"):
            interface = joint.find("hardwareInterface")
            if interface is None and actuator is not None:
                interface = actuator.find("hardwareInterface")
            text = "" if interface is None else (interface.text or "")
            command = next((name for name in _BY_PREFERENCE if name in text.lower()), text.strip())
            yield ActuationTag(
                joint=joint.get("name", ""),
                actuator="" if actuator is None else actuator.get("name", ""),
                tag="transmission",
                command=command,
                reduction=_number(reduction, 1.0),
            )


def _effort_limit(interface: ET.Element | None) -> float:
    for parameter in () if interface is None else interface.iterfind("param"):
        if parameter.get("name") == "max":
            limit = _number(parameter, math.inf)
            return limit if limit > 0.0 else math.inf
    return math.inf


def _number(node: ET.Element | None, default: float) -> float:
    try:
        number = float((node.text or "") if node is not None else default)
    except ValueError:
        return default
    return number if math.isfinite(number) and number != 0.0 else default
