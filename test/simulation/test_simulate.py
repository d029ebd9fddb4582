# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motion over time: energy and loops, sample times, control, files, and what is reported."""

from __future__ import annotations

import copy
import csv
import logging
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.mechanism_builder import arm, joint, link, mechanism, shipped

from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.exceptions import (
    InputError,
    SimulationError,
    StateError,
    UndeterminedMotionError,
    UnknownNameError,
)
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.simulation.plant import Plant
from uk_dynamics.simulation.recorder import Recorder
from uk_dynamics.simulation.recording.trajectory_data import Statistics
from uk_dynamics.simulation.simulate import simulate
from uk_dynamics.simulation.trajectory import Trajectory

LOOP = """
constraints:
  tip: {type: frame, axes: [x, z], parent: {link: base, xyz: [1.2, 0, -0.4]},
        child: {link: l3, xyz: [1, 0, 0]}}
"""


def conservative():
    machine = mechanism(arm([1.0, 1.0, 1.0]), LOOP)
    q = machine.assemble({"j1": -0.3, "j2": 1.2, "j3": 1.0})
    return machine, machine.state(q)


# --- motion --------------------------------------------------------------------------------------

# Energy drift relative to the energy in motion, over a second. At a rtol of 1e-7 a step loses that
# much, and some tens of steps are taken; the fixed steps lose h⁵, h² and h⁹ of them.
OPTIONS = {
    "DOP853": ({"rtol": 1e-7}, 1e-6),
    "RK45": ({"rtol": 1e-7}, 1e-5),
    "RK23": ({"rtol": 1e-5}, 1e-3),
    "Radau": ({"rtol": 1e-5}, 1e-3),
    "rk4": ({"step": 4e-3}, 1e-5),
    "semi_implicit_euler": ({"step": 2e-3}, 3e-2),
    "gauss": ({"step": 1e-2}, 1e-8),
}


@pytest.mark.slow
@pytest.mark.parametrize("method", OPTIONS)
def test_energy_and_loops_are_kept(method):
    machine, state = conservative()
    options, drift = OPTIONS[method]
    trajectory = simulate(machine, state, 1.0, method=method, sample_period=0.05, **options)
    motion = np.ptp(trajectory.kinetic)
    assert motion > 1.0  # J: it does move
    assert np.max(np.abs(trajectory.energy - trajectory.energy[0])) < drift * motion
    # Lengths of a metre, closed to some units of rounding, in velocities too.
    assert np.max(np.abs(trajectory.residual)) < 1e-13
    dynamics = machine.dynamics()
    for t, q, v in zip(trajectory.t, trajectory.q, trajectory.v, strict=True):
        assert np.max(np.abs(dynamics.residual(State(t, q, v)).velocity)) < 1e-12
    assert set(trajectory.status) == {"OK"}
    assert trajectory.warnings == ()


