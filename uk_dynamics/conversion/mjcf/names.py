# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Names of what is in a MuJoCo model; what has none is called after what it belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np

from uk_dynamics.escaping import control_character
from uk_dynamics.exceptions import InputError
from uk_dynamics.model.urdf import WORLD, Pose, from_quaternion


def pose_of(position: Any, quaternion: Any = (1.0, 0.0, 0.0, 0.0)) -> Pose:
    """A pose of MuJoCo, whose quaternions are w x y z."""
    w, x, y, z = quaternion
    return Pose(np.array(position, dtype=float), from_quaternion([x, y, z, w]))


class Names:
    """Names of bodies, joints and whatever else, unique within their kind; kinds of joints."""

    def __init__(self, mujoco: Any, model: Any) -> None:
        self._mujoco = mujoco
        self._model = model
        every = bytes(model.names).decode().split("\0")
        if found := next(filter(None, map(control_character, every)), ""):  # of included files
            raise InputError(f"a name holds the control character {found}; remove it")
        self.model: str = every[0]

    def of(self, kind: str, index: int) -> str:
        """Name of an object, such as ``of("sensor", 2)``; its number where it has none."""
        code = getattr(self._mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        name: str | None = self._mujoco.mj_id2name(self._model, code, index)
        return name or f"{kind}_{index}"

    def body(self, index: int) -> str:
        """Name of a body; of the world, ``world``."""
        return WORLD if index == 0 else self.of("body", index)

    def joint(self, index: int) -> str:
        """Name of a joint; without one, of its body and its number."""
        code = self._mujoco.mjtObj.mjOBJ_JOINT
        name: str | None = self._mujoco.mj_id2name(self._model, code, index)
        return name or f"{self.body(int(self._model.jnt_bodyid[index]))}_joint_{index}"

    def all(self, kind: str, count: int) -> str:
        """Names of all objects of a kind, as one text."""
        return ", ".join(self.of(kind, index) for index in range(count))

    def is_single(self, joint: int) -> bool:
        """Whether a joint has one freedom."""
        kinds = self._mujoco.mjtJoint
        single = (int(kinds.mjJNT_HINGE), int(kinds.mjJNT_SLIDE))
        return int(self._model.jnt_type[joint]) in single
