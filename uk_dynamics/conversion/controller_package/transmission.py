# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A package with a transmission of ros2_control, by loops between motors and joints."""

from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from uk_dynamics.compilation.build import completion_export
from uk_dynamics.control.estimation import StateCompletion
from uk_dynamics.conversion.controller_package.parts import (
    filled,
    identifier,
    listed,
    loop_tables,
    package_names,
)
from uk_dynamics.conversion.ros2_control_files import hardware_joints
from uk_dynamics.escaping import c_string
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism_class import Mechanism


def transmission_package(
    mechanism: Mechanism,  # with loops, and motors on single joints that determine its state
    joints: Sequence[str],  # what controllers command instead, as many as motors
    *,
    maintainer: str = "",  # of the package, ``Name <address>``; empty: to be filled in
) -> dict[str, str]:
    """Texts of the package by their path in it; motors and joints have to determine each other."""
    file = mechanism.spec.file
    driven = tuple(joint.name for joint in hardware_joints(mechanism) if joint.driven)
    sides = StateCompletion(mechanism, driven), StateCompletion(mechanism, joints)
    if len(joints) != len(driven) or any(side.redundant for side in sides):
        raise InputError(
            f"{len(driven)} motors and {len(joints)} joints ({', '.join(joints)}) do not determine "
            "each other one to one; a transmission needs as many of both as the mechanism can move",
            file=file,
            place="--joints",
        )
    if mechanism.model.nq != mechanism.model.nv or sides[0].rows.moving:
        problem = "a floating base and constraints that change in time have no transmission"
        raise InputError(problem, file=file, place="constraints")
    if not len(sides[0].rows.held):
        problem = "the mechanism has no loops; ros2_control's own transmissions do"
        raise InputError(problem, file=file, place="constraints")
    name = identifier(mechanism.name)
    package = f"{name}_transmission"
    words = {
        **package_names(mechanism, package, name, maintainer),
        "size": str(len(driven)),
        "joint_names": listed(map(c_string, joints)),
        "actuators": listed(sides[0].split.measured),
        "joints": listed(sides[1].split.measured),
        "urdf": _urdf(package, name, driven, joints),
    }
    texts = {
        "CMakeLists.txt": filled("transmission_CMakeLists.txt", words),
        "package.xml": filled("transmission_package.xml", words),
        "README.md": filled("transmission_README.md", words),
        "transmission_plugin.xml": filled("transmission_plugin.xml", words),
        f"include/{package}/loop_transmission.hpp": filled("loop_transmission.hpp", words),
        "src/transmission.cpp": filled("transmission.cpp", words),
        "LICENSE": filled("LICENSE", words),
    }
    for side, of in zip(sides, ("actuators", "joints"), strict=True):
        part = f"{name}_from_{of}"
        header, source = completion_export(mechanism, loop_tables(side), side.encoders.names, part)
        texts[f"include/{package}/{part}.h"] = header
        texts[f"src/{part}.c"] = source.replace(f'"{part}.h"', f'"{package}/{part}.h"')
    return texts


def _urdf(package: str, name: str, driven: Sequence[str], joints: Sequence[str]) -> str:
    """The element that a <ros2_control> block needs."""
    reduction = "<mechanical_reduction>1.0</mechanical_reduction>"
    lines = [
        f'<transmission name="{name}_loops">',
        f"  <plugin>{package}/LoopTransmission</plugin>",
    ]
    for k, actuator in enumerate(map(quoteattr, driven), 1):
        lines.append(f'  <actuator name={actuator} role="actuator{k}">{reduction}</actuator>')
    for k, joint in enumerate(map(quoteattr, joints), 1):
        lines.append(f'  <joint name={joint} role="joint{k}"/>')
    return "\n".join([*lines, "</transmission>"])
