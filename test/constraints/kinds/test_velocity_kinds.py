# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Kinds of rolling, twists, centres of mass and parts of rotations, against finite differences."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.all_joints import STEP, TOLERANCE, URDF
from support.kind_samples import rows_on

from uk_dynamics.constraints.kinds.frames.center_of_mass import CenterOfMass
from uk_dynamics.constraints.kinds.frames.frame import Frame
from uk_dynamics.constraints.kinds.frames.frame_velocity import FrameVelocity
from uk_dynamics.constraints.kinds.frames.momentum import Momentum
from uk_dynamics.constraints.kinds.frames.no_slip import NoSlip
from uk_dynamics.constraints.kinds.frames.relative_frame import RelativeFrame
from uk_dynamics.constraints.references.references import Sinusoid
from uk_dynamics.constraints.rows.constraint_set import ConstraintSet
from uk_dynamics.constraints.rows.mass_points import MassPoints
from uk_dynamics.constraints.rows.row import Constraint
from uk_dynamics.model.robot_model import RobotModel
from uk_dynamics.model.urdf.description import AttachedFrame

LENGTH = 0.5
LINKS = ("a", "c", "left", "right")
AXES = ("x", "y", "z", "rx", "ry", "rz")
WHEEL = NoSlip.from_data(
    {
        "axis": [0.2, 1.0, -0.3],
        "normal": [0.1, -0.2, 1.0],
        "radius": 0.4,
        "directions": ["rolling", "sideways", "height"],
    }
)
CASES = {
    "wheel": WHEEL,
    "knife edge": NoSlip((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), 0.0, ("sideways",)),
    "twist": FrameVelocity(AXES),
    "twist in the child": FrameVelocity(AXES, "child"),
    "one angle": Frame(("rx",)),
    "two angles": RelativeFrame(("z", "rz", "rx")),
    "centre of mass": CenterOfMass(("y", "z", "x"), LINKS),
}


@pytest.fixture(scope="module")
def model() -> RobotModel:
    frames = [
        AttachedFrame("parent", "left", (0.1, -0.2, 0.3), (0.1, 0.2, 0.3, np.sqrt(0.86))),
        AttachedFrame("child", "right", (-0.3, 0.1, 0.2), (-0.4, 0.2, 0.1, np.sqrt(0.79))),
    ]
    return RobotModel.from_urdf(URDF, frames=frames)


def rows_set(model, name, parent="parent"):
    kind = CASES[name]
    frames = {"parent": parent, "child": None if name == "centre of mass" else "child"}
    frames = {role: frame for role, frame in frames.items() if frame is not None}
    indices = {role: model.frame_index(frame) for role, frame in frames.items()}
    constraint = Constraint("k", kind.name, rows_on(kind, model, **frames), **indices)
    return ConstraintSet((constraint,), model.ancestor_mask, model.nq, length=LENGTH)


def random_state(model, rng):
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv))
    return q, rng.standard_normal(model.nv), rng.standard_normal(model.nv)


def reference_of(rng, count):
    return Sinusoid(*(rng.uniform(0.1, 0.5, (4, count))))


