# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The URDF of a mechanism as it is, with what the mechanism file says of joints and motors."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree as ET

from uk_dynamics.constraints.kinds.pairs import Screw, Universal
from uk_dynamics.conversion.export.closures import carried, closures, written
from uk_dynamics.conversion.export.machine import Closure, Coupling, Machine
from uk_dynamics.conversion.robot.urdf_text import number, numbers, origin
from uk_dynamics.exceptions import InputError
from uk_dynamics.model.urdf import FAR, LOOP_TAGS
from uk_dynamics.resources import resolve

_GRAVITY = (0.0, 0.0, -9.81)  # of readers of URDF, in m/s²


def description(machine: Machine, *, transmissions: bool = True) -> ET.Element:
    """The ``<robot>`` without its loops, xacro expanded; motors as transmissions, if wanted."""
    robot = ET.fromstring(machine.mechanism.model.description.text)
    _drop_loops(robot)
    _keep_meshes(machine, robot)
    nodes = {node.get("name"): node for node in robot.iterfind("joint")}
    for joint in machine.joints:
        node = nodes.get(joint.name)
        if node is not None and (joint.damping or joint.friction):
            dynamics = node.find("dynamics")
            if dynamics is None:
                dynamics = ET.SubElement(node, "dynamics")
            dynamics.set("damping", number(joint.damping))
            dynamics.set("friction", number(joint.friction))
    if transmissions:
        for tag in ("transmission", "ros2_control"):
            for old in robot.findall(tag):
                robot.remove(old)
        for motor, name in machine.motor_joints("transmissions that carry"):
            _transmission(robot, motor.name, name, motor.gear)
    for motor in machine.motors:
        if motor.only_joint in nodes and math.isfinite(motor.effort_limit):
            _limit(nodes[motor.only_joint], motor.effort_limit * abs(motor.gear))
    _remark(machine)
    return robot


def couple(machine: Machine, robot: ET.Element, coupling: Coupling) -> None:
    """Write a coupling as ``<mimic>``, or note that it is lost."""
    if coupling.mimic:  # it is there
        return
    if not coupling.active:
        machine.off(coupling.name)
        return
    nodes = {node.get("name"): node for node in robot.iterfind("joint")}
    leaders = {
        name: known.get("joint", "")
        for name, node in nodes.items()
        if name and (known := node.find("mimic")) is not None
    }
    if found := machine.mimics(coupling, leaders):
        (follower, k), (leader, m) = found
        values = {"multiplier": number(-m / k), "offset": number(coupling.offset / k)}
        ET.SubElement(nodes[follower], "mimic", values, joint=leader)
    else:
        machine.coupling_lost(coupling, "no <mimic> says it: its row is missing")


def _drop_loops(robot: ET.Element) -> None:
    """All that closes loops: what the mechanism says is written again."""
    for node in list(robot):
        if node.tag in LOOP_TAGS or node.tag.startswith("{http://drake.mit.edu}"):
            robot.remove(node)
    for gazebo in robot.findall("gazebo"):
        for part in list(gazebo):
            name = part.get("name", "").replace("-", "").lower()
            if part.tag == "joint" or (part.tag == "plugin" and "detachablejoint" in name):
                gazebo.remove(part)


def _keep_meshes(machine: Machine, robot: ET.Element) -> None:
    """Addresses that start at the folder of the URDF, which is another one now."""
    spec = machine.mechanism.spec
    folder = spec.urdf_path().parent if spec.model.urdf else Path.cwd()
    for mesh in robot.iter("mesh"):
        address = mesh.get("filename", "")
        if "://" not in address:
            try:
                mesh.set("filename", resolve(address, relative_to=folder).as_uri())
            except InputError:
                continue  # it was not there before


def _transmission(robot: ET.Element, motor: str, joint: str, gear: float) -> None:
    node = ET.SubElement(robot, "transmission", name=motor)
    ET.SubElement(node, "type").text = "transmission_interface/SimpleTransmission"
    end = ET.SubElement(node, "joint", name=joint)
    ET.SubElement(end, "hardwareInterface").text = "hardware_interface/EffortJointInterface"
    actuator = ET.SubElement(node, "actuator", name=motor)
    ET.SubElement(actuator, "mechanicalReduction").text = number(gear)


def _limit(joint: ET.Element, effort: float) -> None:
    limit = joint.find("limit")
    if limit is None:
        limit = ET.SubElement(joint, "limit", velocity=number(FAR))
    given = float(limit.get("effort", "0"))
    if given == 0.0 or given > effort:
        limit.set("effort", number(effort))


def _remark(machine: Machine) -> None:
    spec = machine.mechanism.spec
    if spec.model.root != "fixed":
        reason = f"the root is {spec.model.root}; readers of URDF fix it, unless told otherwise"
        machine.lost("root", reason, structural=True)
    if spec.model.gravity != _GRAVITY:
        gravity = ", ".join(f"{value:g}" for value in spec.model.gravity)
        machine.lost("gravity", f"({gravity}) m/s²: URDF has none")
    machine.lost_of_joints("armature", lambda extras: extras.armature)
    machine.lost_of_joints("spring", lambda extras: extras.spring_stiffness)
    machine.lost_of_joints("stop", lambda extras: extras.stop_stiffness or extras.stop_damping)
    for force in spec.forces:
        machine.lost(f"force {force.name}", "URDF has no forces")
    guess = dict(spec.initial_guess)
    if any(guess.values()):
        machine.lost("initial_guess", "where the loops close")


def write_urdf_constraint(machine: Machine) -> ET.Element:
    """The ``<robot>`` with its loops."""
    found, couplings = closures(machine, carried("URDF"))
    robot = description(machine)
    for closure in written(machine, found):
        _constraint(robot, closure)
    for coupling in couplings:
        couple(machine, robot, coupling)
    return robot


def _constraint(robot: ET.Element, closure: Closure) -> None:
    kind = closure.kind
    node = ET.SubElement(robot, "constraint", name=closure.name, type=kind.called["URDF"][0])
    for role, (link, pose) in (("parent", closure.parent), ("child", closure.child)):
        ET.SubElement(node, role, link=link)
        origin(node, pose, f"{role}_origin", whole=True)
        axis = getattr(kind, f"{role}_axis" if isinstance(kind, Universal) else "axis", None)
        if axis is not None:
            ET.SubElement(node, f"{role}_axis", xyz=numbers(axis))
    if isinstance(kind, Screw):
        ET.SubElement(node, "pitch", value=number(kind.pitch))
