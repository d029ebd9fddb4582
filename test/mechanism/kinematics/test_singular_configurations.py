# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Singular configurations with closed forms, and measures near them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.mechanism_builder import link, shipped

from uk_dynamics import Mechanism


def test_the_flat_parallelogram_is_a_singularity_of_its_loops() -> None:
    mechanism = shipped("five_bar")
    found = mechanism.nearest_singularity(mechanism.assemble(crank=0.4))
    assert found is not None
    assert found.kind == "loops"
    assert np.sin(found.q) == pytest.approx(0.0, abs=2e-5)  # closed to 1e-10, so angles to 1e-5
    assert found.distance == pytest.approx(0.8, abs=1e-4)  # four angles move by 0.4


@pytest.mark.parametrize(("start", "dead_centre"), [(0.6, 0.0), (2.6, np.pi)])
def test_the_piston_stops_at_dead_centres(start: float, dead_centre: float) -> None:
    mechanism = shipped("slider_crank")
    found = mechanism.nearest_singularity(mechanism.assemble(crank=start), "piston")
    assert found is not None
    assert found.kind == "task"
    assert found.q[0] == pytest.approx(dead_centre, abs=1e-5)
    there = mechanism.dexterity("piston", found.q, ["vx"])
    assert there.condition == np.inf
    assert there.manipulability == pytest.approx(0.0, abs=1e-6)


def test_a_driven_piston_cannot_leave_its_dead_centre() -> None:
    """The same configuration is a parallel singularity where the piston drives."""
    driven = shipped("slider_crank").spec
    (motor,) = driven.actuators
    mechanism = Mechanism.from_spec(
        replace(driven, actuators=(replace(motor, joints=(("slider", 1.0),)),))
    )
    found = mechanism.nearest_singularity(mechanism.assemble(crank=0.6))
    assert found is not None
    assert found.kind == "motors"
    assert found.q[0] == pytest.approx(0.0, abs=1e-5)


def test_a_four_bar_rocker_turns_back_where_crank_and_coupler_are_in_line() -> None:
    mechanism = shipped("four_bar")
    found = mechanism.nearest_singularity(frame="rocker_link")
    assert found is not None
    assert found.kind == "task"
    assert np.sin(found.q[1]) == pytest.approx(0.0, abs=1e-5)


@pytest.mark.slow
def test_a_3rrr_is_singular_where_its_distal_links_meet_in_a_point() -> None:
    """Gosselin and Angeles 1990: the lines of the three distal links are concurrent or parallel."""
    mechanism = shipped("rrr3")
    found = mechanism.nearest_singularity()
    assert found is not None
    assert found.kind == "motors"
    lines = []
    for leg in "abc":
        end, _ = mechanism.pose((f"distal_{leg}", (2.0, 0.0, 0.0)), found.q)
        begin, _ = mechanism.pose(f"distal_{leg}", found.q)
        along = (end - begin)[[0, 2]] / np.linalg.norm(end - begin)
        lines.append([*along, begin[0] * along[1] - begin[2] * along[0]])
    assert np.linalg.det(lines) == pytest.approx(0.0, abs=1e-4)
    assert abs(mechanism.dexterity("platform", found.q).motors) < 1e-5


def test_a_3rrr_is_singular_where_a_leg_is_stretched() -> None:
    mechanism = shipped("rrr3")
    found = mechanism.nearest_singularity(frame="platform", kinds=["task"])
    assert found is not None
    elbows = [found.q[mechanism.model.position_index(f"elbow_{leg}")] for leg in "abc"]
    assert np.abs(np.sin(elbows)).min() == pytest.approx(0.0, abs=1e-5)


def test_manipulability_of_a_two_link_arm() -> None:
    """√det(J Jᵀ) = l₁ l₂ |sin q₂| (Yoshikawa 1985), condition 1 at l₂ = l₁/√2, cos q₂ = −1/√2."""
    joints = "".join(
        f'<joint name="{child}_joint" type="continuous"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{x} 0 0"/><axis xyz="0 1 0"/></joint>'
        for parent, child, x in (("base", "upper", 0.0), ("upper", "lower", 1.0))
    )
    urdf = f'<robot name="arm">{link("base")}{link("upper")}{link("lower")}{joints}</robot>'
    motors = {name: {"joint": f"{name}_joint"} for name in ("upper", "lower")}
    arm = Mechanism.from_data({"actuators": motors}, robot_description=urdf)
    tip = ("lower", (np.sqrt(0.5), 0.0, 0.0))
    for angle in (0.3, 1.1, 0.75 * np.pi):
        found = arm.dexterity(tip, {"lower_joint": angle}, ["vx", "vz"])
        assert found.manipulability == pytest.approx(np.sqrt(0.5) * np.sin(angle), abs=1e-12)
    assert found.condition == pytest.approx(1.0, abs=1e-12)
    nearest = arm.nearest_singularity({"lower_joint": 0.3}, tip, rows=["vx", "vz"])
    assert nearest is not None
    assert nearest.distance == pytest.approx(0.3, abs=1e-5)
