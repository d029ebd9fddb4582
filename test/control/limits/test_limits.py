# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Servo control within the limits of the motors: exact, by priority, and in time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.mechanism_builder import arm, joint, link, mechanism, near, shipped

from uk_dynamics.control.limits.motor_limits import MotorLimits
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.core.servo import LimitedAllocation
from uk_dynamics.exceptions import InputError, MechanismFileError, UnknownNameError
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.simulate import simulate

SEEDS = st.integers(0, 2**32 - 1)


def controller(machine: Mechanism, text: str, **options) -> ServoController:
    return ServoController(
        machine, Tasks(TasksSpec.from_text(f"schema: 1\n{text}"), machine), **options
    )


def limited(name: str, limits) -> Mechanism:
    """A shipped mechanism with other effort limits, by declared order."""
    text = (shipped(name).spec.directory / f"{name}.yaml").read_text()
    for motor, limit in zip(shipped(name).actuators.names, limits, strict=True):
        lines = text.splitlines()
        at = next(i for i, line in enumerate(lines) if line.strip().startswith(f"{motor}:"))
        inner = lines[at].split("{", 1)[1].rsplit("}", 1)[0]
        kept = ", ".join(p for p in inner.split(", ") if "effort_limit" not in p)
        lines[at] = f"  {motor}: {{{kept}, effort_limit: {limit!r}}}"
        text = "\n".join(lines)
    return Mechanism.from_spec(MechanismSpec.from_text(text, file=f"{name}.yaml"))


# --- the allocation ------------------------------------------------------------------------------


class Problem:
    """Random tasks for random motors of different size."""

    def __init__(self, seed: int, rows: int, motors: int, priorities: int = 1) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.C = rng.standard_normal((rows, motors)) * rng.uniform(0.1, 10.0, (rows, 1))
        self.wanted = self.C @ rng.uniform(-1.0, 1.0, motors)
        self.weights = 10.0 ** rng.uniform(-2.0, 2.0, motors)
        self.priorities = np.sort(rng.integers(1, priorities + 1, rows))
        self.allocation = LimitedAllocation(self.priorities, self.weights, 1e-6)
        root = np.sqrt(self.weights)
        self.closed = np.linalg.pinv(self.C / root) @ self.wanted / root

    def solve(self, bound) -> np.ndarray:
        efforts = self.allocation.solve(self.C, self.wanted, -bound, bound, self.closed)
        assert self.allocation.finished
        assert (np.abs(efforts) <= bound).all()
        return efforts


@given(SEEDS, st.integers(1, 8), st.integers(1, 14), st.integers(1, 3))
def test_just_above_the_optimum_it_is_the_closed_form(seed, rows, motors, priorities):
    problem = Problem(seed, rows, motors, priorities)
    if np.linalg.cond(problem.C / np.sqrt(problem.weights)) > 1e4:
        return  # the closed form is the wrong one to compare with: it knows rounding only
    efforts = problem.solve(1.0001 * np.abs(problem.closed))
    size = np.abs(problem.closed).max()
    np.testing.assert_allclose(efforts, problem.closed, rtol=0, atol=1e-7 * size)


@given(SEEDS, st.integers(1, 6), st.integers(2, 8))
def test_what_was_solved_before_does_not_matter(seed, rows, motors):
    problem = Problem(seed, rows, motors, 2)
    bound = 0.5 * np.abs(problem.closed) + 1e-3
    first = problem.solve(bound)
    problem.solve(0.1 * bound)
    problem.solve(10.0 * bound)
    np.testing.assert_array_equal(problem.solve(bound), first)


@given(SEEDS)
def test_what_comes_first_is_served_as_if_it_were_alone(seed):
    problem = Problem(seed, 5, 6, 3)
    bound = 0.4 * np.abs(problem.closed) + 1e-3
    together = problem.wanted - problem.C @ problem.solve(bound)
    first = problem.priorities == problem.priorities[0]
    alone = LimitedAllocation(problem.priorities[first], problem.weights, 1e-6)
    efforts = alone.solve(problem.C[first], problem.wanted[first], -bound, bound, np.zeros(6))
    missing = problem.wanted[first] - problem.C[first] @ efforts
    size = np.linalg.norm(problem.wanted)
    np.testing.assert_allclose(together[first], missing, rtol=0, atol=1e-6 * size)


@given(SEEDS)
def test_motors_without_choice_stay_and_rows_that_ask_for_what_is_settled_change_nothing(seed):
    rng = np.random.default_rng(seed)
    row, goal = rng.uniform(0.5, 2.0, 3), rng.standard_normal(3)
    bound = np.array([0.0, 1e3, 1e3])  # the first motor is out
    allocation = LimitedAllocation(np.array([1, 2]), np.ones(3), 1e-6)
    C, wanted = np.array([row, row]), rng.standard_normal(2)  # the second asks the same otherwise
    efforts = allocation.solve(C, wanted, -bound, bound, goal)
    assert allocation.finished
    free, left = row * (bound > 0.0), goal * (bound > 0.0)
    expected = left + free * (wanted[0] - free @ left) / (free @ free)
    # rounding of numbers up to ten
    np.testing.assert_allclose(efforts, expected, rtol=0, atol=1e-12)