@pytest.mark.parametrize("root", ["floating", "planar"])
def test_a_free_body_tumbles_as_euler_says(root):
    """Orientation on the manifold: energy, momentum, and (planar) the exact parabola."""
    parts = (
        '<link name="body"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.3"'
        ' ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    machine = mechanism(parts, f"model: {{root: {root}, gravity: [0.0, -9.81, 0.0]}}")
    names = machine.model.velocity_names
    v = dict(zip(names, np.linspace(1.0, 3.0, len(names)), strict=True))
    trajectory = simulate(machine, machine.state(v=v), 1.0, rtol=1e-9)
    assert np.ptp(trajectory.energy) < 1e-6  # J of some 30 J
    norms = np.linalg.norm(
        trajectory.q[:, -4:] if root == "floating" else trajectory.q[:, 2:], axis=1
    )
    np.testing.assert_allclose(norms, 1.0, rtol=0, atol=1e-12)
    # The centre of mass falls; the start's axes are the world's.
    t = trajectory.t
    start = [v["root.vx"], v["root.vy"]]
    expected = np.outer(t, start) + np.outer(0.5 * t * t, [0.0, -9.81])
    np.testing.assert_allclose(trajectory.q[:, :2], expected, rtol=0, atol=1e-7)
    if root == "planar":
        angle = v["root.wz"] * t
        np.testing.assert_allclose(trajectory.position("root.cos"), np.cos(angle), atol=1e-7)


def test_a_constant_force_acts():
    parts = link("base") + link("l1", com="0.5 0 0") + joint("j1", "base", "l1", axis="0 0 1")
    machine = mechanism(parts)
    trajectory = simulate(machine, machine.state(), 2.0, tau={"j1": 0.7})
    np.testing.assert_allclose(trajectory.q[:, 0], 0.5 * 2.0 * trajectory.t**2, atol=1e-9)
    np.testing.assert_allclose(trajectory.qdd[:, 0], 2.0, atol=1e-12)
    assert trajectory.efforts.shape == (len(trajectory.t), 0)


def test_creeping_against_friction_is_for_radau():
    """Stiff: the implicit method needs a fraction of the evaluations, and ends where others do."""
    machine = mechanism(
        arm([1.0, 1.0, 1.0]), "joints: {j1: {friction: 5.0}, j2: {friction: 5.0}}" + LOOP
    )
    state = machine.state(machine.assemble({"j1": -0.3, "j2": 1.2, "j3": 1.0}))
    explicit = simulate(machine, state, 1.5, rtol=1e-5, sample_period=1.5)
    implicit = simulate(machine, state, 1.5, rtol=1e-5, sample_period=1.5, method="Radau")
    np.testing.assert_allclose(implicit.q[-1], explicit.q[-1], rtol=0, atol=1e-5)
    assert implicit.statistics.evaluations < 0.5 * explicit.statistics.evaluations


def test_the_start_is_projected():
    machine, state = conservative()
    off = State(0.0, state.q + np.array([1e-3, -2e-3, 1e-3]), np.array([0.1, 0.2, 0.3]))
    trajectory = simulate(machine, off, 0.02)
    assert np.max(np.abs(trajectory.residual)) < 1e-13
    rates = machine.dynamics().residual(State(0.0, trajectory.q[0], trajectory.v[0])).velocity
    assert np.max(np.abs(rates)) < 1e-12
    assert np.max(np.abs(trajectory.q[0] - off.q)) < 5e-3
    (warning,) = trajectory.warnings
    assert warning.startswith("the start was corrected by its loop-closure error of 0.00")


# --- time ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["DOP853", "rk4"])
@pytest.mark.parametrize(
    ("duration", "period"), [(0.1, 0.01), (0.1, 0.03), (0.05, 1.0), (0.7, 0.07)]
)
def test_sample_times(method, duration, period):
    machine, state = conservative()
    start = State(3.0, state.q, state.v)
    trajectory = simulate(
        machine, start, duration, method=method, sample_period=period, rtol=1e-5, step=0.01
    )
    expected = 3.0 + np.append(np.arange(0.0, duration - 1e-9, period), duration)
    np.testing.assert_allclose(trajectory.t, expected, rtol=0, atol=1e-12)
    assert np.all(np.diff(trajectory.t) > 1e-6)


def test_samples_between_steps_are_as_good_as_steps():
    """DOP853 strides over many samples; they lie on the constraints and on the motion."""
    machine, state = conservative()
    coarse = simulate(machine, state, 0.4, rtol=1e-8, sample_period=0.4)
    fine = simulate(machine, state, 0.4, rtol=1e-8, sample_period=0.002)
    assert fine.statistics.steps == coarse.statistics.steps < len(fine.t) / 4
    np.testing.assert_array_equal(fine.q[-1], coarse.q[-1])
    half = simulate(machine, state, 0.2, rtol=1e-10, sample_period=0.2)
    np.testing.assert_allclose(fine.q[100], half.q[-1], rtol=0, atol=1e-6)


def test_progress_is_told():
    machine, state = conservative()
    told = []
    simulate(machine, State(5.0, state.q, state.v), 0.05, rtol=1e-4, progress=told.append)
    assert min(told) >= 0.0
    assert told == sorted(told)
    np.testing.assert_allclose(told[-1], 0.05, rtol=0, atol=1e-12)


@pytest.mark.parametrize("backend", ["compiled", "interpreted"])
def test_a_long_way_between_samples_tells_of_its_progress(backend):
    """And can be interrupted there: one call of C would go on for hours."""
    machine, state = conservative()
    told = []

    def stop_soon(t):
        told.append(t)
        if len(told) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(
            *(machine, state, 10.0),
            method="rk4",
            step=1e-9,
            sample_period=10.0,
            progress=stop_soon,
            backend=backend,
        )
    assert max(told) < 0.01


@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_samples_know_their_own_motion_whenever_they_are_read(backend):
    """By threads at once, in copies, and after other motions of the mechanism."""
    if backend == "compiled" and find_compiler() is None:
        pytest.skip("no C compiler")
    machine, state = conservative()
    asked = {"backend": backend, "method": "rk4", "sample_period": 0.001}
    motion, again = (simulate(machine, state, 0.1, **asked) for _ in range(2))
    state.q[:] = 0.0
    other = simulate(machine, machine.state(machine.start().q), 0.1, **asked)
    names = ("qdd", "multipliers", "residual", "rank", "kinetic", "status")
    begin = threading.Barrier(len(names))

    def read(name):
        begin.wait()
        return getattr(motion, name)

    with ThreadPoolExecutor(len(names)) as pool:
        columns = dict(zip(names, pool.map(read, names), strict=True))
    assert {len(x) for x in columns.values()} == {101}
    assert np.abs(other.qdd[-1] - motion.qdd[-1]).max() > 1e-3
    dynamics = machine.dynamics()
    for k, place in enumerate(map(State, motion.t, motion.q, motion.v)):
        there = dynamics.evaluate(place)
        np.testing.assert_allclose(motion.qdd[k], there.qdd, rtol=0, atol=1e-10)
        np.testing.assert_allclose(motion.kinetic[k], dynamics.energy(place).kinetic, atol=1e-10)
    for one in (pickle.loads(pickle.dumps(again)), copy.deepcopy(again)):
        np.testing.assert_array_equal(one.multipliers, motion.multipliers)


def test_motions_share_what_is_compiled_and_copies_have_their_own():
    if find_compiler() is None:
        pytest.skip("no C compiler")
    machine, state = conservative()
    evaluators = [Plant(machine, None, None, continuous=True, backend="compiled").dynamics]
    for one in (machine, pickle.loads(pickle.dumps(machine)), copy.copy(machine)):
        simulate(one, state, 0.01, backend="compiled")
        evaluators.append(Plant(one, None, None, continuous=True, backend="compiled").dynamics)
    assert evaluators[0] is evaluators[1]
    assert len(set(map(id, evaluators))) == 3


def test_rests_of_c_do_not_change_a_motion():
    machine, state = conservative()
    kept = {"method": "rk4", "step": 1e-5, "backend": "compiled"}
    rested = simulate(machine, state, 0.2, sample_period=0.2, **kept)
    sampled = simulate(machine, state, 0.2, sample_period=0.01, **kept)
    assert rested.statistics.steps == sampled.statistics.steps == 20_000
    # rounding of 20,000 steps
    np.testing.assert_allclose(rested.q[-1], sampled.q[-1], rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"rtol": 1e-30}, r"rtol: expected at least 2\.22e-14"),
        ({"atol": 1e-30}, "atol: expected at least"),
        ({"sample_period": 1e-10}, r"sample_period: 1 s in parts of 1e-10 s need [0-9e+.]+ GB"),
        ({"sample_period": 1e-100}, "sample_period: .* GB of memory"),
        ({"method": "rk4", "step": 1e-12}, "step: .*more than 1e\\+11 steps"),
    ],
)
def test_what_would_never_end_is_refused(given, found):
    machine, state = conservative()
    with pytest.raises(InputError, match=found):
        simulate(machine, state, 1.0, **given)


