# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The compiled servo law gives what the interpreted one gives, and says what it cannot compile."""

import logging
from dataclasses import fields

import numpy as np
import pytest
from support.mechanism_builder import arm, closed_states, mechanism, near, pinned_arm, shipped

from uk_dynamics.compilation.build import compiler, library
from uk_dynamics.compilation.build.compilable import obstacles
from uk_dynamics.compilation.build.compiler import CompilationError
from uk_dynamics.compilation.emit.layout import integrates
from uk_dynamics.compilation.runtime.compiled_servo import CompiledServo
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.control.servo.compiled_period import PeriodCommand
from uk_dynamics.control.servo.interpreted_servo import InterpretedServo
from uk_dynamics.control.servo.servo_backend import servo_evaluator
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.exceptions import InputError, StateError, UnknownNameError
from uk_dynamics.mechanism.dynamics.servo_evaluation import Demand
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Inputs, State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.resources import shipped_files

# as many motors as rows, more of them, switched constraints, and the review's control (72)
QUICK = {
    "five_bar_sweep": "five_bar",
    "coordinated_robots_lift": "coordinated_robots",
    "landing_leg_knee": "landing_leg",
    "flexible_joint_arm_links": "flexible_joint_arm",
}
OTHERS = {
    "rrr3_modular_track": "rrr3_modular",
    "rrr3_track": "rrr3",
    "five_bar_maximal_lift": "five_bar_maximal",
    "two_mass_spring_stretch": "two_mass_spring",
    "differential_drive_slalom": "differential_drive",
    "stewart_platform_heave_roll": "stewart_platform",
    "dual_panda_load": "dual_panda",
}
PIN = "  pin: {type: point, parent: {link: base, xyz: [1.4, 0, 0.5]}, child: {link: l3}}\n"
MOTORS = """\
actuators:
  m1: {joint: j1, effort_limit: 8.0}
  m3: {joint: j3, effort_limit: 2.0}
  m12: {joints: {j1: 1.0, j2: -1.0}, effort_limit: 3.0}
initial_guess: {j1: 0.7, j2: -1.0, j3: 0.6, j4: 0.3}
"""
ONE = "one: {type: joint, joint: j1}"
# Relative to the largest entry of at least one: rounding of 1e-16 times conditions of up to 1e4.
RELATIVE = 1e-10

pytestmark = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="there is no C compiler on this machine"
)


def of(machine, text):
    """Tasks from the part of a tasks file after ``schema``."""
    return Tasks(TasksSpec.from_text(f"schema: 1\n{text}"), machine)


def demand(tasks, rng, **changes):
    rows, motors = len(tasks.constraints), len(tasks.mechanism.actuators)
    asked = {
        "feedback": 10.0 * rng.standard_normal(rows),
        "approach": None if rng.random() < 0.5 else rng.standard_normal(rows),
        "weights": tasks.allocation.weights * rng.uniform(0.5, 2.0, motors),
        "preload": None if rng.random() < 0.5 else rng.standard_normal(motors),
        "inputs": Inputs(),
    }
    return Demand(**(asked | changes))


def compare(tasks, compiled, state, asked, references=None, *, magnified=False):
    """Both evaluators at one state; gives what the interpreted one says.

    Next to a rank change rounding is ``magnified`` by the square of the condition, as in
    test_conformance.
    """
    interpreted = InterpretedServo(tasks)
    for found, expected in zip(
        compiled.errors(state, references), interpreted.errors(state, references), strict=True
    ):
        near(found, expected, relative=RELATIVE)
    gap = interpreted.loop_closure_error(state, asked.inputs)
    near(compiled.loop_closure_error(state, asked.inputs), gap, relative=RELATIVE)
    expected = interpreted.evaluate(state, asked, references)
    found = compiled.evaluate(state, asked, references)
    relative = RELATIVE
    if magnified:
        relative = max(RELATIVE, float(np.finfo(float).eps) * expected.free.condition**2)
        assert relative < 1e-6, "this state would tell nothing"
    near(found.qdd, expected.qdd, relative=relative)
    near(found.free.ideal_force, expected.free.ideal_force, relative=relative)
    efforts = np.linspace(-1.0, 2.0, len(expected.servo.efforts))
    near(found.response(efforts), expected.response(efforts), relative=relative)
    for name in ("efforts", "size", "map", "wanted"):
        near(getattr(found.servo, name), getattr(expected.servo, name), relative=relative)
    largest = max(1.0, float(np.abs(expected.servo.wanted).max()))
    near(found.servo.residual, expected.servo.residual, largest, relative=relative)
    for name in ("rank", "task_rank", "actuation"):
        assert getattr(found.servo, name) == getattr(expected.servo, name)
    for name in ("controllable", "reachable"):
        assert list(getattr(found.servo, name)) == list(getattr(expected.servo, name))
    return expected


