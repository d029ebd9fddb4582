# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Pose and twist of links that floating and planar joints move, against frames of the model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.all_joints import URDF

from uk_dynamics.exceptions import StateError
from uk_dynamics.model import FloatingBase, RobotModel, in_link_axes

ROUNDING = 1e-14  # of numbers of size one, some products long
STEP = 1e-5


@pytest.fixture(scope="module", params=["fixed", "floating", "planar"])
def model(request: pytest.FixtureRequest) -> RobotModel:
    """Joints of all types on each kind of root, tilted and shifted in their parents."""
    return RobotModel.from_urdf(URDF, root=request.param)


def states(model: RobotModel, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random ones, turned by anything that is a rotation."""
    rng = np.random.default_rng(4)
    found = []
    for _ in range(count):
        q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv))
        for base in model.bases:
            if base.planar:
                angle = rng.uniform(-np.pi, np.pi)
                q[base.position][2:] = np.cos(angle), np.sin(angle)
            else:
                q[base.position][3:] = Rotation.random(random_state=rng).as_quat()
        found.append((q, rng.standard_normal(model.nv)))
    return found


def in_parent(
    model: RobotModel, base: FloatingBase, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and translation of the link in its parent, from Pinocchio's frames."""
    workspace = model.workspace()
    workspace.update_positions(q)
    child = model.frame_index(base.link)
    rotation, place = workspace.rotation[child], workspace.translation[child]
    if not base.parent:
        return rotation.copy(), place.copy()
    parent = model.frame_index(base.parent)
    turn = workspace.rotation[parent]
    return turn.T @ rotation, turn.T @ (place - workspace.translation[parent])


def test_there_is_one_for_each_floating_and_planar_joint(model: RobotModel) -> None:
    assert [model.nv - len(model.joint_names)] == [sum(3 if b.planar else 6 for b in model.bases)]


@pytest.mark.slow
def test_poses_are_those_of_the_frames_and_come_back(model: RobotModel) -> None:
    for q, v in states(model, 1000 // len(model.bases)):
        found_q, found_v = q.copy(), v.copy()
        for base in model.bases:
            pose = base.pose(q)
            rotation, place = in_parent(model, base, q)
            np.testing.assert_allclose(pose[:3], place, atol=ROUNDING, rtol=0)
            turned = Rotation.from_quat(pose[3:]).as_matrix()
            np.testing.assert_allclose(turned, rotation, atol=ROUNDING, rtol=0)
            found_q[base.position], found_v[base.velocity] = np.nan, np.nan
            base.place(found_q, found_v, pose, base.twist(v))
        np.testing.assert_allclose(model.difference(q, found_q), 0.0, atol=1e-13, rtol=0)
        np.testing.assert_allclose(found_v, v, atol=ROUNDING, rtol=0)


def test_twists_are_rates_of_poses_in_axes_of_the_link(model: RobotModel) -> None:
    for q, v in states(model, 10):
        for base in model.bases:
            (back, start), (front, end) = (
                in_parent(model, base, model.integrate(q, sign * STEP * v)) for sign in (-1, 1)
            )
            rotation, _ = in_parent(model, base, q)
            linear = (end - start) / (2 * STEP)
            angular = Rotation.from_matrix(front @ back.T).as_rotvec() / (2 * STEP)
            expected = np.concatenate([rotation.T @ linear, rotation.T @ angular])
            # h² times third derivatives; Pinocchio ends its series early
            np.testing.assert_allclose(base.twist(v), expected, atol=1e-8, rtol=0)
            in_axes_of_parent = np.concatenate([linear, angular])
            turned = in_link_axes(base.pose(q), in_axes_of_parent)
            np.testing.assert_allclose(base.twist(v), turned, atol=1e-8, rtol=0)


def test_a_quaternion_far_from_unit_length_is_refused(model: RobotModel) -> None:
    (q, v), *_ = states(model, 1)
    for base in model.bases:
        pose, twist = base.pose(q), base.twist(v)
        before = q.copy(), v.copy()
        for norm in (0.0, 0.9989, 1.0011, np.nan):
            with pytest.raises(StateError, match=f"{base.link}.*unit quaternion"):
                base.place(q, v, np.append(pose[:3], norm * pose[3:]), twist)
        np.testing.assert_array_equal(q, before[0])
        base.place(q, v, np.append(pose[:3], 1.0009 * pose[3:]), twist)
        np.testing.assert_allclose(q, before[0], atol=ROUNDING, rtol=0)


def test_what_leaves_its_plane_is_refused(model: RobotModel) -> None:
    (q, v), *_ = states(model, 1)
    for base in (base for base in model.bases if base.planar):
        pose, twist = base.pose(q), base.twist(v)
        above = pose + np.r_[_normal(model, base, q), np.zeros(4)] * 0.002
        with pytest.raises(StateError, match=r"planar joint, found 0\.002"):
            base.place(q, v, above, twist)


def _normal(model: RobotModel, base: FloatingBase, q: np.ndarray) -> np.ndarray:
    """Of the plane in axes of the parent: along it no motion of the joint leads."""
    ways = []
    for direction in np.eye(3)[:2]:
        w = np.zeros(model.nv)
        w[base.velocity] = direction
        ways.append(in_parent(model, base, model.integrate(q, w))[1] - in_parent(model, base, q)[1])
    normal = np.cross(*ways)
    return normal / np.linalg.norm(normal)