def test_positions_too_coarse_for_the_tolerances_are_refused():
    """An angle of 1e12 rad is resolved to 1e-4 rad: error control would never be content."""
    machine, _ = conservative()
    turned = machine.state(machine.assemble() + 0.0)
    turned.q[0] += 1e12
    with pytest.raises(InputError, match=r"found 1e\+12, which numbers resolve to 0.00012"):
        simulate(machine, turned, 1.0)


# --- control -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wish:
    efforts: np.ndarray
    unreachable: tuple[str, ...] = ()
    limited_by: dict[str, str] = field(default_factory=dict)


class Scripted:
    """Efforts as a function of time; counts how often it is asked."""

    row_names = ("error",)

    def __init__(self, effort, unreachable=()):
        self.effort, self.unreachable = effort, unreachable
        self.times = []

    def command(self, state):
        self.times.append(state.t)
        return Wish(np.atleast_1d(self.effort(state.t)), self.unreachable)

    def tracking_error(self, state):
        return state.q[:1]


def wheel(limit=10.0):
    """One joint about the vertical with a motor; inertia 0.35 kg m²."""
    parts = link("base") + link("l1", com="0.5 0 0")
    parts += joint("j1", "base", "l1", axis="0 0 1", limits=(-1.0, 1.0))
    return mechanism(parts, f"actuators: {{motor: {{joint: j1, effort_limit: {limit}}}}}")