def compare_limited(tasks, compiled, interpreted, state, rng):
    """The same within limits around what is asked for, some of which leave no choice."""
    asked = demand(tasks, rng)
    servo = compiled.evaluate(state, asked).servo
    peer = interpreted.evaluate(state, asked).servo
    size = np.abs(peer.efforts) + 0.1 * np.abs(peer.efforts).max() + 1e-6
    lower, upper = -size * rng.uniform(0.0, 1.3, (2, len(size))) * [[1.0], [-1.0]]
    chosen = rng.integers(len(size))
    case = rng.integers(3)
    if case == 1:
        lower[chosen], upper[chosen] = -np.inf, np.inf
    elif case == 2:
        lower[chosen] = upper[chosen]
    found, settled = compiled.allocate(servo, asked, lower, upper)
    expected, finished = interpreted.allocate(peer, asked, lower, upper)
    assert settled
    assert finished
    assert (found >= lower).all()
    assert (found <= upper).all()
    # The search ends where multipliers are rounding, 1e-9 of what they could be.
    near(found, expected, relative=1e-8)


def compare_states(tasks_file, name, count):
    machine = shipped(name)
    tasks = Tasks.from_file(tasks_file, machine)
    compiled = CompiledServo(tasks, InterpretedServo(tasks))
    rng = np.random.default_rng(1)
    for state in closed_states(machine, rng, count):
        compare(tasks, compiled, state, demand(tasks, rng))
        # off the constraints b holds the stabilisation, and redundant rows stand out
        q = machine.model.integrate(state.q, 1e-3 * rng.standard_normal(machine.model.nv))
        compare(tasks, compiled, State(0.3, q, state.v), demand(tasks, rng), magnified=True)


def test_a_search_that_does_not_end_is_told_of():
    """Limits that contradict each other have no best answer, in C and interpreted."""
    tasks = next(iter(QUICK))
    machine = shipped(QUICK[tasks])
    told = Tasks.from_file(tasks, machine)
    interpreted = InterpretedServo(told)
    rng = np.random.default_rng(5)
    state, asked = next(iter(closed_states(machine, rng, 1))), demand(told, rng)
    for law in (interpreted, CompiledServo(told, interpreted)):
        servo = law.evaluate(state, asked).servo
        least = np.abs(servo.efforts) + 1.0
        efforts, settled = law.allocate(servo, asked, least, 0.5 * least)
        assert not settled
        assert np.isfinite(efforts).all()


@pytest.mark.slow
@pytest.mark.parametrize("tasks", QUICK)
def test_it_agrees_with_the_interpreted_law(tasks):
    compare_states(tasks, QUICK[tasks], 60)


@pytest.mark.slow
@pytest.mark.parametrize("tasks", OTHERS)
def test_it_agrees_on_other_shipped_tasks(tasks):
    compare_states(tasks, OTHERS[tasks], 20)


@pytest.mark.parametrize(
    "tasks",
    [
        "five_bar_sweep",
        "coordinated_robots_lift",
        # seven motors each, whose elbows loads and limits hardly tell apart
        pytest.param("dual_panda_load", marks=pytest.mark.slow),
    ],
)
def test_it_searches_within_limits_as_the_interpreted_law(tasks):
    machine = shipped((QUICK | OTHERS)[tasks])
    told = Tasks.from_file(tasks, machine)
    interpreted = InterpretedServo(told)
    compiled = CompiledServo(told, InterpretedServo(told))
    rng = np.random.default_rng(3)
    for state in closed_states(machine, rng, 60):
        compare_limited(told, compiled, interpreted, state, rng)


