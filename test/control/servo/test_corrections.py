# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A servo law that estimates parameters while it works, and observes what else acts."""

from __future__ import annotations

import ctypes
import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.mutations import mutated

from uk_dynamics import (
    Mechanism,
    ServoController,
    State,
    Tasks,
    Trajectory,
    simulate,
    simulate_many,
)
from uk_dynamics.cli.main import main
from uk_dynamics.compilation.build import servo_export
from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.compilation.emit.layout import ServoLayout
from uk_dynamics.compilation.runtime import reference_table
from uk_dynamics.control import EncoderFeedback
from uk_dynamics.control.servo import known_of, observer_margins
from uk_dynamics.core.servo import Instant, Measurement, Watched, smoothed, watched
from uk_dynamics.exceptions import StateError, UkDynamicsError
from uk_dynamics.mechanism import EncoderSpec
from uk_dynamics.mechanism.files import TasksSpec

PERIOD, DELAY = 0.001, 0.001
COMPILED: Any = {"control_period": PERIOD, "backend": "compiled"}
MASS, FRICTION = "links.coupler_link.mass", "joints.crank.friction"
SWEEP = {"type": "sinusoid", "offset": 0.9, "amplitude": 0.3, "frequency": 0.5, "phase": -np.pi / 2}
PLATFORM = {"x": "-sin(pi*t/2)", "z": "sin(pi*t/4)", "angle": "(pi/6)*sin(pi*t/4)**4"}


def five_bar_tasks(machine: Mechanism, **more: Any) -> Tasks:
    robust = {"parameters": {MASS: [1.0, 3.0], FRICTION: [0.0, 1.0]}, "delay": DELAY}
    tasks = {"sweep": {"type": "joint", "joint": "crank", "reference": SWEEP}}
    return Tasks.from_data({"robust": robust, "tasks": tasks} | more, machine)


def falling(**robust: Any) -> dict[str, Any]:
    """Tasks whose robust gain falls once mass and friction are known."""
    parameters = {MASS: [1.0, 3.0], FRICTION: [0.0, 1.0]}
    robust = {"parameters": parameters, "delay": DELAY, "least_bandwidth": 10.0} | robust
    return {"robust": robust, "adaptive": [MASS, FRICTION]}


def rrr3_tasks(machine: Mechanism, rows: tuple[str, ...] = ("x", "z", "angle")) -> Tasks:
    tasks = {
        row: {
            "type": "joint",
            "joint": f"platform_{row}",
            "reference": {"type": "expression", "value": PLATFORM[row]},
        }
        for row in rows
    }
    mass = {"links.platform.mass": [0.5, 1.5], "joints.shoulder_a.friction": [0.0, 0.2]}
    data = {"robust": {"parameters": mass, "delay": DELAY}, "tasks": tasks}
    more = {"adaptive": [*mass], "observer": {"x": 1.0}, "velocity_observer": {"z": 20.0}}
    return Tasks.from_data(data | more, machine)


@pytest.fixture(scope="module")
def five_bar() -> Mechanism:
    return Mechanism.from_file("five_bar")


@pytest.fixture(scope="module")
def rrr3() -> Mechanism:
    return Mechanism.from_file("rrr3")


def moved(
    machine: Mechanism, controller: ServoController, duration: float, **values: float
) -> Trajectory:
    """A motion of a machine whose parameters are others, with a delay."""
    real = machine.with_parameters({name.replace("__", "."): x for name, x in values.items()})
    start = machine.start(tasks=controller.tasks)
    how = {"control_period": PERIOD, "delay": DELAY}
    return simulate(real, start, duration, controller=controller, backend="compiled", **how)


def other(mass: float, friction: float) -> dict[str, float]:
    return {MASS.replace(".", "__"): mass, FRICTION.replace(".", "__"): friction}


