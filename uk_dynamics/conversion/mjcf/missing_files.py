# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""MJCF models without their meshes, textures or height fields: dynamics rarely needs them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from uk_dynamics.exceptions import InputError

# In the place of a mesh: one that MuJoCo's compiler accepts
_CORNERS = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
_FACES = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]


def without_missing_files(mujoco: Any, path: Path) -> tuple[Any, list[tuple[str, str]]]:
    """Compile a model; where files of shapes are missing, with others in their place.

    Returns:
        The model, and what is missing, each with what that means.

    Raises:
        InputError: A moving body takes its mass from a mesh that is missing.
        ValueError: MuJoCo refuses the model.
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
    flat = mujoco.mjtBuiltin.mjBUILTIN_FLAT
    stand_ins: dict[str, dict[str, object]] = {
        "meshes": {"uservert": _CORNERS, "userface": _FACES, "scale": [1.0, 1.0, 1.0]},
        "textures": {"builtin": flat, "width": 1, "height": 1},
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
