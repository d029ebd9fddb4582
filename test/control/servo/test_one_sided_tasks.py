# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""One-sided tasks: they ask for nothing until their bound would be crossed, and then brake."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from scipy.optimize import brentq
from support.mechanism_builder import arm, closed_states, mechanism, shipped

from uk_dynamics import Mechanism, ServoController, Tasks, simulate, simulate_many
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.exceptions import InputError, MechanismFileError
from uk_dynamics.mechanism.resolution.state import State

BACKENDS = ("interpreted", "compiled")
BOUND = 0.5  # rad
SLOW, FAST = 2.0 * np.pi, 6.0 * np.pi  # rad/s, of the motion and of the bound


def data(**bound) -> dict:
    return {
        "tasks": {
            "turn": {
                "type": "joint",
                "joint": "j1",
                "reference": {"type": "constant", "value": 1.0},
                "stabilization": {"frequency": 1.0},
                "priority": 2,
            },
            "bend": {"type": "joint", "joint": "j2", "priority": 2},
            "stop": {
                "type": "joint",
                "joint": "j1",
                "one_sided": "at_most",
                "reference": {"type": "constant", "value": BOUND},
                "stabilization": {"frequency": 3.0},
                **bound,
            },
        }
    }


@pytest.fixture(scope="module")
def machine() -> Mechanism:
    return mechanism(
        arm([1.0, 0.8]),
        "actuators: {j1: {joint: j1, effort_limit: 1e4}, j2: {joint: j2, effort_limit: 1e4}}\n",
    )


def critically(t, error: float, rate: float, omega: float):
    """Error that decays critically, and its rate."""
    slope = rate + omega * error
    decay = np.exp(-omega * t)
    return (error + slope * t) * decay, (rate - omega * slope * t) * decay


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_it_brakes_when_it_has_to(machine: Mechanism, backend: str) -> None:
    def too_much(t: float) -> float:
        """Acceleration that the motion asks for beyond what the bound allows."""
        error, rate = critically(t, -1.0, 0.0, SLOW)
        asked = -2.0 * SLOW * rate - SLOW**2 * error
        return asked + 2.0 * FAST * rate + FAST**2 * (error + 1.0 - BOUND)

    begins = brentq(too_much, 0.01, 0.2, xtol=1e-14)
    law = ServoController(machine, Tasks.from_data(data(), machine), backend=backend)
    run = simulate(machine, machine.state([0.0, 0.0]), 1.0, controller=law, rtol=1e-10, atol=1e-12)
    t, q = run.t, run.position("j1")
    free = critically(t, -1.0, 0.0, SLOW)[0] + 1.0
    error, rate = critically(begins, -1.0, 0.0, SLOW)
    braked = BOUND + critically(t - begins, error + 1.0 - BOUND, rate, FAST)[0]
    # rad: the right-hand side has a kink that the integrator finds by its error
    np.testing.assert_allclose(q, np.where(t < begins, free, braked), rtol=0.0, atol=1e-8)
    assert q.max() <= BOUND
    assert np.abs(run.position("j2")).max() < 1e-9  # who is not in the way is served
    assert np.abs(run.tracking_error[:, 2]).max() == 0.0  # it was never crossed
    waits, brakes = (law.command(State(t[k], run.q[k], run.v[k])) for k in (0, -1))
    assert not waits.missing
    assert set(brakes.missing) == {"turn"}


def near_bounds(tasks: Tasks, state: State, rng: np.random.Generator):
    """References that are a little beside where tasks are."""
    workspace = tasks.model.workspace()
    workspace.update(state.q, state.v)
    rows = tasks.evaluate(workspace, state.q, state.v, state.t)
    values = rows.residual + 0.3 * rng.standard_normal(len(rows.residual))
    nothing = np.zeros(1)
    return {
        name: ReferenceSample(values[rows], nothing, nothing)
        for name, rows in tasks.constraints.slices.items()
    }


def least(C, wanted, side, weights):
    """The u of least Σ w u² with equal and bounded rows, by trying which bounds are reached."""
    equal, bounded = np.flatnonzero(side == 0.0), np.flatnonzero(side)
    best, cost = None, np.inf
    for some in chain.from_iterable(combinations(bounded, k) for k in range(len(bounded) + 1)):
        rows = [*equal, *some]
        scaled = C[rows] / np.sqrt(weights)
        u = np.linalg.lstsq(scaled, wanted[rows], rcond=1e-12)[0] / np.sqrt(weights)
        if not np.allclose(C[rows] @ u, wanted[rows], rtol=0.0, atol=1e-7):
            continue
        if (side * (C @ u - wanted) >= -1e-9).all() and weights @ u**2 < cost:
            best, cost = u, weights @ u**2
    return best


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_efforts_are_the_least_with_which_no_bound_is_crossed(backend: str) -> None:
    carrier = shipped("coordinated_robots")  # six motors, three freedoms
    frame = {
        "type": "frame",
        "parent": {"link": "ground"},
        "child": {"link": "left_load", "xyz": [0.5, 0, 0]},
        "stabilization": {"frequency": 0.5},  # so that efforts stay below their limits
    }
    tasks = Tasks.from_data(
        {
            "tasks": {
                "height": {**frame, "axes": ["z"]},
                "left": {**frame, "axes": ["x"], "one_sided": "at_least"},
                "tilt": {**frame, "axes": ["ry"], "one_sided": "at_most"},
            }
        },
        carrier,
    )
    law = ServoController(carrier, tasks, backend=backend)
    law.limits.effort = np.full(6, 1e6)
    rng = np.random.default_rng(1)
    active = np.zeros(3, dtype=int)
    for state in closed_states(carrier, rng, 30):
        command = law.command(state, near_bounds(tasks, state, rng))
        servo = command.servo
        expected = least(servo.map, servo.wanted, tasks.side, law.weights)
        assert expected is not None
        # N m of up to 1e3, by two factorisations
        np.testing.assert_allclose(command.efforts, expected, rtol=0.0, atol=1e-7)
        left = servo.map @ command.efforts - servo.wanted
        active[np.count_nonzero(np.abs(left[1:]) < 1e-9)] += 1
    assert (active > 2).all()  # none, one and both bounds are reached


