# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A file of another format that closes loops, whichever it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from uk_dynamics.conversion.loop_closures_file import read_gepetto, read_loop_closures
from uk_dynamics.conversion.mjcf.reading import read_mjcf
from uk_dynamics.conversion.robot.closing import settle
from uk_dynamics.conversion.robot.imported_robot import (
    ImportedRobot,
    Remark,
    mechanism_text,
    together,
)
from uk_dynamics.conversion.robot.urdf_text import urdf_text
from uk_dynamics.conversion.sdf.reading import read_sdf
from uk_dynamics.conversion.usd.reading import SUFFIXES, read_usd
from uk_dynamics.exceptions import InputError, located
from uk_dynamics.mechanism.files import MechanismSpec, read_yaml
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.urdf import LARGEST_DESCRIPTION, parse_xml, read_urdf
from uk_dynamics.whole_file import require_regular

_KINDS = "an SDF, MJCF or USD file, or the YAML of closed loops next to a URDF"

_DESCRIPTION = "robot_description"  # how errors call a URDF that is no file


@dataclass(frozen=True)
class Import:
    """Both files of an imported machine."""

    name: str  # of the machine; the files are called NAME.urdf and NAME.yaml
    source: str  # name of the file it comes from
    urdf: str
    mechanism: str  # the mechanism file
    remarks: tuple[Remark, ...]  # what could not be carried over, or stands there in another form

    def load(self) -> Mechanism:
        """The mechanism, from the texts.

        Raises:
            InputError: They are no mechanism: something in the source makes no sense.
        """
        spec = MechanismSpec.from_text(self.mechanism, file=f"{self.name}.yaml")
        try:
            return Mechanism.from_spec(spec, robot_description=self.urdf)
        except InputError as error:
            if error.file != _DESCRIPTION:
                raise
            raise error.within(file=self.source, place="") from None


def import_file(
    path: Path, *, model: str | None = None, urdf: Path | None = None, fixed: bool = False
) -> Import:
    """Read a file of another format.

    Args:
        path: The file.
        model: Of an SDF file that has several.
        urdf: Of a YAML file, if it is not the one next to it.
        fixed: Whether a root that nothing holds stands in the world, where SDF and USD let it
            float.

    Raises:
        InputError: The file cannot be read, is of no such kind, or does not make sense.
    """
    if path.suffix in (".yaml", ".yml"):
        data = read_yaml(path, path.name)
        description = read_urdf(urdf or urdf_next_to(path))
        with located(file=path.name):
            if isinstance(data, dict) and isinstance(data.get("closures"), list):
                robot, tree = read_loop_closures(data, description), description.text
            else:
                robot, tree = read_gepetto(data, description, path.parent.name)
    elif path.suffix in SUFFIXES:
        robot = read_usd(path, fixed=fixed)
        tree = urdf_text(robot)
    else:
        root = _parse(path)
        if root.tag == "mujoco":
            robot = read_mjcf(path)
        elif root.tag == "sdf":
            with located(file=path.name):
                robot = read_sdf(root, path.parent, model, fixed=fixed)
        elif root.tag == "robot":
            problem = (
                "this is a URDF: one that closes its loops itself is given in the place of a"
                " mechanism file, and uk_dynamics init drafts one for others"
            )
            raise InputError(problem, file=path.name)
        else:
            raise InputError(f"the root element is <{root.tag}>; expected {_KINDS}", file=path.name)
        tree = urdf_text(robot)
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", robot.name).strip("_") or "robot"
    tree = _settled(robot, tree, path.name, name)
    robot.remarks = together(robot.remarks)
    return _written(robot, tree, path.name, name)


def _settled(robot: ImportedRobot, tree: str, source: str, name: str) -> str:
    """The tree of a machine whose loops close; what is wrong otherwise is said by who loads it."""
    try:
        machine = _written(robot, tree, source, name).load()
    except InputError:
        return tree
    return settle(robot, tree, machine)


def _written(robot: ImportedRobot, tree: str, source: str, name: str) -> Import:
    text = mechanism_text(robot, source, f"{name}.urdf")
    return Import(name, source, tree, text, tuple(robot.remarks))


def urdf_next_to(path: Path) -> Path:
    """The URDF in the folder of a YAML file: ``robot.urdf``, or the only one.

    Raises:
        InputError: There is none, or there are several.
    """
    usual, found = path.with_name("robot.urdf"), sorted(path.parent.glob("*.urdf"))
    if usual.is_file():
        return usual
    if len(found) == 1:
        return found[0]
    shown = ", ".join(urdf.name for urdf in found) or "none"
    raise InputError(
        f"name the URDF by --urdf; in the same folder there are: {shown}", file=path.name
    )


def _parse(path: Path) -> ET.Element:
    require_regular(path)
    try:
        if path.stat().st_size > LARGEST_DESCRIPTION:
            raise InputError("is too large for a robot description", file=str(path))
        content = path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be read ({reason}); expected {_KINDS}", file=str(path)) from None
    return parse_xml(content, path.name)
