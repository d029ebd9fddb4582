# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Declared forces: slopes of their energy, virtual work, power, and what happens at zero length."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.random_urdf import urdf

from uk_dynamics.constraints.rows.joint_rows import JointTerm
from uk_dynamics.forces.force_elements import (
    ConstantEffort,
    ConstantWrench,
    ForceElements,
    JointSpring,
    LineSpring,
)
from uk_dynamics.model import RobotModel
from uk_dynamics.model.urdf.description import AttachedFrame

# Two branches on one base; frames away from the origins of their links.
FRAMES = [
    AttachedFrame("a", "link3", (0.3, -0.2, 0.1), (0.5, 0.5, 0.5, 0.5)),
    AttachedFrame("b", "link5", (-0.1, 0.4, 0.2)),
    AttachedFrame("ground", "link0", (0.2, 0.1, -0.7)),
]
ROBOT = urdf(
    (0, 1, 2, 0, 4), ("revolute", "prismatic", "continuous", "revolute", "prismatic"), seed=4
)
MODEL = RobotModel.from_urdf(ROBOT, frames=FRAMES)
FLYING = RobotModel.from_urdf(ROBOT, frames=FRAMES, root="floating")
SEEDS = st.integers(0, 10_000)
STEP = 1e-6
# Central differences of functions of size one with this step: rounding of 1e-10, curvature of
# 1e-12; energies of up to 100 J make it 1e-8.
DIFFERENCE = 1e-6


def frame(name, model=MODEL):
    return model.frame_index(name)


def terms(model=MODEL, **joints):
    return tuple(
        JointTerm(model.position_index(name), model.velocity_index(name), factor)
        for name, factor in joints.items()
    )


def springs(model, damping=0.0):
    ends = frame("ground", model), frame("a", model)
    return [
        JointSpring(terms(model, joint1=1.0, joint4=-2.0), 30.0, 0.4, damping),
        JointSpring(terms(model, joint3=1.0), 5.0, -1.0, damping),
        LineSpring(frame("a", model), frame("b", model), 20.0, 0.3, damping),
        LineSpring(frame("ground", model), frame("b", model), 7.0, 0.0, damping),
        LineSpring(*ends, 9.0, 0.2, damping, (frame("b", model), frame("link2", model))),
        LineSpring(*ends, 4.0, 0.0, damping, (frame("link2", model),)),
    ]


def elements(parts, model=MODEL):
    return ForceElements(parts, model.ancestor_mask, model.nq)


def force_of(parts, q, v, model=MODEL):
    workspace, force = model.workspace(), np.zeros(model.nv)
    workspace.update(q, v)
    elements(parts, model).add_to(force, workspace, 0.0, q, v)
    return force


def energy_of(parts, q, model=MODEL):
    workspace = model.workspace()
    workspace.update_positions(q)
    return elements(parts, model).potential_energy(workspace, q)


def states(model, seed):
    rng = np.random.default_rng(seed)
    q = model.integrate(model.to_positions({}), rng.uniform(-1.0, 1.0, model.nv))
    return q, rng.standard_normal(model.nv), rng


def slope(function, model, q):
    steps = STEP * np.eye(model.nv)
    return (
        np.array(
            [
                (function(model.integrate(q, d)) - function(model.integrate(q, -d))) / 2
                for d in steps
            ]
        ).T
        / STEP
    )


@pytest.mark.parametrize("model", [MODEL, FLYING], ids=["fixed", "floating"])
@settings(deadline=None, max_examples=15)
@given(seed=SEEDS)
def test_springs_are_the_slope_of_their_energy(model, seed):
    q, v, _ = states(model, seed)
    parts = springs(model)
    expected = -slope(lambda at: energy_of(parts, at, model), model, q)
    assert force_of(parts, q, v, model) == pytest.approx(expected, abs=DIFFERENCE)


