# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism in another format, whichever it is.

Points that slide along lines, which no other format has, become a light slider and a ball joint in
it. A pin in a slot of a planar machine is a ``frame`` of one axis; the other rows hold anyway,
which is tried as for other stand-ins.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.constraints.kinds import Kind
from uk_dynamics.constraints.kinds.frames import Frame
from uk_dynamics.constraints.kinds.pairs import Point
from uk_dynamics.conversion.export.closures import AXES, Words, stand_ins
from uk_dynamics.conversion.export.machine import Machine, pose_of
from uk_dynamics.conversion.export.mjcf import KINDS as MJCF_KINDS
from uk_dynamics.conversion.export.mjcf import write_mjcf
from uk_dynamics.conversion.export.sdf import KINDS as SDF_KINDS
from uk_dynamics.conversion.export.sdf import write_sdf
from uk_dynamics.conversion.export.urdf import (
    GEPETTO_KINDS,
    KINDS,
    PLUS_KINDS,
    write_gepetto,
    write_urdf_constraint,
    write_urdf_plus,
)
from uk_dynamics.conversion.robot.imported_robot import Remark, named, remark_lines
from uk_dynamics.conversion.robot.urdf_text import inertial, numbers, origin, tie
from uk_dynamics.escaping import xml_comment
from uk_dynamics.exceptions import expect_names
from uk_dynamics.mechanism.files import ConstraintSpec, SolverSpec, StabilizationSpec
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.urdf import Link, Pose, from_quaternion, read_urdf_text

Format = Literal["sdf", "mjcf", "urdf-constraint", "urdf+", "gepetto"]
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True)
class Export:
    """The files of a mechanism in another format."""

    name: str  # of the mechanism
    texts: Mapping[str, str]  # files by name
    remarks: tuple[Remark, ...]  # what could not be carried over, or stands there in another form
    # joints whose position there is counted from another one, with that, in rad or m
    zero: Mapping[str, float]

    @property
    def missing(self) -> tuple[Remark, ...]:
        """The remarks without which it is another machine: rows or freedoms are missing."""
        return tuple(remark for remark in self.remarks if remark.structural)


def export_mechanism(mechanism: Mechanism, to: Format) -> Export:
    """Write a mechanism in another program's format, if that has its joints and loops close."""
    expect_names("format", [to], FORMATS)
    machine = Machine.of(mechanism)
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", mechanism.name).strip("_") or "mechanism"
    texts = _texts(machine, to, name)
    lost = {x.subject.removeprefix("constraint ") for x in machine.remarks if x.structural}
    if lost and (sliding := _with_sliders(mechanism, lost)):
        machine = Machine.of(sliding[0])
        for constraint, joint in sliding[1].items():
            reason = f"a light link that slides, {joint}, and a ball joint in it"
            machine.changed(f"constraint {constraint}", reason)
        texts = _texts(machine, to, name)
    return Export(mechanism.name, texts, tuple(machine.remarks), dict(machine.zero))


# What writes the element of a machine, or that with the text of a second file; what the format
# calls the kinds that it has; the ending of the file
_Writer = Callable[[Machine], ET.Element | tuple[ET.Element, str]]
_FORMATS: Mapping[Format, tuple[_Writer, Words, str]] = {
    "sdf": (write_sdf, SDF_KINDS, ".sdf"),
    "mjcf": (write_mjcf, MJCF_KINDS, ".xml"),
    "urdf-constraint": (write_urdf_constraint, KINDS, ".urdf"),
    "urdf+": (write_urdf_plus, PLUS_KINDS, ".urdf"),
    "gepetto": (write_gepetto, GEPETTO_KINDS, ".urdf"),
}
KINDS_OF: Mapping[Format, Words] = {to: words for to, (_, words, _) in _FORMATS.items()}


def _texts(machine: Machine, to: Format, name: str) -> dict[str, str]:
    write, _, ending = _FORMATS[to]
    found = write(machine)
    root, loops = found if isinstance(found, tuple) else (found, "")
    _remark_settings(machine)
    lines = list(remark_lines(f"Exported from {machine.mechanism.name}.", machine.remarks))
    said = "\n".join(f"  {xml_comment(line)}" for line in lines)
    ET.indent(root)
    document = ET.tostring(root, encoding="unicode")
    texts = {f"{name}{ending}": f'<?xml version="1.0"?>\n<!--\n{said}\n-->\n{document}\n'}
    if not loops:
        return texts
    return {f"{name}.yaml": "".join(f"# {line}\n" for line in lines) + loops, **texts}


def _remark_settings(machine: Machine) -> None:
    """What is this package's own, and no other format says."""
    spec = machine.mechanism.spec
    gains = [c.name for c in spec.constraints if c.stabilization != StabilizationSpec()]
    levels = [c.name for c in spec.constraints if c.level != 1]
    for names, what in ((gains, "stabilization: the reader's own"), (levels, "level")):
        if names:
            machine.lost(named("constraint", names), what)
    if spec.solver != SolverSpec():
        machine.lost("solver", "its settings: the reader's own")
    for motor in spec.actuators:
        limits = [w for w in ("power", "rate") if getattr(motor, f"{w}_limit") is not None]
        if limits:
            machine.lost(f"actuator {motor.name}", f"{' and '.join(limits)} limit")
    if spec.measured:
        machine.lost("measured", "which joints have an encoder")
    if spec.initial_velocity:
        machine.lost("initial_velocity", "velocities at the start")


_LIGHT = 1e-6  # of the lightest body: mass of a slider
_FAR = 100.0  # sizes of the machine, that a slider may go
_LETTERS = "xyz"


def _with_sliders(
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
        _add(robot, mechanism, name, (at.link, pose_of(at)), along)
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
    return (turn @ from_quaternion(ends["parent"].quaternion)).T @ (there - start)


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
    body = Link(name, mass, inertia=mass * (0.01 * mechanism.size) ** 2 * np.eye(3))
    ET.SubElement(robot, "link", name=name).append(inertial(body))
    joint = tie(robot, name, "prismatic", parent[0], name)
    origin(joint, parent[1])
    ET.SubElement(joint, "axis", xyz=numbers(along))
    far = repr(_FAR * mechanism.size)
    limits = {"lower": f"-{far}", "upper": far, "effort": "0", "velocity": "0"}
    ET.SubElement(joint, "limit", limits)
