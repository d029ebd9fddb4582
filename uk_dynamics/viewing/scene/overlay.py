# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Marks of a mechanism in a scene: loop frames, closure errors, forces, targets; their colours."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.colours import (
    BLUE,
    CENTRE,
    FORCE,
    LOOP_ERROR_ON_WHITE,
    RGB,
    SHARED,
    TARGET,
    TORQUE,
)
from uk_dynamics.mechanism.resolution import Array, Flags
from uk_dynamics.viewing.scene.link_shapes import quaternions_wxyz
from uk_dynamics.viewing.scene.marks import CONE_SEGMENTS, ContactMarks, Marks
from uk_dynamics.viewing.scene.stage import ViserServer

_FORGETTING = 0.995  # per picture: the scale follows the largest vector of the last seconds
_LEAST_VECTOR = 1e-9


class ArrowScale:
    """Length per force (or torque) such that the largest of the last seconds fits the picture."""

    def __init__(self) -> None:
        """Nothing has been drawn yet."""
        self._largest = _LEAST_VECTOR

    def factor(self, vectors: Array, longest: float) -> float:
        """The scale, in m/N or 1/N, for vectors (k, 3), in N or N·m.

        The longest arrow may have a length in m.
        """
        now = float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
        self._largest = max(self._largest * _FORGETTING, now, _LEAST_VECTOR)
        return longest / self._largest


# Strong colours that are told apart with any colour vision; Okabe and Ito's come first.
_CANDIDATES: tuple[RGB, ...] = (
    *(FORCE, TORQUE, TARGET, BLUE),
    (220, 0, 90),
    (120, 40, 200),
    (60, 180, 0),
    (0, 190, 220),
)
_DIFFERENT = 0.25  # distance in Oklab from which colours are not confused
_ASIDE = 0.08  # what being later among the candidates costs


@dataclass(frozen=True)
class MarkColours:
    """Colours of arrows and balls."""

    force: RGB
    torque: RGB
    target: RGB


def mark_colours(machine: Iterable[tuple[float, ...]]) -> MarkColours:
    """Choose among the candidates those that differ from a machine's colours, RGB of 0 to 1."""
    used = [_oklab(np.array(colour[:3])) for colour in machine]
    chosen: list[RGB] = []
    for _ in range(3):
        # the first that differs enough, else the one that differs most
        distances = [
            min((float(np.linalg.norm(_of(c) - other)) for other in used), default=1.0)
            for c in _CANDIDATES
        ]
        worth = [
            min(distance, _DIFFERENT) - _ASIDE * k / len(_CANDIDATES)
            for k, distance in enumerate(distances)
        ]
        colour = _CANDIDATES[int(np.argmax(worth))]
        chosen.append(colour)
        used.append(_of(colour))
    return MarkColours(*chosen)


def _of(colour: RGB) -> Array:
    return _oklab(np.array(colour) / 255.0)


def _oklab(colour: Array) -> Array:
    """Björn Ottosson's perceptual coordinates of an sRGB colour; lightness counts half.

    Light and shadow change lightness on every surface, so hue has to tell colours apart.
    """
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    mixed = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    found: Array = mixed @ np.cbrt(cones @ linear) * (0.5, 1.0, 1.0)
    return found


_LONGEST = 0.35  # of an arrow, as part of the scene's size
_THIN, _HEAD = 0.006, 0.016  # radii, as parts of the scene's size