@pytest.mark.parametrize(
    ("sample_period", "control_period"), [(0.01, 0.03), (0.03, 0.01), (0.07, 0.035)]
)
def test_efforts_are_held_for_a_period(sample_period, control_period):
    machine = wheel()
    controller = Scripted(lambda t: 0.35 * (1.0 + t))
    trajectory = simulate(
        machine,
        machine.state(),
        0.21,
        controller=controller,
        control_period=control_period,
        sample_period=sample_period,
        rtol=1e-4,  # the motion is a parabola in each period
    )
    ticks = np.arange(0.0, 0.21 - 1e-9, control_period)
    np.testing.assert_allclose(controller.times, ticks, rtol=0, atol=1e-12)  # once a period
    # Velocity is the sum of held accelerations 1 + t_k.
    since = np.clip(trajectory.t[:, None] - ticks, 0.0, control_period)
    np.testing.assert_allclose(trajectory.v[:, 0], since @ (1.0 + ticks), rtol=0, atol=1e-9)
    # What a sample at a tick shows is the new decision, but for the end, where there is none.
    tick = np.searchsorted(ticks, trajectory.t + 1e-9) - 1
    np.testing.assert_allclose(trajectory.efforts[:, 0], 0.35 * (1.0 + ticks[tick]), atol=1e-12)
    np.testing.assert_array_equal(trajectory.tracking_error, trajectory.q)


def test_continuous_control_follows_every_instant():
    machine = wheel()
    trajectory = simulate(
        machine, machine.state(), 0.5, controller=Scripted(lambda t: 0.35 * np.cos(4.0 * t))
    )
    np.testing.assert_allclose(trajectory.v[:, 0], np.sin(4.0 * trajectory.t) / 4.0, atol=1e-8)
    np.testing.assert_allclose(trajectory.efforts[:, 0], 0.35 * np.cos(4.0 * trajectory.t))


