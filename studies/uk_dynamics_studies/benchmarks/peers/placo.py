# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""PlaCo's dynamics solver on the same mechanism, in a process of its own.

PlaCo brings another Pinocchio, which cannot be in the same process as ours. The environment
variable ``UK_DYNAMICS_PLACO_PYTHON`` names a Python that has it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.kinematics import BodyFrame
from uk_dynamics.model.urdf import to_rpy
from uk_dynamics_studies.benchmarks.peers.peer import PeerError, closures, single_joints

VARIABLE = "UK_DYNAMICS_PLACO_PYTHON"
_LIMIT = 1e6  # of joints and their speeds, which the law does not ask for


class PlacoPeer:
    """Inverse dynamics of PlaCo: efforts of the motors for accelerations of some joints."""

    def __init__(self, mechanism: Mechanism) -> None:
        """Start the process.

        Raises:
            PeerError: There is no such Python, or PlaCo cannot have this mechanism.
        """
        description = _description(mechanism)
        interpreter = shutil.which(os.environ.get(VARIABLE, ""))
        if interpreter is None:
            raise PeerError(f"{VARIABLE} names no Python that has PlaCo")
        self._names = mechanism.joint_names
        self._process = subprocess.Popen(
            [interpreter, "-I", str(Path(__file__).with_name("placo_process.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            text=True,
        )
        self._ask(description)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def set(self, state: State, wanted: Mapping[str, float], force: Array) -> None:
        """Set what is to be solved.

        Args:
            state: Positions and velocities.
            wanted: Accelerations asked of joints, in m/s² or rad/s².
            force: Of damping, friction, springs and stops, (nv,), in N or N·m.
        """
        self._request = {
            "q": state.q.tolist(),
            "v": state.v.tolist(),
            "qdd": dict(wanted),
            "force": force.tolist(),
        }

    def solve(self) -> tuple[Array, Array]:
        """Efforts (motors,) and mass matrix (nv, nv).

        Raises:
            PeerError: PlaCo finds none.
        """
        answer = self._ask(self._request)
        if not answer["success"]:
            raise PeerError("PlaCo finds no solution")
        return np.array(answer["efforts"]), np.array(answer["mass"])

    def seconds(self, calls: int) -> float:
        """Processor time of so many solutions of what was solved last."""
        return float(self._ask({"calls": calls})["seconds"])

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise PeerError("PlaCo's process ended: it does not solve this, or is not installed")
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            raise PeerError(f"PlaCo: {answer['problem']}")
        return answer


def _description(mechanism: Mechanism) -> dict[str, Any]:
    """The mechanism as the process reads it."""
    loops = closures(mechanism)
    matrix = mechanism.actuators.matrix
    driven = [np.flatnonzero(column) for column in matrix.T]
    direct = (
        len(joints) == 1 and column[joints[0]] == 1.0
        for joints, column in zip(driven, matrix.T, strict=True)
    )
    if not all(direct):
        raise PeerError(f"{mechanism.name}: motors of PlaCo drive one joint each")
    names = mechanism.joint_names
    motors = [names[joints[0]] for joints in driven]
    limits = zip(motors, mechanism.actuators.effort_limits.tolist(), strict=True)
    axes = {"frame": "xz"}
    return {
        "urdf": _urdf(mechanism),
        "gravity": list(mechanism.model.gravity),
        "joints": names,
        "armature": mechanism.model.armature.tolist(),
        "loops": [
            {"axes": axes.get(constraint.kind, "xyz"), "weld": kind == "weld"}
            for kind, constraint in loops
        ],
        "driven": motors,
        "passive": [name for name in names if name not in motors],
        "limits": dict(limits),
    }


def _urdf(mechanism: Mechanism) -> str:
    """The bodies with their joints, and a frame at each end of each loop."""
    bodies, names = single_joints(mechanism, "PlaCo"), mechanism.joint_names
    robot = ET.Element("robot", name=mechanism.name)
    ET.SubElement(robot, "link", name="body_-1")
    for number, body in enumerate(bodies):
        link = ET.SubElement(robot, "link", name=f"body_{number}")
        inertial = ET.SubElement(link, "inertial")
        ET.SubElement(inertial, "origin", xyz=_text(body.center))
        ET.SubElement(inertial, "mass", value=repr(float(body.mass)))
        entries = {
            f"i{'xyz'[i]}{'xyz'[j]}": repr(float(body.inertia[i, j]))
            for i in range(3)
            for j in range(i, 3)
        }
        ET.SubElement(inertial, "inertia", entries)
        place = BodyFrame(body.parent, body.rotation, body.translation)
        joint = _joined(robot, place, names[body.velocity], f"body_{number}")
        joint.set("type", body.kind)
        ET.SubElement(joint, "axis", xyz=_text(body.axis))
        limit = dict.fromkeys(("effort", "velocity", "upper"), repr(_LIMIT))
        ET.SubElement(joint, "limit", {"lower": repr(-_LIMIT), **limit})
    frames = mechanism.model.body_frames
    for number, (_, constraint) in enumerate(closures(mechanism)):
        for role in ("parent", "child"):
            frame = getattr(constraint, role)
            end = BodyFrame(-1, np.eye(3), np.zeros(3)) if frame is None else frames[frame]
            name = f"{role}_{number}"
            ET.SubElement(robot, "link", name=name)
            _joined(robot, end, f"{name}_joint", name)
    return ET.tostring(robot, encoding="unicode")


def _joined(robot: ET.Element, place: BodyFrame, name: str, child: str) -> ET.Element:
    """A joint, fixed until it is told otherwise, at a place of a body."""
    joint = ET.SubElement(robot, "joint", name=name, type="fixed")
    ET.SubElement(joint, "parent", link=f"body_{place.body}")
    ET.SubElement(joint, "child", link=child)
    ET.SubElement(joint, "origin", xyz=_text(place.translation), rpy=_text(to_rpy(place.rotation)))
    return joint


def _text(numbers: Array) -> str:
    return " ".join(repr(float(number)) for number in numbers)
