# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Points that slide along lines, which no other format has: a light slider, and a ball joint in it.

A pin in a slot of a planar machine is a ``frame`` of one axis; the other rows hold anyway, which is
tried as for other stand-ins.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.constraints.kinds import Kind
from uk_dynamics.constraints.kinds.frames import Frame
from uk_dynamics.constraints.kinds.pairs import Point
from uk_dynamics.conversion.export.closures import AXES, stand_ins
from uk_dynamics.conversion.export.machine import pose_of
from uk_dynamics.conversion.robot.urdf_text import inertial, numbers, origin, tie
from uk_dynamics.mechanism.files import ConstraintSpec
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.urdf import Link, Pose, from_quaternion, read_urdf_text

_LIGHT = 1e-6  # of the lightest body: mass of a slider
_FAR = 100.0  # sizes of the machine, that a slider may go
_LETTERS = "xyz"


def with_sliders(
    mechanism: Mechanism, names: Collection[str]
) -> tuple[Mechanism, dict[str, str]] | None:
    """The machine with a slider for each point on a line, of named constraints.

    Its joints are told by constraint; None where nothing slides.
    """
    links = {link.name for link in mechanism.model.description.links}
    chosen = [
        spec
        for spec in mechanism.spec.constraints
        if spec.name in names
        and isinstance(spec.kind, Frame)
        and set(spec.kind.axes) < set(_LETTERS)
        and spec.parent is not None
        and spec.parent.link in links
    ]
    lines = stand_ins(mechanism, chosen, _lines) if chosen else {}
    if not lines:
        return None
    robot = ET.fromstring(mechanism.model.description.text)
    taken = {node.get("name", "") for node in robot}
    specs, guess, joints = [], dict(mechanism.spec.initial_guess), {}
    q = mechanism.assemble()
    for spec in mechanism.spec.constraints:
        line, at = lines.get(spec.name), spec.parent
        if not isinstance(line, Frame) or at is None:
            specs.append(spec)
            continue
        name = f"{spec.name}_slider"
        while name in taken:
            name += "_"
        taken.add(name)
        along = AXES[next(k for k, letter in enumerate(_LETTERS) if letter not in line.axes)]
        pose = pose_of(at)
        _add(robot, mechanism, name, (at.link, pose), along)
        mine = replace(at, link=name, xyz=(0.0, 0.0, 0.0), quaternion=(0.0, 0.0, 0.0, 1.0))
        specs.append(replace(spec, kind=Point(), parent=mine))
        guess[name] = float(np.dot(along, _place(mechanism, q, spec)))
        joints[spec.name] = name
    description = read_urdf_text(ET.tostring(robot, encoding="unicode"), mechanism.name)
    changed = replace(mechanism.spec, constraints=tuple(specs), initial_guess=tuple(guess.items()))
    return Mechanism(changed, description), joints


def _lines(kind: Kind) -> Iterator[Kind]:
    """Two translations that include those of another."""
    for free in _LETTERS:
        axes = tuple(x for x in _LETTERS if x != free)
        if isinstance(kind, Frame) and set(kind.axes) <= set(axes):
            yield Frame(axes)


def _place(mechanism: Mechanism, q: Array, spec: ConstraintSpec) -> Array:
    """Where the child's point is in the parent's frame, (3,), in m."""
    ends = dict(spec.frames)
    start, turn = mechanism.pose((ends["parent"].link, ends["parent"].xyz), q)
    there, _ = mechanism.pose((ends["child"].link, ends["child"].xyz), q)
    place: Array = (turn @ from_quaternion(ends["parent"].quaternion)).T @ (there - start)
    return place


def _add(
    robot: ET.Element,
    mechanism: Mechanism,
    name: str,
    parent: tuple[str, Pose],
    along: tuple[float, float, float],
) -> None:
    """A link that slides in a frame, with its joint of the same name."""
    links = mechanism.model.description.links
    mass = _LIGHT * min((link.mass for link in links if link.mass > 0.0), default=1.0)
    moment = mass * (0.01 * mechanism.size) ** 2
    body = Link(name, mass, inertia=moment * np.eye(3))
    ET.SubElement(robot, "link", name=name).append(inertial(body))
    joint = tie(robot, name, "prismatic", parent[0], name)
    origin(joint, parent[1])
    ET.SubElement(joint, "axis", xyz=numbers(along))
    far = repr(_FAR * mechanism.size)
    limits = {"lower": f"-{far}", "upper": far, "effort": "0", "velocity": "0"}
    ET.SubElement(joint, "limit", limits)
