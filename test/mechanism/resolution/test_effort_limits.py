# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Limits that a motor has from the URDF of the joint that it drives."""

import numpy as np
from support.mechanism_builder import arm, mechanism


def test_behind_a_gear_the_joint_may_have_what_its_urdf_says() -> None:
    """The motor's effort counts four times at the joint, so a quarter of it is the limit."""
    parts = arm([1.0, 1.0], [(-1.0, 1.0), (-1.0, 1.0)])
    machine = mechanism(parts, "actuators: {m1: {joints: {j1: -4.0}}, m2: {joint: j2}}\n")
    motors = machine.actuators
    limits = np.array([machine.model.effort_limit[machine.model.velocity_index("j1")], 100.0])
    np.testing.assert_array_equal(np.abs(motors.matrix @ motors.effort_limits), limits)


def test_a_sum_of_joints_has_no_limit_but_its_own() -> None:
    parts = arm([1.0, 1.0], [(-1.0, 1.0), (-1.0, 1.0)])
    both = "joints: {j1: 1.0, j2: -1.0}"
    text = f"actuators: {{free: {{{both}}}, bounded: {{{both}, effort_limit: 7.0}}}}\n"
    assert mechanism(parts, text).actuators.effort_limits.tolist() == [np.inf, 7.0]