def test_shorter_periods_come_nearer_to_continuous_control():
    machine = shipped("four_bar")
    controller = ServoController(machine, Tasks.from_file("four_bar_turn", machine))
    state = machine.state(machine.assemble(crank=1.2))  # where the reference begins
    errors = []
    for period in (0.02, 0.01, None):
        trajectory = simulate(
            machine, state, 0.3, controller=controller, control_period=period, rtol=1e-6
        )
        errors.append(np.max(np.abs(trajectory.tracking_error)))
    assert errors[0] > 1.5 * errors[1] > 10.0 * errors[2]  # first order in the period
    assert trajectory.names.task_rows == ("turn",)


# --- what went wrong is said ---------------------------------------------------------------------


def test_efforts_stay_within_the_limits_of_the_motors():
    machine = wheel(limit=0.7)
    controller = Scripted(lambda t: 100.0 if t > 0.05 else 0.0)
    trajectory = simulate(
        machine, machine.state(), 0.1, controller=controller, control_period=0.02, rtol=1e-4
    )
    assert np.max(trajectory.efforts) == 0.7
    assert trajectory.warnings == ("motor is at its effort limit, first seen at t = 0.06 s",)


def test_joints_outside_their_limits_are_reported():
    machine = wheel()
    trajectory = simulate(machine, machine.state(v=[10.0]), 0.2)
    (warning,) = trajectory.warnings
    assert warning == "j1 is outside its limits [-1, 1], first seen at t = 0.11 s"


def test_tasks_out_of_reach_are_reported():
    machine = wheel()
    controller = Scripted(lambda t: 0.0, unreachable=("error",))
    trajectory = simulate(machine, machine.state(), 0.05, controller=controller)
    assert trajectory.warnings == (
        "the motors cannot accelerate error as desired, first seen at t = 0 s",
    )


def test_contradicting_constraints_are_reported():
    """Rods of different length to one point, in line: its path would need two curvatures."""
    rod = """
  {0}: {{type: distance, distance: {1}, parent: {{link: base, xyz: [{2}, 0, 0]}},
        child: {{link: l2, xyz: [1, 0, 0]}}}}"""
    machine = mechanism(
        arm([1.0, 1.0]),
        "constraints:" + rod.format("long", 1.0, 0.2) + rod.format("short", 0.5, 0.7),
    )
    elbow = np.arccos(0.6)
    q = np.array([-elbow, 2.0 * elbow])
    dynamics = machine.dynamics()
    state = dynamics.project(State(0.5, q, np.array([1.0, 1.0])))
    assert np.max(np.abs(state.v)) > 0.1
    recorder = Recorder(machine, dynamics, ())
    recorder.add(state, Inputs(stabilize=False), np.zeros(0), np.zeros(0))
    trajectory = recorder.trajectory(Statistics(0, 0, 0.0))
    assert trajectory.status == ("INCONSISTENT",)
    assert trajectory.warnings == (
        "constraints contradict each other: short.distance cannot hold, first seen at t = 0.5 s",
    )


# --- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "euler"}, 'method: no method "euler"; there are: DOP853'),
        ({"duration": -1.0}, "duration: expected a positive number, found -1"),
        ({"duration": np.nan}, "duration: expected a positive number"),
        ({"step": 0.0}, "step: expected"),
        ({"rtol": np.inf}, "rtol: expected"),
        ({"atol": -1e-9}, "atol: expected"),
        ({"sample_period": 0.0}, "sample_period: expected"),
        ({"control_period": 0.0}, "control_period: expected"),
        ({"tau": {"j9": 1.0}}, 'no joint "j9"'),
        ({"tau": [np.nan, 0, 0]}, "found nan"),
    ],
)
def test_bad_arguments(arguments, message):
    machine, state = conservative()
    with pytest.raises(InputError, match=message):
        simulate(machine, state, **{"duration": 1.0} | arguments)