@pytest.mark.slow
def test_priorities_are_served_in_c():
    machine = pinned_arm(PIN, (1.0, 0.7, 0.5, 0.4), MOTORS)
    text = f"{ONE}\n  two: {{type: joint, joint: j1, priority: 2, reference: "
    text += "{type: constant, value: 1}}\n  three: {type: joint, joint: j4, priority: 3}"
    tasks = of(machine, f"tasks:\n  {text}\n")
    interpreted = InterpretedServo(tasks)
    compiled = CompiledServo(tasks, InterpretedServo(tasks))
    rng = np.random.default_rng(4)
    for state in closed_states(machine, rng, 60):
        compare_limited(tasks, compiled, interpreted, state, rng)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 1e-4, 3e-4, 1e-2])
def test_it_agrees_at_and_near_the_flat_configuration(angle):
    machine = shipped("five_bar")
    tasks = Tasks.from_file("five_bar_sweep", machine)
    compiled = CompiledServo(tasks, InterpretedServo(tasks))
    legs = {"crank": angle, "coupler": -angle, "middle": angle, "right": angle}
    rates = {"crank": 0.4, "coupler": -0.4, "middle": 0.4, "right": 0.4}
    compare(tasks, compiled, machine.state(legs, rates), demand(tasks, np.random.default_rng(2)))


CASES = {
    "the same twice": f"{ONE}\n  two: {{type: joint, joint: j1}}",
    "contradicting": f"{ONE}\n  two: {{type: joint, joint: j1, reference: "
    "{type: constant, value: 1}}",
    "held by the structure": "held: {type: frame, axes: [x, z],"
    " parent: {link: base, xyz: [1.4, 0, 0.5]}, child: {link: l3}}",
    "more than motors": f"{ONE}\n  two: {{type: joint, joint: j4}}\n"
    "  three: {type: joint, joint: j2}\n  four: {type: joint, joint: j3}",
    "beyond the motors": "far: {type: joint, joint: j4}",
    "a velocity": "far: {type: frame_velocity, axes: [x], parent: {link: base}, child: {link: l2}}",
    "an orientation": "far: {type: frame, axes: [rx, ry, rz], parent: {link: base},"
    " child: {link: l4}, reference: {type: constant, value: [0.0, 0.3, 0.0]}}",
}


SELDOM = ("the same twice", "beyond the motors", "an orientation")


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.slow] * (case in SELDOM)) for case in CASES],
)
def test_it_agrees_where_tasks_and_motors_do_not_fit(case):
    machine = pinned_arm(PIN, (1.0, 0.7, 0.5, 0.4), MOTORS)
    tasks = of(machine, f"tasks:\n  {CASES[case]}\n")
    compiled = CompiledServo(tasks, InterpretedServo(tasks))
    rng = np.random.default_rng(5)
    for state in closed_states(machine, rng, 12):
        compare(tasks, compiled, state, demand(tasks, rng))


@pytest.mark.slow
@pytest.mark.parametrize("distribution", ["gauss", "effort"])
def test_efforts_that_change_the_motion_least(distribution):
    """One of two free motions is asked for, of four motors; another row spreads its feedback."""
    motors = MOTORS.replace("initial", "  m4: {joint: j4, effort_limit: 3.0}\ninitial")
    machine = pinned_arm(PIN, (1.0, 0.7, 0.5, 0.4), motors)
    text = f"distribution: {distribution}\ntasks:\n  one: {{type: joint, joint: j4}}\n"
    text += (
        "  again: {type: joint, joint: j4, priority: 2, feedback: {form: generalized_inverse}}\n"
    )
    tasks = of(machine, text)
    interpreted = InterpretedServo(tasks)
    compiled = CompiledServo(tasks, InterpretedServo(tasks))
    rng = np.random.default_rng(10)
    for state in closed_states(machine, rng, 12):
        expected = compare(tasks, compiled, state, demand(tasks, rng))
        assert expected.servo.rank == 1  # of two free motions
        compare_limited(tasks, compiled, interpreted, state, rng)


def test_live_references_and_switched_constraints_are_followed():
    machine = shipped("landing_leg")
    tasks = Tasks.from_file("landing_leg_knee", machine)
    compiled = CompiledServo(tasks, InterpretedServo(tasks))
    rng = np.random.default_rng(6)
    state = machine.start()
    ranks = set()
    for names in (frozenset(), frozenset({"foot"}), frozenset()):
        active = ActiveConstraints(names, {name: rng.standard_normal(2) for name in names})
        live = {tasks.names[0]: ReferenceSample(*rng.standard_normal((3, 1)))}
        expected = compare(
            tasks, compiled, state, demand(tasks, rng, inputs=Inputs(active=active)), live
        )
        ranks.add(expected.free.rank)
    assert ranks == {0, 2}


