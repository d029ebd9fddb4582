"""What the camera has to see."""

from __future__ import annotations

import numpy as np
import pytest

import uk_dynamics as ukd
from uk_dynamics.model.urdf import Box, Pose, Visual
from uk_dynamics.viewing.scene.corners import Corners


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