@pytest.mark.parametrize("period", [None, 0.01])
@pytest.mark.parametrize("effort", [np.nan, [1.0, 2.0]])
def test_efforts_of_a_controller_are_checked(effort, period):
    machine = wheel()
    with pytest.raises(StateError, match="motor"):
        simulate(
            machine,
            machine.state(),
            0.1,
            controller=Scripted(lambda t: effort if t > 0.02 else 0.0),
            control_period=period,
        )


def test_loops_that_are_far_open():
    machine = shipped("stewart_platform")
    rng = np.random.default_rng(0)
    with pytest.raises(SimulationError, match=r"stopped at t = 2 s: .* away from the constraints"):
        simulate(machine, State(2.0, rng.uniform(-50, 50, 24), np.zeros(24)), 0.1)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_steps_that_are_too_large(method):
    machine = mechanism(arm([1.0, 1.0]), "joints: {j1: {spring: {stiffness: 1.0e+9}}}")
    state = machine.state({"j1": 1.0})
    with pytest.raises(SimulationError, match="take smaller steps"):
        simulate(machine, state, 2.0, method=method, step=0.01)


def test_error_control_survives_wild_trial_steps():
    """Explicit steps on a hard, damped stop leave all bounds; the answer is a smaller step."""
    stop = "joints: {j1: {stop: {stiffness: 1.0e+6, damping: 1.0e+4}}, j2: {damping: 0.1}}"
    machine = mechanism(arm([1.0, 1.0], [(-0.5, 0.5), None]), stop)
    trajectory = simulate(machine, machine.state({"j1": 0.45, "j2": 0.3}), 0.1, rtol=1e-3)
    assert np.all(np.isfinite(trajectory.q))
    assert trajectory.q[-1, 0] < 0.51


def test_undetermined_motion_is_named():
    parts = link("base") + link("l1", com="0.5 0 0") + link("tip", mass=0.0)
    parts += joint("j1", "base", "l1") + joint("j2", "l1", "tip")
    machine = mechanism(parts)
    with pytest.raises(UndeterminedMotionError, match="j2"):
        simulate(machine, machine.state(), 0.1)


# --- files and pictures --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def swept() -> Trajectory:
    machine = shipped("five_bar")
    controller = ServoController(machine, Tasks.from_file("five_bar_sweep", machine))
    return simulate(
        machine,
        machine.state(machine.assemble(crank=0.5)),  # off its reference: the motor saturates
        0.1,
        controller=controller,
        control_period=0.01,
        rtol=1e-5,
    )


def test_npz_gives_back_everything(swept, tmp_path):
    file = tmp_path / "run.npz"
    swept.save(file)
    loaded = Trajectory.load(str(file))
    for entry in fields(Trajectory):
        saved, found = getattr(swept, entry.name), getattr(loaded, entry.name)
        if isinstance(saved, np.ndarray):
            np.testing.assert_array_equal(found, saved)
            assert found.dtype == saved.dtype
        else:
            assert found == saved
    assert loaded.warnings


def test_npz_without_motors_rows_or_tasks(tmp_path):
    machine = mechanism(arm([1.0]))
    trajectory = simulate(machine, machine.state(), 0.02)
    trajectory.save(tmp_path / "free.NPZ")
    loaded = Trajectory.load(tmp_path / "free.NPZ")
    assert loaded.names == trajectory.names
    assert loaded.residual.shape == (3, 0)


def test_csv_has_a_column_per_coordinate(swept, tmp_path):
    file = tmp_path / "run.csv"
    swept.save(file)
    with file.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(swept.t)

    def column(name):
        return np.array([float(row[name]) for row in rows])

    np.testing.assert_array_equal(column("t"), swept.t)
    np.testing.assert_array_equal(column("q.crank"), swept.position("crank"))
    for prefix, names, values in (
        ("v", swept.names.velocities, swept.v),
        ("qdd", swept.names.velocities, swept.qdd),
        ("effort", swept.names.motors, swept.efforts),
        ("residual", swept.names.constraint_rows, swept.residual),
        ("multiplier", swept.names.constraint_rows, swept.multipliers),
        ("tracking_error", swept.names.task_rows, swept.tracking_error),
    ):
        for name, expected in zip(names, values.T, strict=True):
            np.testing.assert_array_equal(column(f"{prefix}.{name}"), expected)
    np.testing.assert_array_equal(column("kinetic") + column("potential"), swept.energy)
    assert [row["status"] for row in rows] == list(swept.status)


