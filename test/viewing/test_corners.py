# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the camera has to see."""

from __future__ import annotations

import numpy as np
import pytest

import uk_dynamics as ukd
from uk_dynamics.model.urdf import Box, Pose, Visual
from uk_dynamics.viewing.camera import START, placed
from uk_dynamics.viewing.scene.stage import Corners


def test_the_camera_sees_the_shapes_and_not_the_origins_alone():
    mechanism = ukd.Mechanism.from_file("stewart_platform")
    model, workspace = mechanism.model, mechanism.model.workspace()
    workspace.update_positions(mechanism.initial_guess)
    box = Visual(
        link=model.link_names[0],
        pose=Pose(np.array([0.0, 0.0, 0.5]), np.array([[0.0, -1.0, 0], [1, 0, 0], [0, 0, 1]])),
        shape=Box((0.2, 0.4, 0.6)),
        colour=None,
    )
    seen = Corners(model, [box], 10.0).at(workspace.rotation, workspace.translation)
    corners = seen[len(model.link_names) :]
    # a quarter turn about z: the edge along y lies along x
    assert np.ptp(corners, axis=0) == pytest.approx([0.4, 0.2, 0.6], abs=1e-12)
    assert corners.mean(axis=0) == pytest.approx([0.0, 0.0, 0.5], abs=1e-12)
    ground = Corners(model, [box], 0.1).at(workspace.rotation, workspace.translation)
    assert np.ptp(ground[len(model.link_names) :], axis=0).max() <= 0.1 + 1e-12


@pytest.mark.parametrize(("aspect", "lowest"), [(390 / 780, 0.2), (1.6, -1.0)])
def test_on_a_phone_the_machine_is_above_the_panel(aspect, lowest):
    """The panel covers the lower six tenths of a narrow page."""
    points = np.array([[x, y, z] for x in (-1, 1) for y in (-0.5, 0.5) for z in (0.2, 1.0)])
    position, looked_at = placed(np.array(START), points, 1.3, aspect)
    towards = (looked_at - position) / np.linalg.norm(looked_at - position)
    right = np.cross(towards, (0.0, 0.0, 1.0))
    up = np.cross(right, towards) / np.linalg.norm(right)
    depth = (points - position) @ towards
    height = (points - position) @ up / depth / np.tan(0.65)  # 1 at the top of the picture
    assert lowest <= height.min() < height.max() <= 1.0
