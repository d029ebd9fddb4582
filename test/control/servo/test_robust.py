# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Robust constraint following: what is promised holds, and why."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.linalg import expm
from support.mutations import mutated

from uk_dynamics import (
    DelayCompensation,
    Mechanism,
    Reality,
    ServoController,
    State,
    Tasks,
    simulate,
)
from uk_dynamics.cli.main import main
from uk_dynamics.control import EncoderFeedback
from uk_dynamics.control.servo.interpreted_servo import InterpretedServo
from uk_dynamics.control.servo.robust_promise import promise
from uk_dynamics.control.servo.row_bounds import RowLoop, _responses
from uk_dynamics.core.servo import Known, surface_rates
from uk_dynamics.exceptions import InputError, UkDynamicsError
from uk_dynamics.mechanism import EncoderSpec
from uk_dynamics.mechanism.dynamics import (
    Demand,
    InterpretedDynamics,
    RobustDemand,
    ServoOutcome,
    TrackingErrors,
)
from uk_dynamics.mechanism.resolution import Array, Inputs
from uk_dynamics.mechanism.resolution.named_values import wrench_forces
from uk_dynamics.mechanism.uncertainty import Uncertainty

PERIOD, DELAY = 0.001, 0.001
SWEEP = {
    "type": "joint",
    "joint": "crank",
    "reference": {"type": "sinusoid", "offset": 0.9, "amplitude": 0.3, "frequency": 0.5},
}
FIVE_BAR = {
    "parameters": {"links.coupler_link.mass": [1.0, 3.0], "joints.crank.friction": [0.0, 1.0]},
    "motors": {"crank_motor": 0.05},
    "forces": {"pull": {"link": "coupler_link", "force": 5.0, "torque": 1.0}},
    "delay": DELAY,
}
RRR3 = {
    "parameters": {"links.platform.mass": [0.5, 1.5], "links.proximal_a.mass": [1.0, 1.0]},
    "forces": {"pull": {"link": "platform", "force": 3.0}},
}


def five_bar_tasks(machine: Mechanism, **robust: Any) -> Tasks:
    return Tasks.from_data({"robust": FIVE_BAR | robust, "tasks": {"sweep": SWEEP}}, machine)


def rrr3_tasks(machine: Mechanism, rows: str = "xza") -> Tasks:
    along = {"x": "-sin(pi*t/2)", "z": "sin(pi*t/4)", "a": "(pi/6)*sin(pi*t/4)**4"}
    joints = {"x": "platform_x", "z": "platform_z", "a": "platform_angle"}
    tasks = {
        row: {
            "type": "joint",
            "joint": joints[row],
            "reference": {"type": "expression", "value": along[row]},
        }
        for row in rows
    }
    robust = {"parameters": {"links.platform.mass": RRR3["parameters"]["links.platform.mass"]}}
    robust |= {"forces": RRR3["forces"], "motors": {"motor_a": 0.03, "motor_b": 0.02}}
    # distributed as by the task's own inertia: motors move nothing beside the tasks
    return Tasks.from_data({"robust": robust, "distribution": "gauss", "tasks": tasks}, machine)


@pytest.fixture(scope="module")
def five_bar() -> Mechanism:
    return Mechanism.from_file("five_bar")


@pytest.fixture(scope="module")
def rrr3() -> Mechanism:
    return Mechanism.from_file("rrr3")


def drawn(uncertainty: Uncertainty, rng: np.random.Generator) -> Array:
    """θ at the ends of intervals and on the spheres of other groups: the farthest allowed."""
    theta = np.zeros(len(uncertainty.directions))
    for group, (fall, rise) in zip(uncertainty.groups, uncertainty.sides, strict=True):
        one = rng.normal(size=len(group))
        theta[list(group)] = one / np.linalg.norm(one)
        if len(group) == 1:
            theta[list(group)] = -fall if one[0] < 0.0 else rise
    return theta