# --- limits of effort, power and rate ------------------------------------------------------------

SLIDE = link("base") + link("car", 2.0)
SLIDE += joint("j1", "base", "car", kind="prismatic", axis="1 0 0")


def slide(limits: str) -> Mechanism:
    return mechanism(SLIDE, f"actuators: {{motor: {{joint: j1, {limits}}}}}\n")


def test_power_binds_where_motors_are_fast():
    limits = MotorLimits(slide("effort_limit: 10, power_limit: 20"), None)
    slow, fast = limits.bounds(np.array([1.0])), limits.bounds(np.array([-5.0]))
    assert (slow.lower[0], slow.upper[0]) == (-10.0, 10.0)
    assert (fast.lower[0], fast.upper[0]) == (-4.0, 4.0)
    assert slow.reason(0, 10.0) == "effort"
    assert fast.reason(0, -4.0) == "power"
    assert fast.reason(0, 3.9) == ""


def test_effort_comes_before_power_and_power_before_rate():
    limits = MotorLimits(slide("effort_limit: 10, power_limit: 20, rate_limit: 1000"), 1e-3)
    at_rest, fast = np.zeros(1), np.array([10.0])
    assert limits.bounds(at_rest).upper[0] == 10.0  # nothing is known of the last effort
    limits.remember(np.array([9.5]))
    bounds = limits.bounds(at_rest)
    assert (bounds.lower[0], bounds.upper[0]) == (8.5, 10.0)
    assert bounds.reason(0, 10.0) == "effort"
    assert bounds.reason(0, 8.5) == "rate"
    # At 10 m/s only 2 N are allowed: the rate gives way, no further than it must.
    bounds = limits.bounds(fast)
    assert (bounds.lower[0], bounds.upper[0]) == (2.0, 2.0)
    assert bounds.reason(0, 2.0) == "power"
    limits.reset(np.zeros(1))
    assert limits.bounds(fast).upper[0] == 1.0
    limits.reset()
    assert limits.bounds(at_rest).lower[0] == -10.0


def test_a_rate_limit_holds_from_command_to_command():
    machine = slide("effort_limit: 100, rate_limit: 2000")
    servo = controller(machine, "tasks: {car: {type: joint, joint: j1}}", control_period=1e-3)
    state = machine.state({"j1": -0.1})
    servo.reset({"motor": 0.0})
    efforts = [servo.command(state).efforts[0] for _ in range(5)]
    assert efforts == pytest.approx([2.0, 4.0, 6.0, 8.0, 10.0], abs=1e-12)
    assert servo.command(state).limited_by == {"motor": "rate"}
    servo.reset()
    wanted = 2.0 * 0.1 * (2 * np.pi * 5.0) ** 2
    command = servo.command(state)
    assert command.requested[0] == pytest.approx(wanted, rel=1e-12)
    assert command.efforts[0] == 100.0
    assert command.limited_by == {"motor": "effort"}
    assert command.saturated == ("motor",)
    # What is missing is told in the task's own unit: 197 of the force are wanted, 100 are given.
    assert command.missing == {"car": pytest.approx((wanted - 100.0) / 2.0, rel=1e-9)}
    np.testing.assert_allclose(command.qdd, [50.0], rtol=0, atol=1e-9)


def test_a_jerk_limit_holds_from_change_to_change():
    machine = slide("effort_limit: 100, rate_limit: 2000, jerk_limit: 5e+5")
    servo = controller(machine, "tasks: {car: {type: joint, joint: j1}}", control_period=1e-3)
    state = machine.state({"j1": -0.1})
    servo.reset({"motor": 0.0})
    efforts = [servo.command(state).efforts[0] for _ in range(6)]
    # changes grow by 5e5 N/s² (1 ms)² = 0.5 N until the rate limit, of 2 N a period, is reached
    assert efforts == pytest.approx([0.5, 1.5, 3.0, 5.0, 7.0, 9.0], abs=1e-12)
    assert servo.command(state).limited_by == {"motor": "rate"}
    servo.reset()
    assert servo.command(state).efforts[0] == 100.0, "nothing is known of the last efforts"


def test_no_jerk_limit_without_a_period():
    machine = slide("effort_limit: 100, jerk_limit: 2000")
    with pytest.raises(InputError, match=r"actuators.motor.jerk_limit: .* control period"):
        controller(machine, "tasks: {car: {type: joint, joint: j1}}")


