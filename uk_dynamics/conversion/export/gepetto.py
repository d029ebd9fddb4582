# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loops as the YAML next to a URDF that Gepetto's tools for parallel robots read."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.constraints.kinds import Kind
from uk_dynamics.constraints.kinds.pairs import Hinge
from uk_dynamics.conversion.export.closures import carried, closures
from uk_dynamics.conversion.export.machine import Closure, Machine
from uk_dynamics.conversion.export.urdf import couple, description, origin, remark_switches
from uk_dynamics.conversion.robot.yaml_layout import flow
from uk_dynamics.model.urdf import Pose, compose

KINDS: tuple[type[Kind], ...] = (*carried("Gepetto"), Hinge)  # a pin is two of its points


def write_gepetto(machine: Machine) -> tuple[ET.Element, str]:
    """The ``<robot>`` with a link at every end of a loop, and the YAML that joins them."""
    found, couplings = closures(machine, KINDS)
    robot = description(machine, transmissions=False)
    writer = _Loops(machine, robot)
    for closure in found:
        if closure.active:
            writer.add(closure)
    remark_switches(machine, found)
    for coupling in couplings:
        couple(machine, robot, coupling)
    motors = [joint for _, joint in machine.motor_joints("name_mot, which names")]
    return robot, writer.text(motors)


class _Loops:
    def __init__(self, machine: Machine, robot: ET.Element) -> None:
        self.machine, self.robot = machine, robot
        self.taken = {node.get("name", "") for node in robot}
        self.pairs: list[list[str]] = []
        self.kinds: list[str] = []

    def add(self, closure: Closure) -> None:
        kind = closure.kind
        if isinstance(kind, Hinge):
            # a pin is two points of its axis, as far apart as its machine is large
            size = max(self.machine.mechanism.size, 1e-3)
            for along in (0.0, size):
                self._pair(closure, Pose(along * np.array(kind.axis)), "3d")
            self.machine.changed(f"constraint {closure.name}", "two points of its axis")
        else:
            self._pair(closure, Pose(), kind.called["Gepetto"][0])

    def _pair(self, closure: Closure, offset: Pose, kind: str) -> None:
        pair = []
        for role, (link, pose) in (("parent", closure.parent), ("child", closure.child)):
            name = self._free(f"{closure.name}_{role}")
            self._frame(name, link, compose(pose, offset))
            pair.append(name)
        self.pairs.append(pair)
        self.kinds.append(kind)

    def _frame(self, name: str, link: str, pose: Pose) -> None:
        ET.SubElement(self.robot, "link", name=name)
        joint = ET.SubElement(self.robot, "joint", name=name, type="fixed")
        ET.SubElement(joint, "parent", link=link)
        ET.SubElement(joint, "child", link=name)
        origin(joint, "origin", pose)

    def _free(self, name: str) -> str:
        chosen, number = name, 1
        while chosen in self.taken:
            number += 1
            chosen = f"{name}_{number}"
        self.taken.add(chosen)
        return chosen

    def text(self, motors: list[str]) -> str:
        return (
            f"closed_loop: {flow(self.pairs)}\ntype: {flow(self.kinds)}\nname_mot: {flow(motors)}\n"
        )
