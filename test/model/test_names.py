# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""From names to arrays and back: unknown names, wrong sizes and numbers that are not finite."""

import numpy as np
import pytest
from hypothesis import given, settings
from support.random_urdf import trees, urdf

from uk_dynamics.exceptions import InputError, StateError, UnknownNameError
from uk_dynamics.model import RobotModel

SERIAL = urdf((0, 1, 2), ("revolute", "prismatic", "continuous"), seed=1)


@pytest.fixture
def serial():
    return RobotModel.from_urdf(SERIAL)


@pytest.fixture
def flying():
    return RobotModel.from_urdf(SERIAL, root="floating")


def test_names_of_one_dof_joints(serial):
    names = ("joint1", "joint2", "joint3")
    assert serial.joint_names == serial.position_names == serial.velocity_names == names


def test_names_of_a_floating_root(flying):
    assert flying.joint_names == ("joint1", "joint2", "joint3")
    assert flying.velocity_names[:6] == tuple(
        f"root.{name}" for name in ("vx", "vy", "vz", "wx", "wy", "wz")
    )
    assert flying.position_names[:7] == tuple(
        f"root.{name}" for name in ("x", "y", "z", "qx", "qy", "qz", "qw")
    )
    assert (flying.nq, flying.nv, flying.is_euclidean) == (10, 9, False)


def test_names_of_a_planar_root():
    model = RobotModel.from_urdf(SERIAL, root="planar")
    assert model.velocity_names[:3] == ("root.vx", "root.vy", "root.wz")
    assert model.position_names[:4] == ("root.x", "root.y", "root.cos", "root.sin")


@settings(max_examples=30, deadline=None)
@given(trees())
def test_every_velocity_name_names_the_motion_it_stands_for(tree):
    model = RobotModel.from_urdf(tree.text, root="floating")
    assert len(set(model.velocity_names)) == model.nv
    assert len(set(model.position_names)) == model.nq
    for joint in model.joint_names:
        moved = model.integrate(model.neutral(), model.to_velocities({joint: 0.5}))
        assert moved[model.position_index(joint)] == 0.5
        assert np.count_nonzero(moved != model.neutral()) == 1


def test_the_velocity_of_a_floating_root_is_measured_in_the_root(flying):
    q = flying.to_positions(
        {"root.qx": 0.0, "root.qz": np.sqrt(0.5), "root.qw": np.sqrt(0.5)}
    )  # x of the root points along y of the world
    moved = flying.integrate(q, flying.to_velocities({"root.vx": 1.0}))
    assert moved[:3] == pytest.approx([0.0, 1.0, 0.0], abs=1e-15)


def test_positions_by_name_and_back(flying):
    q = flying.integrate(flying.neutral(), np.linspace(-0.4, 0.4, flying.nv))
    names = flying.positions_by_name(q)
    assert list(names) == list(flying.position_names)
    assert flying.to_positions(names) == pytest.approx(q, abs=1e-15)
    assert flying.to_positions(q) == pytest.approx(q, abs=1e-15)


def test_names_not_given_keep_the_default(serial):
    default = np.array([1.0, 2.0, 3.0])
    assert serial.to_positions({"joint2": 5.0}, default).tolist() == [1.0, 5.0, 3.0]
    assert default.tolist() == [1.0, 2.0, 3.0]
    assert serial.to_positions({"joint2": 5.0}).tolist() == [0.0, 5.0, 0.0]
    assert serial.to_velocities({"joint3": 5.0}).tolist() == [0.0, 0.0, 5.0]


def test_results_are_fresh(serial):
    given_array = np.ones(3)
    serial.to_positions(given_array)[0] = 7.0
    serial.neutral()[0] = 7.0
    assert given_array.tolist() == [1.0, 1.0, 1.0]
    assert serial.neutral().tolist() == [0.0, 0.0, 0.0]


