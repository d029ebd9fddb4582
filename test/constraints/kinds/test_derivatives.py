# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A, bias and rates of every kind against finite differences, on all joint types."""

from __future__ import annotations

import numpy as np
import pytest
from support.all_joints import ROBOT, STEP, TOLERANCE, URDF
from support.kind_samples import rows_on, sample

from uk_dynamics.constraints.kinds.joints.joint_coupling import JointCoupling
from uk_dynamics.constraints.kinds.pairs.hinge import Hinge
from uk_dynamics.constraints.kinds.registry import kinds
from uk_dynamics.constraints.references.references import ReferenceSample, Sinusoid
from uk_dynamics.constraints.rows.constraint_set import ConstraintSet
from uk_dynamics.constraints.rows.row import Constraint
from uk_dynamics.model.robot_model import RobotModel
from uk_dynamics.model.urdf.description import AttachedFrame

# Kinds whose rows follow from the motion of two frames, all of them functions of positions.
PAIRS = [
    name
    for name, kind in kinds().items()
    if kind.frames == ("parent", "child") and kind.order == "position"
]


@pytest.fixture(scope="module")
def model() -> RobotModel:
    frames = [
        AttachedFrame("parent", "left", (0.1, -0.2, 0.3), (0.1, 0.2, 0.3, np.sqrt(0.86))),
        AttachedFrame("child", "right", (-0.3, 0.1, 0.2), (-0.4, 0.2, 0.1, np.sqrt(0.79))),
    ]
    return RobotModel.from_urdf(URDF, frames=frames)


def _set(model: RobotModel, kind: str, seed: int = 0, **data: object) -> ConstraintSet:
    found = kinds()[kind].from_data(data or sample(kind, ROBOT, seed))
    constraint = Constraint(
        name="k",
        kind=kind,
        rows=rows_on(found, model, parent="parent", child="child"),
        parent=model.frame_index("parent"),
        child=model.frame_index("child"),
    )
    return ConstraintSet((constraint,), model.ancestor_mask, model.nq, length=0.5)


def _random_state(model: RobotModel, rng: np.random.Generator):
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv))
    return q, rng.standard_normal(model.nv), rng.standard_normal(model.nv)


@pytest.mark.parametrize("kind", PAIRS)
@pytest.mark.parametrize("seed", range(5))
def test_second_derivative(model, kind, seed):
    rows_set = _set(model, kind, seed)
    removes = kinds()[kind].removes
    assert removes == "one per axis" or len(rows_set) == removes
    workspace = model.workspace()
    q, v, a = _random_state(model, np.random.default_rng(seed))

    def rate(h):
        q_h = model.integrate(q, h * v + 0.5 * h * h * a)
        workspace.update(q_h, v + h * a)
        return rows_set.evaluate(workspace, 0.0, q_h, v + h * a).rate

    numeric = (rate(STEP) - rate(-STEP)) / (2 * STEP)
    workspace.update(q, v)
    rows = rows_set.evaluate(workspace, 0.0, q, v)
    np.testing.assert_allclose(rows.A @ a + rows.bias, numeric, rtol=0, atol=TOLERANCE * 10)


@pytest.mark.parametrize("kind", PAIRS)
def test_first_derivative(model, kind):
    """Rates are derivatives of residuals; for rotation vectors, of the rotation from now."""
    workspace = model.workspace()
    for seed in range(5):
        rows_set = _set(model, kind, seed)
        q, v, _ = _random_state(model, np.random.default_rng(100 + seed))

        def residual(h, q=q, v=v, rows_set=rows_set):
            q_h = model.integrate(q, h * v)
            workspace.update_positions(q_h)
            return rows_set.position(workspace, 0.0, q_h)[1]

        workspace.update(q, v)
        rows = rows_set.evaluate(workspace, 0.0, q, v)
        np.testing.assert_allclose(rows.residual, residual(0.0), rtol=0, atol=1e-14)
        numeric = (residual(STEP) - residual(-STEP)) / (2 * STEP)
        for index, row in enumerate(rows_set.constraints[0].rows):
            if row.exact_rate:
                # Rotation vectors near π bend more than the other kinds.
                close = TOLERANCE * (20 if row.rotation else 1)
                assert abs(rows.rate[index] - numeric[index]) < close, row.label


