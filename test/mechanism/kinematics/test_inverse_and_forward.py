# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Inverse and forward kinematics: round trips, branches with closed forms, what is out of reach."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.mechanism_builder import shipped

from uk_dynamics.exceptions import AssemblyError, InputError, UnknownNameError

DRIVEN = {"rrr3": "platform", "stewart_platform": "platform", "excavator": "teeth"}


@pytest.mark.slow
@pytest.mark.parametrize("name", DRIVEN)
@given(way=st.lists(st.floats(-1.0, 1.0), min_size=6, max_size=6))
@settings(max_examples=10, deadline=None)
def test_there_and_back(name: str, way: list[float]) -> None:
    """Motors from a pose, and the pose from the motors, on the branch of the seed."""
    mechanism, frame = shipped(name), DRIVEN[name]
    home = mechanism.assemble()
    S = mechanism.actuators.matrix
    span = 0.04 if name == "stewart_platform" else 0.15
    motors = S.T @ home + span * np.array(way[: S.shape[1]])
    q = mechanism.forward_kinematics(motors, seed=home)
    assert S.T @ q == pytest.approx(motors, abs=1e-9)
    again = mechanism.inverse_kinematics(frame, mechanism.pose(frame, q), seed=q)
    assert S.T @ again == pytest.approx(motors, abs=1e-7)
    back = mechanism.inverse_kinematics(frame, mechanism.pose(frame, home), seed=q)
    place, rotation = mechanism.pose(frame, back)
    expected = mechanism.pose(frame, home)
    assert place == pytest.approx(expected[0], abs=1e-8)
    assert rotation == pytest.approx(expected[1], abs=1e-8)


def test_a_four_bar_closes_in_two_ways() -> None:
    """Mirror images in the line from the coupler's pivot to the rocker's."""
    mechanism = shipped("four_bar")
    found = mechanism.forward_kinematics({"crank_motor": 1.2}, branches=True, starts=16)
    assert len(found) == 2
    (p, _), (r, _) = (mechanism.pose(link, found[0]) for link in ("coupler_link", "rocker_link"))
    pins = [mechanism.pose(("coupler_link", (0.35, 0.0, 0.0)), q)[0] for q in found]
    along = (r - p) / np.linalg.norm(r - p)
    mirrored = p + 2 * along * (along @ (pins[0] - p)) - (pins[0] - p)
    assert pins[1] == pytest.approx(mirrored, abs=1e-9)


def test_a_3rrr_reaches_a_pose_in_eight_ways() -> None:
    mechanism = shipped("rrr3")
    found = mechanism.inverse_kinematics("platform", mechanism.pose("platform"), branches=True)
    assert len(found) == 8
    elbows = [mechanism.model.position_index(f"elbow_{leg}") for leg in "abc"]
    signs = {tuple(np.sign(np.sin(q[elbows]))) for q in found}
    assert len(signs) == 8


def test_position_orientation_and_axes() -> None:
    mechanism = shipped("stewart_platform")
    place, rotation = mechanism.pose("platform", mechanism.assemble())
    lifted = place + np.array([0.0, 0.0, 0.03])
    q = mechanism.inverse_kinematics("platform", position=lifted)
    assert mechanism.pose("platform", q)[0] == pytest.approx(lifted, abs=1e-9)
    q = mechanism.inverse_kinematics("platform", orientation=np.eye(3))
    assert mechanism.pose("platform", q)[1] == pytest.approx(np.eye(3), abs=1e-9)
    q = mechanism.inverse_kinematics("platform", position=lifted, axes=["z"])
    assert mechanism.pose("platform", q)[0][2] == pytest.approx(lifted[2], abs=1e-9)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, place
    path = np.array([pose, pose])
    path[1, 2, 3] += 0.02
    whole = mechanism.inverse_kinematics("platform", path)
    assert whole.shape == (2, mechanism.model.nq)
    assert mechanism.pose("platform", whole[1])[0] == pytest.approx(path[1, :3, 3], abs=1e-9)


def test_out_of_reach_says_by_how_much() -> None:
    """The tip of the rocker moves on a circle of 0.25 m around its pivot."""
    mechanism = shipped("four_bar")
    pivot, _ = mechanism.pose("rocker_link")
    tip = ("rocker_link", (0.25, 0.0, 0.0))
    now, _ = mechanism.pose(tip, mechanism.assemble())
    beyond = pivot + 1.4 * (now - pivot)
    with pytest.raises(AssemblyError, match="rocker_link does not reach the pose") as raised:
        mechanism.inverse_kinematics(tip, position=beyond, axes=["x", "z"])
    assert raised.value.violations["position"] == pytest.approx(0.1, abs=1e-5)


@pytest.mark.slow
def test_limits_hold() -> None:
    mechanism = shipped("excavator")
    q = mechanism.assemble()
    far = mechanism.pose("teeth", q)[0] + np.array([0.0, 0.0, 50.0])
    with pytest.raises(AssemblyError, match="teeth does not reach the pose"):
        mechanism.inverse_kinematics("teeth", position=far)
    with pytest.raises(AssemblyError, match="loops do not close with the motors"):
        mechanism.forward_kinematics({"boom_cylinder": 9.0}, hold=["swing"])


def test_what_motors_leave_open_is_refused() -> None:
    drive = shipped("differential_drive")
    with pytest.raises(InputError, match="5 freedoms stay open") as raised:
        drive.forward_kinematics({"left_motor": 1.0, "right_motor": 1.0})
    assert "as of rolling, hold no position" in str(raised.value)
    q = drive.inverse_kinematics("chassis", position=[1.0, 2.0, 0.0], axes=["x", "y"])
    assert drive.pose("chassis", q)[0][:2] == pytest.approx([1.0, 2.0], abs=1e-9)
    with pytest.raises(InputError, match="infinitely many"):
        drive.inverse_kinematics(
            "chassis", position=[1.0, 2.0, 0.0], axes=["x", "y"], branches=True
        )


def test_what_is_no_pose_is_refused() -> None:
    mechanism = shipped("rrr3")
    with pytest.raises(InputError, match="no rotation matrix"):
        mechanism.inverse_kinematics("platform", np.zeros((4, 4)))
    with pytest.raises(InputError, match="expected a pose"):
        mechanism.inverse_kinematics("platform")
    with pytest.raises(UnknownNameError, match='no axis of this pose "rx"'):
        mechanism.inverse_kinematics("platform", position=[0, 0, 0], axes=["rx"])
    with pytest.raises(UnknownNameError, match="did you mean"):
        mechanism.forward_kinematics({"motor_d": 0.0})