def test_quaternions_are_normalised(flying):
    q = flying.neutral()
    q[6] = 1.005
    assert np.linalg.norm(flying.to_positions(q)[3:7]) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, 2.0], ("3 position values", "joint1", "(2,)")),
        (np.zeros((3, 1)), ("3 position values", "(3, 1)")),
        (1.0, ("3 position values", "()")),
        ([0.0, np.nan, 0.0], ("joint2", "finite")),
        ([0.0, np.inf, 0.0], ("joint2", "finite")),
        (["a", "b", "c"], ("3 numbers",)),
        ([[1.0], 2.0, 3.0], ("3 numbers",)),
        ({"joint1": float("nan")}, ("joint1", "finite", "nan")),
        ({"joint1": "fast"}, ("joint1", "number", "'fast'")),
        ({"joint1": None}, ("joint1", "number", "None")),
        ({"joint1": [1.0, 2.0]}, ("joint1", "number")),
    ],
)
def test_unusable_values(values, words, serial):
    with pytest.raises(StateError) as error:
        serial.to_positions(values)
    assert "\n" not in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_a_quaternion_must_have_unit_length(flying):
    for q in (np.zeros(flying.nq), {"root.qx": 1.0}):
        with pytest.raises(StateError, match=r"root: .*root\.qw must have unit length"):
            flying.to_positions(q)


@pytest.mark.parametrize(
    "look_up",
    [
        lambda m: m.position_index("joint"),
        lambda m: m.velocity_index("joint"),
        lambda m: m.to_positions({"joint": 1.0}),
        lambda m: m.to_velocities({"joint": 1.0}),
    ],
)
def test_unknown_joints_are_named_with_a_suggestion(look_up, serial):
    with pytest.raises(UnknownNameError, match='no joint "joint"; did you mean "joint'):
        look_up(serial)


def test_unknown_links_are_named_with_a_suggestion(serial):
    with pytest.raises(UnknownNameError, match='no link "lonk2"; did you mean "link2"'):
        serial.frame_index("lonk2")


def test_unknown_joint_with_armature():
    with pytest.raises(UnknownNameError, match='no joint "joint9"'):
        RobotModel.from_urdf(SERIAL, armature={"joint9": 1.0})


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_impossible_armature(value):
    with pytest.raises(InputError, match='armature of "joint1" must be a number >= 0'):
        RobotModel.from_urdf(SERIAL, armature={"joint1": value})


@pytest.mark.parametrize("gravity", [(0.0, 0.0), (0.0, 0.0, float("nan")), "down"])
def test_impossible_gravity(gravity):
    with pytest.raises(InputError, match="gravity must be three finite numbers"):
        RobotModel.from_urdf(SERIAL, gravity=gravity)


def test_impossible_root():
    with pytest.raises(InputError, match='no root "flying"; did you mean "floating"'):
        RobotModel.from_urdf(SERIAL, root="flying")


def test_gravity_acts_along_its_direction():
    model = RobotModel.from_urdf(SERIAL, root="floating", gravity=(1.0, 2.0, 3.0))
    workspace = model.workspace()
    workspace.update(model.neutral(), np.zeros(model.nv))
    weight = np.array([1.0, 2.0, 3.0]) * model.total_mass
    assert workspace.bias[:3] == pytest.approx(-weight, abs=1e-12)


def test_limit_violations_are_reported_by_name(flying):
    assert flying.limit_violations(flying.neutral()) == []
    q = flying.to_positions({"joint1": 2.5, "joint2": -2.0, "joint3": 100.0})
    (violation,) = flying.limit_violations(q)
    assert str(violation) == "joint1 = 2.5 is outside [-2, 2]"
    assert flying.limit_violations(flying.to_positions({"joint1": 2.0 + 1e-12})) == []


def test_the_model_cannot_be_changed_through_its_arrays(serial):
    for name in ("lower", "upper", "damping", "armature", "ancestor_mask", "gravity"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(serial, name)[...] = 0.0


def test_a_robot_without_moving_joints_is_a_robot():
    model = RobotModel.from_urdf(urdf((0,), ("fixed",), seed=1))
    workspace = model.workspace()
    workspace.update(model.neutral(), np.zeros(0))
    assert (model.nv, workspace.mass.shape, workspace.jacobian.shape) == (0, (0, 0), (6, 0))
