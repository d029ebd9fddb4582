# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism in another format, whichever it is."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args
from xml.etree import ElementTree as ET

from uk_dynamics.conversion.export.closures import Words
from uk_dynamics.conversion.export.machine import Machine
from uk_dynamics.conversion.export.mjcf import KINDS as MJCF_KINDS
from uk_dynamics.conversion.export.mjcf import write_mjcf
from uk_dynamics.conversion.export.sdf import KINDS as SDF_KINDS
from uk_dynamics.conversion.export.sdf import write_sdf
from uk_dynamics.conversion.export.sliders import with_sliders
from uk_dynamics.conversion.export.urdf import (
    GEPETTO_KINDS,
    KINDS,
    PLUS_KINDS,
    write_gepetto,
    write_urdf_constraint,
    write_urdf_plus,
)
from uk_dynamics.conversion.robot.imported_robot import Remark, named, remark_lines
from uk_dynamics.escaping import xml_comment
from uk_dynamics.exceptions import expect_names
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
    expect_names("format", [to], FORMATS)
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
