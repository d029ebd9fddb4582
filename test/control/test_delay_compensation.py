# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loops with a delay: states predicted to the effect of their commands, and gains for the rest."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from support.mechanism_builder import arm, mechanism, near, shipped

from uk_dynamics import DelayCompensation, ServoController, simulate
from uk_dynamics.control.delay_compensation import DelayPrediction
from uk_dynamics.control.servo.delay_margin import largest_frequency
from uk_dynamics.exceptions import DelayError, InputError
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism.tasks import Tasks

MACHINES = {
    "stewart_platform": "stewart_platform_heave_roll",
    "parallel_2dof": "parallel_2dof_line",
    "five_bar": "five_bar_sweep",
    "dual_panda": "dual_panda_load",
}
PERIOD = 0.01  # s
DELAY = 3.5 * PERIOD
SETTLED = 70  # samples of 10 ms; at 5 Hz the start has died away to 1e-8 of it


def largest_error(name: str, delay: float, known: float | None) -> float:
    """Largest error after the start with a delay of which the controller knows, or not (None)."""
    machine = shipped(name)
    tasks = Tasks.from_file(MACHINES[name], machine)
    servo = ServoController(machine, tasks, control_period=PERIOD)
    controller = servo
    if known is not None:
        controller = DelayCompensation(servo, known, control_period=PERIOD)
    run = simulate(
        machine,
        machine.start(tasks=tasks),
        0.9,
        controller=controller,
        control_period=PERIOD,
        delay=delay,
    )
    return float(np.abs(run.tracking_error[SETTLED:]).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_a_known_delay_does_not_cost_accuracy(name: str):
    assert largest_error(name, DELAY, DELAY) < 2.0 * largest_error(name, 0.0, None)


@pytest.mark.slow
def test_an_unknown_delay_does_and_a_wrong_one_less():
    unknown = largest_error("five_bar", DELAY, None)
    wrong = largest_error("five_bar", DELAY, DELAY - 0.5 * PERIOD)
    assert wrong < 0.1 * unknown
    # a change of the desired acceleration of 216 rad/s³ · 0.8 · 5 ms over feedback of (31 rad/s)²
    assert wrong < 1.5e-3


def predicted(prediction: DelayPrediction, state: State, *efforts: tuple[float, float]) -> State:
    for t, effort in efforts:
        prediction.sent(t, np.array([effort, 0.0]))
    return prediction.at_effect(state)


def test_what_is_predicted_is_what_happens():
    machine = mechanism(arm([1.0, 1.0]), "actuators: {m1: {joint: j1}, m2: {joint: j2}}\n")
    start = State(2.0, np.array([0.3, -0.2]), np.array([1.0, 2.0]))
    prediction = DelayPrediction(machine, PERIOD, delay=0.025)
    schedule = [(1.99, 3.0), (2.005, -4.0), (2.015, 5.0), (2.025, 100.0)]
    found = predicted(prediction, start, *schedule)
    state = start
    for (begin, effort), (end, _) in itertools.pairwise(schedule):
        duration = end - max(begin, state.t)
        run = simulate(machine, state, duration, tau={"j1": effort}, rtol=1e-12)
        state = State(end, run.q[-1], run.v[-1])
    assert found.t == pytest.approx(2.025, abs=1e-12)
    near(found.q, state.q, relative=1e-7)  # three steps of fourth order
    near(found.v, state.v, relative=1e-7)


def test_before_the_first_effect_and_after_a_reset_velocities_are_constant():
    machine = mechanism(arm([1.0, 1.0]), "actuators: {m1: {joint: j1}, m2: {joint: j2}}\n")
    state = State(2.0, np.array([0.3, -0.2]), np.array([1.0, 2.0]))
    prediction = DelayPrediction(machine, PERIOD, delay=0.02)
    for efforts in ([], [(2.02, 5.0)]):
        found = predicted(prediction, state, *efforts)
        near(found.q, state.q + 0.02 * state.v)
        near(found.v, state.v)
    assert abs(predicted(prediction, state, (2.0, 5.0)).v[0] - state.v[0]) > 1e-3
    prediction.reset()
    near(predicted(prediction, state).v, state.v)


def test_a_loop_that_was_measured_open_is_predicted_closed():
    machine = shipped("five_bar")
    start = machine.start({"crank": 0.7}, {"crank": 2.0})
    prediction = DelayPrediction(machine, PERIOD, delay=0.03)
    open_ = State(start.t, start.q + 1e-3 * np.array([1.0, 0.0, 0.0, 0.0]), start.v)
    residual = machine.dynamics().residual(prediction.at_effect(open_))
    assert np.abs(residual.position).max() < 1e-10
    assert np.abs(residual.velocity).max() < 1e-9


def test_a_short_delay_is_none_and_a_long_one_is_refused():
    machine = mechanism(arm([1.0]), "actuators: {m: {joint: j1}}\n")
    state = State(0.0, np.zeros(1), np.ones(1))
    prediction = DelayPrediction(machine, PERIOD, delay=0.2 * PERIOD, longest=0.05)
    assert prediction.at_effect(state) is state
    prediction.delay = 0.06
    with pytest.raises(DelayError, match=r"0\.06 s after its state, 0\.05 s"):
        prediction.at_effect(state)
    with pytest.raises(InputError, match="delay"):
        DelayPrediction(machine, PERIOD, delay=-1.0)


def swing(frequency: float, damping_ratio: float, known: float, more: float) -> float:
    """Of ë = u(t - known - more), what is left after 40 periods of the feedback; 1 at first."""
    w = math.tau * frequency
    h = min(known + more, 1.0 / w) / 200.0
    lag, seen = round((known + more) / h), round(known / h)
    e, rate, late = 1.0, 0.0, [0.0] * lag
    largest = []
    for _ in range(int(40.0 / frequency / h)):
        ahead, ahead_rate = e, rate
        if seen:  # what it knows of: the last commands, one after the other
            given = np.array(late[lag - seen :])
            ahead += rate * seen * h + h * h * float(given @ (np.arange(seen, 0, -1) - 0.5))
            ahead_rate += h * float(given.sum())
        late.append(-2.0 * damping_ratio * w * ahead_rate - w * w * ahead)
        u = late.pop(0)
        e, rate = e + h * rate + 0.5 * h * h * u, rate + h * u
        largest.append(abs(e))
    return max(largest[-len(largest) // 4 :])


@pytest.mark.slow
@pytest.mark.parametrize(("damping_ratio", "known"), [(1.0, 0.0), (1.0, 0.015), (0.5, 0.015)])
def test_the_largest_frequency_is_safe_with_twice_the_delay_and_not_far_from_unsafe(
    damping_ratio: float, known: float
):
    remaining = 0.005
    frequency = largest_frequency(damping_ratio, known, remaining)
    assert swing(frequency, damping_ratio, known, 1.9 * remaining) < 1e-3
    assert swing(frequency, damping_ratio, known, 6.0 * remaining) > 10.0


def test_phase_margin_without_prediction():
    w = math.tau * largest_frequency(1.0, 0.0, 1.0)
    crossover = w * math.sqrt(2.0 + math.sqrt(5.0))
    assert math.degrees(math.atan(2.0 * crossover / w) - crossover) == pytest.approx(47, abs=0.5)
    assert largest_frequency(None, 0.3, 1.0) == pytest.approx(0.5 / math.tau)
    assert largest_frequency(0.0, 0.0, 1.0) == 0.0
