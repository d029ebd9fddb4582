# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Passive joint forces: their signs, their energy, and what cannot be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.random_urdf import urdf

from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.forces import JointForces, PassiveForces
from uk_dynamics.model import RobotModel

# joint1 and joint2 have limits of -2 and 2, joint3 has none.
MODEL = RobotModel.from_urdf(urdf((0, 1, 2), ("revolute", "prismatic", "continuous"), seed=1))
FLYING = RobotModel.from_urdf(
    urdf((0, 1, 2), ("revolute", "prismatic", "continuous"), seed=1), root="floating"
)
STEP = 1e-6

numbers = st.floats(-5.0, 5.0)
vectors = st.lists(numbers, min_size=3, max_size=3).map(np.array)


def test_nothing_acts_by_default():
    passive = PassiveForces(MODEL)
    assert not passive.active
    assert passive.force(np.ones(3), np.ones(3)).tolist() == [0.0, 0.0, 0.0]
    assert passive.potential_energy(np.ones(3)) == 0.0


def test_damping_and_friction_of_the_urdf_act_unless_replaced():
    text = urdf((0,), ("continuous",), seed=1)
    dynamics = '<dynamics damping="0.5" friction="2"/></joint>'
    model = RobotModel.from_urdf(text.replace("</joint>", dynamics))
    q, v = np.zeros(1), np.ones(1)
    # tanh(1 / 0.01) is 1 to rounding.
    assert PassiveForces(model).force(q, v) == pytest.approx([-2.5], abs=1e-12)
    replaced = PassiveForces(model, {"joint1": JointForces(damping=0.0, friction=1.0)})
    assert replaced.force(q, v) == pytest.approx([-1.0], abs=1e-12)
    none = PassiveForces(model, {"joint1": JointForces(damping=0.0, friction=0.0)})
    assert not none.active


@settings(deadline=None)
@given(vectors, vectors)
def test_friction_takes_energy_and_never_exceeds_its_limit(q, v):
    forces = {"joint1": JointForces(friction=3.0), "joint3": JointForces(damping=2.0)}
    force = PassiveForces(MODEL, forces).force(q, v)
    assert np.all(force * v <= 0.0)
    assert abs(force[0]) <= 3.0
    assert force[1] == 0.0
    assert force[2] == pytest.approx(-2.0 * v[2], abs=1e-12)


def test_friction_is_smooth_through_rest():
    passive = PassiveForces(MODEL, {"joint1": JointForces(friction=3.0)}, friction_velocity=0.1)
    force = [passive.force(np.zeros(3), np.array([v, 0.0, 0.0]))[0] for v in (0.0, 0.1, 1.0)]
    assert force == pytest.approx([0.0, -3.0 * np.tanh(1.0), -3.0], abs=1e-7)


@settings(deadline=None)
@given(vectors)
def test_springs_and_stops_are_the_slope_of_their_energy(q):
    passive = PassiveForces(
        MODEL,
        {
            "joint1": JointForces(stop_stiffness=50.0),
            "joint2": JointForces(stop_stiffness=20.0, spring_stiffness=3.0, spring_rest=1.0),
            "joint3": JointForces(spring_stiffness=7.0, spring_rest=-0.5),
        },
    )
    force = passive.force(q, np.zeros(3))
    for k in range(3):
        step = STEP * np.eye(3)[k]
        slope = (passive.potential_energy(q + step) - passive.potential_energy(q - step)) / 2
        # Energies of up to 500 J lose 1e-13 relative, divided by the step; the kink of a stop adds
        # its stiffness times the step.
        assert force[k] == pytest.approx(-slope / STEP, abs=1e-3)


@settings(deadline=None)
@given(vectors, vectors)
def test_stops_only_push_and_only_at_the_limit(q, v):
    stops = JointForces(stop_stiffness=100.0, stop_damping=30.0)
    force = PassiveForces(MODEL, {"joint1": stops}).force(q, v)[0]
    if q[0] > 2.0:
        assert force <= 0.0
    elif q[0] < -2.0:
        assert force >= 0.0
    else:
        assert force == 0.0


def test_the_damper_of_a_stop_brakes_the_way_in_and_lets_go_on_the_way_out():
    stops = JointForces(stop_stiffness=100.0, stop_damping=30.0)
    passive = PassiveForces(MODEL, {"joint1": stops})

    def force(position, velocity):
        return passive.force(np.array([position, 0, 0]), np.array([velocity, 0, 0]))[0]

    assert force(2.1, 1.0) == pytest.approx(-10.0 - 30.0, abs=1e-9)
    assert force(2.1, -0.1) == pytest.approx(-10.0 + 3.0, abs=1e-9)
    assert force(2.1, -1.0) == 0.0
    assert force(-2.1, -1.0) == pytest.approx(10.0 + 30.0, abs=1e-9)
    assert force(-2.1, 1.0) == 0.0


def test_forces_act_on_their_joint_beside_a_floating_root():
    passive = PassiveForces(
        FLYING,
        {
            "joint2": JointForces(
                damping=1.0, spring_stiffness=10.0, spring_rest=0.5, stop_stiffness=100.0
            )
        },
    )
    q = FLYING.to_positions({"root.x": 9.0, "joint1": 9.0, "joint2": 2.5, "joint3": 9.0})
    force = passive.force(q, np.ones(FLYING.nv))
    expected = FLYING.to_velocities({"joint2": -1.0 - 20.0 - 50.0})
    assert force == pytest.approx(expected, abs=1e-12)


def test_unknown_joint():
    with pytest.raises(UnknownNameError, match='no joint "joint0"'):
        PassiveForces(MODEL, {"joint0": JointForces()})


@pytest.mark.parametrize(
    ("forces", "words"),
    [
        (JointForces(damping=-1.0), "joint3: damping must be"),
        (JointForces(friction=float("nan")), "joint3: friction must be"),
        (JointForces(spring_stiffness=float("inf")), "joint3: spring_stiffness must be"),
        (JointForces(spring_rest=float("nan")), "joint3: spring_rest must be finite"),
        (JointForces(stop_stiffness=1.0), "joint3: a stop needs joint limits"),
    ],
)
def test_what_cannot_be(forces, words):
    with pytest.raises(InputError, match=words):
        PassiveForces(MODEL, {"joint3": forces})


def test_friction_needs_a_velocity_scale():
    for value in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="friction_velocity"):
            PassiveForces(MODEL, friction_velocity=value)
