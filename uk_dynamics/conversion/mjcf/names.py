# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A compiled model of MuJoCo; what has no name in it is called after what it belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np

from uk_dynamics.conversion.robot.imported_robot import frame_data
from uk_dynamics.escaping import control_character
from uk_dynamics.exceptions import InputError
from uk_dynamics.model.urdf import WORLD, Pose, compose, from_quaternion


def pose_of(position: Any, quaternion: Any = (1.0, 0.0, 0.0, 0.0)) -> Pose:
    """A pose of MuJoCo, whose quaternions are w x y z."""
    w, x, y, z = quaternion
    return Pose(np.array(position, dtype=float), from_quaternion([x, y, z, w]))


class Compiled:
    """What MuJoCo's compiler made of a file, with names that are unique within their kind."""

    def __init__(self, mujoco: Any, model: Any) -> None:
        self.mujoco, self.model = mujoco, model
        # where the frame that MuJoCo gives a body is in the frame of our link
        self.moved: dict[int, Pose] = {0: Pose()}
        every = bytes(model.names).decode().split("\0")
        if found := next(filter(None, map(control_character, every)), ""):  # of included files
            raise InputError(f"a name holds the control character {found}; remove it")
        self.name: str = every[0]

    def of(self, kind: str, index: int) -> str:
        """Name of an object, such as ``of("sensor", 2)``; its number where it has none."""
        code = getattr(self.mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        return self.mujoco.mj_id2name(self.model, code, index) or f"{kind}_{index}"

    def body(self, index: int) -> str:
        """Name of a body; of the world, ``world``."""
        return WORLD if index == 0 else self.of("body", index)

    def joint(self, index: int) -> str:
        """Name of a joint; without one, of its body and its number."""
        name = self.of("joint", index)
        body = self.body(int(self.model.jnt_bodyid[index]))
        return f"{body}_{name}" if self.model.joint(index).name == "" else name

    def frame(self, body: int, pose: Pose) -> dict[str, object]:
        """A frame in a body, given in MuJoCo's frame of it, as a mechanism file declares it."""
        return frame_data(self.body(body), compose(self.moved[body], pose))

    def is_single(self, joint: int) -> bool:
        """Whether a joint has one freedom."""
        kinds = self.mujoco.mjtJoint
        single = (int(kinds.mjJNT_HINGE), int(kinds.mjJNT_SLIDE))
        return int(self.model.jnt_type[joint]) in single