def test_a_simulation_says_which_limit_was_reached():
    machine = slide("effort_limit: 1000, power_limit: 5, rate_limit: 20000")
    servo = controller(machine, "tasks: {car: {type: joint, joint: j1}}", control_period=1e-3)
    servo.reset({"motor": 0.0})
    run = simulate(machine, machine.state({"j1": -0.1}), 0.1, controller=servo, control_period=1e-3)
    assert "motor is at its rate limit, first seen at t = 0 s" in run.warnings
    assert any("motor is at its power limit" in warning for warning in run.warnings)
    # At the ends of periods too, where the motor is faster than when the effort was decided; the
    # acceleration that this is known from is a period old.
    assert np.abs(run.efforts[:, 0] * run.v[:, 0]).max() <= 5.0 * 1.001


def test_no_rate_limit_without_a_period():
    machine = slide("effort_limit: 100, rate_limit: 2000")
    with pytest.raises(InputError, match=r"actuators.motor.rate_limit: .* control period"):
        controller(machine, "tasks: {car: {type: joint, joint: j1}}")


@pytest.mark.parametrize("period", [0.0, -1.0, float("nan"), float("inf")])
def test_a_period_is_a_time(period):
    with pytest.raises(InputError, match="control_period"):
        controller(
            slide("effort_limit: 1"), "tasks: {a: {type: joint, joint: j1}}", control_period=period
        )


# --- whole machines ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task_file", "name"),
    [
        ("coordinated_robots_lift", "coordinated_robots"),
        ("parallel_2dof_line", "parallel_2dof"),
        ("stewart_platform_heave_roll", "stewart_platform"),
    ],
)
def test_limits_just_above_the_optimum_change_nothing(task_file, name):
    machine = shipped(name)
    servo = ServoController(machine, Tasks.from_file(task_file, machine))
    state = machine.start(t=0.3)
    command = servo.command(state)
    bound = 1.0001 * np.abs(command.requested)
    allocation = LimitedAllocation(servo.tasks.priorities, servo.weights, 1e-6)
    forced = allocation.solve(
        command.servo.map, command.servo.wanted, -bound, bound, command.requested
    )
    assert allocation.finished
    near(forced, command.requested, relative=1e-7)


LINE = """
tasks:
  line: {{type: frame, axes: [y], priority: {0}, parent: {{link: ground}},
    child: {{link: passive_1, xyz: [0.244, 0, 0]}}, reference: {{type: constant, value: 0.25}}}}
  along: {{type: frame, axes: [x], priority: {1}, parent: {{link: ground}},
    child: {{link: passive_1, xyz: [0.244, 0, 0]}}, reference: {{type: sinusoid, offset: 0.29,
    amplitude: 0.05, frequency: 1.0, phase: -1.5707963267948966}}}}
"""
PERIOD = 4e-3  # s


def follow(part: float, priorities=(1, 1), start=None):
    """Follow the line with motors of a part of the peak effort that this takes without limits."""
    peak = np.array([0.12769, 0.10005, 0.21620])  # N m
    machine = limited("parallel_2dof", (part * peak).tolist())
    servo = controller(machine, LINE.format(*priorities), control_period=PERIOD)
    run = simulate(machine, machine.start(start), 1.2, controller=servo, control_period=PERIOD)
    assert (np.abs(run.efforts) <= part * peak).all()
    assert np.abs(run.residual).max() < 1e-12
    return np.abs(run.efforts).max(axis=0) / peak, np.abs(run.tracking_error)


@pytest.mark.slow
def test_at_seventy_percent_of_the_peak_the_second_task_gives_way():
    _, error = follow(1.001)
    # The sampled law of 4 ms: sixteen times what 1 ms leaves of it.
    assert error.max() < 2e-6
    used, error = follow(0.7, (1, 2))
    np.testing.assert_allclose(used, 0.7, rtol=0, atol=1e-12)
    line, along = error.T
    assert line.max() < 2e-6  # on its path as if nothing were
    assert 0.01 < along.max() < 0.1  # late
    _, error = follow(0.7, (2, 1))
    line, along = error.T
    assert line.max() > 0.01


@pytest.mark.slow
def test_from_a_wrong_start_back_to_the_task_within_limits():
    used, error = follow(1.5, start={"a1": 1.0566367 + 0.015, "b1": -2.1132735})
    assert error[0].max() > 0.05 * 0.05
    assert used.max() == pytest.approx(1.5, abs=1e-12)  # they had to work for it
    assert error[-1].max() < 2e-6


