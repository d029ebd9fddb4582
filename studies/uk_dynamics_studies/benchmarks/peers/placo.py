# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""PlaCo's dynamics solver on the same mechanism, in a process of its own.

PlaCo brings another Pinocchio, which cannot be in the same process as ours. The environment
variable ``UK_DYNAMICS_PLACO_PYTHON`` names a Python that has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.benchmarks.peers.description import driven, urdf
from uk_dynamics_studies.benchmarks.peers.engine_process import EngineProcess
from uk_dynamics_studies.benchmarks.peers.peer import PeerError, closures, single_joints

VARIABLE = "UK_DYNAMICS_PLACO_PYTHON"


class PlacoPeer:
    """Inverse dynamics of PlaCo: efforts of the motors for accelerations of some joints."""

    def __init__(self, mechanism: Mechanism) -> None:
        """Start the process.

        Raises:
            PeerError: There is no such Python, or PlaCo cannot have this mechanism.
        """
        description = _description(mechanism)
        self._names = mechanism.joint_names
        self._process = EngineProcess("PlaCo", VARIABLE, "placo_process.py")
        self._process.ask(description)

    def close(self) -> None:
        """End the process."""
        self._process.close()

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
        answer = self._process.ask(self._request)
        if not answer["success"]:
            raise PeerError("PlaCo finds no solution")
        return np.array(answer["efforts"]), np.array(answer["mass"])

    def seconds(self, calls: int) -> float:
        """Processor time of so many solutions of what was solved last."""
        return float(self._process.ask({"calls": calls})["seconds"])


def _description(mechanism: Mechanism) -> dict[str, Any]:
    """The mechanism as the process reads it."""
    loops, motors, names = closures(mechanism), driven(mechanism), mechanism.joint_names
    limits = zip(motors, mechanism.actuators.effort_limits.tolist(), strict=True)
    axes = {"frame": "xz"}
    return {
        "urdf": urdf(mechanism, single_joints(mechanism, "PlaCo"), loops),
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