def test_a_loop_open_by_an_angle_is_open_in_radians_whatever_the_declared_length():
    text = "model: {length: 0.2}\nactuators: {m: {joint: j1}}\nconstraints:\n"
    text += "  seat: {type: weld, parent: {link: base}, child: {link: l1}}\n"
    tasks = of(mechanism(arm([1.0]), text), f"tasks:\n  {ONE}\n")
    compiled = servo_evaluator(tasks, "compiled")
    # a rotation vector is exact to rounding
    assert compiled.loop_closure_error(
        tasks.mechanism.state({"j1": 0.03}), Inputs()
    ) == pytest.approx(0.03)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"blend_time": 0.1}, {"friction": "none"}])
def test_a_controller_gives_the_same_commands_within_limits(options):
    machine = shipped("parallel_2dof")
    tasks = Tasks.from_file("parallel_2dof_line", machine)
    laws = [
        ServoController(machine, tasks, control_period=2e-3, backend=backend, **options)
        for backend in ("interpreted", "compiled")
    ]
    rng = np.random.default_rng(7)
    for law in laws:
        law.limits.restrict(0.3 * machine.actuators.effort_limits)
    pairs = []
    for number, state in enumerate(closed_states(machine, rng, 30)):
        at = State(2e-3 * number, state.q, 0.1 * state.v)
        preload = rng.standard_normal(3)
        live = {tasks.names[0]: ReferenceSample(*rng.standard_normal((3, 2)))}
        followed = live if number % 3 == 1 else None
        if number == 15:  # what the law remembers goes to Python and back
            for law in laws:
                law.limits.restrict(0.2 * machine.actuators.effort_limits)
        pairs.append([law.command(at, followed, preload=preload) for law in laws])
    assert all(isinstance(found, PeriodCommand) for _, found in pairs)
    for expected, found in pairs:  # what was not read at once is still that of its period
        for name in ("efforts", "requested", "residual", "qdd", "tracking_error", "tracking_rate"):
            near(getattr(found, name), getattr(expected, name), relative=RELATIVE)
        near(found.free.qdd, expected.free.qdd, relative=RELATIVE)
        assert found.limited_by == expected.limited_by
        assert found.unreachable == expected.unreachable
        assert found.missing.keys() == expected.missing.keys()
        assert (found.servo.rank, found.actuation) == (expected.servo.rank, expected.actuation)
        for field in fields(expected):  # each is there, also first of all
            here, there = getattr(found, field.name), getattr(expected, field.name)
            assert (here is None) == (there is None), field.name
    assert 0 < sum(bool(found.limited_by) for _, found in pairs) < 30


