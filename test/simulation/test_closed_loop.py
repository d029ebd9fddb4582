# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Closed loops in C move as those that Python takes step by step, whatever they follow."""

import logging

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism, pinned_arm, shipped

from uk_dynamics.compilation.build import compiler
from uk_dynamics.compilation.runtime import CompiledMotion
from uk_dynamics.constraints.references import ReferenceSample, Waypoints
from uk_dynamics.constraints.references.trajectory_reference import Trajectory
from uk_dynamics.control.delay_compensation import DelayCompensation
from uk_dynamics.control.hold_and_gravity_compensation import GravityCompensation, Hold
from uk_dynamics.control.internal_efforts import InternalEfforts
from uk_dynamics.control.servo import ServoController
from uk_dynamics.control.servo.servo_modes import ServoModes
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.simulation import simulate

PIN = "  pin: {type: point, parent: {link: base, xyz: [1.4, 0, 0.5]}, child: {link: l4}}\n"
# At their limits, each of them, in the motions below.
MOTORS = """\
actuators:
  m1: {joint: j1, effort_limit: 12.0, rate_limit: 400.0, jerk_limit: 1.0e+5}
  m3: {joint: j3, effort_limit: 4.0, power_limit: 0.6}
  m12: {joints: {j1: 1.0, j2: -1.0}, effort_limit: 6.0}
initial_guess: {j1: 0.7, j2: -1.0, j3: 0.6, j4: 0.3}
"""
TASKS = """\
schema: 1
tasks:
  one: {{type: joint, joint: j1, priority: 1, reference: {one}}}
  two: {{{two_kind}, priority: 2, reference: {two}}}
allocation: {{preload: {{m1: 0.5}}}}
"""
REFERENCES = {
    "constant": "{type: constant, value: 0.8}",
    "sinusoid": "{type: sinusoid, offset: 0.7, amplitude: 0.2, frequency: 2.0, phase: 0.4}",
    "polynomial": "{type: polynomial, coefficients: [0.7, 0.1, -2.0, 3.0]}",
    "spline": "{type: spline, degree: 5, times: [0.05, 0.1, 0.2], values: [0.7, 0.9, 0.8]}",
    "natural": "{type: spline, boundary: natural, times: [0, 0.1, 0.2], values: [0.7, 0.9, 0.8]}",
    "periodic": "{type: spline, boundary: periodic, times: [0, 0.05, 0.1],"
    " values: [0.7, 0.8, 0.7]}",
    "expression": '{type: expression, value: "0.7 + 0.1*atan2(sin(9*t), 2 + cos(5*t))**2 + t"}',
    "live": "{type: live, value: 0.75}",
}
# m, rad, N m …, absolute: rounding, which the loops and the law do not let grow
SAME = 1e-10
COLUMNS = ("t", "q", "v", "qdd", "efforts", "residual", "multipliers", "tracking_error")

pytestmark = [
    pytest.mark.skipif(compiler.find_compiler() is None, reason="there is no C compiler here"),
    pytest.mark.together("closed loop"),
]


@pytest.fixture(scope="module")
def pinned():
    return pinned_arm(PIN, (1.0, 1.0, 0.6, 0.5), MOTORS)


JOINT = "type: joint, joint: j3"
RATE = "type: expression, expression: d(j3), order: velocity"


LAWS = (
    *("late", "foreseen", "internal forces", "hold with internal forces", "hold, foreseen"),
    "gravity compensation",
)
CARTS = (
    link("base")
    + link("platform", mass=2.0)
    + joint("lift", "base", "platform", kind="prismatic", axis="0 0 1")
    + link("one", mass=1.0)
    + joint("left", "platform", "one", kind="prismatic", axis="0 0 1")
    + link("two", mass=3.0)
    + joint("right", "platform", "two", kind="prismatic", axis="0 0 1")
)
SHAKEN = """\
constraints:
  shake: {type: joint, joint: lift, reference: {type: expression, value: "0.1*sin(9*t)"}}
  pulley: {type: joint_coupling, joints: {left: 1.0, right: 1.0}}
"""


