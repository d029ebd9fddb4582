# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A pose becomes the reference at which a frame task has no error there."""

import numpy as np
import pytest
from support.mechanism_builder import shipped

import uk_dynamics.core.linalg.rotations as so3
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.target_pose import reference_of_pose
from uk_dynamics.mechanism.tasks import Tasks

HALF = np.sqrt(0.5)


def platform(axes: str, parent: str = "{link: base}") -> Tasks:
    text = (
        "schema: 1\ntasks:\n"
        f"  pose: {{type: frame, axes: [{axes}], parent: {parent}, child: {{link: platform}},"
        " reference: {type: live, value: 0}}\n"
    )
    return Tasks(TasksSpec.from_text(text), shipped("stewart_platform"))


@pytest.mark.parametrize(
    "parent",
    ["{link: base}", "{link: base, xyz: [0.1, -0.2, 0.3], rpy: [0.4, -0.5, 0.6]}"],
)
def test_where_the_platform_is_there_is_no_error(parent: str) -> None:
    tasks = platform("x, y, z, rx, ry, rz", parent)
    machine = tasks.mechanism
    state = machine.start({name: 0.02 * i for i, name in enumerate(machine.joint_names[:1])})
    # where the base task has no parent offset its residual is the pose itself
    plain = platform("x, y, z, rx, ry, rz")
    zero = ReferenceSample(*np.zeros((3, 6)))
    pose = errors(plain, state, zero)
    length = machine.spec.model.length
    angle = np.linalg.norm(pose[3:]) / length
    axis = pose[3:] / length / max(angle, 1e-12)
    quaternion = (*(np.sin(angle / 2) * axis), np.cos(angle / 2))
    values = reference_of_pose(tasks.spec.tasks[0], pose[:3], quaternion, np.zeros(6))
    follow = ReferenceSample(values, np.zeros(6), np.zeros(6))
    assert np.abs(errors(tasks, state, follow)).max() < 1e-12


def errors(tasks: Tasks, state, reference: ReferenceSample) -> np.ndarray:
    workspace = tasks.model.workspace()
    workspace.update(state.q, state.v)
    return tasks.evaluate(workspace, state.q, state.v, 0.0, {"pose": reference}).residual


def test_directions_that_are_free_do_not_count() -> None:
    task = platform("z").spec.tasks[0]
    values = reference_of_pose(task, (1.0, 2.0, 3.0), (0.0, 0.0, HALF, HALF), np.zeros(1))
    np.testing.assert_array_equal(values, [3.0])


def test_the_nearest_rotation_vector_is_taken() -> None:
    task = platform("rz, ry, rx").spec.tasks[0]
    near = np.array([2.0 * np.pi, 0.0, 0.0])
    values = reference_of_pose(task, np.zeros(3), (0.0, 0.0, HALF, HALF), near)
    np.testing.assert_allclose(values, [2.5 * np.pi, 0.0, 0.0], rtol=0, atol=1e-12)
    turned = so3.exp(values[::-1])
    np.testing.assert_allclose(turned @ [1.0, 0, 0], [0.0, 1.0, 0], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("quaternion", "problem"),
    [
        ((0.0, 0.0, HALF, HALF), "1.57 rad along rz, which is free"),
        ((0.0, 0.0, 0.0, 0.0), "length 0"),
        ((0.0, 0.0, 0.0, 1.5), "length 1.5"),
        ((0.0, np.nan, 0.0, 1.0), "not finite"),
    ],
)
def test_what_cannot_be_a_target(quaternion, problem: str) -> None:
    task = platform("x, rx").spec.tasks[0]
    with pytest.raises(InputError, match=problem):
        reference_of_pose(task, np.zeros(3), quaternion, np.zeros(2))
