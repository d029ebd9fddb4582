# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The camera of a new page: all of each shipped machine is in the picture."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from uk_dynamics import Mechanism
from uk_dynamics.model.urdf import Box, Cylinder, appearance
from uk_dynamics.resources import shipped_files
from uk_dynamics.viewing.camera import START, Fitted, placed
from uk_dynamics.viewing.scene.stage import Corners, stage


def in_picture(points: np.ndarray, position: np.ndarray, looked_at: np.ndarray) -> np.ndarray:
    """Places in the picture, (n, 2): to the right and up, in tangents of the angles of view."""
    towards = (looked_at - position) / np.linalg.norm(looked_at - position)
    right = np.cross(towards, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    seen = points - position
    places = np.stack([seen @ right, seen @ np.cross(right, towards)], axis=1)
    return places / (seen @ towards)[:, None]


@pytest.mark.parametrize("aspect", [0.79, 1.6])
@pytest.mark.parametrize("name", sorted(shipped_files("mechanism")))
def test_the_whole_machine_is_in_the_picture(name: str, aspect: float) -> None:
    mechanism = Mechanism.from_file(name)
    model = mechanism.model
    directory = mechanism.spec.urdf_path().parent if mechanism.spec.model.urdf else None
    visuals = appearance(model.description, directory).visuals
    workspace = model.workspace()
    workspace.update_positions(mechanism.initial_guess)
    corners = Corners(model, visuals, stage(mechanism).size)
    points = corners.at(workspace.rotation, workspace.translation)
    position, looked_at = placed(np.array(START), points, 1.3, aspect)

    moving = set(model.joint_names)
    links = {joint.child for joint in model.description.joints if joint.name in moving}
    shown = [workspace.translation[model.frame_index(link)] for link in links]
    for visual in visuals:
        if visual.link in links and isinstance(visual.shape, Box | Cylinder):
            shape, frame = visual.shape, model.frame_index(visual.link)
            half = 0.5 * np.array(
                shape.size
                if isinstance(shape, Box)
                else (2.0 * shape.radius, 2.0 * shape.radius, shape.length)
            )
            for k in range(8):
                corner = half * [1.0 if k & bit else -1.0 for bit in (1, 2, 4)]
                corner = visual.pose.translation + visual.pose.rotation @ corner
                shown.append(workspace.rotation[frame] @ corner + workspace.translation[frame])
    places = np.abs(in_picture(np.array(shown), position, looked_at))
    assert (places <= np.tan(0.65) * np.array([aspect, 1.0])).all()


def test_a_page_whose_panel_takes_its_part_is_fitted_again_until_the_user_looks_elsewhere() -> None:
    points = np.array([[-2.0, 0.0, 0.0], [2.0, 0.0, 1.0]])
    camera = SimpleNamespace(position=np.zeros(3), look_at=np.zeros(3), fov=1.3, aspect=1.3)
    fitted = Fitted(camera)
    assert fitted.due
    fitted.fit(points)
    assert not fitted.due
    camera.aspect = 0.8
    assert fitted.due
    fitted.fit(points)
    places = np.abs(in_picture(points, camera.position, camera.look_at))
    assert (places <= np.tan(0.65) * np.array([0.8, 1.0])).all()
    camera.aspect = 1.1
    camera.position = camera.position + np.array([0.0, 0.0, 1.0])  # the user moves it
    assert not fitted.due
