# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The 3RRR manipulator of Orsino: levels against one level, and against plain algebra."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import shipped

from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.core.recursion.hierarchical import Hierarchical
from uk_dynamics.core.solver_methods import factorize
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.simulate import simulate

BASES = 3.0 * np.exp(2j * np.pi / 3.0 * np.array([0.0, 1.0, -1.0]))
JOINTS = BASES / 3.0
TIMES = (0.3, 1.1, 2.7, 5.2, 7.9)


def pose(t: float) -> np.ndarray:
    """The platform's motion in the paper: x, z, angle."""
    s = np.sin(np.pi * t / 4.0)
    return np.array([-np.sin(np.pi * t / 2.0), s, np.pi / 6.0 * s**4])


def links(p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Angles of the links and positions of the distal centres, as complex numbers, by geometry."""
    ends = p[0] + 1j * p[1] + JOINTS * np.exp(1j * p[2])
    reach = ends - BASES
    # Both links are 2 m long: the elbow is on the perpendicular bisector, on the paper's side.
    elbows = BASES + 0.5 * reach - 1j * reach / abs(reach) * np.sqrt(4.0 - 0.25 * abs(reach) ** 2)
    return np.angle(elbows - BASES), np.angle(ends - elbows), elbows, 0.5 * (elbows + ends)


def on_the_way(mechanism: Mechanism, t: float) -> State:
    """The state of the machine on the paper's motion."""
    guess = dict(mechanism.model.positions_by_name(mechanism.initial_guess))
    proximal, distal, _, middle = links(pose(t))
    for arm, first, second, centre in zip("abc", proximal, distal, middle, strict=True):
        if "shoulder_a" in guess:
            guess |= {f"shoulder_{arm}": first, f"elbow_{arm}": second - first}
        else:
            guess |= {f"proximal_{arm}_angle": first, f"distal_{arm}_angle": second}
            guess |= {f"distal_{arm}_x": centre.real, f"distal_{arm}_z": centre.imag}
    names = ("platform_x", "platform_z", "platform_angle")
    rates = (pose(t + 1e-6) - pose(t - 1e-6)) / 2e-6
    guess |= dict(zip(names, pose(t), strict=True))
    q = mechanism.assemble(guess, hold=names)
    closed = mechanism.model.positions_by_name(q)
    start = mechanism.start(closed, dict(zip(names, rates, strict=True)))
    return State(t, start.q, start.v)


def controlled(name: str) -> ServoController:
    mechanism = shipped(name)
    return ServoController(mechanism, Tasks.from_file(f"{name}_track", mechanism))


def test_three_levels_give_the_motion_and_the_forces_of_one():
    mechanism = shipped("rrr3_modular")
    dynamics = mechanism.dynamics("interpreted")
    rng = np.random.default_rng(0)
    for t in TIMES:
        state = on_the_way(mechanism, t)
        inputs = Inputs(tau=10.0 * rng.standard_normal(mechanism.model.nv))
        terms = mechanism.terms(state, inputs)
        solution = dynamics.evaluate(state, inputs)
        assert isinstance(solution.reactions, Hierarchical)
        mass = dynamics.prepare(state, inputs).factorization.mass
        at_once = factorize(mass, terms.A, method="udwadia_kalaba").solve(terms.F, terms.b)
        assert np.abs(solution.qdd - at_once.qdd).max() < 1e-9
        assert np.abs(solution.constraint_force - at_once.constraint_force).max() < 1e-9
        assert np.abs(solution.multipliers - at_once.multipliers).max() < 1e-9


def test_modules_stay_apart_until_their_level():
    mechanism = shipped("rrr3_modular")
    hierarchy = mechanism.dynamics("interpreted").prepare(on_the_way(mechanism, 1.1)).factorization
    assert isinstance(hierarchy, Hierarchical)
    first, second, third = hierarchy.recursions

    def modules(updates, parts):
        """Modules that each update touches: bodies have three coordinates each."""
        names = np.array(mechanism.model.velocity_names)
        return [
            {"_".join(name.split("_")[:parts][::-1]) for name in names[update.coordinates]}
            for update in updates
        ]

    # Level 1 ties no body to another, level 2 none to another arm or the platform.
    assert all(len(bodies) == 1 for bodies in modules(first.updates, 2))
    assert first.rank == 6
    added = second.updates[len(first.updates) :]
    assert sorted(len(update.coordinates) for update in added) == [6, 6, 6]
    assert sorted(modules(added, 2), key=sorted) == [
        {f"{arm}_distal", f"{arm}_proximal"} for arm in "abc"
    ]
    assert second.rank == 12
    (last,) = third.updates[len(second.updates) :]
    assert last.rank == 6
    assert len(last.coordinates) == 21


def test_the_model_of_each_level_is_that_of_its_modules():
    mechanism = shipped("rrr3_modular")
    state = on_the_way(mechanism, 2.7)
    terms = mechanism.terms(state)
    hierarchy = mechanism.dynamics("interpreted").prepare(state).factorization
    assert isinstance(hierarchy, Hierarchical)
    names = mechanism.model.velocity_names
    free = dict(zip(names, hierarchy.accelerate(terms.F, terms.b, 1), strict=True))
    assert free["platform_z"] == pytest.approx(-9.8, abs=1e-12)
    assert free["distal_a_z"] == pytest.approx(-9.8, abs=1e-12)
    # Its centre of mass is in the pivot: gravity does not turn a proximal link.
    assert free["proximal_a_angle"] == pytest.approx(0.0, abs=1e-10)
    chains = dict(zip(names, hierarchy.accelerate(terms.F, terms.b, 2), strict=True))
    assert chains["platform_z"] == pytest.approx(-9.8, abs=1e-12)
    assert abs(chains["distal_a_z"] + 9.8) > 0.1


@pytest.mark.parametrize("name", ["rrr3", "rrr3_modular"])
def test_efforts_are_those_of_lagranges_equations_in_the_pose(name):
    """Independent of the package: kinetic and potential energy from geometry, differentiated."""

    def energies(t: float, scale: np.ndarray) -> tuple[float, float]:
        p = pose(t) + scale
        rate = (pose(t + h) - pose(t - h)) / (2.0 * h)
        return kinetic(p, rate), potential(p)

    def kinetic(p: np.ndarray, rate: np.ndarray) -> float:
        ahead, behind = links(p + h * rate), links(p - h * rate)
        first, second = (np.angle(np.exp(1j * (ahead[i] - behind[i]))) / (2 * h) for i in (0, 1))
        centre = (ahead[3] - behind[3]) / (2 * h)
        distal = 0.25 * np.abs(centre) ** 2 + second**2 / 12.0
        return float(
            0.5 * (rate[0] ** 2 + rate[1] ** 2)
            + 0.125 * rate[2] ** 2
            + np.sum(first**2 / 3.0 + distal)
        )

    def potential(p: np.ndarray) -> float:
        return float(9.8 * (p[1] + 0.5 * links(p)[3].imag.sum()))

    def momentum(t: float) -> np.ndarray:
        rate = (pose(t + h) - pose(t - h)) / (2.0 * h)
        p = pose(t)
        return np.array([(kinetic(p, rate + d) - kinetic(p, rate - d)) / (2 * h) for d in steps])

    h = 1e-4
    steps = h * np.eye(3)
    controller = controlled(name)
    for t in TIMES:
        efforts = controller.command(on_the_way(controller.mechanism, t)).requested
        slope = (momentum(t + h) - momentum(t - h)) / (2.0 * h)
        along = [np.subtract(energies(t, d), energies(t, -d)) / (2.0 * h) for d in steps]
        generalized = slope - np.array([kinetic - potential for kinetic, potential in along])
        p = pose(t)
        jacobian = np.array(
            [np.angle(np.exp(1j * (links(p + d)[0] - links(p - d)[0]))) / (2.0 * h) for d in steps]
        )
        # Nested differences of steps of 1e-4, near singular poses: 1e-5 relative, of up to 60 N·m.
        assert np.linalg.solve(jacobian, generalized) == pytest.approx(efforts, abs=1e-3)


def test_the_tree_and_the_modules_are_one_machine():
    tree, modular = controlled("rrr3"), controlled("rrr3_modular")
    for t in TIMES:
        first = tree.command(on_the_way(tree.mechanism, t))
        second = modular.command(on_the_way(modular.mechanism, t))
        # Conditions below 1e3 and torques below 60 N·m: rounding leaves ten digits.
        np.testing.assert_allclose(first.efforts, second.efforts, rtol=0.0, atol=1e-8)


def test_the_modules_follow_the_motion_with_their_pins_closed():
    controller = controlled("rrr3_modular")
    mechanism = controller.mechanism
    trajectory = simulate(
        mechanism, mechanism.start(), 0.2, controller=controller, rtol=1e-7, sample_period=0.05
    )
    assert np.abs(trajectory.tracking_error).max() < 1e-8
    assert np.abs(trajectory.residual).max() < 1e-10


@pytest.mark.slow
def test_the_platform_follows_the_motion_of_the_paper_for_sixteen_seconds():
    controller = controlled("rrr3")
    mechanism = controller.mechanism
    trajectory = simulate(mechanism, mechanism.start(), 16.0, controller=controller, rtol=1e-6)
    assert trajectory.t[-1] == 16.0
    wanted = np.array([pose(t) for t in trajectory.t])
    names = ("platform_x", "platform_z", "platform_angle")
    found = np.column_stack([trajectory.position(name) for name in names])
    assert np.abs(found - wanted).max() < 1e-8
    assert np.abs(trajectory.residual).max() < 1e-10
    assert not trajectory.warnings
