# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A ROS package with the loops of a mechanism as a transmission of ros2_control."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from uk_dynamics.compilation.build import completion_export
from uk_dynamics.control.estimation import StateCompletion
from uk_dynamics.conversion.controller_package.parts import filled, identifier, listed, loop_tables
from uk_dynamics.conversion.ros2_control_files import hardware_joints
from uk_dynamics.escaping import c_string
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism_class import Mechanism


def transmission_package(mechanism: Mechanism, joints: Sequence[str]) -> dict[str, str]:
    """Texts of the package by their path in it.

    Args:
        mechanism: With loops, and motors on single joints that determine its state.
        joints: What controllers command instead, as many as motors.

    Raises:
        UnknownNameError: A joint does not exist.
        InputError: Motors and joints do not determine each other; something cannot be C.
    """
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
        "id": name,
        "ID": name.upper(),
        "GUARD": package.upper(),
        "package": package,
        "space": f"{name}_loops",
        "mechanism": name,
        "mechanism_xml": escape(mechanism.name),
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
    }
    for side, of in zip(sides, ("actuators", "joints"), strict=True):
        part = f"{name}_from_{of}"
        header, source = completion_export(mechanism, loop_tables(side), side.encoders.names, part)
        texts[f"include/{package}/{part}.h"] = header
        texts[f"src/{part}.c"] = source.replace(f'"{part}.h"', f'"{package}/{part}.h"')
    return texts


def _urdf(package: str, name: str, driven: Sequence[str], joints: Sequence[str]) -> str:
    """The element that a <ros2_control> block needs."""
    lines = [
        f'<transmission name="{name}_loops">',
        f"  <plugin>{package}/LoopTransmission</plugin>",
        *(
            f"  <actuator name={quoteattr(actuator)} role={quoteattr(f'actuator{k}')}>"
            "<mechanical_reduction>1.0</mechanical_reduction></actuator>"
            for k, actuator in enumerate(driven, 1)
        ),
        *(
            f"  <joint name={quoteattr(joint)} role={quoteattr(f'joint{k}')}/>"
            for k, joint in enumerate(joints, 1)
        ),
        "</transmission>",
    ]
    return "\n".join(lines)