@pytest.fixture
def moved_in_c(monkeypatch):
    """How each motion in C ended."""
    phases = []
    move = CompiledMotion.move

    def noted(self, *arguments, **options):
        found = move(self, *arguments, **options)
        phases.append(found.phase)
        return found

    monkeypatch.setattr(CompiledMotion, "move", noted)
    return phases


def tasks_of(machine, one="constant", two="constant", two_kind=JOINT):
    asked = REFERENCES.get(one, one)
    text = TASKS.format(one=asked, two=REFERENCES[two], two_kind=two_kind)
    return Tasks(TasksSpec.from_text(text), machine)


def both(
    machine,
    tasks,
    duration=0.25,
    *,
    period=1e-3,
    prepare=lambda controller: None,
    begin=None,
    **options,
):
    """The same closed loop in C and in Python."""
    found = []
    for backend in ("compiled", "interpreted"):
        controller = ServoController(machine, tasks, control_period=period, backend=backend)
        prepare(controller)
        motion = simulate(
            machine,
            begin or machine.start(),
            duration,
            controller=controller,
            control_period=period,
            backend=backend,
            **options,
        )
        found.append((motion, controller))
    return found


def assert_same(compiled, interpreted):
    for name in COLUMNS:
        here, there = getattr(compiled, name), getattr(interpreted, name)
        scale = max(1.0, float(np.abs(there).max(initial=0.0)))
        assert np.abs(here - there).max(initial=0.0) <= SAME * scale, name
    assert np.abs(compiled.energy - interpreted.energy).max() <= SAME
    assert sorted(compiled.warnings) == sorted(interpreted.warnings)  # some are of one instant
    assert compiled.status == interpreted.status
    assert compiled.statistics.steps == interpreted.statistics.steps


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("sinusoid", "sinusoid"),
        ("constant", "polynomial"),
        ("spline", "natural"),
        ("periodic", "expression"),
        ("live", "sinusoid"),
    ],
)
def test_whatever_is_followed_within_limits(pinned, one, two):
    tasks = tasks_of(pinned, one, two)
    (here, _), (there, _) = both(pinned, tasks)
    assert_same(here, there)
    if one == two:  # the comparison would say little if the limits were far
        said = " ".join(here.warnings)
        assert "m1 is at its rate limit" in said
        assert "m3 is at its power limit" in said
        assert "effort limit" in said


@pytest.mark.slow
def test_rows_of_velocities_and_a_path_for_the_first_error(pinned):
    tasks = tasks_of(pinned, "spline", "sinusoid", RATE)

    def prepare(controller):
        controller.blend_time = 0.15

    (here, _), (there, _) = both(pinned, tasks, prepare=prepare)
    assert_same(here, there)


@pytest.mark.slow
def test_friction_left_to_the_feedback_and_other_gains(pinned):
    tasks = tasks_of(pinned, "sinusoid", "constant")

    def prepare(controller):
        controller.gains.set("one", 3.0, 0.7)
        controller.limits.restrict(np.array([8.0, 3.0, 5.0]))

    found = []
    for backend in ("compiled", "interpreted"):
        controller = ServoController(
            pinned, tasks, control_period=2e-3, friction="none", backend=backend
        )
        prepare(controller)
        found.append(
            simulate(
                pinned,
                pinned.start(),
                0.2,
                controller=controller,
                control_period=2e-3,
                step=5e-4,
                method="semi_implicit_euler",
                sample_period=0.003,
                tau={"j2": 0.3},
                backend=backend,
            )
        )
    assert_same(*found)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rk4", "DOP853"])
def test_continuous_control(method):
    machine = shipped("five_bar")
    tasks = Tasks.from_file("five_bar_sweep", machine)
    (here, _), (there, _) = both(machine, tasks, 0.2, period=None, method=method)
    # error control may take another step for the sake of rounding; then both err by its tolerance
    assert np.abs(here.q - there.q).max() <= (SAME if method == "rk4" else 1e-8)
    assert here.warnings == there.warnings


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "tasks_file", "start"),
    [
        ("flexible_joint_arm", "flexible_joint_arm_links", {"q2": 0.5, "q4": 0.4}),
        pytest.param("rrr3_modular", "rrr3_modular_track", {}, marks=pytest.mark.slow),
    ],
)
def test_whole_motions_by_other_distributions_and_forms(name, tasks_file, start, moved_in_c):
    machine = shipped(name)
    tasks = Tasks.from_file(tasks_file, machine)
    begin = machine.start(velocities=start)
    (here, _), (there, _) = both(machine, tasks, 1.0, begin=begin)
    assert_same(here, there)
    assert moved_in_c