def test_files_that_cannot_be(swept, tmp_path):
    with pytest.raises(InputError, match=r"run\.txt: cannot write \"\.txt\" files; use \.npz"):
        swept.save(tmp_path / "run.txt")
    with pytest.raises(InputError, match="cannot be written"):
        swept.save(tmp_path / "nowhere" / "run.npz")
    with pytest.raises(InputError, match="cannot be written"):
        swept.plot(tmp_path / "nowhere" / "run.png")
    with pytest.raises(InputError, match=r'cannot draw "\.xyz" files; use \.png'):
        swept.plot(tmp_path / "run.xyz")
    with pytest.raises(InputError, match="cannot be read: No such file"):
        Trajectory.load(tmp_path / "none.npz")
    (tmp_path / "other.npz").write_bytes(b"no archive")
    np.savez(tmp_path / "arrays.npz", t=np.zeros(3))
    for name, problem in (("other.npz", "numpy.savez wrote"), ("arrays.npz", "columns such as t,")):
        with pytest.raises(InputError, match=problem):
            Trajectory.load(tmp_path / name)


def test_unknown_position(swept):
    with pytest.raises(UnknownNameError, match='did you mean "crank"'):
        swept.position("krank")


@pytest.mark.slow
def test_a_picture_is_written(swept, tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "run.png"
    swept.plot(file)
    assert file.read_bytes().startswith(b"\x89PNG")


def test_a_picture_shows_all_there_is(swept):
    figure_module = pytest.importorskip("matplotlib.figure")
    from matplotlib.text import Text

    from uk_dynamics.simulation.plots.curves import draw

    figure = figure_module.Figure()
    draw(swept, figure)
    shown = [axis for axis in figure.axes if axis.get_legend() is not None]
    titles, units = zip(*(axis.get_ylabel().split("\n") for axis in shown), strict=True)
    assert all(unit.startswith("[") for unit in units)
    legends = {
        title: [entry.get_text() for entry in axis.get_legend().get_texts()]
        for title, axis in zip(titles, shown, strict=True)
    }
    assert legends["driven joints"] == ["crank", "reference"]
    assert legends["other joints"] == ["coupler", "middle", "right"]
    assert legends["motor efforts"] == ["crank_motor", "limit"]
    assert legends["tracking error"] == ["sweep"]
    said = "\n".join(text.get_text() for text in figure.findobj(Text))
    assert all(warning in said for warning in swept.warnings)


def test_without_a_screen_a_plot_says_so(swept, monkeypatch, caplog):
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(plt, "get_backend", lambda: "agg")
    with caplog.at_level(logging.WARNING):
        swept.plot()
    assert "name a file" in caplog.text
    assert plt.get_fignums() == []


def test_a_trajectory_agrees_with_an_integrator_that_knows_nothing_of_it():
    """SciPy on the stabilised equation, loose loops and all, ends at the same place."""
    machine, state = conservative()
    dynamics = machine.dynamics()

    def rates(t, y):
        return np.concatenate((y[3:], dynamics.evaluate(State(t, y[:3], y[3:])).qdd))

    start = np.concatenate((state.q, state.v))
    other = solve_ivp(rates, (0.0, 0.5), start, "DOP853", rtol=1e-10, atol=1e-11)
    trajectory = simulate(machine, state, 0.5, rtol=1e-9, sample_period=0.5)
    np.testing.assert_allclose(trajectory.q[-1], other.y[:3, -1], rtol=0, atol=1e-7)
