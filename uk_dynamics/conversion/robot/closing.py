# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loops of an imported machine that its file closes only roughly, or only outside its limits.

Simulators close loops by forces, which need neither exact numbers nor limits that allow it; here a
loop is closed exactly. What the file leaves open is settled, and said, at import.
"""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.conversion.robot.imported_robot import ImportedRobot
from uk_dynamics.exceptions import UkDynamicsError, UndeterminedMotionError
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.urdf import FAR, Array

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
        tolerance = 10.0 ** math.ceil(math.log10(2.0 * open_by / machine.size))
        robot.solver["closure_tolerance"] = tolerance
        reason = f"by no less than {open_by:.2g} m or rad: the closure tolerance is {tolerance:g}"
        robot.changed("numbers of the file", f"close the loops {reason} of the machine's size")
        return urdf
    looped = _looped(machine)
    names = [v.joint for v in found.closes_beyond if v.joint in looped]
    if not names:
        return urdf
    tree = ET.fromstring(urdf)
    for joint in tree.iterfind("joint"):
        limit = joint.find("limit")
        if joint.get("name") in names and limit is not None:
            limit.attrib.update(lower=repr(-FAR), upper=repr(FAR))
    robot.changed(f"limits of {', '.join(names)}", "are left out: the loops close outside of them")
    return '<?xml version="1.0"?>\n' + ET.tostring(tree, encoding="unicode") + "\n"


def _start_elsewhere(robot: ImportedRobot, machine: Mechanism, q: Array) -> None:
    """Where two axes of a ball or universal joint without mass have come into line.

    Such joints are three or two hinges in series; a search from an open pose may end there.
    """
    if _determined(machine, q):
        return
    chance = np.random.default_rng(1)
    for _ in range(_STARTS):
        away = _AWAY * chance.standard_normal(machine.model.nv)
        found = machine.assembly(machine.model.integrate(machine.initial_guess, away))
        if found.closed and _determined(machine, found.q):
            names = machine.model.position_names
            robot.initial_guess |= dict(zip(names, found.q.tolist(), strict=True))
            reason = "axes are in line where the loops close first: the motion starts elsewhere"
            robot.changed("initial guess", reason)
            return


def _determined(machine: Mechanism, q: Array) -> bool:
    try:
        machine.dynamics("interpreted").evaluate(machine.state(q))
    except UndeterminedMotionError:
        return False
    except UkDynamicsError:
        pass
    return True


def _widen_for_repeated_rows(robot: ImportedRobot, machine: Mechanism, q: Array) -> None:
    """Where rows repeat others but for rounded numbers, they hold only to that along a motion."""
    rows = _rows(machine, q)
    if not rows.size or len(rows) > _LARGEST:
        return
    sizes = np.linalg.svd(rows, compute_uv=False)
    nearly = sizes[(sizes < _REPEATED * sizes[0]) & (sizes > _EXACTLY * sizes[0])]
    if len(nearly) and _rank(machine, q) == int((sizes >= _REPEATED * sizes[0]).sum()):
        off = float(nearly.max() / sizes[0])
        tolerance = 10.0 ** math.ceil(math.log10(2.0 * off))
        robot.solver["closure_tolerance"] = tolerance
        reason = f"repeat rows of loops to {off:.1g} only: the closure tolerance is {tolerance:g}"
        robot.changed("numbers of the file", f"{reason} of the machine's size")


def _looped(machine: Mechanism) -> set[str]:
    """Joints that a loop moves."""
    columns = _rows(machine, machine.initial_guess).T
    names = machine.model.velocity_names
    return {name for name, column in zip(names, columns, strict=True) if column.any()}


def _rank(machine: Mechanism, q: Array) -> int:
    """As the solver decides; −1 where there is no solution."""
    try:
        return machine.dynamics().evaluate(machine.state(q)).rank
    except UkDynamicsError:
        return -1


def _rows(machine: Mechanism, q: Array) -> Array:
    rows: Any = machine.terms(machine.state(q)).A  # sparse where the machine is large
    dense: Array = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
    return dense
