# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Skate, rolling disc and differential drive against their closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import link, shipped

import uk_dynamics as ukd
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.mechanism.analysis.integrability import examine_integrability
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism_class import Mechanism

G = 9.81
SLOPE = 0.2


def column(trajectory, machine, name):
    return trajectory.q[:, machine.model.position_index(name)]


def cycloid(t, rate, pull):
    """Skate from rest at the origin, heading down the slope, turning at a constant rate.

    Along the blade v̇ = g' cos ωt, so v = (g'/ω) sin ωt; x and y are its integrals.
    """
    size = pull / (2.0 * rate**2)
    x = size * np.sin(rate * t) ** 2
    y = size * (rate * t - 0.5 * np.sin(2.0 * rate * t))
    return x, y


def test_the_skate_runs_a_cycloid_across_the_slope():
    machine = shipped("skate")
    trajectory = ukd.simulate(machine, machine.start(), 4.0, sample_period=0.1, rtol=1e-11)
    x, y = cycloid(trajectory.t, 1.5, G * np.sin(SLOPE))
    np.testing.assert_allclose(column(trajectory, machine, "x"), x, rtol=0, atol=1e-9)
    np.testing.assert_allclose(column(trajectory, machine, "y"), y, rtol=0, atol=1e-9)
    yaw = column(trajectory, machine, "yaw")
    np.testing.assert_allclose(yaw, 1.5 * trajectory.t, rtol=0, atol=1e-9)


def test_the_skate_on_a_planar_root_runs_the_same_cycloid():
    """Body velocities: the row is the constant [0 1 0], the motion is the same."""
    urdf = f'<robot name="skate">{link("skate", mass=5.0, inertia=0.2)}</robot>'
    gravity = [float(G * np.sin(SLOPE)), 0.0, float(-G * np.cos(SLOPE))]
    spec = MechanismSpec.from_text(
        f"schema: 1\nmodel: {{root: planar, gravity: {gravity}}}\n"
        "initial_velocity: {root.wz: 1.5}\n"
        "constraints: {blade: {type: no_slip, parent: {link: world}, child: {link: skate}}}\n"
    )
    machine = Mechanism.from_spec(spec, robot_description=urdf)
    np.testing.assert_allclose(machine.terms(machine.start()).A, [[0, 1, 0]], rtol=0, atol=1e-15)
    assert examine_integrability(machine, machine.assemble()).constraints["blade"].verdict == (
        "nonholonomic"
    )
    trajectory = ukd.simulate(machine, machine.start(), 2.0, sample_period=0.1, rtol=1e-11)
    x, y = cycloid(trajectory.t, 1.5, G * np.sin(SLOPE))
    np.testing.assert_allclose(trajectory.q[:, 0], x, rtol=0, atol=1e-8)
    np.testing.assert_allclose(trajectory.q[:, 1], y, rtol=0, atol=1e-8)


# The disc of urdf/rolling_disc.urdf.xacro: mass, radius, moments across (A) and along (C) the axle.
MASS, RADIUS = 2.0, 0.25
A, C = MASS * RADIUS**2 / 4, MASS * RADIUS**2 / 2
ROLLED = C + MASS * RADIUS**2


def disc_state(machine, lean, yaw_rate, spin, lean_rate=0.0):
    """A disc that touches the ground and rolls, heading along x."""
    return machine.start(
        {"lean": lean, "z": RADIUS * np.cos(lean)},
        {"yaw": yaw_rate, "spin": spin, "lean": lean_rate},
    )


def steady_spin(lean, yaw_rate):
    """Spin rate at which a leaning disc rolls in a circle for ever.

    With s the angular velocity along the axle, the moment of gravity and of the centripetal force
    about the centre turns the angular momentum: m r (g sin λ + r s Ω cos λ)
    = Ω cos λ (A Ω sin λ − C s).
    """
    gravity = MASS * G * RADIUS * np.sin(lean)
    turning = A * yaw_rate**2 * np.sin(lean) * np.cos(lean)
    s = (turning - gravity) / (yaw_rate * np.cos(lean) * ROLLED)
    return s - yaw_rate * np.sin(lean), s