@settings(deadline=None, max_examples=15)
@given(seed=SEEDS)
def test_springs_at_rest_do_not_push(seed):
    """Each spring is given the length that it has."""
    q, v, _ = states(MODEL, seed)
    workspace = MODEL.workspace()
    workspace.update_positions(q)
    ends = workspace.translation[[frame("a"), frame("b")]]
    places = [MODEL.position_index(name) for name in ("joint1", "joint4")]
    parts = [
        JointSpring(terms(joint1=1.0, joint4=-2.0), 30.0, float(q[places] @ [1.0, -2.0])),
        LineSpring(frame("a"), frame("b"), 20.0, float(np.linalg.norm(ends[1] - ends[0]))),
    ]
    # lengths of some metres to rounding; a length is rounded off by 1e-12 of itself
    assert force_of(parts, q, v) == pytest.approx(np.zeros(MODEL.nv), abs=1e-9)
    assert energy_of(parts, q) == pytest.approx(0.0, abs=1e-15)


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS)
def test_dampers_take_as_much_energy_as_their_rates_say(seed):
    q, v, _ = states(MODEL, seed)
    damping = 3.0
    loss = force_of(springs(MODEL, damping), q, v) @ v - force_of(springs(MODEL), q, v) @ v

    def lengths(at):
        workspace = MODEL.workspace()
        workspace.update_positions(at)
        names = ("a", "b", "ground", "link2")
        a, b, ground, middle = (workspace.translation[frame(name)] for name in names)
        sums = [at[MODEL.position_index("joint1")] - 2 * at[MODEL.position_index("joint4")]]
        sums += [at[MODEL.position_index("joint3")]]
        paths = ([a, b], [ground, b], [ground, b, middle, a], [ground, middle, a])
        sums += [np.linalg.norm(np.diff(path, axis=0), axis=1).sum() for path in paths]
        return np.array(sums)

    rates = slope(lengths, MODEL, q) @ v
    assert loss == pytest.approx(-damping * float(rates @ rates), abs=1e-4)
    assert loss <= 0.0


@pytest.mark.parametrize("body_axes", [False, True])
@settings(deadline=None, max_examples=15)
@given(seed=SEEDS)
def test_wrenches_do_the_work_of_their_frames_motion(body_axes, seed):
    q, _, rng = states(FLYING, seed)
    force, torque = rng.standard_normal(3), rng.standard_normal(3)
    part = ConstantWrench(frame("a", FLYING), tuple(force), tuple(torque), body_axes)
    workspace = FLYING.workspace()

    def pose(at):
        workspace.update_positions(at)
        index = frame("a", FLYING)
        return workspace.rotation[index].copy(), workspace.translation[index].copy()

    axes = pose(q)[0] if body_axes else np.eye(3)
    for direction, found in enumerate(force_of([part], q, np.zeros(FLYING.nv), FLYING)):
        step = STEP * np.eye(FLYING.nv)[direction]
        (R1, p1), (R0, p0) = pose(FLYING.integrate(q, step)), pose(FLYING.integrate(q, -step))
        turn = R1 @ R0.T
        omega = np.array(
            [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
        )
        work = (axes @ force) @ (p1 - p0) / 2 + (axes @ torque) @ omega / 4
        assert found == pytest.approx(work / STEP, abs=DIFFERENCE)


def test_efforts_act_on_their_joints():
    part = ConstantEffort(terms(joint1=1.0, joint4=-2.0), 3.0)
    expected = MODEL.to_velocities({"joint1": 3.0, "joint4": -6.0})
    assert force_of([part], np.zeros(5), np.zeros(5)) == pytest.approx(expected, abs=0)


@pytest.mark.parametrize("length", [0.0, 0.5])
@pytest.mark.parametrize("gap", [0.0, 1e-300, 1e-12, 1e-6])
def test_a_line_spring_whose_ends_meet_stays_finite(length, gap):
    slider = urdf((0,), ("prismatic",), seed=2)
    bare = RobotModel.from_urdf(slider)
    workspace = bare.workspace()
    workspace.update_positions(np.zeros(1))
    meeting = workspace.translation[bare.frame_index("link1")] - np.array([gap, 0.0, 0.0])
    model = RobotModel.from_urdf(slider, frames=[AttachedFrame("p", "link0", tuple(meeting))])
    ends = model.frame_index("p"), model.frame_index("link1")
    spring = LineSpring(*ends, stiffness=100.0, length=length, damping=10.0)
    force = force_of([spring], np.zeros(1), np.ones(1), model)
    assert np.isfinite(force).all()
    # At most the spring's force at zero length and the damper's at 1 m/s.
    assert abs(force[0]) <= 100.0 * length + 10.0 + 1e-9


def test_what_is_conservative():
    assert elements(springs(MODEL)).conservative
    assert not elements(springs(MODEL, damping=1.0)).conservative
    assert not elements([ConstantEffort(terms(joint1=1.0), 3.0)]).conservative
    nothing = elements([])
    assert nothing.conservative
    assert not nothing.active
