# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A joint or frame is led by hand; passive joints follow on the constraints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uk_dynamics.exceptions import UnknownNameError
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing.poser import Poser

CLOSED = 1e-9  # m or rad; assemble() closes to 1e-10

STEWART = Mechanism.from_file("stewart_platform")
STEWART_START = STEWART.assemble()


def _gap(mechanism, q):
    return np.abs(mechanism.dynamics().residual(mechanism.state(q)).position).max()


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(range(6)), st.floats(0.05, 0.35))
def test_one_leg_moves_the_platform_and_no_other_leg(leg, length):
    poser = Poser(STEWART)
    pose = poser.lead_joint(STEWART_START, poser.joints[leg], length)
    assert pose.reached
    assert _gap(STEWART, pose.q) < CLOSED
    for k, name in enumerate(poser.joints):
        index = STEWART.model.position_index(name)
        wanted = length if k == leg else STEWART_START[index]
        assert abs(pose.q[index] - wanted) < 1e-9


def test_motors_too_many_give_way():
    """Three motors for two freedoms: the third cannot stay while one is led."""
    mechanism = Mechanism.from_file("parallel_2dof")
    start, poser = mechanism.assemble(), Poser(mechanism)
    first = mechanism.model.position_index(poser.joints[0])
    pose = poser.lead_joint(start, poser.joints[0], start[first] + 0.1)
    moved = np.abs(pose.q - start)[[mechanism.model.position_index(n) for n in poser.joints]]
    assert pose.reached
    assert _gap(mechanism, pose.q) < CLOSED
    assert abs(moved[0] - 0.1) < 1e-9
    assert moved[1] < 1e-9
    assert moved[2] > 1e-3


def test_where_the_loops_would_open_it_stops_and_says_so():
    mechanism = Mechanism.from_file("rrr3")
    poser = Poser(mechanism)
    pose = poser.lead_joint(mechanism.assemble(), "shoulder_a", float(poser.upper[0]))
    assert not pose.reached
    assert "no assembly with shoulder_a beyond" in pose.message
    assert _gap(mechanism, pose.q) < CLOSED


def test_a_parallelogram_is_singular_where_it_is_flat():
    mechanism = Mechanism.from_file("five_bar")
    poser = Poser(mechanism)
    assert not poser.caution(mechanism.assemble(crank=0.6))
    for angle in (0.01, 3.13):
        q = mechanism.assemble(crank=angle, coupler=-angle, middle=angle, right=angle)
        assert "close to a singular configuration" in poser.caution(q)
    flat = mechanism.model.to_positions(dict.fromkeys(mechanism.joint_names, 0.0))
    assert "rank 2 instead of 3" in poser.caution(flat)


def test_a_link_is_dragged_to_a_point_within_reach():
    q = STEWART_START
    workspace = STEWART.model.workspace()
    frame = STEWART.model.frame_index("platform")
    workspace.update_positions(q)
    target = workspace.translation[frame] + [0.03, -0.02, 0.02]
    pose = Poser(STEWART).lead_frame(q, "platform", target)
    workspace.update_positions(pose.q)
    assert pose.reached
    assert np.linalg.norm(workspace.translation[frame] - target) < 1e-3  # what counts as reached
    assert _gap(STEWART, pose.q) < CLOSED


def test_a_link_out_of_reach_goes_as_far_as_it_can():
    """The middle of a coupler that translates on a circle, dragged away from its centre."""
    mechanism = Mechanism.from_file("five_bar")
    q = mechanism.assemble(crank=1.0)
    workspace = mechanism.model.workspace()
    frame = mechanism.model.frame_index("coupler_link")
    workspace.update_positions(q)
    tip = workspace.translation[frame].copy()
    centre = tip - [np.cos(1.0), 0.0, np.sin(1.0)]  # the crank is 1 m long
    out = Poser(mechanism).lead_frame(q, "coupler_link", centre + 3.0 * np.array([0, 0, 1.0]))
    workspace.update_positions(out.q)
    assert not out.reached
    assert "short of the point" in out.message
    reached = workspace.translation[frame] - centre
    assert abs(np.linalg.norm(reached) - 1.0) < 1e-9
    assert reached[2] > np.sin(1.0)  # it came closer


def test_only_motors_are_led():
    with pytest.raises(UnknownNameError, match="platform_x"):
        Poser(STEWART).lead_joint(STEWART_START, "platform_x", 0.0)


def test_without_freedom_nothing_can_be_posed():
    mechanism = Mechanism.from_file("spiral_particle")
    poser, start = Poser(mechanism), mechanism.start().q
    pose = poser.lead_joint(start, "theta", start[mechanism.model.position_index("theta")] + 0.1)
    assert "no assembly with theta beyond" in pose.message
    assert np.abs(pose.q - start).max() < 0.01


def test_limits_end_the_way_and_passing_them_is_said():
    poser = Poser(STEWART)
    pose = poser.lead_joint(STEWART_START, "leg_1_slide", 0.9)  # the page takes any number
    assert not pose.reached
    assert pose.message == "leg_1_slide ends at its limit of 0.4"
    assert abs(pose.q[STEWART.model.position_index("leg_1_slide")] - 0.4) < 1e-9
    beyond = STEWART_START.copy()
    beyond[STEWART.model.position_index("leg_2_slide")] = -0.01
    assert poser.caution(beyond) == "leg_2_slide is at -0.01, beyond its limit of 0"
