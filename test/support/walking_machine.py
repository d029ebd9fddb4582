# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Chebyshev's walking machine with a floating trunk, and its walk by kinematics alone.

One pair of feet stands on one bar, exactly; from the crank and the loops follows where the trunk
is. When the other bar has come lower, that one stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy.spatial.transform import Rotation

from support.repository import ROOT
from uk_dynamics.control.estimation import StateCompletion
from uk_dynamics.mechanism.kinematics import LoopMotion, twist_map
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism

FILE = ROOT / "examples" / "plantigrade" / "plantigrade.yaml"
CRANK = "crank_left_front"
_HELD = ("x", "z", "pitch", "ground", "along", "lift")  # joints and links that hold the trunk


def _parts() -> tuple[dict[str, Any], str]:
    """Its mechanism file as data, and its URDF."""
    text = Mechanism.from_file(FILE).model.description.text
    for name in _HELD:
        text = re.sub(rf'<link name="{name}" ?/>', "", text)
        text = re.sub(rf'<joint name="{name}" .*?</joint>', "", text, flags=re.DOTALL)
    data = yaml.safe_load(FILE.read_text())
    data["model"] = {"length": 0.1, "root": "floating"}
    data["contacts"]["foot"]["parent"] = {"link": "world"}
    data["measured"] = [CRANK]
    del data["initial_guess"]["z"]
    return data, text


def floating_plantigrade() -> Mechanism:
    """The example, on nothing but its feet."""
    data, text = _parts()
    return Mechanism.from_data(data, robot_description=text)


def written(directory: Path) -> Path:
    """The same as a mechanism file, whose trunk begins where the walk does."""
    data, text = _parts()
    (directory / "plantigrade.urdf").write_text(text)
    data["model"]["urdf"] = "plantigrade.urdf"
    data["initial_guess"] |= {"root.x": -0.28, "root.z": 0.12}
    file = directory / "floating_plantigrade.yaml"
    file.write_text(yaml.safe_dump(data))
    return file


@dataclass(frozen=True)
class Step:
    """A state of the walk, and the names of the feet that stand there."""

    state: State
    standing: tuple[str, ...]


def crank(t: float, rest: float) -> tuple[float, float]:
    """Angle and rate: at rest for a time, then one turn in 1.6 s."""
    t = max(t - rest, 0.0)
    return np.pi + 4.0 * (t - 0.25 + 0.25 * np.exp(-t / 0.25)), 4.0 * (1.0 - np.exp(-t / 0.25))


def walk(machine: Mechanism, duration: float, period: float, rest: float) -> Iterator[Step]:
    """The walk, one state per period, from the middle of a step of the left feet."""
    completion, motion = StateCompletion(machine), LoopMotion(machine)
    model = machine.model
    base = model.bases[0]
    identity, at_rest = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), np.zeros(6)
    stands, held = "left", None
    for k in range(round(duration / period) + 1):
        t = k * period
        angle, rate = crank(t, rest)
        found = completion.complete([angle], [rate], t)
        assert found.usable
        q, v = found.q, found.v
        base.place(q, v, identity, at_rest)
        motion.update(q, v, t)
        places = {side: _place(motion, f"feet_{side}") for side in ("left", "right")}
        if held is None:
            held = np.eye(4)
            held[:3, 3] = 0.0, 0.0, 0.28
        trunk = held @ np.linalg.inv(places[stands])
        other = "right" if stands == "left" else "left"
        if (trunk @ places[other])[2, 3] < held[2, 3] - 1e-9:
            stands, held = other, trunk @ places[other]
        J, _ = twist_map(motion, f"feet_{stands}", v)
        foot = J @ v
        place = places[stands][:3, 3]
        twist = np.concatenate([-foot[:3] + np.cross(foot[3:], place), -foot[3:]])
        turn = Rotation.from_matrix(trunk[:3, :3]).as_quat()
        base.place(q, v, np.concatenate([trunk[:3, 3], turn]), twist)
        feet = tuple(f"foot_{stands}.{end}" for end in ("front", "rear"))
        yield Step(State(t, q, v), feet)


def _place(motion: LoopMotion, link: str) -> Array:
    """Pose of a link in the base, (4, 4)."""
    index = motion.mechanism.model.frame_index(link)
    pose = np.eye(4)
    pose[:3, :3] = motion.workspace.rotation[index]
    pose[:3, 3] = motion.workspace.translation[index]
    return pose
