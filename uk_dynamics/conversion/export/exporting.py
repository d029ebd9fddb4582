# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism in another format, whichever it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args
from xml.etree import ElementTree as ET

from uk_dynamics.conversion.export.gepetto import write_gepetto
from uk_dynamics.conversion.export.machine import Machine
from uk_dynamics.conversion.export.mjcf import write_mjcf
from uk_dynamics.conversion.export.sdf import write_sdf
from uk_dynamics.conversion.export.sliders import with_sliders
from uk_dynamics.conversion.export.urdf import write_urdf_constraint
from uk_dynamics.conversion.export.urdf_plus import write_urdf_plus
from uk_dynamics.conversion.robot.imported_robot import Remark, named, remark_lines
from uk_dynamics.escaping import xml_comment
from uk_dynamics.exceptions import UnknownNameError
from uk_dynamics.mechanism.files import SolverSpec, StabilizationSpec
from uk_dynamics.mechanism_class import Mechanism

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
    """Write a mechanism in the format of another program.

    Args:
        mechanism: What is written.
        to: The format.

    Raises:
        UnknownNameError: There is no such format.
        InputError: Its tree has a joint that the format has not.
        AssemblyError: The format draws it where its loops are closed, and they do not close.
    """
    if to not in FORMATS:
        raise UnknownNameError("format", to, FORMATS)
    machine = Machine.of(mechanism)
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", mechanism.name).strip("_") or "mechanism"
    texts = _texts(machine, to, name)
    lost = {x.subject.removeprefix("constraint ") for x in machine.remarks if x.structural}
    if lost and (sliding := with_sliders(mechanism, lost)):
        machine = Machine.of(sliding[0])
        for constraint, joint in sliding[1].items():
            reason = f"a light link that slides, {joint}, and a ball joint in it"
            machine.changed(f"constraint {constraint}", reason)
        texts = _texts(machine, to, name)
    return Export(mechanism.name, texts, tuple(machine.remarks), dict(machine.zero))


# The element of a machine with the text of a second file, if there is one; the ending of the first.
_WRITERS: Mapping[Format, tuple[Callable[[Machine], tuple[ET.Element, str]], str]] = {
    "sdf": (lambda machine: (write_sdf(machine), ""), ".sdf"),
    "mjcf": (lambda machine: (write_mjcf(machine), ""), ".xml"),
    "urdf-constraint": (lambda machine: (write_urdf_constraint(machine), ""), ".urdf"),
    "urdf+": (lambda machine: (write_urdf_plus(machine), ""), ".urdf"),
    "gepetto": (write_gepetto, ".urdf"),
}


def _texts(machine: Machine, to: Format, name: str) -> dict[str, str]:
    write, ending = _WRITERS[to]
    root, loops = write(machine)
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
