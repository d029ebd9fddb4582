# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""PlaCo's and TSID's whole-body control of a machine that stands with loops in its legs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.kinematics import BodyFrame
from uk_dynamics_studies.benchmarks.peers.description import driven, urdf
from uk_dynamics_studies.benchmarks.peers.engine_process import EngineProcess
from uk_dynamics_studies.benchmarks.peers.peer import CLOSURES, PeerError, closure

ENGINES = {  # their programs' name, and which variable names the Python that has them
    "PlaCo": ("placo", "UK_DYNAMICS_PLACO_PYTHON"),
    "TSID": ("tsid", "UK_DYNAMICS_TSID_PYTHON"),
}
_SLIDING = 1e-5  # kg


class Efforts(NamedTuple):
    """What an engine answers for a state."""

    efforts: Array  # of motors, (motors,), in N·m
    qdd: Array  # accelerations, (nv,)
    wrenches: Array  # of soles, forces and moments about their middles, (soles, 6)


class WholeBodyPeer:
    """One engine with the machine, which stands on two rectangles, and its tasks.

    The tasks are a centre of mass, a link that stays upright, and the soles of the tasks file.
    """

    def __init__(self, engine: str, mechanism: Mechanism, tasks: Tasks, trunk: str) -> None:
        """Start it.

        Raises:
            PeerError: The engine is not there, or has no such machine.
        """
        self._mechanism, self._tasks = mechanism, tasks
        program, variable = ENGINES[engine]
        machine = _description(mechanism, tasks, trunk, _SLIDING if engine == "TSID" else 0.0)
        self._process = EngineProcess(engine, variable, "whole_body_process.py", program)
        self._process.ask(machine)

    def solve(self, states: Sequence[State]) -> list[Efforts | None]:
        """Answers for states, None where the engine finds none."""
        request = {"states": [self._request(state) for state in states]}
        return [_efforts(one) for one in self._process.ask(request)["solutions"]]

    def seconds(self) -> Array:
        """Time of each of the states that were solved last, once more, in s."""
        return np.array(self._process.ask({"time": True})["seconds"])

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def _request(self, state: State) -> dict[str, Any]:
        sample = self._tasks.sample(state.t)
        assert sample is not None
        com = [sample.value[:3], sample.rate[:3], sample.acceleration[:3]]
        return {
            "q": state.q.tolist(),
            "v": state.v.tolist(),
            "com": [vector.tolist() for vector in com],
        }


def _efforts(answer: dict[str, Any] | None) -> Efforts | None:
    if answer is None:
        return None
    return Efforts(*(np.array(answer[name]) for name in ("efforts", "qdd", "wrenches")))


def _description(mechanism: Mechanism, tasks: Tasks, trunk: str, slide: float) -> dict[str, Any]:
    model, stands = mechanism.model, mechanism.spec.stabilization
    if (
        len(model.bases) != 1
        or not model.bases[0].aligned
        or mechanism.passive.force(mechanism.start().q, np.ones(model.nv)).any()
    ):
        raise PeerError(f"{mechanism.name}: one floating base without passive forces is compared")
    structure = [one for one in mechanism.constraints.constraints if one.kind in CLOSURES]
    loops = [closure(mechanism, one) for one in structure]
    motors, names = driven(mechanism), mechanism.joint_names
    soles: dict[str, list[Any]] = {}
    for contact in mechanism.spec.contacts:
        soles.setdefault(contact.name.partition(".")[0], []).append(contact)
    frames, described = {}, []
    for number, points in enumerate(soles.values()):
        places = np.array([point.child.xyz for point in points])
        middle = places.mean(axis=0)
        body = model.body_frames[model.frame_index(points[0].child.link)]
        place = body.translation + body.rotation @ middle
        frames[f"sole_{number}"] = BodyFrame(body.body, body.rotation, place)
        described.append(
            {
                "points": (places - middle).tolist(),
                "size": np.ptp(places, axis=0)[:2].tolist(),
                "friction": points[0].friction,
            }
        )
    body = model.body_frames[model.frame_index(trunk)]
    frames["upright"] = body

    return {
        "urdf": urdf(mechanism, model.bodies, loops, frames, slide),
        "gravity": list(model.gravity),
        "joints": names,
        "armature": model.armature[6:].tolist(),
        "loops": ["xz" if one.kind == "frame" else "xyz" for _, one in loops],
        "driven": motors,
        "passive": [name for name in names if name not in motors],
        "limits": dict(zip(motors, mechanism.actuators.effort_limits.tolist(), strict=True)),
        "soles": described,
        "trunk": "upright",
        # of feet, against slipping
        "damping": 2.0 * stands.damping_ratio * 2.0 * np.pi * stands.frequency,
        "omega": float(np.sqrt(tasks.constraints.stiffness[0])),
    }