@pytest.mark.parametrize("lean", [-0.8, 0.05, 0.3, 1.2])
@pytest.mark.parametrize("yaw_rate", [-2.5, 1.0])
def test_steady_rolling_of_a_leaning_disc(lean, yaw_rate):
    machine = shipped("rolling_disc")
    spin, s = steady_spin(lean, yaw_rate)
    state = disc_state(machine, lean, yaw_rate, spin)
    qdd = dict(zip(machine.joint_names, machine.dynamics().evaluate(state).qdd, strict=True))
    # Spins of up to 80 rad/s, accelerations of the centre up to 200 m/s²: rounding of 1e-13.
    for name in ("yaw", "lean", "spin", "z"):
        assert abs(qdd[name]) < 1e-9, name
    v = dict(zip(machine.joint_names, state.v, strict=True))
    assert v["x"] == pytest.approx(RADIUS * s, abs=1e-10)
    assert qdd["y"] == pytest.approx(RADIUS * s * yaw_rate, abs=1e-9)


def test_a_disc_in_steady_rolling_comes_back_round_its_circle():
    machine = shipped("rolling_disc")
    lean, yaw_rate = 0.3, -2.0
    spin, s = steady_spin(lean, yaw_rate)
    start = disc_state(machine, lean, yaw_rate, spin)
    turn = 2.0 * np.pi / abs(yaw_rate)
    trajectory = ukd.simulate(machine, start, turn, sample_period=turn / 8, rtol=1e-10)
    lean_found = column(trajectory, machine, "lean")
    np.testing.assert_allclose(lean_found, lean, rtol=0, atol=1e-8)
    center = np.array([0.0, RADIUS * s / yaw_rate])
    path = np.column_stack([column(trajectory, machine, name) for name in ("x", "y")])
    distance = np.linalg.norm(path - center, axis=1)
    np.testing.assert_allclose(distance, abs(center[1]), rtol=0, atol=1e-8)
    np.testing.assert_allclose(path[-1], path[0], rtol=0, atol=1e-8)


def test_small_oscillations_of_a_fast_disc():
    """Linear theory: λ̈ = −k (λ − λ_e); stable above s² = g/(3 r), here s = 10 rad/s."""
    machine = shipped("rolling_disc")
    lean, s = 1e-4, 10.0
    stiff = ROLLED * C * s**2 / A
    k = (stiff - MASS * G * RADIUS) / (A + MASS * RADIUS**2)
    middle = stiff * lean / (stiff - MASS * G * RADIUS)
    trajectory = ukd.simulate(
        machine, disc_state(machine, lean, 0.0, s), 1.0, sample_period=0.05, rtol=1e-10
    )
    expected = middle + (lean - middle) * np.cos(np.sqrt(k) * trajectory.t)
    # What linear theory leaves out is of third order in the lean; tolerance 1e-10 per unit.
    found = column(trajectory, machine, "lean")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_a_wobbling_disc_keeps_its_energy_and_its_contact():
    machine = shipped("rolling_disc")
    trajectory = ukd.simulate(machine, machine.start(), 2.0, sample_period=0.1)
    dynamics = machine.dynamics()
    states = [
        machine.state(q, v, t)
        for q, v, t in zip(trajectory.q, trajectory.v, trajectory.t, strict=True)
    ]
    energies = np.array([dynamics.energy(state).total for state in states])
    # Integrated to 1e-9 of velocities of 10 m/s and rad/s: 1e-8 of 10 J.
    np.testing.assert_allclose(energies, energies[0], rtol=0, atol=1e-7)
    lean = column(trajectory, machine, "lean")
    assert np.ptp(lean) > 0.2  # it wobbles
    np.testing.assert_allclose(
        column(trajectory, machine, "z"), RADIUS * np.cos(lean), rtol=0, atol=1e-12
    )
    for state in states:
        assert np.abs(dynamics.residual(state).velocity).max() < 1e-12


def test_equal_torques_accelerate_the_differential_drive_straight_ahead():
    machine = shipped("differential_drive")
    wheel, caster = 1.5, 0.5
    mass = 12.0 + 2 * wheel + caster
    rolled = mass + 2 * (wheel / 2) + caster / 2  # J/r² of a uniform disc is m/2
    torque = 0.8
    state = machine.start()
    tau = {"left_wheel": torque, "right_wheel": torque}
    qdd = machine.dynamics().evaluate(state, machine.inputs(tau)).qdd
    found = dict(zip(machine.joint_names, qdd, strict=True))
    expected = 2 * torque / 0.1 / rolled
    assert found["x"] == pytest.approx(expected, abs=1e-12)
    assert found["y"] == pytest.approx(0.0, abs=1e-12)
    assert found["yaw"] == pytest.approx(0.0, abs=1e-12)
    assert found["left_wheel"] == pytest.approx(expected / 0.1, abs=1e-11)
    assert found["caster_wheel"] == pytest.approx(expected / 0.05, abs=1e-11)