def last_error(run: Trajectory) -> float:
    return float(np.abs(run.tracking_error[-len(run.t) // 2 :]).max())


@pytest.mark.slow
def test_true_parameters_are_found_and_the_error_goes(five_bar: Mechanism) -> None:
    both = ServoController(
        five_bar, five_bar_tasks(five_bar, adaptive=[MASS, FRICTION]), **COMPILED
    )
    robust = ServoController(five_bar, five_bar_tasks(five_bar), **COMPILED)
    with_them = moved(five_bar, both, 5.0, **other(2.8, 0.4))
    without = moved(five_bar, robust, 5.0, **other(2.8, 0.4))
    mass, friction = both.estimates
    # the issue asks for 1 %; 0.02 N m is 2 % of the interval of friction
    assert mass.value == pytest.approx(2.8, abs=0.028)
    assert friction.value == pytest.approx(0.4, abs=0.02)
    assert mass.determined
    assert friction.determined
    assert last_error(with_them) < last_error(without) / 5.0


@pytest.mark.slow
@pytest.mark.parametrize("acting", [(), ("robust",), ("adaptive",), ("robust", "observer")])
def test_estimates_do_not_depend_on_what_acts(five_bar: Mechanism, acting: tuple[str, ...]) -> None:
    """Errors, efforts and accelerations differ from the model's in another way each time."""
    tasks = five_bar_tasks(five_bar, adaptive=[MASS, FRICTION], observer=2.0)
    controller = ServoController(five_bar, tasks, **COMPILED)
    for part in ("robust", "adaptive", "observer"):
        setattr(controller, part, part in acting)
    moved(five_bar, controller, 3.0, **other(3.0, 1.0))
    mass, friction = controller.estimates
    assert mass.value == pytest.approx(3.0, abs=0.03)  # 1 %; 8 % off with accelerations of a model
    assert friction.value == pytest.approx(1.0, abs=0.1)  # whose deviation is 0.23 N m after 3 s


@pytest.mark.slow
def test_efforts_at_their_limits_do_not_spoil_estimates(five_bar: Mechanism) -> None:
    """What limits cut off does not accelerate the machine."""
    tasks = five_bar_tasks(five_bar, adaptive=[MASS, FRICTION])
    controller = ServoController(five_bar, tasks, **COMPILED)
    controller.adaptive = False
    controller.limits.effort[:] = 47.0  # N m; the motion takes up to 50
    run = moved(five_bar, controller, 3.0, **other(3.0, 1.0))
    assert (run.efforts > 46.9).mean() > 0.2
    mass, _ = controller.estimates
    assert mass.value == pytest.approx(3.0, abs=0.03)  # 1 %; 10 % off with the efforts asked for


@pytest.mark.slow
def test_a_machine_at_the_ends_of_its_intervals_is_found(rrr3: Mechanism) -> None:
    """An estimate that is cut off at an end does not spoil the others."""
    tasks = rrr3_tasks(rrr3)
    controller = ServoController(rrr3, tasks, **COMPILED)
    controller.observer = False
    moved(rrr3, controller, 5.0, links__platform__mass=0.5, joints__shoulder_a__friction=0.0)
    mass, friction = controller.estimates
    assert mass.value == pytest.approx(0.5, abs=0.005)  # 1 %
    assert friction.value == pytest.approx(0.0, abs=0.01)  # 5 % of the interval


@pytest.mark.slow
def test_efforts_that_act_late_do_not_spoil_estimates(rrr3: Mechanism) -> None:
    """What efforts do changes with the configuration, within a period by some of this friction."""
    controller = ServoController(rrr3, rrr3_tasks(rrr3), **COMPILED)
    controller.observer = False
    moved(rrr3, controller, 5.0, links__platform__mass=1.2, joints__shoulder_a__friction=0.15)
    mass, friction = controller.estimates
    assert mass.value == pytest.approx(1.2, abs=0.0012)  # 0.1 %
    # 2 %, its deviation; some 0.02 N m off where efforts count as those of when they were sent
    assert friction.value == pytest.approx(0.15, abs=0.003)


@pytest.mark.slow
def test_rounding_of_encoders_does_not_count_as_disturbance(rrr3: Mechanism) -> None:
    """Filtered once, encoders of 17 bits leave friction undetermined, and the mass 2.3 % off."""
    controller = ServoController(rrr3, rrr3_tasks(rrr3), **COMPILED)
    controller.observer = False
    values = {"links.platform.mass": 1.2, "joints.shoulder_a.friction": 0.15}
    real, start = rrr3.with_parameters(values), rrr3.start(tasks=controller.tasks)
    encoders = EncoderFeedback(controller, EncoderSpec(2.0 * np.pi / 2**17))
    simulate(real, start, 5.0, controller=encoders, control_period=PERIOD, delay=DELAY)
    mass, friction = controller.estimates
    assert mass.value == pytest.approx(1.2, abs=0.006)  # 0.5 %, three standard deviations
    assert friction.value == pytest.approx(0.15, abs=0.03)  # about one
    assert friction.determined


@pytest.mark.slow
def test_exported_c_has_corrections(five_bar: Mechanism, tmp_path: Path) -> None:
    """Compiled alone, over periods with other velocities than the model expects."""
    tasks = five_bar_tasks(
        five_bar, adaptive=[MASS, FRICTION], observer=2.0, velocity_observer=30.0
    )
    declared, text = servo_export(tasks, "law", known=known_of(tasks))
    source, library = tmp_path / "law.c", tmp_path / "law.so"
    source.write_text(text)
    (tmp_path / "law.h").write_text(declared)
    compiler = find_compiler()
    assert compiler is not None
    command = [*compiler.command, "-O1", "-shared", "-fPIC", "-o", library, source, "-lm"]
    subprocess.run(command, check=True)
    law, layout = ctypes.CDLL(str(library)), ServoLayout(tasks)
    memory, followed = np.zeros(layout.size), reference_table(tasks.references)
    assert followed is not None
    law.law_control_start.argtypes = (ctypes.c_void_p, ctypes.c_double)
    law.law_control_start(memory.ctypes.data, PERIOD)
    controller = (ctypes.c_void_p * 3)(memory.ctypes.data, followed.ctypes.data, None)
    law.law_control.argtypes = (ctypes.c_void_p, ctypes.c_double, *(ctypes.c_void_p,) * 4)
    python = ServoController(five_bar, tasks, control_period=PERIOD, backend="interpreted")
    start, efforts = five_bar.start(tasks=tasks), np.zeros(1)
    for k in range(6):
        state = five_bar.dynamics("interpreted").project(
            State(k * PERIOD, start.q, start.v + 0.02 * np.sin(0.3 * k))
        )
        if k == 1:  # as if filters had forgotten their beginning
            memory[layout["settled"]] = python.memory.fields["settled"][:] = 1.0
        q, v = state.q.copy(), state.v.copy()
        places = (x.ctypes.data for x in (q, v, efforts))
        assert law.law_control(ctypes.addressof(controller), state.t, *places, None) == 0
        # efforts of 40 N m, to rounding
        np.testing.assert_allclose(efforts, python.command(state).efforts, rtol=0, atol=1e-9)
    assert abs(memory[layout["estimate"]][0]) > 1e-3


@pytest.mark.slow
def test_what_the_motion_does_not_tell_is_not_determined(five_bar: Mechanism) -> None:
    """At rest nothing tells of friction, and its estimate stands still."""
    still = {"type": "joint", "joint": "crank", "reference": {"type": "constant", "value": 0.9}}
    tasks = five_bar_tasks(five_bar, adaptive=[FRICTION], tasks={"sweep": still})
    controller = ServoController(five_bar, tasks, **COMPILED)
    run = moved(five_bar, controller, 2.0, **other(2.5, 0.0))
    (friction,) = controller.estimates
    assert not friction.determined
    assert np.isfinite(run.tracking_error).all()


@pytest.mark.slow
def test_estimates_stay_within_their_intervals(five_bar: Mechanism) -> None:
    tasks = five_bar_tasks(five_bar, adaptive=[MASS, FRICTION])
    controller = ServoController(five_bar, tasks, **COMPILED)
    moved(five_bar, controller, 3.0, **other(5.0, 2.0))
    mass, friction = controller.estimates
    assert 1.0 <= mass.value <= 3.0
    assert 0.0 <= friction.value <= 1.0


@pytest.mark.slow
def test_an_observer_divides_what_no_parameter_explains(five_bar: Mechanism) -> None:
    errors = []
    for more in ({}, {"observer": 2.0}):
        controller = ServoController(five_bar, five_bar_tasks(five_bar, **more), **COMPILED)
        errors.append(last_error(moved(five_bar, controller, 3.0, **other(3.0, 0.0))))
    # a disturbance of 0.5 Hz is left to |jω/(jω + ω_o)| = 1/4 by an observer of 2 Hz
    assert errors[1] < errors[0] / 3.0


def watch(
    errors: np.ndarray[Any, Any], accelerations: np.ndarray[Any, Any], jump: int = -1
) -> list[float]:
    """Rates that a velocity observer of 100/s finds, of errors every ms whose model is known."""
    h, omega, one = PERIOD, np.array([100.0]), np.ones(1)
    past, rates = Watched(*np.zeros((2, 3, 1))), []
    for k, error in enumerate(errors):
        told = Measurement(one, one * (k > 0), one * (k > 0), h * one)
        a = accelerations[max(k - 1, 0) : k] if k else np.zeros(1)
        now = Instant(told, np.zeros(1), np.zeros(1), a, np.zeros(1))
        followed = np.zeros((3, 1)) if k < jump or jump < 0 else np.array([[1.0], [0.0], [0.0]])
        past = watched(now, past, error * one, followed, np.zeros(1), omega)
        rates.append(float(past.state[1, 0]))
    return rates


def test_a_velocity_observer_knows_the_model_and_finds_what_it_lacks() -> None:
    t = PERIOD * np.arange(400)
    a = 50.0 * np.sin(40.0 * t + 20.0 * PERIOD)  # m/s² in the middle of periods
    rate = PERIOD * np.concatenate(([0.0], np.cumsum(a[:-1])))
    error = np.concatenate(([0.0], np.cumsum(PERIOD * rate[:-1] + 0.5 * PERIOD**2 * a[:-1])))
    # a right model leaves rounding, however fast it accelerates
    np.testing.assert_allclose(watch(error, a), rate, rtol=0, atol=1e-9)
    # 3 m/s² that it lacks make 3 t (1 + ω t/2) exp(−ω t) of the rate, gone to 1e-9 m/s in the end
    late = np.array(watch(error + 1.5 * t**2, a)) - rate - 3.0 * t
    assert 0.5 * 3.0 / 100.0 < np.abs(late).max() < 3.0 / 100.0
    assert abs(late[-1]) < 1e-9
    # a reference that jumps by 1 m moves nothing
    still = watch(np.where(t < 0.2, 0.0, -1.0), 0.0 * a, jump=200)
    np.testing.assert_allclose(still, 0.0, rtol=0, atol=1e-12)


def smooth(positions: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Velocities by an observer of 250/s that is given differences of positions, every ms."""
    h, one, past, found = PERIOD * np.ones(1), np.ones(1), np.zeros((3, 1)), []
    for k, v in enumerate(np.diff(positions, prepend=positions[0]) / PERIOD):
        told = Measurement(one, one * (k > 0), one * (k > 0), h)
        past = smoothed(told, v * one, past, 0.5 * h, 250.0 * one)[:3]
        found.append(float(past[1, 0]))
    return np.array(found)


def test_friction_behind_encoders_has_the_sign_of_smoothed_velocities() -> None:
    t = PERIOD * np.arange(2000)
    # a constant acceleration is exact after 40 time constants, and no period late
    np.testing.assert_allclose(smooth(1.5 * t**2)[160:], 3.0 * t[160:], rtol=0, atol=1e-9)
    # it lacks 3/ω² of a jerk, with the ω of a pole 1/(1 + 0.25) a period: 1.5e-3 of 5 rad/s
    lacks, omega = (
        smooth(np.sin(5.0 * t))[160:] - 5.0 * np.cos(5.0 * t[160:]),
        np.log(1.25) / PERIOD,
    )
    np.testing.assert_allclose(np.abs(lacks).max(), 3.0 * 5.0**3 / omega**2, rtol=0.15)
    # a joint that turns round behind 17 bits; friction grows over 0.01 rad/s, a step is 0.05 rad/s
    step, v = 2.0 * np.pi / 2**17, 0.05 * np.cos(2.5 * t)
    rounded = step * np.rint(0.02 * np.sin(2.5 * t) / step)
    of_differences, of_smoothed = (
        np.abs(np.tanh(x / 0.01) - np.tanh(v / 0.01))[160:].mean()
        for x in (np.diff(rounded, prepend=0.0) / PERIOD, smooth(rounded))
    )
    assert of_smoothed < 0.15 * of_differences


@pytest.mark.slow
@pytest.mark.parametrize("written", [0.0, 0.4 * np.eye(2).ravel(), np.nan])
def test_information_that_no_law_has_left_is_named(five_bar: Mechanism, written: Any) -> None:
    controller = ServoController(
        five_bar, five_bar_tasks(five_bar, adaptive=[MASS, FRICTION]), control_period=PERIOD
    )
    assert len(controller.estimates) == 2
    controller.memory.fields["information"][:] = written
    with pytest.raises(StateError, match=rf"{MASS}, {FRICTION}.*forget\(\)"):
        _ = controller.estimates
    assert controller.corrections is not None
    controller.corrections.forget()
    assert [x.value for x in controller.estimates] == [2.0, 0.0]


@pytest.mark.slow
def test_a_velocity_observer_quiets_encoders_of_17_bits(five_bar: Mechanism) -> None:
    """A step of such an encoder within a period is 0.05 rad/s."""
    fast, errors = [], []
    for more in ({}, {"velocity_observer": 20.0}):
        tasks = five_bar_tasks(five_bar, **more)
        controller = ServoController(five_bar, tasks, **COMPILED)
        real = five_bar.with_parameters({MASS: 3.0, FRICTION: 1.0})
        encoders = EncoderFeedback(controller, EncoderSpec(2.0 * np.pi / 2**17, filter=PERIOD))
        how = {"control_period": PERIOD, "sample_period": PERIOD, "delay": DELAY}
        run = simulate(real, five_bar.start(tasks=tasks), 0.6, controller=encoders, **how)
        changes = np.diff(run.efforts[200:, 0])
        fast.append(np.sqrt((changes**2).mean()))
        errors.append(np.abs(run.tracking_error[200:]).max())
    assert fast[1] < fast[0] / 10.0
    assert errors[1] < 5e-4  # as the bound without encoders; the nominal law has 3e-3 rad


@pytest.mark.parametrize(
    "rows", [("x", "z", "angle"), pytest.param(("x", "z"), marks=pytest.mark.slow)]
)
def test_periods_in_c_are_those_in_python(rrr3: Mechanism, rows: tuple[str, ...]) -> None:
    """On one motion, with estimates that are wrong, and switched while it moves."""
    tasks = rrr3_tasks(rrr3, rows)
    python, c = (
        ServoController(rrr3, tasks, control_period=PERIOD, backend=backend)
        for backend in ("interpreted", "compiled")
    )
    assert not isinstance(c.compiled(), str)
    start, rng = rrr3.start(tasks=tasks), np.random.default_rng(2)
    for k in range(12):
        v = start.v + 0.05 * np.sin(0.4 * k) * rng.normal(size=rrr3.model.nv)
        state = State(k * PERIOD, start.q + 1e-4 * rng.normal(size=rrr3.model.nq), v)
        state = rrr3.dynamics("interpreted").project(state)
        for law in (python, c):
            law.robust, law.adaptive, law.observer = k != 4, k != 6, k != 8
            if k == 1:  # as if filters had forgotten their beginning
                law.memory.fields["settled"][:] = 1.0
        one, two = python.command(state), c.command(state)
        # efforts of 100 N m, divided by pivots of 1e-2
        np.testing.assert_allclose(two.efforts, one.efforts, rtol=0, atol=1e-7)
        np.testing.assert_array_equal(two.error_bound, one.error_bound)
        for x, y in zip(c.estimates, python.estimates, strict=True):
            np.testing.assert_allclose(x[1:3], y[1:3], rtol=1e-6, atol=1e-9)
    assert any(abs(x.value - rrr3.parameters[x.name].value) > 1e-4 for x in c.estimates)


@pytest.mark.slow
def test_lanes_have_corrections(rrr3: Mechanism, caplog: pytest.LogCaptureFixture) -> None:
    """Nine machines at once, more than a vector has lanes, against one after the other."""
    tasks = rrr3_tasks(rrr3)
    start, rng = rrr3.start(tasks=tasks), np.random.default_rng(3)
    begins = [
        rrr3.dynamics("interpreted").project(
            State(0.0, start.q, start.v + 0.2 * rng.normal(size=rrr3.model.nv))
        )
        for _ in range(9)
    ]
    controllers = [
        ServoController(rrr3, tasks, control_period=PERIOD, backend="compiled") for _ in begins
    ]
    options: dict[str, Any] = {
        "control_period": PERIOD,
        "sample_period": 0.01,
        "backend": "compiled",
    }
    caplog.set_level("INFO")
    many = simulate_many([rrr3] * 9, begins, 0.1, controllers=controllers, **options)
    assert "one after the other" not in caplog.text
    for begin, together, law in zip(begins, many, controllers, strict=True):
        controller = ServoController(rrr3, tasks, control_period=PERIOD)
        alone = simulate(rrr3, begin, 0.1, controller=controller, **options)
        # rounding of other orders of summation over 100 periods
        np.testing.assert_allclose(together.q, alone.q, rtol=0, atol=1e-7)
        for x, y in zip(law.estimates, controller.estimates, strict=True):
            np.testing.assert_allclose(x[1:3], y[1:3], rtol=1e-6, atol=1e-9)
        for told in ("estimates", "deviations"):  # of the last sample; lanes keep no others
            own, one = getattr(together, told), getattr(alone, told)
            np.testing.assert_allclose(own[-1], one[-1], rtol=1e-6, atol=1e-9)
            assert np.isnan(own[:-1]).all()


@pytest.mark.slow
@pytest.mark.parametrize("more", [{"observer": 8.0}, {"velocity_observer": 60.0}])
def test_an_observer_tolerates_the_delay_that_describe_says(
    five_bar: Mechanism, more: dict[str, Any]
) -> None:
    """A little below the margin the first error of 0.1 mrad rings down, above it swings on."""
    still = {"type": "joint", "joint": "crank", "reference": {"type": "constant", "value": 0.9}}
    tasks = five_bar_tasks(five_bar, tasks={"sweep": still}, **more)
    (margin,) = observer_margins(tasks, PERIOD)
    assert margin.with_observer.phase < margin.without.phase
    left = []
    for part in (0.85, 1.15):
        controller = ServoController(five_bar, tasks, **COMPILED)
        run = simulate(
            *(five_bar, five_bar.start(tasks=tasks), 0.6),
            controller=controller,
            **COMPILED,
            delay=DELAY + part * margin.with_observer.delay,
        )
        left.append(np.abs(run.tracking_error[-len(run.t) // 6 :]).max())
    assert left[0] < 1e-8
    assert left[1] > 1e-5  # as far as the boundary layer lets it


def test_an_observer_that_does_nothing_costs_no_margin(five_bar: Mechanism) -> None:
    """Down to the smallest numbers, whose inverse is infinite."""
    (margin,) = observer_margins(five_bar_tasks(five_bar, observer=1e-320), PERIOD)
    assert margin.with_observer == margin.without


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"adaptive": ["links.nothing.mass"]}, 'adaptive: no interval.*"links.nothing.mass"'),
        ({"adaptive": [MASS, MASS]}, "adaptive"),
        ({"observer": {"nothing": 2.0}}, 'observer: no task "nothing"'),
        ({"velocity_observer": {"nothing": 2.0}}, 'velocity_observer: no task "nothing"'),
        (
            {
                "tasks": {"spin": {"type": "speed_coupling", "joints": {"crank": 1}}},
                "velocity_observer": 20.0,
            },
            "velocity_observer.spin: is of velocities",
        ),
        (falling(), "least_bandwidth: found 10 Hz; give a larger bandwidth"),
        (falling(bandwidth=5.0), "least_bandwidth: found 10 Hz; give a larger bandwidth"),
        (falling(bandwidth=60.0, leakage=1.0), "remove form and leakage"),
        (falling(bandwidth=60.0, form="surface"), "remove form and leakage"),
        (falling(bandwidth=60.0, motors={"crank_motor": 0.1}), "crank_motor may mislead"),
        (falling(bandwidth=60.0) | {"adaptive": [MASS]}, f"{FRICTION} may mislead"),
        ({"observer": -1.0}, "observer: found -1.0; give a number above 0 in Hz"),
        ({"observer": {"sweep": 0}}, "observer.sweep: found 0; give a number above 0 in Hz"),
    ],
)
def test_mistakes_are_named(five_bar: Mechanism, more: dict[str, Any], said: str) -> None:
    with pytest.raises(UkDynamicsError, match=said):
        five_bar_tasks(five_bar, **more)


@pytest.mark.parametrize(
    "backend", ["interpreted", pytest.param("compiled", marks=pytest.mark.slow)]
)
def test_without_periods_nothing_is_compared(five_bar: Mechanism, backend: str) -> None:
    tasks = five_bar_tasks(five_bar, adaptive=[MASS], observer=2.0)
    controller = ServoController(five_bar, tasks, backend=backend)
    assert not controller.adaptive
    assert not controller.observer
    assert np.isfinite(controller.command(five_bar.start()).efforts).all()
    with pytest.raises(UkDynamicsError, match="give a control period"):
        simulate(five_bar, five_bar.start(), 0.1, controller=controller)


@pytest.mark.slow
def test_check_names_what_a_machine_cannot_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = {"sweep": {"type": "joint", "joint": "crank", "reference": SWEEP}}
    spec = {"parameters": {MASS: [0.2, 200.0]}, "delay": 0.004}
    file = tmp_path / "tasks.yaml"
    file.write_text(
        yaml.safe_dump({"schema": 1, "robust": spec, "observer": 300.0, "tasks": sweep})
    )
    assert main(["check", "five_bar", "--tasks", str(file)]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "no error is promised: uncertain inertia makes" in said
    assert "crank_motor" in said
    assert "with the whole robust term" in said
    assert "sweep: is unstable with an observer of 300 Hz and this delay" in said


@pytest.mark.slow
def test_mutated_files_are_read_or_named(five_bar: Mechanism) -> None:
    """A mistake is one line; what is read can be asked for its corrections."""
    text = yaml.safe_dump(
        {
            "schema": 1,
            "robust": {"parameters": {MASS: [1.0, 3.0], FRICTION: [0.0, 1.0]}, "delay": DELAY},
            "adaptive": [MASS, FRICTION],
            "observer": {"sweep": 2.0},
            "tasks": {"sweep": {"type": "joint", "joint": "crank", "reference": SWEEP}},
        }
    )
    found = 0
    for seed in range(1000):
        said = ""
        try:
            tasks = Tasks(TasksSpec.from_text(mutated(text, random.Random(seed))), five_bar)
            assert np.isfinite(tasks.observed).all()
            found += 1
        except UkDynamicsError as error:
            said = str(error)
        assert len(said.splitlines()) <= 1
    assert 50 < found < 700