class Overlay:
    """Draws marks; what is switched off is not computed."""

    def __init__(self, server: ViserServer, size: float, colours: MarkColours) -> None:
        """Prepare for a scene of a size in m."""
        self._scene = server.scene
        self._size = size
        self._force_scale, self._torque_scale = ArrowScale(), ArrowScale()
        self._made = False
        # what is drawn
        self.show_frames = self.show_forces = self.show_targets = True
        self.show_torques = self.show_centre = False
        self.show_contacts = True
        self.colours = colours  # of arrows and targets
        self._centre: Any = None
        self.force_scale = 1.0  # further factor on the length of arrows

    def show(self, marks: Marks, centre: Array) -> None:
        """Draw the marks and the centre of mass, (3,), or move those drawn before."""
        if self.show_centre and self._centre is None:
            self._centre = self._scene.add_icosphere(
                "/centre_of_mass", 0.018 * self._size, color=CENTRE, opacity=0.8
            )
        if self._centre is not None:
            self._centre.visible, self._centre.position = self.show_centre, centre
        if not self._made:
            self._make(marks)
        forces = np.concatenate((marks.forces, marks.contacts.forces))
        longest = _LONGEST * self._size * self.force_scale
        self._per_force = self._force_scale.factor(forces, longest)
        self._per_torque = self._torque_scale.factor(marks.torques, longest)
        if marks.contacts.contacts:
            self._show_contacts(marks.contacts)
        if len(marks.children):
            self._show_constraints(marks)
        if len(marks.task_points):
            self._show_tasks(marks)

    def _show_constraints(self, marks: Marks) -> None:
        self._frames.visible = self._closure_errors.visible = self.show_frames
        if self.show_frames:
            axes = np.concatenate((marks.parent_axes, marks.child_axes))
            self._frames.batched_wxyzs = quaternions_wxyz(axes).astype(np.float32)
            self._frames.batched_positions = np.concatenate((marks.parents, marks.children))
            self._closure_errors.points = _segments(marks.children, marks.closure_errors, 0.0)
        self._forces.visible, self._torques.visible = self.show_forces, self.show_torques
        unique = marks.determined
        self._draw(
            self._forces, marks.children, self._per_force * marks.forces, unique, self.colours.force
        )
        torques = self._per_torque * marks.torques
        self._draw(self._torques, marks.children, torques, unique, self.colours.torque)

    def _show_contacts(self, marks: ContactMarks) -> None:
        self._touching.visible = self.show_contacts
        self._cones.visible = self._pressing.visible = self.show_contacts and self.show_forces
        if not self.show_contacts:
            return
        colours = marks.colours
        self._touching.points, self._touching.colors = marks.points.astype(np.float32), colours
        vectors = self._per_force * marks.forces
        self._draw(self._pressing, marks.points, vectors, marks.determined, self.colours.force)
        if self._cones.visible:
            self._cones.points = marks.cones(self._per_force).reshape(-1, 2, 3).astype(np.float32)
            self._cones.colors = _of_segments(colours)

    def _show_tasks(self, marks: Marks) -> None:
        self._errors.visible = self.show_targets
        for target, position in zip(self._targets, marks.task_targets, strict=True):
            target.visible = self.show_targets
            target.position = position
        if self.show_targets:
            missing = marks.task_targets - marks.task_points
            self._errors.points = _segments(marks.task_points, missing, 0.0)

    def _make(self, marks: Marks) -> None:
        self._made = True
        scene, size = self._scene, self._size
        nothing = np.zeros((len(marks.children), 2, 3))
        if len(nothing):
            self._frames = scene.add_batched_axes(
                "/loops/frames",
                quaternions_wxyz(np.concatenate((marks.parent_axes, marks.child_axes))),
                np.concatenate((marks.parents, marks.children)),
                axes_length=0.05 * size,
                axes_radius=0.003 * size,
            )
            self._closure_errors = scene.add_line_segments(
                "/loops/closure_errors", nothing, LOOP_ERROR_ON_WHITE, thickness=0.01 * size
            )
            colours = {"forces": self.colours.force, "torques": self.colours.torque}
            self._forces, self._torques = (
                self._arrows(f"/loops/{name}", marks.children, colour)
                for name, colour in colours.items()
            )
        if marks.contacts.contacts:
            contacts = marks.contacts
            self._touching = scene.add_point_cloud(
                "/contacts/points",
                contacts.points.astype(np.float32),
                contacts.colours,
                point_size=0.03 * size,
                point_shape="circle",
            )
            self._cones = scene.add_line_segments(
                "/contacts/cones",
                contacts.cones(0.0).reshape(-1, 2, 3).astype(np.float32),
                _of_segments(contacts.colours),
                thickness=0.002 * size,
            )
            self._pressing = self._arrows("/contacts/forces", contacts.points, self.colours.force)
        if len(marks.task_points):
            self._targets = [
                scene.add_icosphere(
                    f"/tasks/target_{index}", 0.02 * size, color=self.colours.target, opacity=0.7
                )
                for index in range(len(marks.task_points))
            ]
            self._errors = scene.add_line_segments(
                "/tasks/errors",
                _segments(marks.task_points, 0.0 * marks.task_points, 0.0),
                self.colours.target,
                thickness=0.006 * size,
            )

    def _arrows(self, name: str, points: Array, colour: RGB) -> Any:
        """Arrows at points, (k, 3), without length."""
        size = self._size
        return self._scene.add_arrows(
            name,
            _segments(points, 0.0 * points, 1e-3 * size),
            np.tile(colour, (len(points), 1)),
            shaft_radius=_THIN * size,
            head_radius=_HEAD * size,
            head_length=2.5 * _HEAD * size,
        )

    def _draw(self, arrows: Any, points: Array, vectors: Array, unique: Flags, colour: RGB) -> None:
        """Move arrows, if they are to be seen; those that are not unique are grey."""
        if arrows.visible:
            arrows.points = _segments(points, vectors, 1e-3 * self._size)
            colours = np.where(unique[:, None], colour, SHARED).astype(np.uint8)
            if not np.array_equal(arrows.colors, colours):
                arrows.colors = colours


def _of_segments(colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Colours of both ends of the segments of each cone, (20 c, 2, 3)."""
    return np.repeat(np.repeat(colours, CONE_SEGMENTS, axis=0)[:, None], 2, axis=1)


def _segments(points: Array, vectors: Array, least: float) -> NDArray[np.float32]:
    """Segments along vectors, (k, 2, 3); vectors that vanish get a least length along z."""
    short = np.linalg.norm(vectors, axis=1) < least
    vectors = np.where(short[:, None], [0.0, 0.0, least], vectors)
    return np.stack((points, points + vectors), axis=1).astype(np.float32)
