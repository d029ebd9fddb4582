# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Messages to arrays: usable ones arrive by name, the others are named and change nothing."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from hypothesis import given
from hypothesis import strategies as st
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.bad_messages import (
    BAD_ARRAYS,
    BAD_COMMANDS,
    BAD_STATES,
    JOINTS,
    MODEL,
    ONES,
    joint_state,
)

from uk_dynamics.mechanism.resolution.actuators import Actuators
from uk_dynamics.ros.topics.inputs import StateReader
from uk_dynamics.ros.topics.messages import EffortReader

pytestmark = pytest.mark.ros

# a motor with a gear of ratio 2 on the first joint, one between the second and the third
MOTORS = Actuators(
    ("geared", "between"),
    np.array([[2.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.0, 0.0]]),
    np.array([[10.0, 5.0]]),
)


@pytest.mark.parametrize(("message", "reason"), BAD_STATES.values(), ids=BAD_STATES)
def test_unusable_state_is_named_and_changes_nothing(message: JointState, reason: str) -> None:
    reader = StateReader(MODEL)
    assert reader.read(joint_state(effort=ONES)) == ""
    before = [reader.q.copy(), reader.v.copy(), reader.effort.copy()]
    problem = reader.read(message)
    assert reason in problem
    assert len(problem) < 200, "also long messages make short problems"
    for kept, now in zip(before, (reader.q, reader.v, reader.effort), strict=True):
        np.testing.assert_array_equal(now, kept)
    assert reader.read(joint_state()) == "", "the next good message is used"


@given(st.permutations(range(len(JOINTS) + 2)), st.booleans())
def test_state_arrives_by_name_in_any_order_among_other_joints(
    order: list[int], efforts: bool
) -> None:
    names = [*JOINTS, "gripper", "camera"]
    values = np.arange(len(names), dtype=float)
    reader = StateReader(MODEL)
    message = joint_state(
        tuple(names[i] for i in order),
        values[order],
        values[order] + 10.0,
        values[order] + 20.0 if efforts else (),
    )
    assert reader.read(message) == ""
    np.testing.assert_array_equal(reader.q, values[:4])
    np.testing.assert_array_equal(reader.v, values[:4] + 10.0)
    np.testing.assert_array_equal(reader.effort, values[:4] + 20.0 if efforts else np.zeros(4))
    assert set(reader.index.unknown) == {"gripper", "camera"}


def test_numbers_of_joints_that_are_not_wanted_do_not_matter() -> None:
    message = joint_state((*JOINTS, "camera"), (*ONES, math.nan), (*ONES, math.inf))
    assert StateReader(MODEL).read(message) == ""


@pytest.mark.parametrize(("data", "reason"), BAD_ARRAYS.values(), ids=BAD_ARRAYS)
def test_unusable_effort_array_is_named_and_changes_nothing(data: Any, reason: str) -> None:
    reader = EffortReader(MOTORS, JOINTS)
    assert reader.read_array(Float64MultiArray(data=array("d", (3.0, 4.0)))) == ""
    problem = reader.read_array(Float64MultiArray(data=array("d", data)))
    assert reason in problem
    np.testing.assert_array_equal(reader.efforts, [3.0, 4.0])


@pytest.mark.parametrize(("message", "reason"), BAD_COMMANDS.values(), ids=BAD_COMMANDS)
def test_unusable_joint_command_is_named_and_changes_nothing(
    message: JointState, reason: str
) -> None:
    reader = EffortReader(MOTORS, JOINTS)
    assert reader.read_joint_state(joint_state(("crank",), effort=(6.0,))) == ""
    assert reason in reader.read_joint_state(message)
    np.testing.assert_allclose(reader.efforts, [3.0, 0.0], atol=1e-14, rtol=0)  # rounding of 1/2


@given(st.floats(-1e3, 1e3, allow_subnormal=False), st.floats(-1e3, 1e3, allow_subnormal=False))
def test_joint_command_becomes_the_efforts_that_make_it(geared: float, between: float) -> None:
    reader = EffortReader(MOTORS, JOINTS)
    tau = MOTORS.matrix @ (geared, between)
    message = joint_state(JOINTS[::-1], effort=tau[::-1])
    assert reader.read_joint_state(message) == ""
    # rounding of a pseudoinverse times efforts up to 1e3
    np.testing.assert_allclose(reader.efforts, [geared, between], atol=1e-11, rtol=0)


def test_mechanism_without_motors_or_rows_has_empty_messages() -> None:
    none = Actuators((), np.zeros((4, 0)), np.zeros((1, 0)))
    reader = EffortReader(none, JOINTS)
    assert reader.read_array(Float64MultiArray()) == ""
    assert "1 numbers, expected 0" in reader.read_array(Float64MultiArray(data=[1.0]))