@pytest.mark.slow
@pytest.mark.parametrize("kind", PAIRS)
def test_a_residual_jumps_by_its_period_alone(model, kind):
    """On a way of several turns ψ changes as its rate says, but for whole periods."""
    rows_set = _set(model, kind, 1)
    rows = rows_set.constraints[0].rows
    kept = [not row.rotation for row in rows]  # rotation vectors end at π
    workspace = model.workspace()
    q, step, turns = model.neutral(), 1e-3, 0
    v = np.zeros(model.nv)
    v[model.velocity_index("j4")], v[model.velocity_index("j6")] = 12.0, 1.0
    period = np.array([row.period for row in rows])
    last = None
    for _ in range(2000):  # 24 rad of the one, 2 rad of the other
        workspace.update(q, v)
        now = rows_set.evaluate(workspace, 0.0, q, v)
        if last is not None:
            change = now.residual - last.residual
            whole = np.round(change / period)
            turns += int(np.abs(whole).sum())
            change -= whole * np.where(np.isinf(period), 0.0, period)
            # Trapezoids: h³/12 times third derivatives, 12³ times lengths of 1 m, and far more
            # where axes come close to antiparallel. A wrong branch would be off by some 1 m.
            average = 0.5 * step * (now.rate + last.rate)
            assert np.abs(change - average)[kept].max() < 1e-3, kind
        last = now
        q = model.integrate(q, step * v)
    assert (turns > 0) == bool(np.isfinite(period).any())


@pytest.mark.parametrize("seed", range(5))
def test_angular_rate_is_the_relative_angular_velocity(model, seed):
    rows_set = _set(model, "frame", axes=["rx", "ry", "rz"])
    workspace = model.workspace()
    q, v, _ = _random_state(model, np.random.default_rng(seed))
    parent, child = model.frame_index("parent"), model.frame_index("child")

    def relative(h):
        workspace.update_positions(model.integrate(q, h * v))
        return workspace.rotation[parent].T @ workspace.rotation[child]

    spin = (relative(STEP) - relative(-STEP)) / (2 * STEP) @ relative(0.0).T
    omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    workspace.update(q, v)
    rate = rows_set.evaluate(workspace, 0.0, q, v).rate
    np.testing.assert_allclose(rate, 0.5 * omega, rtol=0, atol=TOLERANCE)  # length is 0.5 m


@pytest.mark.parametrize("seed", range(5))
def test_reference_of_a_full_pose(model, seed):
    """Rows that follow a moving pose: residual, rate and bias refer to the moving reference."""
    rng = np.random.default_rng(seed)
    rows_set = _set(model, "weld")
    reference = Sinusoid(
        rng.uniform(-0.5, 0.5, 6),
        rng.uniform(-0.5, 0.5, 6),
        rng.uniform(0.1, 0.5, 6),
        rng.uniform(0, 6, 6),
    )
    workspace = model.workspace()
    q, v, a = _random_state(model, rng)

    def rate(h):
        q_h = model.integrate(q, h * v + 0.5 * h * h * a)
        workspace.update(q_h, v + h * a)
        return rows_set.evaluate(workspace, 0.0, q_h, v + h * a, reference.sample(h)).rate

    numeric = (rate(STEP) - rate(-STEP)) / (2 * STEP)
    workspace.update(q, v)
    rows = rows_set.evaluate(workspace, 0.0, q, v, reference.sample(0.0))
    np.testing.assert_allclose(rows.A @ a + rows.bias, numeric, rtol=0, atol=TOLERANCE * 10)
    # The energy-like error of a rotation falls at the geometric rate: d|ψ|²/dt = 2 ψᵀω.
    angular = slice(3, 6)

    def squared(h):
        q_h = model.integrate(q, h * v)
        workspace.update_positions(q_h)
        psi = rows_set.position(workspace, 0.0, q_h, reference.sample(h))[1][angular]
        return psi @ psi

    slope = (squared(STEP) - squared(-STEP)) / (2 * STEP)
    assert abs(slope - 2 * rows.residual[angular] @ rows.rate[angular]) < TOLERANCE * 10


