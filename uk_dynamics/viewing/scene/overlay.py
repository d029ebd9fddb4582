# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Marks of a mechanism in a scene: loop frames, closure errors, forces, targets of tasks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.colours import CENTRE, LOOP_ERROR_ON_WHITE, RGB, SHARED
from uk_dynamics.mechanism.resolution import Array, Flags
from uk_dynamics.viewing.scene.arrow_lengths import ArrowScale
from uk_dynamics.viewing.scene.contact_marks import CONE_SEGMENTS, ContactMarks
from uk_dynamics.viewing.scene.link_shapes import quaternions_wxyz
from uk_dynamics.viewing.scene.mark_colours import MarkColours
from uk_dynamics.viewing.scene.marks import Marks
from uk_dynamics.viewing.scene.stage import ViserServer

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
