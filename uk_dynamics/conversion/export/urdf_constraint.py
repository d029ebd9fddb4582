# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loops as ``<constraint>`` of a URDF, as proposed for it (ros/urdfdom pull request 264)."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from uk_dynamics.constraints.kinds import Kind
from uk_dynamics.constraints.kinds.pairs import (
    Cylindrical,
    Hinge,
    Planar,
    Point,
    Prismatic,
    Screw,
    Universal,
    Weld,
)
from uk_dynamics.conversion.export.closures import closures
from uk_dynamics.conversion.export.machine import Closure, Machine
from uk_dynamics.conversion.export.texts import number, numbers
from uk_dynamics.conversion.export.urdf import couple, description, origin

#: Kinds that elements say; of several that can stand for another the first is taken.
KINDS: tuple[type[Kind], ...] = (
    *(Point, Weld, Hinge, Prismatic, Cylindrical, Planar),
    *(Screw, Universal),
)


def write_urdf_constraint(machine: Machine) -> ET.Element:
    """The ``<robot>`` with its loops."""
    found, couplings = closures(machine, KINDS)
    robot = description(machine)
    for closure in found:
        if closure.active:
            _constraint(robot, closure)
    remark_switches(machine, found)
    for coupling in couplings:
        couple(machine, robot, coupling)
    return robot


def remark_switches(machine: Machine, found: list[Closure]) -> None:
    """Note that URDF has no constraints that can be switched."""
    for closure in found:
        if not closure.active:
            machine.lost(f"constraint {closure.name}", "is off at the start: not written")
        elif closure.switchable:
            machine.lost(f"constraint {closure.name}", "that it can be switched off")


def _constraint(robot: ET.Element, closure: Closure) -> None:
    kind = closure.kind
    node = ET.SubElement(robot, "constraint", name=closure.name, type=kind.called["URDF"][0])
    for role, (link, pose) in (("parent", closure.parent), ("child", closure.child)):
        ET.SubElement(node, role, link=link)
        origin(node, f"{role}_origin", pose)
        axis = getattr(kind, f"{role}_axis" if isinstance(kind, Universal) else "axis", None)
        if axis is not None:
            ET.SubElement(node, f"{role}_axis", xyz=numbers(axis))
    if isinstance(kind, Screw):
        ET.SubElement(node, "pitch", value=number(kind.pitch))