@pytest.mark.slow
def test_constraints_are_switched_between_periods():
    machine = shipped("landing_leg")
    tasks = Tasks.from_file("landing_leg_knee", machine)
    name = next(iter(machine.hierarchy.switchable))
    on = name in machine.hierarchy.initial.names
    events = [(0.0505, {name: not on})] if on else [(0.0505, {name: True})]
    (here, _), (there, _) = both(machine, tasks, 0.1, events=events)
    assert_same(here, there)
    assert len(here.switchings) == 1
    assert abs(here.switchings[0].energy_lost - there.switchings[0].energy_lost) <= SAME


def test_the_controller_remembers_what_c_did(pinned):
    """Afterwards its next command is the same, with rate limits, prediction and first error."""
    tasks = tasks_of(pinned, "sinusoid", "sinusoid")

    def prepare(controller):
        controller.blend_time = 0.5

    (here, compiled), (_, interpreted) = both(pinned, tasks, 0.1, prepare=prepare)
    state = State(0.1, here.q[-1], here.v[-1])
    efforts = compiled.command(state).efforts
    assert np.abs(efforts - interpreted.command(state).efforts).max() <= SAME * 12.0


class Held:
    """A reference of the user's own."""

    def sample(self, t):
        return ReferenceSample.at_rest(np.array([0.8]))


@pytest.mark.slow
def test_what_c_does_not_know_is_asked_in_python_and_told_once(pinned, caplog):
    tasks = tasks_of(pinned, "constant", "sinusoid")
    known, _ = both(pinned, tasks)
    tasks.references.references["one"] = Held()
    with caplog.at_level(logging.INFO):
        asked, interpreted = both(pinned, tasks)
        both(pinned, tasks, 0.01)
    assert_same(asked[0], interpreted[0])
    assert_same(asked[0], known[0])
    told = [record.message for record in caplog.records if "in Python" in record.message]
    assert len(told) == 1
    assert "one follows an object of Python" in told[0]


def laws(machine):
    """Laws of control besides that of tasks, each made afresh, with the delay of its loop."""
    tasks = tasks_of(machine, "sinusoid", "sinusoid")
    late = 2.5e-3  # between two periods

    def servo(backend):
        return ServoController(machine, tasks, control_period=1e-3, backend=backend)

    def squeezing(backend):
        controller = servo(backend)
        controller.set_internal_forces({"pin.x": 4.0})
        return controller

    def held(backend):
        law = Hold(machine, control_period=1e-3, backend=backend)
        law.internal = InternalEfforts(machine, {"pin.z": -1.0})
        return law

    def foreseeing(inner):
        return lambda backend: DelayCompensation(
            inner(backend), late, control_period=1e-3, backend=backend
        )

    return {
        "late": (servo, late),
        "foreseen": (foreseeing(servo), late),
        "internal forces": (squeezing, 0.0),
        "hold with internal forces": (held, 0.0),
        "hold, foreseen": (foreseeing(held), late),
        "gravity compensation": (
            lambda backend: GravityCompensation(machine, control_period=1e-3, backend=backend),
            0.0,
        ),
    }


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_laws_and_loops_with_a_delay(pinned, law, moved_in_c):
    make, delay = laws(pinned)[law]
    begin = pinned.start(velocities={"j1": 1.0})
    found = []
    for backend in ("compiled", "interpreted"):
        moved_in_c.clear()
        motion = simulate(
            pinned,
            begin,
            0.15,
            controller=make(backend),
            control_period=1e-3,
            delay=delay,
            backend=backend,
        )
        found.append(motion)
        assert set(moved_in_c) == ({"done"} if backend == "compiled" else set())
    assert_same(*found)
    assert np.abs(found[0].q[-1] - found[0].q[0]).max() > 0.01  # something has moved