@pytest.mark.slow
def test_limits_that_were_in_the_way_last_only_shorten_the_search():
    machine = pinned_arm(PIN, (1.0, 0.7, 0.5, 0.4), MOTORS)
    text = f"{ONE}\n  two: {{type: joint, joint: j1, priority: 2, reference: "
    text += "{type: constant, value: 1}}\n  three: {type: joint, joint: j4, priority: 3}"
    tasks = of(machine, f"tasks:\n  {text}\n")
    compiled, interpreted = (  # which remembers none
        ServoController(machine, tasks, control_period=2e-3, backend=backend)
        for backend in ("compiled", "interpreted")
    )
    rng = np.random.default_rng(8)
    states, limited = list(closed_states(machine, rng, 40)), 0
    for number in range(200):
        if number % 5 == 0:  # some are right for the next period, some are not
            state, part = states[number // 5], rng.uniform(0.05, 2.0)
            for law in (compiled, interpreted):
                law.limits.restrict(part * machine.actuators.effort_limits)
        at = State(2e-3 * number, state.q, state.v * rng.uniform(0.9, 1.1))
        found, expected = compiled.command(at), interpreted.command(at)
        assert found.settled == expected.settled
        assert found.limited_by == expected.limited_by
        near(found.efforts, expected.efforts, relative=1e-10)
        limited += bool(found.limited_by)
    assert 100 < limited < 200


def test_what_is_wrong_with_a_command_is_said_as_the_interpreted_law_says_it():
    machine = shipped("parallel_2dof")
    tasks = Tasks.from_file("parallel_2dof_line", machine)
    law = ServoController(machine, tasks, backend="compiled")
    state = machine.start()
    with pytest.raises(StateError, match="shape"):
        law.command(State(0.0, state.q[:1], state.v))
    with pytest.raises(StateError, match="shape"):
        law.command(state, {tasks.names[0]: ReferenceSample(*np.zeros((3, 7)))})
    with pytest.raises(UnknownNameError, match="nothing"):
        law.command(state, {"nothing": ReferenceSample(*np.zeros((3, 2)))})


def test_a_singular_mass_matrix_is_left_to_the_other():
    machine = mechanism(
        '<link name="base"/><link name="l1"/><link name="l2"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j1" type="continuous"><parent link="base"/><child link="l1"/></joint>'
        '<joint name="j2" type="continuous"><parent link="base"/><child link="l2"/></joint>',
        "constraints:\n  hold: {type: joint_coupling, joints: {j1: 1.0, j2: -1.0}}\n"
        "actuators:\n  m: {joint: j2, effort_limit: 1.0}\n",
    )
    tasks = of(machine, "tasks:\n  turn: {type: joint, joint: j1}\n")
    compiled = CompiledServo(tasks, InterpretedServo(tasks))
    expected = compare(tasks, compiled, machine.state(), demand(tasks, np.random.default_rng(8)))
    assert expected.servo.fully_reachable


@pytest.mark.slow
def test_without_the_headers_of_python_it_is_the_same(monkeypatch):
    machine = shipped("coordinated_robots")
    tasks = Tasks.from_file("coordinated_robots_lift", machine)
    monkeypatch.setattr(compiler, "_python", tuple)
    compiler._known.cache_clear()
    try:
        plain = CompiledServo(tasks, InterpretedServo(tasks))
    finally:
        compiler._known.cache_clear()
    rng = np.random.default_rng(9)
    for state in closed_states(machine, rng, 4):
        compare(tasks, plain, state, demand(tasks, rng))
    with pytest.raises(StateError, match=r"v: expected shape \(6,\), found \(5,\)"):
        plain.errors(State(0.0, state.q, state.v[:5]))


@pytest.mark.parametrize("name", shipped_files("tasks"))
def test_all_shipped_tasks_can_be_compiled(name):
    mechanisms = shipped_files("mechanism")
    machine = shipped(max((one for one in mechanisms if name.startswith(one)), key=len))
    assert obstacles(Tasks.from_file(name, machine)) == ()
    assert integrates(machine)  # and so can whole periods


def test_what_cannot_be_compiled_is_named(caplog, monkeypatch):
    monkeypatch.delenv("UK_DYNAMICS_BACKEND")
    place = "solver.method: kkt"
    machine = pinned_arm(PIN, (1.0, 0.7, 0.5, 0.4), f"{MOTORS}solver: {{method: kkt}}\n")
    tasks = of(machine, f"tasks:\n  {ONE}\n")
    with pytest.raises(CompilationError, match=place):
        ServoController(machine, tasks, backend="compiled")
    library.announce.cache_clear()
    with caplog.at_level(logging.INFO):
        for _ in range(2):
            assert isinstance(servo_evaluator(tasks, "auto"), InterpretedServo)
    assert [record.message.count(place) for record in caplog.records] == [1]


@pytest.mark.slow
def test_backends_are_chosen_by_name(monkeypatch, tmp_path):
    monkeypatch.delenv("UK_DYNAMICS_BACKEND")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    machine = shipped("five_bar")
    tasks = of(machine, "tasks:\n  turn: {type: joint, joint: middle}\n")
    assert isinstance(servo_evaluator(tasks, "cached"), InterpretedServo)
    assert isinstance(servo_evaluator(tasks, "compiled"), CompiledServo)
    assert isinstance(servo_evaluator(tasks, "auto"), CompiledServo)
    # references and gains are inputs of what is compiled
    more = "reference: {type: sinusoid, amplitude: 0.1, frequency: 1.0}"
    moving = of(machine, f"tasks:\n  turn: {{type: joint, joint: middle, {more}}}\n")
    assert isinstance(servo_evaluator(moving, "cached"), CompiledServo)
    with pytest.raises(InputError, match='no backend "fast"; there are: auto, cached'):
        servo_evaluator(tasks, "fast")
