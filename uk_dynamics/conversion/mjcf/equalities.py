# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Equality constraints of MuJoCo as constraints of ours, which are rigid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from uk_dynamics.constraints.kinds import kind_called
from uk_dynamics.constraints.kinds.frames import Distance
from uk_dynamics.constraints.kinds.pairs import Point
from uk_dynamics.conversion.mjcf.names import Names, pose_of
from uk_dynamics.conversion.mjcf.tendons import joints_of, line_of
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot
from uk_dynamics.conversion.robot.poses import frame_data
from uk_dynamics.model.urdf import Pose, compose

_POWERS = 5
_TORQUE_SCALE = 10  # place in the data of a weld; 0 leaves rotations free


def add_equalities(
    mujoco: Any, model: Any, names: Names, moved: Mapping[int, Pose], robot: ImportedRobot
) -> None:
    """Add all equality constraints, or a remark for each that has no counterpart."""
    for index in range(model.neq):
        _Equalities(mujoco, model, names, moved, robot).add(index)
    if robot.constraints:
        robot.changed(
            "equality constraints",
            "are rigid here; solref and solimp, which make them soft, have no counterpart but"
            " compliance",
        )


@dataclass(frozen=True)
class _Equalities:
    mujoco: Any
    model: Any
    names: Names
    moved: Mapping[int, Pose]
    robot: ImportedRobot

    def add(self, index: int) -> None:
        model, kinds = self.model, self.mujoco.mjtEq
        name = self.names.of("equality", index)
        word = _word(self.mujoco, model.eq_type[index])
        kind = kind_called(word, "MJCF")
        data: Data | None = None
        if kind is not None and set(kind.frames) == {"parent", "child"}:
            connect = model.eq_type[index] == kinds.mjEQ_CONNECT
            turns = not connect and not model.eq_data[index][_TORQUE_SCALE]
            data = self._frames(Point.name if turns else kind.name, index, connect=connect)
        elif kind is not None:
            data = self._joints(index)
        elif model.eq_type[index] == kinds.mjEQ_TENDON:
            data = self._tendons(index)
        if data is None:
            self.robot.lost(f"equality {name}", f"no counterpart of {word}")
            return
        if not model.eq_active0[index]:
            data |= {"switchable": True, "active": False}
        self.robot.add_constraint(name, data)

    def _frames(self, kind: str, index: int, *, connect: bool) -> Data:
        """Between two bodies, or two sites.

        MuJoCo keeps for ``connect`` the anchor in both bodies, for ``weld`` the anchor in the
        second body, then its place and the second body's orientation in the first.
        """
        model = self.model
        ends = int(model.eq_obj1id[index]), int(model.eq_obj2id[index])
        values = np.array(model.eq_data[index], dtype=float)
        if model.eq_objtype[index] == self.mujoco.mjtObj.mjOBJ_SITE:
            bodies = [int(model.site_bodyid[site]) for site in ends]
            poses = [pose_of(model.site_pos[site], model.site_quat[site]) for site in ends]
        elif connect:
            bodies, poses = list(ends), [Pose(values[:3]), Pose(values[3:6])]
        else:
            bodies, poses = list(ends), [pose_of(values[3:6], values[6:10]), Pose(values[:3])]
        data: Data = {"type": kind}
        for role, body, pose in zip(("parent", "child"), bodies, poses, strict=True):
            if connect:
                pose = Pose(pose.translation)
            placed = compose(self.moved[body], pose)
            data[role] = frame_data(self.names.body(body), placed)
        return data

    def _joints(self, index: int) -> Data | None:
        """A polynomial between the deviations of two joints from their drawn positions."""
        model = self.model
        first, second = int(model.eq_obj1id[index]), int(model.eq_obj2id[index])
        coefficients = np.array(model.eq_data[index][:_POWERS], dtype=float)
        involved = [first] if second < 0 else [first, second]
        if not all(map(self.names.is_single, involved)):
            return None
        sides = [
            ({self.names.joint(joint): 1.0}, float(model.qpos0[model.jnt_qposadr[joint]]))
            for joint in involved
        ]
        return _polynomial(sides, coefficients)

    def _tendons(self, index: int) -> Data | None:
        """The same between the lengths of fixed tendons; a straight one is a distance."""
        model = self.model
        ends = [int(model.eq_obj1id[index]), int(model.eq_obj2id[index])]
        coefficients = np.array(model.eq_data[index][:_POWERS], dtype=float)
        line = line_of(self.mujoco, model, self.names, self.moved, ends[0])
        if line is not None and ends[1] < 0 and "through" not in line[0]:
            distance = float(model.tendon_length0[ends[0]] + coefficients[0]) - line[1]
            return {"type": Distance.name, "distance": distance, **line[0]}
        sides = []
        for tendon in ends if ends[1] >= 0 else ends[:1]:
            weights = joints_of(self.mujoco, model, self.names, tendon)
            if weights is None:
                return None
            sides.append((weights, float(model.tendon_length0[tendon])))
        return _polynomial(sides, coefficients)


Side = tuple[dict[str, float], float]  # factors of joints, and their sum in the drawn pose


def _polynomial(sides: list[Side], coefficients: Any) -> Data:
    """The first side, less its drawn value, is a polynomial of the second less its own."""
    (joints, drawn), *others = sides
    second, drawn_second = others[0] if others else ({}, 0.0)
    if not second or not coefficients[2:].any():
        weights = dict(joints)
        offset, ratio = drawn + float(coefficients[0]), float(coefficients[1])
        for name, factor in second.items():
            weights[name] = weights.get(name, 0.0) - ratio * factor
        return {
            "type": "joint_coupling",
            "joints": weights,
            "offset": offset - ratio * drawn_second * bool(second),
        }
    names = {f"x{k}": name for k, name in enumerate(dict.fromkeys((*joints, *second)))}
    one, other = (
        " + ".join(f"{side[name]!r}*{word}" for word, name in names.items() if name in side)
        for side in (joints, second)
    )
    terms = [
        repr(float(c)) + (f"*({other} - {drawn_second!r})**{power}" if power else "")
        for power, c in enumerate(coefficients.tolist())
        if c
    ]
    return {
        "type": "expression",
        "expression": f"{one} - {drawn!r} - ({' + '.join(terms)})",
        "names": names,
    }


def _word(mujoco: Any, kind: int) -> str:
    return str(mujoco.mjtEq(int(kind)).name).removeprefix("mjEQ_").lower()
