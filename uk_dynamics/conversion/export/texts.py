# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How writers write: rotations, and what was lost in a comment on top."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from uk_dynamics.conversion.robot.imported_robot import Remark, remark_lines
from uk_dynamics.conversion.robot.poses import quaternion
from uk_dynamics.conversion.robot.urdf_text import numbers
from uk_dynamics.escaping import xml_comment
from uk_dynamics.model.urdf import Pose


def wxyz(pose: Pose) -> str:
    """The rotation as MuJoCo has it."""
    x, y, z, w = quaternion(pose.rotation)
    return numbers([w, x, y, z])


def xyzw(pose: Pose) -> str:
    """The rotation as SDF has it."""
    return numbers(quaternion(pose.rotation))


def xml_document(root: ET.Element, source: str, remarks: Sequence[Remark]) -> str:
    """A whole XML file, the remarks in a comment on top."""
    ET.indent(root)
    said = "\n".join(
        f"  {xml_comment(line)}" for line in remark_lines(f"Exported from {source}.", remarks)
    )
    return f'<?xml version="1.0"?>\n<!--\n{said}\n-->\n{ET.tostring(root, encoding="unicode")}\n'
