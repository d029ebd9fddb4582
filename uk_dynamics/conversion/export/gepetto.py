# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loops as the YAML next to a URDF that Gepetto's tools for parallel robots read."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from uk_dynamics.constraints.kinds import Kind
from uk_dynamics.constraints.kinds.pairs import Hinge
from uk_dynamics.conversion.export.closures import carried, closures, pin_points, written
from uk_dynamics.conversion.export.machine import Machine
from uk_dynamics.conversion.export.urdf import couple, description
from uk_dynamics.conversion.robot.urdf_text import origin, tie
from uk_dynamics.conversion.robot.yaml_layout import flow, identifier
from uk_dynamics.model.urdf import Pose, compose

KINDS: tuple[type[Kind], ...] = (*carried("Gepetto"), Hinge)  # a pin is two of its points


def write_gepetto(machine: Machine) -> tuple[ET.Element, str]:
    """The ``<robot>`` with a link at every end of a loop, and the YAML that joins them."""
    found, couplings = closures(machine, KINDS)
    robot = description(machine, transmissions=False)
    taken = [node.get("name", "") for node in robot]
    pairs, kinds = [], []
    for closure in written(machine, found):
        offsets: tuple[Pose, ...] = (Pose(),)
        kind = closure.kind.called.get("Gepetto", ("3d",))[0]
        if isinstance(closure.kind, Hinge):
            offsets = pin_points(machine, closure.kind)
            machine.changed(f"constraint {closure.name}", "two points of its axis")
        for offset in offsets:
            pair = []
            for role, (link, pose) in (("parent", closure.parent), ("child", closure.child)):
                name = identifier(f"{closure.name}_{role}", taken)
                taken.append(name)
                ET.SubElement(robot, "link", name=name)
                joint = tie(robot, name, "fixed", link, name)
                origin(joint, compose(pose, offset), whole=True)
                pair.append(name)
            pairs.append(pair)
            kinds.append(kind)
    for coupling in couplings:
        couple(machine, robot, coupling)
    motors = [joint for _, joint in machine.motor_joints("name_mot, which names")]
    loops = f"closed_loop: {flow(pairs)}\ntype: {flow(kinds)}\nname_mot: {flow(motors)}\n"
    return robot, loops
