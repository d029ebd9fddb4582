# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rotations as roll, pitch and yaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from uk_dynamics.model.urdf.rotation import from_rpy, to_rpy


@pytest.mark.parametrize("away", [0.0, 1e-16, 1e-12, 1e-9, 1e-8, 1e-5, 0.1])
@pytest.mark.parametrize("pitch", [-math.pi / 2, math.pi / 2])
@pytest.mark.parametrize(("roll", "yaw"), [(0.3, 0.7), (3.0, -2.0), (0.0, 3.14)])
def test_roll_pitch_yaw_give_the_rotation_again(roll, yaw, pitch, away):
    """Also where roll and yaw turn about almost the same axis, and neither is well defined."""
    rotation = from_rpy([roll, pitch * (1.0 - away), yaw])
    # angles of up to π, rounded at 4e-16, through sines and products; below 1e-14 pitch is ±90°
    assert np.abs(from_rpy(to_rpy(rotation)) - rotation).max() < 2e-14