class RealMachine:
    """What a machine with deviations θ does."""

    def __init__(self, tasks: Tasks, theta: Array) -> None:
        assert tasks.uncertainty is not None
        mechanism = tasks.mechanism
        values: dict[str, float] = {}
        self.S, self.wrench = mechanism.actuators.matrix.copy(), np.zeros(6)
        self.link = ""
        for x, one in zip(theta, tasks.uncertainty.directions, strict=True):
            for name, unit in one.values:
                values[name] = values.get(name, mechanism.parameters[name].value) + x * unit
            if one.motor >= 0:
                self.S[:, one.motor] *= 1.0 + x * one.size
            if one.link:
                self.link = one.link
                self.wrench[one.axis] += x * one.size
        self.machine = mechanism.with_parameters(values) if values else mechanism
        self.tasks = Tasks(replace(tasks.spec, robust=None), self.machine)
        self.dynamics = InterpretedDynamics(self.machine, self.tasks.model)

    def inputs(self, state: State, efforts: Array) -> Inputs:
        tau = self.S @ efforts
        if self.link:
            tau = tau + wrench_forces(self.machine.model, {self.link: self.wrench}, state.q)
        return Inputs(tau=tau)

    def task_inertia(self, state: State) -> Array:
        """Λ of the real machine."""
        prepared = self.dynamics.prepare(state, Inputs())
        rows = self.tasks.evaluate(prepared.workspace, state.q, state.v, state.t)
        T = prepared.factorization.admissible_coordinates(rows.A.T)[0].T
        return np.linalg.inv(T @ T.T)

    def surface_rate(self, state: State, efforts: Array, k: Array) -> Array:
        prepared = self.dynamics.prepare(state, inputs := self.inputs(state, efforts))
        qdd = self.dynamics.solve(prepared, state, inputs).qdd
        rows = self.tasks.evaluate(prepared.workspace, state.q, state.v, state.t)
        return rows.A @ qdd + rows.bias + k * rows.rate


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("five_bar", ""),
        pytest.param("rrr3", "xza", marks=pytest.mark.slow),
        pytest.param("rrr3", "xz", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("form", ["layer", "surface"])
@pytest.mark.parametrize("motions", [4, pytest.param(280, marks=pytest.mark.slow)])
def test_the_lyapunov_function_falls_outside_the_layer(
    name: str, rows: str, form: str, motions: int, request: pytest.FixtureRequest
) -> None:
    """At random states and parameters, with a force from outside and motors that are too weak.

    The slow cases have 10,080 of them together.
    """
    machine = request.getfixturevalue(name)
    tasks = rrr3_tasks(machine, rows) if rows else five_bar_tasks(machine)
    found = promise(tasks)
    assert not found.failing
    turn, width = float(found.known.turn[0]), 3.0 if form == "surface" else 1.0
    servo, constraints = InterpretedServo(tasks), tasks.constraints
    k, _ = surface_rates(constraints.damping, constraints.stiffness)
    rng = np.random.default_rng(5)

    def surface(state: State) -> tuple[Array, TrackingErrors]:
        errors = servo.errors(state)
        return errors.rate + k * errors.residual, errors

    def term(state: State, gain: float) -> ServoOutcome:
        s, errors = surface(state)
        feedback = -(constraints.damping * errors.rate + constraints.stiffness * errors.residual)
        known = Known.of(gain, turn, surface=form == "surface")
        weights, inputs = tasks.allocation.weights, Inputs(stabilize=False)
        against = RobustDemand(s, known)
        return servo.evaluate(state, Demand(feedback, None, weights, None, inputs, against))

    for _ in range(motions):
        start = machine.start(t=float(rng.uniform(0.0, 4.0)), tasks=tasks)
        for _ in range(6):
            v = start.v + 2.0 * rng.normal(size=machine.model.nv)
            q = start.q + 1e-2 * rng.normal(size=machine.model.nq)
            state = machine.dynamics("interpreted").project(State(start.t, q, v))
            there = term(state, 1.0).robust
            assert there is not None
            assert there.authority > 0.5
            # a layer that s is just outside of, or by up to three times its width
            outcome = term(state, width * there.bound / there.size * rng.uniform(1.001, 3.0))
            assert tasks.uncertainty is not None
            real = RealMachine(tasks, drawn(tasks.uncertainty, rng))
            rate = real.surface_rate(state, outcome.servo.efforts, k)
            h = 1e-6
            ahead, behind = (
                real.task_inertia(
                    State(state.t + x, machine.model.integrate(state.q, x * state.v), state.v)
                )
                for x in (h, -h)
            )
            s, now = surface(state)[0], real.task_inertia(state)
            change = s @ now @ rate + 0.5 * s @ (ahead - behind) @ s / (2.0 * h)
            assert change < 0.0


def excavator_tasks(machine: Mechanism) -> Tasks:
    known = machine.parameters
    names = ["links.bucket.mass", "joints.swing.armature", "joints.stick_pin.damping"]
    names += [f"links.bucket.inertia.{moment}" for moment in ("ixx", "iyy", "izz", "ixy", "ixz")]
    parameters = {name: [x := known[name].value, x + 3.0] for name in names}
    tasks = {"slew": {"type": "joint", "joint": "swing", "reference": SWEEP["reference"]}}
    return Tasks.from_data({"robust": {"parameters": parameters}, "tasks": tasks}, machine)


@pytest.mark.parametrize("name", ["five_bar", "rrr3", "excavator"])
def test_columns_are_what_forces_differ_by(name: str) -> None:
    machine = Mechanism.from_file(name)
    made = {"five_bar": five_bar_tasks, "rrr3": rrr3_tasks, "excavator": excavator_tasks}
    tasks = made[name](machine)
    uncertainty = tasks.uncertainty
    assert uncertainty is not None
    rng = np.random.default_rng(1)
    start = machine.start(tasks=tasks)
    state = State(0.3, start.q, start.v + rng.normal(size=machine.model.nv))
    dynamics = InterpretedDynamics(machine, tasks.model)
    for _ in range(5):
        theta = drawn(uncertainty, rng)
        qdd, efforts = rng.normal(size=machine.model.nv), rng.normal(size=len(machine.actuators))
        prepared = dynamics.prepare(state, Inputs())
        at = tasks.model, prepared.workspace
        U = uncertainty.rows(*at, state.t, state.q, state.v)
        found = U.T @ uncertainty.shares(*at, state.v, U @ qdd, efforts).T @ theta
        model = prepared.terms.M @ qdd - prepared.terms.F - machine.actuators.matrix @ efforts
        real = RealMachine(tasks, theta)
        other = real.dynamics.terms(state, real.inputs(state, efforts))
        # rounding of the forces that are subtracted, 1e5 N m in the excavator
        np.testing.assert_allclose(found, other.M @ qdd - other.F - model, rtol=0, atol=1e-8)


def test_efforts_without_robust_are_those_of_today(five_bar: Mechanism) -> None:
    plain = Tasks.from_data({"tasks": {"sweep": SWEEP}}, five_bar)
    tasks = five_bar_tasks(five_bar)
    one = ServoController(five_bar, plain, control_period=PERIOD, backend="interpreted")
    other = ServoController(five_bar, tasks, control_period=PERIOD, backend="interpreted")
    state = five_bar.start(tasks=plain)
    robust = other.command(state)
    assert robust.robust is not None
    other.reset()
    other.robust = False
    for k in range(5):
        now = State(state.t + k * PERIOD, state.q, state.v + 0.01 * k)
        np.testing.assert_array_equal(one.command(now).efforts, other.command(now).efforts)


def worst(machine: Mechanism, tasks: Tasks, parameters: dict[str, float], seconds: float) -> Array:
    plant = Reality.from_data({"parameters": parameters}).machine(machine)
    controller = ServoController(machine, tasks, control_period=PERIOD)
    run = simulate(
        *(plant, machine.start(tasks=tasks), seconds),
        controller=controller,
        control_period=PERIOD,
        delay=DELAY,
    )
    # efforts act from the first delay on; what arises until then decays with 31/s
    return np.asarray(np.abs(run.tracking_error[run.t > 0.2]).max(axis=0))


@pytest.mark.parametrize("mass", [pytest.param(1.0, marks=pytest.mark.slow), 3.0])
@pytest.mark.parametrize("form", ["layer", "surface"])
def test_errors_stay_within_what_is_promised(mass: float, form: str, five_bar: Mechanism) -> None:
    robust = {"parameters": FIVE_BAR["parameters"], "motors": {}, "forces": {}, "form": form}
    robust = {key: x for key, x in (FIVE_BAR | robust).items() if x}
    tasks = Tasks.from_data({"robust": robust, "tasks": {"sweep": SWEEP}}, five_bar)
    bound = promise(tasks, PERIOD).error
    plain = Tasks.from_data({"tasks": {"sweep": SWEEP}}, five_bar)
    real = {"links.coupler_link.mass": mass, "joints.crank.friction": 1.0}
    error = worst(five_bar, tasks, real, 0.3)
    assert (error < bound).all()
    if form == "layer":  # the cubic function is flat in the middle
        assert error < 0.15 * worst(five_bar, plain, real, 0.3)
        assert bound < 5e-4  # rad, and no bound that says nothing


@pytest.mark.slow
def test_a_machine_farther_off_breaks_the_bound_and_that_is_told(five_bar: Mechanism) -> None:
    robust = {"parameters": {"joints.crank.friction": [0.0, 1.0]}, "delay": DELAY}
    tasks = Tasks.from_data({"robust": robust, "tasks": {"sweep": SWEEP}}, five_bar)
    controller = ServoController(five_bar, tasks, control_period=PERIOD)
    assert controller.promise is not None
    error = worst(five_bar, tasks, {"joints.crank.friction": 1.0}, 0.4)
    assert error < controller.promise.error < 2.0 * error  # a bound that says something
    assert worst(five_bar, tasks, {"joints.crank.friction": 3.0}, 0.4) > controller.promise.error
    state = five_bar.start(tasks=tasks)
    assert controller.command(state).beyond_bound == ()
    off = five_bar.assemble({"crank": state.q[five_bar.model.position_index("crank")] + 0.05})
    assert controller.command(State(0.0, off, state.v)).beyond_bound == ("sweep",)


@pytest.mark.slow
def test_rows_have_bounds_of_their_own(rrr3: Mechanism) -> None:
    """A payload and friction: machines at the ends stay within bounds near their errors."""
    friction = {f"joints.shoulder_{x}.friction": [0.0, 1.0] for x in "abc"}
    data = {"parameters": {"links.platform.mass": [0.5, 1.5]} | friction, "delay": DELAY}
    along = {"x": "-sin(pi*t/2)", "z": "sin(pi*t/4)", "angle": "(pi/6)*sin(pi*t/4)**4"}
    tasks_of = {
        row: {"type": "joint", "joint": f"platform_{row}"}
        | {"reference": {"type": "expression", "value": value}}
        for row, value in along.items()
    }
    tasks = Tasks.from_data({"robust": data, "tasks": tasks_of}, rrr3)
    found = promise(tasks, PERIOD)
    errors = [
        worst(rrr3, tasks, {"links.platform.mass": mass} | dict.fromkeys(friction, x), 2.0)
        for mass, x in ((0.5, 1.0), (1.5, 1.0), (1.5, 0.0))
    ]
    largest = np.max(errors, axis=0)
    assert (largest < found.error).all()
    # with the worst friction in each joint at once, within 10 s of the references
    assert (found.error < 6.0 * largest).all()


@pytest.mark.slow
def test_responses_of_a_row_are_those_of_its_delay_equation() -> None:
    """Against the exact response where nothing is delayed, and the limit of stability."""
    k, b, g = 30.0, 30.0, 270.0
    one = np.ones((1, 1, 1))
    at_once = RowLoop(g, 0.0, np.array([k]), np.array([b]), np.zeros(1))
    (error, asked, s), (varies, *_) = _responses(one, at_once)
    # e rises to its largest value and falls again, from where a push was
    largest = (k / (b + g)) ** (k / (b + g - k)) / (b + g)
    assert varies[0, 0, 0] == pytest.approx(2.0 * largest, rel=0.02)
    # s follows ṡ = −(b + g) s, e = s/(p + k), both without overshoot: their gains at rest;
    # the shortest delay makes them larger by 1 %
    assert error[0, 0, 0] == pytest.approx(1.0 / ((b + g) * k), rel=0.01)
    assert s[0, 0, 0] == pytest.approx(1.0 / (b + g), rel=0.03)
    for part, known in ((0.9, True), (1.1, False)):  # of π/2, nearly: k is small beside b + g
        slow = RowLoop(
            g, part * 0.5 * np.pi / (g + b + k), np.array([k]), np.array([b]), np.zeros(1)
        )
        assert np.isfinite(_responses(one, slow)[0, 1]).all() == known
    assert asked[0, 0, 0] > 1.0
    # a fast velocity observer is none; of a slow one, rates follow what acts by 3/ω² later, and
    # what a push makes of an error is seen by the feedback of e alone
    fast, slow = (
        _responses(one, RowLoop(g, 1e-4, np.array([k]), np.array([b]), np.array([omega])))[0, 0]
        for omega in (2e4, 60.0)
    )
    assert fast[0, 0, 0] == pytest.approx(error[0, 0, 0], rel=0.05)
    assert slow[0, 0, 0] > 2.0 * error[0, 0, 0]


@pytest.mark.parametrize(
    "watching",
    [
        pytest.param(False, marks=pytest.mark.slow, id="of a push"),
        pytest.param(True, id="of encoders"),
    ],
)
def test_an_observer_knows_what_the_model_makes_of_efforts(watching: bool) -> None:
    """Where the model is right, errors of rates decay on their own, by three poles at ω.

    Against the exact solution of the linear equations.
    """
    k, b, g, omega = 30.0, 30.0, 270.0, 100.0
    loop = RowLoop(g, 1e-5, np.array([k]), np.array([b]), np.array([omega]))
    error, asked, s = _responses(np.ones((1, 1, 1)), loop, watching=watching)[0]
    total = b + g
    y = np.array([total * k, total + k, 0.0, -total - k, 0.0])  # of e, ė, x̃, ṽ, w
    motion = np.array(
        [
            [0.0, 1.0, 0.0, 0.0, 0.0],
            -y,
            [0.0, 0.0, -3.0 * omega, 1.0, 0.0],
            [0.0, 0.0, -3.0 * omega**2, 0.0, -1.0],
            [0.0, 0.0, omega**3, 0.0, 0.0],
        ]
    )
    state = np.array([0.0, 1.0, 0.0, 1.0, 0.0])
    if watching:
        state = np.array([0.0, 0.0, -3.0 * omega, -3.0 * omega**2, omega**3])
    h, sums = 2e-5, np.zeros(3)
    step = expm(h * motion)
    for _ in range(round(0.6 / h)):
        sums += h * np.abs((state[0], y @ state, state[1] - state[3] + k * state[0]))
        state = step @ state
    # the shortest delay is 2 % of the fastest time constant
    np.testing.assert_allclose([x[0, 0, 0] for x in (error, asked, s)], sums, rtol=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "noise"),
    [({}, 0.0), ({"velocity_observer": 40.0}, 0.0), ({"velocity_observer": 40.0}, 2e-5)],
    ids=["none", "observer", "noise"],
)
def test_bounds_contain_what_encoders_do(
    five_bar: Mechanism, more: dict[str, Any], noise: float
) -> None:
    """17 bits; velocities are differences, half a period late, which is most of it."""
    sees = {"resolution": 2.0 * np.pi / 2**17, "noise": noise}
    robust = {key: FIVE_BAR[key] for key in ("parameters", "delay")}
    exact = {"robust": robust, "tasks": {"sweep": SWEEP}} | more
    quiet, coarse = (
        exact | {"robust": robust | {"encoders": sees | x}} for x in ({"noise": 0.0}, {})
    )
    known, silent, tasks = (Tasks.from_data(data, five_bar) for data in (exact, quiet, coarse))
    without, least, bound = (promise(x, PERIOD).error[0] for x in (known, silent, tasks))
    assert without < least <= bound < 2.0 * without
    assert (least < bound) == (noise > 0.0)
    for mass, friction in ((1.0, 1.0), (3.0, 1.0), (3.0, 0.0)):
        law = ServoController(five_bar, tasks, control_period=PERIOD)
        values = {"links.coupler_link.mass": mass, "joints.crank.friction": friction}
        run = simulate(
            *(five_bar.with_parameters(values), five_bar.start(tasks=tasks), 1.5),
            controller=EncoderFeedback(law, EncoderSpec(**sees)),
            control_period=PERIOD,
            delay=DELAY,
        )
        assert np.abs(run.tracking_error[len(run.t) // 3 :]).max() < bound


def test_covariances_are_an_ellipsoid(five_bar: Mechanism) -> None:
    text = yaml.safe_load((five_bar.spec.directory / "five_bar.yaml").read_text())
    text["identified"] = [
        {
            "by": "identify",
            "recordings": ["run.npz"],
            "date": "2026-01-01",
            "parameters": {
                "links.coupler_link.mass": {"value": 2.0, "deviation": 0.1},
                "joints.crank.friction": {"value": 0.5, "deviation": 0.2},
            },
            "correlation": [[1.0], [0.6, 1.0]],
        }
    ]
    machine = Mechanism.from_data(text | {"model": {"urdf": str(five_bar.spec.urdf_path())}})
    tasks = Tasks.from_data(
        {"robust": {"from": "identified", "confidence": 0.9}, "tasks": {"sweep": SWEEP}}, machine
    )
    assert tasks.uncertainty is not None
    assert tasks.uncertainty.groups == [(0, 1)]
    L = np.array([[x for _, x in one.values] for one in tasks.uncertainty.directions]).T
    expected = machine.spec.identified[0].covariance * 4.605170  # χ² of 2 at 0.9
    np.testing.assert_allclose(L @ L.T, expected, rtol=0, atol=1e-8)


def test_what_no_motor_serves_is_named(rrr3: Mechanism) -> None:
    spec = replace(rrr3.spec, actuators=rrr3.spec.actuators[:2])
    machine = Mechanism.from_spec(spec)
    joint = {
        "type": "joint",
        "joint": "platform_x",
        "reference": {"type": "constant", "value": 0.0},
    }
    tasks = {name: joint | {"joint": f"platform_{name}"} for name in ("x", "z", "angle")}
    robust = {"parameters": {"links.platform.mass": [0.5, 1.5]}}
    found = promise(Tasks.from_data({"robust": robust, "tasks": tasks}, machine))
    assert any("motors do not serve angle" in sentence for sentence in found.failing)
    assert np.isinf(found.error).all()


def test_tasks_that_repeat_each_other_are_named(five_bar: Mechanism) -> None:
    two = {"sweep": SWEEP, "right": SWEEP | {"joint": "right"}}
    found = promise(Tasks.from_data({"robust": FIVE_BAR, "tasks": two}, five_bar))
    assert any("1 of 2 task rows is independent" in sentence for sentence in found.failing)
    assert np.isinf(found.error).all()


def test_motors_that_are_too_weak_are_named(five_bar: Mechanism) -> None:
    found = promise(
        five_bar_tasks(five_bar, forces={"pull": {"link": "coupler_link", "force": 500}})
    )
    assert found.overloaded["crank_motor"] > 1.0


@pytest.mark.slow
def test_masses_of_which_nothing_may_be_left_are_named(five_bar: Mechanism) -> None:
    masses = [name for name in five_bar.parameters if name.endswith("mass")]
    parameters = {name: [0.0, 2.0 * five_bar.parameters[name].value] for name in masses}
    found = promise(five_bar_tasks(five_bar, parameters=parameters))
    assert any("the inertia may be smaller by" in sentence for sentence in found.failing)
    assert np.isinf(found.error).all()
    assert np.isfinite(found.bound)


@pytest.mark.slow
def test_describe_tells_the_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "robust.yaml"
    file.write_text(yaml.safe_dump({"schema": 1, "robust": FIVE_BAR, "tasks": {"sweep": SWEEP}}))
    line = ["describe", "five_bar", "--samples", "0", "--tasks", str(file)]
    assert main([*line, "--control-period", str(PERIOD)]) == 0
    said = capsys.readouterr().out
    found = promise(five_bar_tasks(Mechanism.from_file("five_bar")), PERIOD)
    assert f"promised errors   sweep {found.error[0]:.3g}" in said
    assert "links.coupler_link.mass" in said
    assert main([*line, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["robust"]["failing"] == []


@pytest.mark.parametrize(
    ("robust", "problem"),
    [
        ({"parameters": {"links.coupler.mass": [0, 1]}}, 'no parameter "links.coupler.mass"'),
        ({"parameters": {"links.coupler_link.mass": [3, 1]}}, "write the smaller number first"),
        ({"parameters": {"links.coupler_link.mass": [3, 4]}}, "the model has 2, outside"),
        ({"parameters": {"links.coupler_link.mass": [-1, 4]}}, "found -1.0; give a finite"),
        ({"parameters": {"links.coupler_link.center.x": [0, 2]}}, "not linear in it"),
        ({"motors": {"motor": 0.1}}, 'no motor "motor"'),
        ({"forces": {"pull": {"link": "arm", "force": 1}}}, 'no link "arm"'),
        ({"from": "identified"}, "has no section identified"),
        ({}, "nothing is uncertain"),
        ({"confidence": 0.9, "motors": {"crank_motor": 0.1}}, "add from: identified"),
        ({"from": "calibrated"}, "identified"),
    ],
)
def test_mistakes_are_named_with_the_place(robust: Any, problem: str, five_bar: Mechanism) -> None:
    with pytest.raises(InputError) as caught:
        Tasks.from_data({"robust": robust, "tasks": {"sweep": SWEEP}}, five_bar)
    assert problem in str(caught.value)
    assert "robust" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"stabilization": {"damping_ratio": 0.7}}, "robust needs 1 or more"),
        ({"stabilization": {"frequency": 0.0}}, "has no feedback"),
        ({"feedback": {"form": "generalized_inverse"}}, "metric alone"),
    ],
)
def test_tasks_without_a_surface_are_named(more: Any, problem: str, five_bar: Mechanism) -> None:
    with pytest.raises(InputError, match=problem):
        Tasks.from_data({"robust": FIVE_BAR, "tasks": {"sweep": SWEEP | more}}, five_bar)