def test_common_ancestors_cancel_exactly(model):
    rows_set = _set(model, "weld")
    workspace = model.workspace()
    q, v, _ = _random_state(model, np.random.default_rng(3))
    workspace.update(q, v)
    A = rows_set.evaluate(workspace, 0.0, q, v).A
    assert np.all(A[:, model.velocity_index("j1")] == 0.0)
    assert np.all(A[:, model.velocity_index("j2")] == 0.0)


def test_mixed_families_keep_declared_order(model):
    """A joint row between frame kinds, rows in the order of the file and equal to those alone."""
    coupling = Constraint(
        name="coupling",
        kind="joint_coupling",
        rows=rows_on(JointCoupling((("j1", 2.0), ("j6", -3.0)), 0.25), model),
        frequency=1.0,
    )
    singles = [_set(model, kind).constraints[0] for kind in ("hinge", "weld", "distance")]
    renamed = [
        Constraint(f"c{i}", s.kind, s.rows, s.parent, s.child) for i, s in enumerate(singles)
    ]
    mixed = (renamed[0], coupling, *renamed[1:])
    together = ConstraintSet(mixed, model.ancestor_mask, model.nq, length=0.5)
    workspace = model.workspace()
    q, v, _ = _random_state(model, np.random.default_rng(7))
    workspace.update(q, v)
    all_rows = together.evaluate(workspace, 0.0, q, v)
    A, residual = together.position(workspace, 0.0, q)
    np.testing.assert_array_equal(A, all_rows.A)
    np.testing.assert_array_equal(residual, all_rows.residual)
    for constraint in mixed:
        alone = ConstraintSet((constraint,), model.ancestor_mask, model.nq, length=0.5)
        rows = alone.evaluate(workspace, 0.0, q, v)
        part = together.slices[constraint.name]
        assert together.row_names[part] == alone.row_names
        for name in ("A", "bias", "residual", "rate"):
            np.testing.assert_allclose(
                getattr(all_rows, name)[part], getattr(rows, name), rtol=0, atol=1e-14
            )
    assert together.row_names[5] == "coupling"
    expected = 2.0 * q[model.position_index("j1")] - 3.0 * q[model.position_index("j6")] - 0.25
    assert abs(all_rows.residual[5] - expected) < 1e-15
    assert together.stiffness[5] == pytest.approx((2 * np.pi) ** 2)
    assert together.damping[5] == pytest.approx(4 * np.pi)


def test_reversed_hinge_is_noticed(model):
    """Both tilt rows vanish for antiparallel axes too; the set must say so."""
    flipped = RobotModel.from_urdf(
        URDF,
        frames=[
            AttachedFrame("parent", "left", (0, 0, 0), (0, 0, 0, 1)),
            AttachedFrame("child", "left", (0, 0, 0), (1, 0, 0, 0)),
            AttachedFrame("same", "left", (0, 0, 0), (0, 1, 0, 0)),
        ],
    )
    workspace = flipped.workspace()
    q = flipped.neutral()
    workspace.update_positions(q)
    for child, expected in (("child", ("k",)), ("same", ())):
        constraint = Constraint(
            "k",
            "hinge",
            rows_on(Hinge((0.0, 1.0, 0.0)), flipped, parent="parent", child=child),
            flipped.frame_index("parent"),
            flipped.frame_index(child),
        )
        rows_set = ConstraintSet((constraint,), flipped.ancestor_mask, flipped.nq)
        _, residual = rows_set.position(workspace, 0.0, q)
        assert np.max(np.abs(residual)) < 1e-15
        assert rows_set.reversed_axes(workspace) == expected


def test_sinusoid_rates():
    reference = Sinusoid(*(np.array([x]) for x in (0.3, 0.7, 1.5, 0.2)))
    before, now, after = (reference.sample(t) for t in (1.0 - STEP, 1.0, 1.0 + STEP))
    assert isinstance(now, ReferenceSample)
    assert abs(now.rate[0] - (after.value[0] - before.value[0]) / (2 * STEP)) < 1e-7
    assert abs(now.acceleration[0] - (after.rate[0] - before.rate[0]) / (2 * STEP)) < 1e-6
