# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Links of a mechanism in a scene, as shapes or thin lines, and the names of its joints."""

from typing import Any

import numpy as np

from uk_dynamics.core.linalg import to_quaternion
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.model import RobotModel
from uk_dynamics.model.urdf import GREY, Appearance, Box, Cylinder, MeshFile, Sphere, Visual
from uk_dynamics.viewing.scene.stage import ViserServer

_THICKNESS = 0.012  # of lines that stand for links, as part of the scene's size
_STILL = 1e-7  # m, or of a rotation matrix: what moves less is not sent again


class LinkShapes:
    """Draws the links and moves them."""

    def __init__(
        self, server: ViserServer, model: RobotModel, appearance: Appearance, size: float
    ) -> None:
        """Add all links to a scene."""
        self._server = server
        self._count = len(model.link_names)
        self._frames = [
            server.scene.add_frame(f"/links/{name}", show_axes=False) for name in model.link_names
        ]
        self.problems = list(appearance.problems)  # what could not be shown, one line each
        seen = set()
        for index, visual in enumerate(appearance.visuals):
            problem = self._add(f"/links/{visual.link}/visual_{index}", visual)
            if problem:
                self.problems.append(f"link {visual.link}: visual: {problem}")
            else:
                seen.add(visual.link)
        drawn = seen | self._add_lines(model, seen, size)
        self._drawn = np.array([name in drawn for name in model.link_names])
        self._rotation = np.full((self._count, 3, 3), np.nan)
        self._translation = np.full((self._count, 3), np.nan)

    def move(self, rotation: Array, translation: Array) -> None:
        """Move the links to rotations (n, 3, 3) and translations (n, 3), in m, links first."""
        rotation, translation = rotation[: self._count], translation[: self._count]
        angles = np.abs(rotation - self._rotation).max(axis=(1, 2))
        ways = np.abs(translation - self._translation).max(axis=1)
        # each message costs the server and the page; nothing hangs on a link that is not drawn
        turned = np.flatnonzero(self._drawn & ~(angles <= _STILL))
        shifted = np.flatnonzero(self._drawn & ~(ways <= _STILL))
        if len(turned):
            quaternions = quaternions_wxyz(rotation[turned])
            for index, quaternion in zip(turned.tolist(), quaternions, strict=True):
                self._frames[index].wxyz = quaternion
            self._rotation[turned] = rotation[turned]
        for index in shifted.tolist():
            self._frames[index].position = translation[index]
        self._translation[shifted] = translation[shifted]

    def _add(self, name: str, visual: Visual) -> str:
        """Add a shape; say why not where that fails."""
        shape, scene = visual.shape, self._server.scene
        colour, opacity = _colour(visual.colour or GREY)
        wxyz = quaternions_wxyz(visual.pose.rotation[None])[0]
        place: dict[str, Any] = {"wxyz": wxyz, "position": visual.pose.translation}
        if isinstance(shape, MeshFile):
            try:
                scene.add_mesh_trimesh(name, _load_mesh(shape, visual.colour), **place)
            except Exception as error:  # noqa: BLE001 readers of meshes raise anything
                return f"{shape.path}: {error}"
        elif isinstance(shape, Box):
            x, y, z = shape.size
            scene.add_box(name, color=colour, dimensions=(x, y, z), opacity=opacity, **place)
        elif isinstance(shape, Cylinder):
            scene.add_cylinder(
                name, shape.radius, shape.length, color=colour, opacity=opacity, **place
            )
        elif isinstance(shape, Sphere):
            scene.add_icosphere(name, shape.radius, color=colour, opacity=opacity, **place)
        return ""

    def _add_lines(self, model: RobotModel, seen: set[str], size: float) -> set[str]:
        """Lines from a link without shapes to the joints it carries; which links have some."""
        lined: set[str] = set()
        for joint in model.description.joints:
            if joint.parent in seen or float(np.linalg.norm(joint.pose.translation)) < 1e-6:
                continue
            self._server.scene.add_line_segments(
                f"/links/{joint.parent}/to_{joint.name}",
                points=np.array([[np.zeros(3), joint.pose.translation]]),
                colors=_colour(GREY)[0],
                thickness=_THICKNESS * size,
            )
            lined.add(joint.parent)
        return lined


def quaternions_wxyz(rotation: Array) -> Array:
    """Quaternions (n, 4), w first, of rotation matrices (n, 3, 3)."""
    return np.roll(to_quaternion(rotation), 1, axis=1)


def _colour(colour: tuple[float, ...]) -> tuple[tuple[int, int, int], float | None]:
    """Colour as viser takes it, and the opacity, None where nothing shines through."""
    red, green, blue = (round(255 * min(max(part, 0.0), 1.0)) for part in colour[:3])
    return (red, green, blue), None if colour[3] >= 1.0 else colour[3]


def _load_mesh(mesh: MeshFile, colour: tuple[float, ...] | None) -> Any:
    import trimesh

    loaded: Any = trimesh.load(mesh.path, force="mesh")
    loaded.apply_scale(mesh.scale)
    if colour is not None:
        loaded.visual = trimesh.visual.ColorVisuals(
            loaded, face_colors=[round(255 * part) for part in colour]
        )
    return loaded


class JointLabels:
    """Writes its name at every joint that moves; nothing is made before it is wanted."""

    def __init__(self, server: ViserServer, model: RobotModel) -> None:
        self._scene = server.scene
        moving = set(model.joint_names)
        self._places = {j.name: j.child for j in model.description.joints if j.name in moving}
        self._made: list[Any] = []

    def show(self, visible: bool) -> None:
        """Show them or not."""
        if visible and not self._made:
            # a label is a child of its link's frame and moves with it
            self._made = [
                self._scene.add_label(
                    f"/links/{link}/name_{index}", name, font_screen_scale=0.8, anchor="bottom-left"
                )
                for index, (name, link) in enumerate(self._places.items())
            ]
        for label in self._made:
            label.visible = visible
