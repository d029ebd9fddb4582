# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""MuJoCo's compiler reads a file, also without its meshes, textures or height fields.

Dynamics rarely needs those. What has no name in the model is called after what it belongs to.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.conversion.robot.imported_robot import frame_data
from uk_dynamics.escaping import control_character
from uk_dynamics.exceptions import InputError
from uk_dynamics.model.urdf import WORLD, Pose, compose, from_quaternion

# In the place of a mesh: one that MuJoCo's compiler accepts
_CORNERS = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
_FACES = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]


def without_missing_files(mujoco: Any, path: Path) -> tuple[Any, list[tuple[str, str]]]:
    """The model, with others for missing files of shapes; and what is missing, and its meaning.

    InputError: a moving body takes its mass from such a mesh.
    """
    said: list[str] = []
    mujoco.set_mju_user_warning(said.append)  # or it writes a log into the working directory
    try:
        with warnings.catch_warnings(record=True) as more:
            warnings.simplefilter("always")
            model, losses = _compiled(mujoco, path)
    finally:
        mujoco.set_mju_user_warning(None)
    said += [str(each.message) for each in more]
    remarks = dict.fromkeys(" ".join(text.split()) for text in said)
    return model, [*losses, *(("MuJoCo's compiler", text) for text in remarks)]


def _compiled(mujoco: Any, path: Path) -> tuple[Any, list[tuple[str, str]]]:
    spec = mujoco.MjSpec.from_file(str(path))
    folder = Path(spec.modelfiledir)
    stand_ins: dict[str, dict[str, object]] = {
        "meshes": {"uservert": _CORNERS, "userface": _FACES, "scale": [1.0, 1.0, 1.0]},
        "textures": {"builtin": mujoco.mjtBuiltin.mjBUILTIN_FLAT, "width": 1, "height": 1},
        "hfields": {"nrow": 2, "ncol": 2, "userdata": [0.0, 0.0, 0.0, 0.0]},
    }
    missing: dict[str, dict[str, str]] = {"meshes": {}, "textures": {}, "hfields": {}}
    for kind, found in missing.items():
        below = folder / (spec.texturedir if kind == "textures" else spec.meshdir)
        for asset in getattr(spec, kind):
            if asset.file and not (below / asset.file).is_file():
                asset.name = asset.name or Path(asset.file).stem
                found[asset.name], asset.file = asset.file, ""
                for key, value in stand_ins[kind].items():
                    setattr(asset, key, value)
    meshes = missing["meshes"]
    files = [file for found in missing.values() for file in found.values()]
    losses = [(f"files {', '.join(files)}", "are not there: not drawn")] if files else []
    for geom in spec.geoms:
        if geom.meshname in meshes and _gives_mass(mujoco, spec, geom):
            name, file = geom.parent.name, meshes[geom.meshname]
            if len(geom.parent.joints):
                problem = f"its mass comes from the mesh {file}, which is missing"
                raise InputError(f"{problem}; add the file, or an <inertial>", place=f"body {name}")
            losses.append((f"body {name}", f"its mass comes from {file}, which is missing: 0 here"))
        if geom.meshname in meshes:
            geom.mass = 0.0
    return spec.compile(), losses


def _gives_mass(mujoco: Any, spec: Any, geom: Any) -> bool:
    """Whether the inertia of its body comes from a geom."""
    kinds, rule, body = mujoco.mjtInertiaFromGeom, spec.compiler.inertiafromgeom, geom.parent
    if rule == kinds.mjINERTIAFROMGEOM_FALSE or body.name == "world":
        return False
    if rule == kinds.mjINERTIAFROMGEOM_AUTO and body.explicitinertial:
        return False
    first, last = spec.compiler.inertiagrouprange
    return bool(first <= geom.group <= last and geom.mass != 0.0 and geom.density != 0.0)


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
        return int(self.model.jnt_type[joint]) in (int(kinds.mjJNT_HINGE), int(kinds.mjJNT_SLIDE))