@pytest.mark.parametrize("blend_time", [0.0, pytest.param(0.2, marks=pytest.mark.slow)])
def test_periods_and_lanes_take_the_same_way(machine: Mechanism, blend_time: float) -> None:
    tasks, start = Tasks.from_data(data(), machine), machine.state([0.1, 0.2])
    options = {"control_period": 1e-3, "sample_period": 0.01, "method": "rk4"}

    def law(backend: str) -> ServoController:
        return ServoController(
            machine, tasks, control_period=1e-3, blend_time=blend_time, backend=backend
        )

    runs = [
        simulate(machine, start, 0.5, controller=law(one), **options, backend=one)
        for one in BACKENDS
    ]
    # N m of up to 30, by the same steps
    np.testing.assert_allclose(runs[0].efforts, runs[1].efforts, rtol=0.0, atol=1e-8)
    laws = [law("compiled") for _ in range(8)]
    many = simulate_many(machine, [start] * 8, 0.5, controllers=laws, **options)
    np.testing.assert_allclose(many[5].efforts, runs[1].efforts, rtol=0.0, atol=1e-8)
    q = runs[1].position("j1")
    assert BOUND - 0.02 < q[-1] <= BOUND + 1e-6  # rad: efforts are held for a period


def test_of_equal_priority_they_share_what_is_missing(machine: Mechanism) -> None:
    """Two rows on one joint with different demands: half of the difference is left of each."""
    text = data(priority=2)
    tasks = Tasks.from_data(text, machine)
    command = ServoController(machine, tasks, backend="interpreted").command(
        machine.state([BOUND, 0.0])
    )
    asked = SLOW**2 * (1.0 - BOUND)
    assert command.missing["turn"] == pytest.approx(0.5 * asked, abs=1e-9)
    assert command.missing["stop"] == pytest.approx(0.5 * asked, abs=1e-9)


def test_a_crossed_bound_is_an_error_and_is_gone_back_to(machine: Mechanism) -> None:
    text = data()
    del text["tasks"]["turn"]
    law = ServoController(machine, Tasks.from_data(text, machine), backend="interpreted")
    beyond, within = machine.state([BOUND + 0.1, 0.0]), machine.state([BOUND - 0.1, 0.0])
    assert law.tracking_error(beyond).tolist() == pytest.approx([0.0, 0.1], abs=1e-15)
    assert law.tracking_error(within).tolist() == [0.0, 0.0]
    acceleration = law.command(beyond).qdd[0]
    assert acceleration == pytest.approx(-0.1 * FAST**2, abs=1e-9)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"stop": {"stabilization": {"damping_ratio": 0.7}}}, "with which it would cross its"),
        ({"stop": {"stabilization": {"frequency": 0.0}}}, "brakes by its feedback"),
        ({"stop": {"restitution": 0.5}}, "constraints of the mechanism file"),
        ({"turn": {"feedback": {"form": "generalized_inverse"}}}, "tasks.turn.feedback: the law"),
        ({"distribution": "gauss"}, "distribution: the law with one-sided tasks"),
        ({"observer": {"turn": 2.0}}, "observer: the law with one-sided tasks"),
    ],
)
def test_what_it_does_not_have_is_refused(machine: Mechanism, change: dict, problem: str) -> None:
    text = data()
    for key, value in change.items():
        if key in text["tasks"]:
            text["tasks"][key] |= value
        else:
            text[key] = value
    with pytest.raises(InputError, match=problem):
        Tasks.from_data(text, machine)


def test_a_bound_has_one_row() -> None:
    text = {
        "type": "frame",
        "axes": ["x", "z"],
        "child": {"link": "left_load"},
        "one_sided": "at_least",
    }
    with pytest.raises(MechanismFileError, match=r"tasks.place.one_sided: found 2 rows"):
        Tasks.from_data(
            {"tasks": {"place": {**text, "parent": {"link": "ground"}}}},
            shipped("coordinated_robots"),
        )


def test_the_start_is_not_led_to_bounds(machine: Mechanism) -> None:
    tasks = Tasks.from_data(data(), machine)
    assert machine.start(tasks=tasks).q.tolist() == pytest.approx([1.0, 0.0], abs=1e-9)
    facts = machine.report(machine.start().q, tasks).tasks
    assert facts is not None
    assert (facts.rows, facts.independent_rows, facts.unreachable) == (3, 2, ())


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_bound_that_no_motor_moves_is_named(backend: str) -> None:
    machine = mechanism(arm([1.0, 0.8]), "actuators: {j1: {joint: j1, effort_limit: 1e4}}\n")
    wheel = {"type": "joint", "joint": "j1"}
    lift = {
        "type": "frame",
        "axes": ["y"],  # the arm moves in x and z
        "one_sided": "at_least",
        "parent": {"link": "base"},
        "child": {"link": "l2"},
    }
    tasks = Tasks.from_data({"tasks": {"wheel": wheel, "lift": lift}}, machine)
    law = ServoController(machine, tasks, backend=backend)
    assert law.command(machine.state([0.0, 0.0])).unreachable == ("lift.y",)
