# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Force envelopes against linear programming, statics and the motion that follows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog
from support.mechanism_builder import closed_states, shipped

from uk_dynamics import Mechanism, State, forward_dynamics
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.kinematics import ForceEnvelope, LoopMotion

CASES = {
    "rrr3": ("platform", ["fx", "fz", "ty"]),
    "stewart_platform": ("platform", ["fx", "fy", "fz"]),
    "parallel_2dof": (("passive_1", (0.3, 0.0, 0.0)), ["fx", "fy"]),
    "excavator": ("teeth", ["fx", "fy", "fz"]),
}


def envelope(name: str) -> tuple[Mechanism, State, ForceEnvelope]:
    mechanism = shipped(name)
    frame, rows = CASES[name]
    *_, state = closed_states(mechanism, np.random.default_rng(5), 2, backend="interpreted")
    state = State(0.0, state.q, 0.0 * state.v)
    return mechanism, state, mechanism.force_envelope(frame, state, rows)


@pytest.mark.parametrize("name", CASES)
def test_the_polytope_is_that_of_linear_programming(name: str) -> None:
    """Largest load along directions: max s with Zᵀ(S u + Jᵀ d s + F) = 0 and |u| ≤ limits."""
    mechanism, state, found = envelope(name)
    frame, _ = CASES[name]
    motion = LoopMotion(mechanism)
    motion.update(state.q)
    Z, motors = motion.velocities(), mechanism.actuators
    own = Z.T @ mechanism.terms(state).F
    for direction in np.random.default_rng(6).normal(size=(8, len(found.rows))):
        direction /= np.linalg.norm(direction)
        wrench = np.zeros(6)
        for row, part in zip(found.rows, direction, strict=True):
            wrench[("fx", "fy", "fz", "tx", "ty", "tz").index(row)] = part
        load = Z.T @ mechanism.wrench_forces({frame: wrench}, state.q)
        u = linprog(
            np.append(np.zeros(len(motors)), -1.0),
            A_eq=np.column_stack([Z.T @ motors.matrix, load]),
            b_eq=-own,
            bounds=[*((-limit, limit) for limit in motors.effort_limits), (0.0, None)],
        )
        expected = u.x[-1] if u.success else 0.0
        size = np.abs(found.vertices).max(initial=1.0)
        assert found.largest(direction) == pytest.approx(expected, abs=1e-7 * size)
        assert not u.success or expected >= found.guaranteed - 1e-7 * size


def test_at_a_corner_the_mechanism_stays_at_rest() -> None:
    """The load of a corner, with the efforts that it takes, accelerates nothing."""
    mechanism, state, found = envelope("rrr3")
    motors = mechanism.actuators
    jacobian = mechanism.jacobian("platform", state).matrix[[0, 2, 4]]
    own = np.linalg.lstsq(motors.matrix, np.zeros(mechanism.model.nv), rcond=None)[0]
    assert len(found.vertices) == 8  # three motors, each at either limit
    for corner in found.vertices:
        wrench = np.zeros(6)
        wrench[[0, 2, 4]] = corner
        load = mechanism.wrench_forces({"platform": wrench}, state.q)
        weight = mechanism.terms(state).F
        T = np.linalg.pinv(jacobian) @ jacobian
        assert T.shape == (3, 3)
        motion = LoopMotion(mechanism)
        motion.update(state.q)
        Z = motion.velocities()
        efforts = own + np.linalg.solve(Z.T @ motors.matrix, -Z.T @ (load + weight))
        assert np.abs(efforts) == pytest.approx(motors.effort_limits, abs=1e-6)
        tau = load + motors.matrix @ efforts
        qdd = forward_dynamics(mechanism, state, tau).qdd
        assert np.abs(qdd).max() < 1e-8  # efforts of 200 N m on bodies of about 1 kg


def test_the_ellipsoid_is_inside() -> None:
    for name in CASES:
        _, _, found = envelope(name)
        if not len(found.vertices):
            continue
        for axis in found.axes.T:
            for point in (found.centre + axis, found.centre - axis):
                size = np.linalg.norm(point)
                if size > 0.0:
                    assert found.largest(point) >= size * (1.0 - 1e-7)


def test_a_crank_pushes_a_piston_by_its_ratio() -> None:
    """Effort limit / |ẋ/θ̇| without weight, in both directions; across it the guide carries."""
    mechanism = shipped("slider_crank")
    q = mechanism.assemble(crank=0.7)
    found = mechanism.force_envelope("piston", q, ["fx", "fz"], weight=False)
    ratio = abs(float(mechanism.transmission("slider", q).ratio[0, 0]))
    assert found.largest([1.0, 0.0]) == pytest.approx(2.0 / ratio, abs=1e-9)
    assert found.largest([-1.0, 0.0]) == pytest.approx(2.0 / ratio, abs=1e-9)
    assert found.largest([0.0, 1.0]) == np.inf
    assert found.guaranteed == pytest.approx(2.0 / ratio, abs=1e-9)


def test_motors_without_limits_are_named() -> None:
    spec = shipped("slider_crank").spec
    weak = replace(spec.actuators[0], effort_limit=np.inf)
    mechanism = Mechanism.from_spec(replace(spec, actuators=(weak,)))
    with pytest.raises(InputError, match="crank_motor: expected an effort_limit, found none"):
        mechanism.force_envelope("piston")


def test_a_frame_that_does_not_move_carries_all_that_the_motors_balance() -> None:
    """All efforts follow from balance: one corner, and the ground carries any load."""
    andrews = shipped("andrews_squeezer")
    found = andrews.force_envelope("ground", andrews.assemble(), ["fx"])
    assert np.isfinite(found.vertices).all()
    assert found.largest(np.array([1.0])) == np.inf