def driven(tasks_name, duration):
    machine = shipped("differential_drive")
    controller = ukd.ServoController(machine, ukd.Tasks.from_file(tasks_name, machine))
    return machine, ukd.simulate(
        machine,
        machine.start(),
        duration,
        controller=controller,
        control_period=0.02,
        step=0.02,
        sample_period=0.1,
    )


@pytest.mark.slow
def test_the_heading_of_the_differential_drive_is_the_difference_of_its_wheels():
    machine, trajectory = driven("differential_drive_wheels", 8.0)
    left, right, yaw = (
        column(trajectory, machine, n) for n in ("left_wheel", "right_wheel", "yaw")
    )
    # Integrable, though no single row is. Nothing projects it, but it is linear in the positions,
    # and such relations every Runge–Kutta step keeps to rounding.
    np.testing.assert_allclose(0.1 * (right - left), 0.4 * yaw, rtol=0, atol=1e-12)
    assert yaw[-1] == pytest.approx(np.pi / 2, abs=1e-3)


@pytest.mark.slow
def test_the_nose_of_the_differential_drive_follows_the_slalom():
    machine, trajectory = driven("differential_drive_slalom", 12.0)
    # Efforts held for 20 ms at accelerations that change by 1 m/s³: some 1e-4 m.
    assert np.abs(trajectory.tracking_error).max() < 1e-3
    x, y, yaw = (column(trajectory, machine, name)[-1] for name in ("x", "y", "yaw"))
    assert x + 0.2 * np.cos(yaw) == pytest.approx(5.0, abs=1e-3)
    assert y + 0.2 * np.sin(yaw) == pytest.approx(0.0, abs=1e-3)
    # The caster has swung behind its swivel and trails.
    assert abs(column(trajectory, machine, "swivel")[-1]) < 0.5


COMMAND = """schema: 1
tasks:
  drive:
    type: frame_velocity
    axes: [x, rz]
    expressed_in: child
    parent: {link: ground}
    child: {link: chassis}
    reference: {type: REFERENCE}
"""


def test_commands_of_forward_speed_and_turning_are_followed():
    """What cmd_vel asks for, as a task of velocities: b = ω (wanted − found), ω = 2π · 5 Hz."""
    machine = shipped("differential_drive")
    tasks = ukd.Tasks(TasksSpec.from_text(COMMAND.replace("REFERENCE", "live")), machine)
    state = machine.start()
    wanted = ReferenceSample(np.array([0.5, 0.8]), np.zeros(2), np.zeros(2))
    workspace = tasks.model.workspace()
    workspace.update(state.q, state.v)
    rows = tasks.evaluate(workspace, state.q, state.v, 0.0, {"drive": wanted})
    # Angular rows are scaled by the declared length, 0.2 m.
    np.testing.assert_allclose(rows.rate, [-0.5, -0.8 * 0.2], rtol=0, atol=1e-15)
    b = rows.right_hand_side(tasks.constraints.damping, tasks.constraints.stiffness)
    np.testing.assert_allclose(b, 10 * np.pi * np.array([0.5, 0.16]), rtol=0, atol=1e-12)


def test_a_commanded_twist_is_reached_with_the_wheels_turning_accordingly():
    machine = shipped("differential_drive")
    text = COMMAND.replace("REFERENCE", "constant, value: [0.5, 0.8]")
    controller = ukd.ServoController(machine, ukd.Tasks(TasksSpec.from_text(text), machine))
    trajectory = ukd.simulate(
        machine, machine.start(), 1.0, controller=controller, control_period=0.01, step=0.01
    )
    v = dict(zip(machine.joint_names, trajectory.v[-1], strict=True))
    # e^(−ωt) leaves 1e-13 of the error; efforts held for 10 ms while the caster swings, 1e-4.
    assert v["yaw"] == pytest.approx(0.8, abs=1e-3)
    assert v["left_wheel"] == pytest.approx((0.5 - 0.2 * 0.8) / 0.1, abs=1e-2)
    assert v["right_wheel"] == pytest.approx((0.5 + 0.2 * 0.8) / 0.1, abs=1e-2)