def test_priorities_where_one_motor_has_two_tasks():
    parts = link("base") + link("cart", 2.0) + link("pole", com="0 0 0.5")
    parts += joint("j1", "base", "cart", kind="prismatic", axis="1 0 0")
    parts += joint("j2", "cart", "pole")
    machine = mechanism(parts, "actuators: {drive: {joint: j1, effort_limit: 1000}}\n")
    text = """
tasks:
  cart: {{type: joint, joint: j1, priority: {0}}}
  pole: {{type: joint, joint: j2, priority: {1}}}
"""
    state = machine.state({"j1": 0.1, "j2": 0.2})
    both = controller(machine, text.format(1, 1)).command(state)
    cart = controller(machine, text.format(1, 2)).command(state)
    pole = controller(machine, text.format(2, 1)).command(state)
    assert both.actuation == cart.actuation == "underactuated"
    assert set(both.missing) == {"cart", "pole"}
    assert set(cart.missing) == {"pole"}
    assert set(pole.missing) == {"cart"}
    near(cart.residual[0], 0.0, 100.0)
    near(pole.residual[1], 0.0, 100.0)
    # In the middle the sum of squares is less than in either.
    assert np.linalg.norm(both.residual) < np.linalg.norm(cart.residual)
    assert np.linalg.norm(both.residual) < np.linalg.norm(pole.residual)


# --- allocation in files -------------------------------------------------------------------------

TWO = "actuators: {{a: {{joint: j1, effort_limit: {0}}}, b: {{joint: j1, effort_limit: {1}}}}}\n"
HOLD = "tasks: {hold: {type: joint, joint: j1}}\n"


def share(allocation: str, limits=(10.0, 20.0)) -> float:
    """Part of the work that the first of two motors on one joint does."""
    machine = mechanism(arm([1.0]), TWO.format(*limits))
    command = controller(machine, HOLD + allocation).command(machine.state({"j1": 0.01}))
    assert command.actuation == "redundantly actuated"
    return float(command.efforts[0] / command.efforts.sum())


def test_weights_share_the_work():
    assert share("") == pytest.approx(0.2, abs=1e-12)  # 10² to 20²
    assert share("allocation: {weights: limits}") == pytest.approx(0.2, abs=1e-12)
    assert share("allocation: {weights: equal}") == pytest.approx(0.5, abs=1e-12)
    assert share("allocation: {weights: {a: 1, b: 3}}") == pytest.approx(0.75, abs=1e-12)


def test_preload_of_the_file_tightens_without_moving():
    machine = mechanism(arm([1.0]), TWO.format(10, 10))
    text = HOLD + "allocation: {preload: {a: 3, b: -3}}"
    state = machine.state({"j1": 0.01})
    plain, loaded = controller(machine, HOLD), controller(machine, text)
    difference = loaded.command(state).efforts - plain.command(state).efforts
    assert difference == pytest.approx([3.0, -3.0], abs=1e-12)
    assert loaded.command(state, preload={}).efforts == pytest.approx(
        plain.command(state).efforts, abs=1e-12
    )


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("allocation: {weights: {a: 1}}", "allocation.weights", "no weight for b"),
        ("allocation: {weights: {a: 1, b: -1}}", "allocation.weights", "a positive number"),
        ("allocation: {weights: least}", "allocation.weights", "limits, equal, or"),
        ("allocation: {preloads: {a: 1}}", "allocation", 'did you mean "preload"'),
        ("allocation: {preload: {a: much}}", "allocation.preload.a", "number"),
    ],
)
def test_mistakes_in_an_allocation(text, place, found):
    machine = mechanism(arm([1.0]), TWO.format(10, 10))
    with pytest.raises(MechanismFileError) as caught:
        controller(machine, HOLD + text)
    assert caught.value.place.startswith(place)
    assert found in caught.value.problem


@pytest.mark.parametrize("key", ["weights", "preload"])
def test_motors_of_an_allocation_exist(key):
    machine = mechanism(arm([1.0]), TWO.format(10, 10))
    with pytest.raises(UnknownNameError) as caught:
        controller(machine, HOLD + f"allocation: {{{key}: {{a: 1, c: 1}}}}")
    assert caught.value.place == f"allocation.{key}"


@pytest.mark.parametrize(
    "limit", ["power_limit: 0", "rate_limit: -1", "power_limit: fast", "jerk_limit: 0"]
)
def test_limits_are_positive(limit):
    with pytest.raises(MechanismFileError) as caught:
        slide(limit)
    assert caught.value.place == f"actuators.motor.{limit.split(':')[0]}"


def test_priority_is_of_tasks_and_level_of_constraints():
    with pytest.raises(MechanismFileError, match="of tasks it is priority"):
        TasksSpec.from_text("schema: 1\ntasks: {a: {type: joint, joint: j1, level: 2}}")
    with pytest.raises(MechanismFileError, match="of constraints it is level"):
        mechanism(arm([1.0]), "constraints: {a: {type: joint, joint: j1, priority: 2}}\n")
