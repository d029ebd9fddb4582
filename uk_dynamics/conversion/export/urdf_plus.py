# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loops as ``<loop>`` and ``<coupling>`` of URDF+ (Chignoli et al., 2024, arXiv:2411.19753)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from xml.etree import ElementTree as ET

from uk_dynamics.constraints.kinds import Kind
from uk_dynamics.constraints.kinds.pairs import Hinge, Planar, Prismatic, Weld
from uk_dynamics.conversion.export.closures import carried, closures
from uk_dynamics.conversion.export.machine import Closure, Coupling, Machine
from uk_dynamics.conversion.export.urdf import couple, description, written
from uk_dynamics.conversion.robot.imported_robot import named
from uk_dynamics.conversion.robot.urdf_text import number, numbers, origin
from uk_dynamics.model.urdf import Joint

_PUBLISHED: tuple[type[Kind], ...] = (Weld, Hinge, Prismatic, Planar)
# a loop has a type and an axis, nothing else
_OTHERS = (kind for kind in carried("URDF") if kind.keys.keys() <= {"axis"})
KINDS: tuple[type[Kind], ...] = tuple(dict.fromkeys((*_PUBLISHED, *_OTHERS)))
_SAME = 1e-12  # of ratios, relative


def write_urdf_plus(machine: Machine) -> ET.Element:
    """The ``<robot>`` with its loops."""
    found, couplings = closures(machine, KINDS)
    robot = description(machine)
    for closure in written(machine, found):
        _loop(robot, closure)
    unknown = [c.name for c in found if c.active and not isinstance(c.kind, _PUBLISHED)]
    if unknown:
        words = ", ".join(kind.called["URDF"][0] for kind in _PUBLISHED)
        reason = f"of a type that is none of {words}, which URDF+ began with"
        machine.changed(named("constraint", unknown), reason)
    movers = {joint.child: joint for joint in machine.joints}
    for coupling in couplings:
        ends = None if coupling.mimic or coupling.offset else _ends(coupling, movers)
        if ends is None or not coupling.active:
            couple(machine, robot, coupling)
            continue
        node = ET.SubElement(robot, "coupling", name=coupling.name)
        for tag, link in zip(("predecessor", "successor"), ends[:2], strict=True):
            ET.SubElement(node, tag, link=link)
        ET.SubElement(node, "ratio", value=number(ends[2]))
    return robot


def _loop(robot: ET.Element, closure: Closure) -> None:
    kind = closure.kind
    node = ET.SubElement(robot, "loop", name=closure.name, type=kind.called["URDF"][0])
    ends = (("predecessor", closure.parent), ("successor", closure.child))
    for tag, (link, pose) in ends:
        origin(ET.SubElement(node, tag, link=link), pose, whole=True)
    axis = getattr(kind, "axis", None)
    if axis is not None:
        ET.SubElement(node, "axis", xyz=numbers(axis))


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