def test_damaged_files_end_in_one_line(five_bar: Mechanism) -> None:
    text = yaml.safe_dump({"schema": 1, "robust": FIVE_BAR, "tasks": {"sweep": SWEEP}})
    found = 0
    for seed in range(300):
        said = ""
        try:
            from uk_dynamics.mechanism.files import TasksSpec

            Tasks(TasksSpec.from_text(mutated(text, random.Random(seed))), five_bar)
            found += 1
        except UkDynamicsError as error:
            said = str(error)
        assert len(said.splitlines()) <= 1
    assert found < 300


def test_a_delay_that_the_law_is_made_for_is_not_predicted_by_a_wrong_model(
    five_bar: Mechanism,
) -> None:
    """Predicted, its error would be 1.25 times the bound; a longer delay is predicted as ever."""
    period = delay = 2e-3
    robust = {"parameters": FIVE_BAR["parameters"], "delay": delay}
    tasks = Tasks.from_data({"robust": robust, "tasks": {"sweep": SWEEP}}, five_bar)
    wrong = {"links.coupler_link.mass": 3.0, "joints.crank.friction": 1.0}
    plant = Reality.from_data({"parameters": wrong}).machine(five_bar)
    law = ServoController(five_bar, tasks, control_period=period)
    control = DelayCompensation(law, delay, control_period=period)
    assert control.prediction.predicted == 0.0
    start = five_bar.start(tasks=tasks)
    run = simulate(plant, start, 3.0, controller=control, control_period=period, delay=delay)
    late = run.t > 0.5  # the start is beside the reference's velocity
    errors = np.abs(run.tracking_error[late])
    bound = promise(tasks, period).error
    assert 0.5 * bound < errors.max() < bound
    control.prediction.delay = 2.0 * delay
    assert control.prediction.predicted == 2.0 * delay
