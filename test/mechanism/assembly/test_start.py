# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motions start with velocities that agree with the constraints."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import pinned_arm, shipped

from uk_dynamics.exceptions import StateError, UnknownNameError
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.urdf.rotation import from_rpy

DRIVEN = """  drive: {type: joint, joint: j1,
    reference: {type: sinusoid, amplitude: 0.5, frequency: 1.0}}
"""


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "five_bar_maximal", "stewart_platform"])
def test_passive_joints_follow_the_one_that_is_given(name: str) -> None:
    mechanism = shipped(name)
    joint = mechanism.spec.actuators[0].joints[0][0]
    state = mechanism.start(velocities={joint: 1.5})
    assert state.v[mechanism.model.velocity_index(joint)] == 1.5
    residual = mechanism.dynamics().residual(state)
    assert np.max(np.abs(residual.velocity)) < 1e-11
    # and so does the motion: the constraints still hold to second order after a small step
    h = 1e-5
    q = mechanism.model.integrate(state.q, h * state.v)
    moved = mechanism.dynamics().residual(mechanism.state(q, state.v))
    assert np.max(np.abs(moved.position)) < 1e-8


def test_without_velocities_a_machine_starts_at_rest() -> None:
    assert not shipped("five_bar").start().v.any()


def test_a_driven_machine_starts_with_its_drive() -> None:
    state = pinned_arm(DRIVEN).start()
    assert abs(state.v[0] - np.pi) < 1e-12
    assert abs(state.q[0]) < 1e-12
    assert abs(pinned_arm(DRIVEN).start(t=0.25).q[0] - 0.5) < 1e-12


def test_velocities_of_the_file_count_and_arguments_go_before_them() -> None:
    text = "schema: 1\ninitial_velocity: {j1: 2.0, j2: -1.0}"
    arm = pinned_arm("  none: {type: joint_coupling, joints: {j1: 1, j2: 2}}\n")
    free = Mechanism.from_spec(
        MechanismSpec.from_text(text), robot_description=arm.model.description.text
    )
    np.testing.assert_array_equal(free.start().v, [2.0, -1.0])
    np.testing.assert_array_equal(free.start(velocities={"j2": 3.0}).v, [2.0, 3.0])


def test_velocities_that_contradict_a_constraint_name_it() -> None:
    with pytest.raises(StateError, match=r"initial_velocity: .* contradict drive by 2\.14"):
        pinned_arm(DRIVEN).start(velocities={"j1": 1.0})
    with pytest.raises(UnknownNameError, match="initial_velocity: no joint"):
        pinned_arm(DRIVEN, more="initial_velocity: {j9: 1.0}")


def test_rows_across_the_plane_are_no_obstacle() -> None:
    """A planar loop closed by a turned hinge has rows that are nothing but rounding."""
    rpy = [0.3, 0.2, 0.1]
    axis = from_rpy(rpy).T @ [0.0, 1.0, 0.0]
    guess = "initial_guess: {j1: -2.0, j2: 1.5, j3: 1.0}\n"
    found = []
    for kind, turned in (
        ("type: frame, axes: [x, z]", ""),
        (f"type: hinge, axis: {axis.tolist()}", f", rpy: {rpy}"),
    ):
        parent = f"{{link: base, xyz: [1.0, 0, 0]{turned}}}"
        child = f"{{link: l3, xyz: [0.8, 0, 0]{turned}}}"
        pin = f"  pin: {{{kind}, parent: {parent}, child: {child}}}\n"
        machine = pinned_arm(pin, (0.7, 0.9, 0.8), guess)
        found.append(machine.start({"j1": -2.0}, {"j1": 1.0}).v)
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-9)  # rounding
