# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""URDF with what the mechanism file says of joints and motors, and loops in three dialects.

``<constraint>``, ``<loop>`` and ``<coupling>`` of URDF+ (Chignoli et al., 2024, arXiv:2411.19753),
and the YAML next to a URDF that Gepetto's tools for parallel robots read.
"""

import math
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from xml.etree import ElementTree as ET

from uk_dynamics.constraints.kinds import Kind
from uk_dynamics.constraints.kinds.pairs import Hinge, Planar, Prismatic, Screw, Universal, Weld
from uk_dynamics.conversion.export.closures import Words, carried, closures, pin_points, written
from uk_dynamics.conversion.export.machine import Coupling, Machine
from uk_dynamics.conversion.robot.imported_robot import named
from uk_dynamics.conversion.robot.urdf_text import number, numbers, origin, tie
from uk_dynamics.conversion.robot.yaml_layout import flow, identifier
from uk_dynamics.exceptions import InputError
from uk_dynamics.model.urdf import FAR, LOOP_TAGS, Joint, Pose, compose
from uk_dynamics.resources import resolve

_GRAVITY = (0.0, 0.0, -9.81)  # of readers of URDF, in m/s²
_PUBLISHED: tuple[type[Kind], ...] = (Weld, Hinge, Prismatic, Planar)  # in the paper on URDF+
_SAME = 1e-12  # of ratios, relative

KINDS = carried("URDF")
# a loop of URDF+ has a type and an axis, nothing else
PLUS_KINDS: Words = {kind: KINDS[kind] for kind in _PUBLISHED} | {
    kind: word for kind, word in KINDS.items() if kind.keys.keys() <= {"axis"}
}
GEPETTO_KINDS: Words = carried("Gepetto") | {Hinge: "two 3d"}  # of the axis of a pin


def _description(machine: Machine, *, transmissions: bool = True) -> ET.Element:
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


def _couple(machine: Machine, robot: ET.Element, coupling: Coupling) -> None:
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
    if any(dict(spec.initial_guess).values()):
        machine.lost("initial_guess", "where the loops close")


def write_urdf_constraint(machine: Machine) -> ET.Element:
    """The ``<robot>`` with its loops."""
    found, couplings = closures(machine, KINDS)
    robot = _description(machine)
    for closure in written(machine, found):
        kind = closure.kind
        node = ET.SubElement(robot, "constraint", name=closure.name, type=KINDS[type(kind)])
        for role, (link, pose) in (("parent", closure.parent), ("child", closure.child)):
            ET.SubElement(node, role, link=link)
            origin(node, pose, f"{role}_origin", whole=True)
            axis = getattr(kind, f"{role}_axis" if isinstance(kind, Universal) else "axis", None)
            if axis is not None:
                ET.SubElement(node, f"{role}_axis", xyz=numbers(axis))
        if isinstance(kind, Screw):
            ET.SubElement(node, "pitch", value=number(kind.pitch))
    for coupling in couplings:
        _couple(machine, robot, coupling)
    return robot


def write_urdf_plus(machine: Machine) -> ET.Element:
    """The ``<robot>`` with its loops."""
    found, couplings = closures(machine, PLUS_KINDS)
    robot = _description(machine)
    for closure in written(machine, found):
        kind = closure.kind
        node = ET.SubElement(robot, "loop", name=closure.name, type=KINDS[type(kind)])
        for tag, (link, pose) in (("predecessor", closure.parent), ("successor", closure.child)):
            origin(ET.SubElement(node, tag, link=link), pose, whole=True)
        axis = getattr(kind, "axis", None)
        if axis is not None:
            ET.SubElement(node, "axis", xyz=numbers(axis))
    unknown = [c.name for c in found if c.active and not isinstance(c.kind, _PUBLISHED)]
    if unknown:
        words = ", ".join(KINDS[kind] for kind in _PUBLISHED)
        reason = f"of a type that is none of {words}, which URDF+ began with"
        machine.changed(named("constraint", unknown), reason)
    movers = {joint.child: joint for joint in machine.joints}
    for coupling in couplings:
        ends = None if coupling.mimic or coupling.offset else _ends(coupling, movers)
        if ends is None or not coupling.active:
            _couple(machine, robot, coupling)
            continue
        node = ET.SubElement(robot, "coupling", name=coupling.name)
        for tag, link in zip(("predecessor", "successor"), ends[:2], strict=True):
            ET.SubElement(node, tag, link=link)
        ET.SubElement(node, "ratio", value=number(ends[2]))
    return robot


def _ends(coupling: Coupling, movers: Mapping[str, Joint]) -> tuple[str, str, float] | None:
    """Links whose ways from the link they have in common are the joints of a coupling."""
    wanted = dict(coupling.joints)
    links = [joint.child for joint in movers.values() if joint.name in wanted]
    for first, second in permutations(links, 2):
        ways = [_way(link, movers) for link in (first, second)]
        own = [[joint for joint in way if joint not in ways[1 - i]] for i, way in enumerate(ways)]
        if not all(own) or {*own[0], *own[1]} != wanted.keys():
            continue
        left, right = ([wanted[joint] for joint in way] for way in own)
        if max(left) - min(left) <= _SAME and max(right) - min(right) <= _SAME:
            return first, second, -left[0] / right[0]
    return None


def _way(link: str, movers: Mapping[str, Joint]) -> list[str]:
    """The moving joints between a link and the root."""
    found = []
    while link in movers:
        if movers[link].type != "fixed":
            found.append(movers[link].name)
        link = movers[link].parent
    return found


def write_gepetto(machine: Machine) -> tuple[ET.Element, str]:
    """The ``<robot>`` with a link at every end of a loop, and the YAML that joins them."""
    found, couplings = closures(machine, GEPETTO_KINDS)
    robot = _description(machine, transmissions=False)
    taken = [node.get("name", "") for node in robot]
    pairs, kinds = [], []
    for closure in written(machine, found):
        offsets: tuple[Pose, ...] = (Pose(),)
        kind = GEPETTO_KINDS[type(closure.kind)]
        if isinstance(closure.kind, Hinge):
            kind, offsets = kind.removeprefix("two "), pin_points(machine, closure.kind)
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
        _couple(machine, robot, coupling)
    motors = [joint for _, joint in machine.motor_joints("name_mot, which names")]
    return robot, f"closed_loop: {flow(pairs)}\ntype: {flow(kinds)}\nname_mot: {flow(motors)}\n"
