# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How writers write: numbers with all their digits, and what was lost in a comment on top."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.conversion.robot.imported_robot import Remark
from uk_dynamics.conversion.robot.poses import quaternion
from uk_dynamics.escaping import one_line, xml_comment
from uk_dynamics.model.urdf import Array, Pose

_WIDTH = 110


def number(value: float) -> str:
    """All digits, and no minus zero."""
    return repr(float(value) + 0.0)


def numbers(values: Array | Sequence[float]) -> str:
    """Numbers with blanks between."""
    return " ".join(number(value) for value in np.ravel(values))


def wxyz(pose: Pose) -> str:
    """The rotation as MuJoCo has it."""
    x, y, z, w = quaternion(pose.rotation)
    return numbers([w, x, y, z])


def xyzw(pose: Pose) -> str:
    """The rotation as SDF has it."""
    return numbers(quaternion(pose.rotation))


def remark_lines(source: str, remarks: Iterable[Remark]) -> Iterator[str]:
    """What was lost, and what stands there in another form; long remarks are wrapped."""
    yield f"Exported from {one_line(source)}."
    for lost, title in ((True, "Not carried over:"), (False, "In another form:")):
        chosen = [remark for remark in remarks if remark.lost == lost]
        if chosen:
            yield title
        for remark in chosen:
            said = one_line(f"{remark.subject}: {remark.reason}")
            yield from textwrap.wrap(
                said, _WIDTH, initial_indent="- ", subsequent_indent="  ", break_long_words=False
            )


def xml_document(root: ET.Element, source: str, remarks: Sequence[Remark]) -> str:
    """A whole XML file, the remarks in a comment on top."""
    ET.indent(root)
    said = "\n".join(f"  {xml_comment(line)}" for line in remark_lines(source, remarks))
    return f'<?xml version="1.0"?>\n<!--\n{said}\n-->\n{ET.tostring(root, encoding="unicode")}\n'
