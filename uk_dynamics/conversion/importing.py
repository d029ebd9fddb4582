# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A file of another format that closes loops, whichever it is, and what its numbers leave open."""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.conversion.loop_closures_file import read_gepetto, read_loop_closures
from uk_dynamics.conversion.mjcf.reading import read_mjcf
from uk_dynamics.conversion.robot.imported_robot import (
    ImportedRobot,
    Remark,
    mechanism_text,
    together,
)
from uk_dynamics.conversion.robot.urdf_text import urdf_text, xml_text
from uk_dynamics.conversion.sdf.reading import read_sdf
from uk_dynamics.conversion.usd.reading import SUFFIXES, read_usd
from uk_dynamics.exceptions import InputError, UkDynamicsError, UndeterminedMotionError, located
from uk_dynamics.mechanism.files import MechanismSpec, read_yaml
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.urdf import FAR, LARGEST_DESCRIPTION, Array, parse_xml, read_urdf
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
        """The mechanism, from the texts; InputError: something in the source makes no sense."""
        spec = MechanismSpec.from_text(self.mechanism, file=f"{self.name}.yaml")
        try:
            return Mechanism.from_spec(spec, robot_description=self.urdf)
        except InputError as error:
            if error.file != _DESCRIPTION:
                raise
            raise error.within(file=self.source, place="") from None


def import_file(
    path: Path,  # the file
    *,
    model: str | None = None,  # of an SDF file that has several
    urdf: Path | None = None,  # of a YAML file, if it is not the one next to it
    # whether a root that nothing holds stands in the world, where SDF and USD let it float
    fixed: bool = False,
    # of an MJCF file: whether to take contacts, stops and stiction; of an SDF file, contacts
    contacts: bool = False,
) -> Import:
    """Read a file of another format; InputError: it cannot be read, or makes no sense."""
    if contacts and path.suffix in (".yaml", ".yml", *SUFFIXES):
        problem = "contacts are taken from MJCF and SDF; leave out --contacts"
        raise InputError(problem, file=path.name)
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
            robot = read_mjcf(path, contacts=contacts)
        elif root.tag == "sdf":
            with located(file=path.name):
                robot = read_sdf(root, path.parent, model, fixed=fixed, contacts=contacts)
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
    """The URDF in the folder of a YAML file: ``robot.urdf``, or the only one, or InputError."""
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


_NEARLY = 1e-5  # of the machine's size: what is open by less is a matter of digits
# Of the singular values of all rows: between these a row repeats others but for digits of the file.
_REPEATED, _EXACTLY = 3e-5, 1e-8
_STARTS, _AWAY = 10, 0.3  # further starts, and how far from the first in m or rad
_LARGEST = 500  # rows whose singular values are computed in a moment


def settle(robot: ImportedRobot, urdf: str, machine: Mechanism) -> str:
    """Let the loops close, by a wider tolerance, or without limits in the URDF of joints."""
    found = machine.assembly()
    open_by = max(found.violations.values(), default=0.0)
    if found.closed:
        _start_elsewhere(robot, machine, found.q)
        _widen_for_repeated_rows(robot, machine, found.q)
        return urdf
    if open_by <= _NEARLY * machine.size:
        reason = f"close the loops by no less than {open_by:.2g} m or rad"
        _widen(robot, open_by / machine.size, reason)
        return urdf
    moved = np.flatnonzero(_rows(machine, machine.initial_guess).any(axis=0)).tolist()
    looped = {machine.model.velocity_names[k] for k in moved}
    opened = [v.joint for v in found.closes_beyond if v.joint in looped]
    if not opened:
        return urdf
    tree = ET.fromstring(urdf)
    for joint in tree.iterfind("joint"):
        limit = joint.find("limit")
        if joint.get("name") in opened and limit is not None:
            limit.attrib.update(lower=repr(-FAR), upper=repr(FAR))
    robot.changed(f"limits of {', '.join(opened)}", "are left out: the loops close outside of them")
    return xml_text(tree)


def _widen(robot: ImportedRobot, off: float, reason: str) -> None:
    """Give the closure tolerance that numbers need which are off by a part of the size."""
    tolerance = 10.0 ** math.ceil(math.log10(2.0 * off))
    robot.solver["closure_tolerance"] = tolerance
    words = f"{reason}: the closure tolerance is {tolerance:g} of the machine's size"
    robot.changed("numbers of the file", words)


def _start_elsewhere(robot: ImportedRobot, machine: Mechanism, q: Array) -> None:
    """Where two axes of a ball or universal joint without mass have come into line.

    Such joints are three or two hinges in series; a search from an open pose may end there.
    """
    if _rank(machine, q) is not None:
        return
    chance = np.random.default_rng(1)
    for _ in range(_STARTS):
        away = _AWAY * chance.standard_normal(machine.model.nv)
        found = machine.assembly(machine.model.integrate(machine.initial_guess, away))
        if found.closed and _rank(machine, found.q) is not None:
            names = machine.model.position_names
            robot.initial_guess |= dict(zip(names, found.q.tolist(), strict=True))
            reason = "axes are in line where the loops close first: the motion starts elsewhere"
            robot.changed("initial guess", reason)
            return


def _widen_for_repeated_rows(robot: ImportedRobot, machine: Mechanism, q: Array) -> None:
    """Where rows repeat others but for rounded numbers, they hold only to that along a motion."""
    rows = _rows(machine, q)
    if not rows.size or len(rows) > _LARGEST:
        return
    sizes = np.linalg.svd(rows, compute_uv=False)
    nearly = sizes[(sizes < _REPEATED * sizes[0]) & (sizes > _EXACTLY * sizes[0])]
    if len(nearly) and _rank(machine, q) == int((sizes >= _REPEATED * sizes[0]).sum()):
        off = float(nearly.max() / sizes[0])
        _widen(robot, off, f"repeat rows of loops to {off:.1g} only")


def _rank(machine: Mechanism, q: Array) -> int | None:
    """The rank that the solver finds, −1 without a solution; None: the motion is undetermined."""
    try:
        return machine.dynamics("interpreted").evaluate(machine.state(q)).rank
    except UndeterminedMotionError:
        return None
    except UkDynamicsError:
        return -1


def _rows(machine: Mechanism, q: Array) -> Array:
    rows: Any = machine.terms(machine.state(q)).A  # sparse where the machine is large
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