def test_what_takes_effect_at_the_end_is_recorded(pinned):
    """A delay of whole periods ends where the motion does."""
    begin, ends = pinned.start(velocities={"j1": 1.0}), []
    for backend in ("compiled", "interpreted"):
        law = laws(pinned)["late"][0](backend)
        how = {"control_period": 1e-3, "sample_period": 1e-3, "delay": 2e-3, "backend": backend}
        efforts = simulate(pinned, begin, 0.01, controller=law, **how).efforts
        assert np.abs(efforts[-1] - efforts[-2]).max() > 1e-6
        ends.append(efforts[-1])
    # efforts of some N m, to rounding of ten periods
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-9)


@pytest.mark.slow
def test_efforts_begin_at_those_of_the_law_before(pinned, moved_in_c):
    tasks = tasks_of(pinned, "sinusoid", "constant")
    found = []
    for backend in ("compiled", "interpreted"):
        modes = ServoModes(pinned, tasks, 1e-3, backend=backend)
        modes.transfer_time = 0.03
        state, parts = pinned.start(), []
        for mode in ("tasks", "hold", "gravity_compensation", "tasks"):
            modes.select(mode)
            part = simulate(
                pinned,
                state,
                0.02 if mode == "hold" else 0.04,  # the first transfer is cut short
                controller=modes,
                control_period=1e-3,
                sample_period=1e-3,
                backend=backend,
            )
            state = State(part.t[-1], part.q[-1], part.v[-1])
            parts.append(part)
        found.append(parts)
        if backend == "compiled":
            assert set(moved_in_c) == {"done"}
    for here, there in zip(*found, strict=True):
        assert_same(here, there)
    before, after = found[0][0].efforts[-1], found[0][1].efforts[0]
    assert np.abs(before - after).max() <= 1e-9  # N m: no step


@pytest.mark.slow
def test_machines_that_time_drives(moved_in_c):
    """A platform that shakes, and the weights of two coupled carts on it."""
    machine = mechanism(CARTS, SHAKEN)
    machine.dynamics("compiled").load()
    moved_in_c.clear()  # what was tried as the library was loaded
    found = [
        simulate(machine, machine.start(), 0.5, method="rk4", backend=backend)
        for backend in ("compiled", "interpreted")
    ]
    assert set(moved_in_c) == {"done"}
    assert_same(*found)
    # constant weights and rows without bias, projected in C
    motion = machine.dynamics("compiled").motion()
    motion.act(Inputs(stabilize=False), np.zeros(0), np.zeros(3))
    t, q, v = 0.5, found[0].q[-1] + np.array([0.0, 2e-4, 0.0]), found[0].v[-1]
    there = machine.dynamics("interpreted").project(State(t, q, v))
    q, v = motion.project(t, q, v)
    assert np.abs(q - there.q).max() <= 1e-13
    assert np.abs(v - there.v).max() <= 1e-13


@pytest.mark.slow
def test_a_jump_is_found_in_c_and_told_in_python(moved_in_c):
    machine = mechanism(CARTS, SHAKEN.replace("0.1*sin(9*t)", "atan2(sin(9*t), cos(9*t))"))
    said = []
    for backend in ("compiled", "interpreted"):
        with pytest.raises(SimulationError, match="jumps") as caught:
            simulate(machine, machine.start(), 0.5, method="rk4", backend=backend)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert moved_in_c[-1] == "motion"


def test_a_trajectory_through_waypoints(pinned):
    tasks = tasks_of(pinned, "constant", "sinusoid")
    times, values = np.array([0.02, 0.1, 0.18]), np.array([[0.7], [0.9], [0.8]])
    tasks.references.references["one"] = Trajectory.through(Waypoints(times, values))
    (here, _), (there, _) = both(pinned, tasks)
    assert_same(here, there)


def test_a_motion_that_fails_in_c_fails_as_in_python(pinned):
    """An expression without a value stops both at the same instant with the same words."""
    tasks = tasks_of(pinned, '{type: expression, value: "sqrt(0.1 - t)"}')
    said = []
    for backend in ("compiled", "interpreted"):
        controller = ServoController(pinned, tasks, control_period=1e-3, backend=backend)
        with pytest.raises(Exception, match="sqrt") as caught:
            simulate(
                pinned,
                pinned.start(),
                0.2,
                controller=controller,
                control_period=1e-3,
                backend=backend,
            )
        said.append(str(caught.value))
    assert said[0] == said[1]