@pytest.mark.parametrize("with_reference", [False, True], ids=["zero", "reference"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(4))
def test_bias_completes_the_derivative_of_the_rate(model, name, seed, with_reference):
    """A q̈ + bias is the derivative of the rate, whatever the order of the row."""
    rng = np.random.default_rng(seed)
    rows_of_it = rows_set(model, name)
    reference = reference_of(rng, len(rows_of_it))
    workspace = model.workspace()
    q, v, a = random_state(model, rng)

    def rows(h):
        q_h, v_h = model.integrate(q, h * v + 0.5 * h * h * a), v + h * a
        workspace.update(q_h, v_h)
        sample = reference.sample(0.3 + h) if with_reference else None
        return rows_of_it.evaluate(workspace, h, q_h, v_h, sample)

    numeric = (rows(STEP).rate - rows(-STEP).rate) / (2 * STEP)
    now = rows(0.0)
    # Rotation vectors near π bend more than the other kinds: third derivatives of 1e4.
    np.testing.assert_allclose(now.A @ a + now.bias, numeric, rtol=0, atol=TOLERANCE * 20)


@pytest.mark.parametrize("with_reference", [False, True], ids=["zero", "reference"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(4))
def test_rate_is_the_derivative_of_the_residual(model, name, seed, with_reference):
    """Of rows of positions; those of velocities are violated by their rate, affine in v."""
    rng = np.random.default_rng(100 + seed)
    rows_of_it = rows_set(model, name)
    reference = reference_of(rng, len(rows_of_it))
    workspace = model.workspace()
    q, v, _ = random_state(model, rng)

    def sample(h):
        return reference.sample(0.3 + h) if with_reference else None

    def residual(h):
        q_h = model.integrate(q, h * v)
        workspace.update_positions(q_h)
        return rows_of_it.position(workspace, h, q_h, sample(h))[1]

    workspace.update(q, v)
    rows = rows_of_it.evaluate(workspace, 0.0, q, v, sample(0.0))
    numeric = (residual(STEP) - residual(-STEP)) / (2 * STEP)
    of_positions = rows_of_it.position_rows
    np.testing.assert_allclose(
        rows.residual[of_positions], residual(0.0)[of_positions], rtol=0, atol=1e-14
    )
    np.testing.assert_allclose(
        rows.rate[of_positions], numeric[of_positions], rtol=0, atol=TOLERANCE
    )
    np.testing.assert_array_equal(rows.residual[~of_positions], rows.rate[~of_positions])
    at_rest = np.zeros(model.nv)
    workspace.update(q, at_rest)
    still = rows_of_it.evaluate(workspace, 0.0, q, at_rest, sample(0.0))
    np.testing.assert_allclose(rows.rate, still.rate + still.A @ v, rtol=0, atol=1e-12)


def contact_point(model, workspace):
    """Lowest point of the rim by search: what the closed form must find, (3,), in the world."""
    parent = workspace.rotation[model.frame_index("parent")]
    child = workspace.rotation[model.frame_index("child")]
    normal = parent @ np.array(WHEEL.normal) / np.linalg.norm(WHEEL.normal)
    axle = child @ np.array(WHEEL.axle) / np.linalg.norm(WHEEL.axle)
    first = np.linalg.svd(axle[None])[2][1]
    second = np.cross(axle, first)
    angle = np.linspace(0.0, 2 * np.pi, 200_001)
    rim = WHEEL.radius * (np.outer(np.cos(angle), first) + np.outer(np.sin(angle), second))
    return workspace.translation[model.frame_index("child")] + rim[np.argmin(rim @ normal)]


@pytest.mark.parametrize("seed", range(3))
def test_wheel_touches_with_the_lowest_point_of_its_rim(model, seed):
    """Height and slip are those of the material point there, seen from the moving plane."""
    rows_of_it = rows_set(model, "wheel")
    workspace = model.workspace()
    q, v, _ = random_state(model, np.random.default_rng(seed))
    workspace.update(q, v)
    rows = rows_of_it.evaluate(workspace, 0.0, q, v)
    point = contact_point(model, workspace)
    parent, child = model.frame_index("parent"), model.frame_index("child")
    normal = workspace.rotation[parent] @ np.array(WHEEL.normal) / np.linalg.norm(WHEEL.normal)
    height = normal @ (point - workspace.translation[parent])
    mask = model.ancestor_mask[child] - model.ancestor_mask[parent]
    moving = workspace.jacobian @ (mask * v)
    velocity = moving[:3] + np.cross(moving[3:], point)
    # The rim is sampled every 3e-5 rad, so the point is off by up to 1e-5 m along the rim.
    assert abs(rows.residual[2] - height) < 1e-8
    assert abs(rows.rate[2] - normal @ velocity) < 1e-4
    tangential = velocity - normal * (normal @ velocity)
    slip = np.linalg.norm(rows.rate[:2])
    assert abs(slip - np.linalg.norm(tangential)) < 1e-4


def test_all_masses_together_are_pinocchios_centre_of_mass(model):
    links = [link for link in model.description.links if link.name != "base"]
    frame = np.array([model.frame_index(link.name) for link in links])
    masses = np.array([link.mass for link in links])
    points = MassPoints(
        frame,
        masses / masses.sum(),
        np.array([link.center_of_mass for link in links]),
        model.ancestor_mask[frame],
    )
    q, v, _ = random_state(model, np.random.default_rng(1))
    workspace = model.workspace()
    workspace.update(q, v)
    data = model.pinocchio.createData()
    jacobian = pin.jacobianCenterOfMass(model.pinocchio, data, q)
    np.testing.assert_allclose(points.position(workspace), data.com[0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(points.jacobian(workspace), jacobian, rtol=0, atol=1e-13)
    pin.centerOfMass(model.pinocchio, data, q, v, np.zeros(model.nv))
    np.testing.assert_allclose(points.bias(workspace, v), data.acom[0], rtol=0, atol=1e-12)


def test_momentum_of_all_is_pinocchios_centroidal_momentum(model):
    q, v, _ = random_state(model, np.random.default_rng(4))
    workspace = model.workspace()
    workspace.update(q, v)
    kind = Momentum(AXES)
    constraint = Constraint("k", kind.name, rows_on(kind, model))
    rows_of_it = ConstraintSet((constraint,), model.ancestor_mask, model.nq)
    rows = rows_of_it.evaluate(workspace, 0.0, q, v)
    data = model.pinocchio.createData()
    centroidal = pin.computeCentroidalMap(model.pinocchio, data, q)
    np.testing.assert_allclose(rows.A, centroidal, rtol=0, atol=1e-12)
    # of order velocity, the row itself is what A v is: kg m/s and kg m²/s
    np.testing.assert_allclose(rows.residual, centroidal @ v, rtol=0, atol=1e-12)
    pin.computeCentroidalMomentumTimeVariation(model.pinocchio, data, q, v, np.zeros(model.nv))
    np.testing.assert_allclose(rows.bias, data.dhg.vector, rtol=0, atol=1e-11)


def test_a_centre_of_mass_without_a_parent_is_measured_in_the_world(model):
    q, v, _ = random_state(model, np.random.default_rng(2))
    workspace = model.workspace()
    workspace.update(q, v)
    rows = rows_set(model, "centre of mass", parent=None).evaluate(workspace, 0.0, q, v)
    order = [1, 2, 0]
    own = MassPoints.of(LINKS, model)
    matrix, center = own.jacobian(workspace)[order], own.position(workspace)[order]
    np.testing.assert_allclose(rows.A, matrix, rtol=0, atol=1e-13)
    np.testing.assert_allclose(rows.residual, center, rtol=0, atol=1e-13)


def test_one_angle_keeps_its_reference_beyond_half_a_turn(model):
    """The error is that against the reference, so a yaw of many turns can be asked for."""
    turning = RobotModel.from_urdf(
        '<robot name="r"><link name="w"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="w"/><child link="b"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    rows_of_frame = rows_on(Frame(("rz",)), turning, parent="w", child="b")
    constraint = Constraint("k", "frame", rows_of_frame, 0, turning.frame_index("b"))
    rows_of_it = ConstraintSet((constraint,), turning.ancestor_mask, turning.nq)
    reference = Sinusoid(*(np.array([x]) for x in (7.0, 1.0, 0.3, 0.2)))
    workspace = turning.workspace()
    sample = reference.sample(0.4)
    q, v = sample.value + 0.1, sample.rate + 0.2
    workspace.update(q, v)
    rows = rows_of_it.evaluate(workspace, 0.0, q, v, sample)
    np.testing.assert_allclose(rows.residual, [0.1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows.rate, [0.2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows.bias, -sample.acceleration, rtol=0, atol=1e-12)
