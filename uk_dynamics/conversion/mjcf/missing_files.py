"""MJCF models whose meshes or textures are not there: the dynamics rarely needs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from uk_dynamics.exceptions import InputError

# In the place of a mesh: one that MuJoCo's compiler accepts
_CORNERS = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
_FACES = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]


def without_missing_files(mujoco: Any, path: Path) -> tuple[Any, list[str]]:
    """Compile a model; where files of shapes are missing, with others in their place.

    Returns:
        The model, and the missing files.

    Raises:
        InputError: A body takes its mass from a mesh that is missing.
        ValueError: MuJoCo refuses the model.
    """
    spec = mujoco.MjSpec.from_file(str(path))
    folder = Path(spec.modelfiledir)
    meshes = {}
    for mesh in spec.meshes:
        file = folder / spec.meshdir / mesh.file
        if not mesh.file or file.is_file():
            continue
        mesh.name = mesh.name or Path(mesh.file).stem
        meshes[mesh.name] = mesh.file
        mesh.file = ""
        mesh.uservert, mesh.userface, mesh.scale = _CORNERS, _FACES, [1.0, 1.0, 1.0]
    missing = list(meshes.values())
    for texture in spec.textures:
        if texture.file and not (folder / spec.texturedir / texture.file).is_file():
            texture.name = texture.name or Path(texture.file).stem
            missing.append(texture.file)
            texture.file = ""
            texture.builtin = mujoco.mjtBuiltin.mjBUILTIN_FLAT
            texture.width = texture.height = 1
    _see_that_no_mass_comes_from(mujoco, spec, meshes)
    return spec.compile(), missing


def _see_that_no_mass_comes_from(mujoco: Any, spec: Any, meshes: dict[str, str]) -> None:
    rule = spec.compiler.inertiafromgeom
    kinds = mujoco.mjtInertiaFromGeom
    first, last = spec.compiler.inertiagrouprange
    for geom in spec.geoms:
        body = geom.parent
        given = rule == kinds.mjINERTIAFROMGEOM_FALSE
        given |= rule == kinds.mjINERTIAFROMGEOM_AUTO and body.explicitinertial
        counts = first <= geom.group <= last and geom.mass != 0.0 and geom.density != 0.0
        if geom.meshname in meshes and counts and not given and _moves(body):
            problem = (
                f"its mass comes from the mesh {meshes[geom.meshname]}, which is missing;"
                " add the file, or an <inertial>"
            )
            raise InputError(problem, place=f"body {body.name}")


def _moves(body: Any) -> bool:
    while body is not None and body.name != "world":
        if len(body.joints):
            return True
        body = body.parent
    return False
