# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Readings of encoders in C are those in Python, along whole motions under laws in C."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.mechanism_builder import shipped
from support.wrong_compiler import wrong_compiler

from uk_dynamics import Mechanism, ServoController, Tasks, Trajectory, simulate
from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.compilation.runtime import LAW
from uk_dynamics.compilation.verification import WrongLibraryError
from uk_dynamics.control import EncoderFeedback
from uk_dynamics.control.estimation import EncoderReadings, encoder_readings
from uk_dynamics.mechanism import EncoderSpec
from uk_dynamics.mechanism.dynamics import Law, LawInC
from uk_dynamics.simulation import simulate_many

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")

PERIOD = 1e-3  # s
BITS_17 = 2.0 * np.pi / 2**17
NOISY = EncoderSpec(resolution=BITS_17, noise=1e-5, filter=2e-3, seed=5)


def moved(
    law: ServoController,
    duration: float,
    encoders: EncoderSpec = NOISY,
    plant: Mechanism | None = None,
    delay: float = 0.0,
) -> tuple[Trajectory, Trajectory]:
    """With readings in C, and in Python; all else is in C."""
    machine = law.mechanism
    found = []
    for backend in ("compiled", "interpreted"):
        law.reset()
        if law.corrections is not None:
            law.corrections.forget()
        feedback = EncoderFeedback(law, encoders, backend)
        assert isinstance(feedback.compiled(), str) == (backend == "interpreted")
        start = machine.start(tasks=law.tasks)
        options = {"control_period": PERIOD, "sample_period": PERIOD, "delay": delay}
        run = simulate(
            plant or machine, start, duration, controller=feedback, backend="compiled", **options
        )
        found.append(run)
    return found[0], found[1]


def assert_alike(first: Trajectory, second: Trajectory) -> None:
    """To rounding, which corrections of the loops leave at 1e-11 m or rad at most."""
    np.testing.assert_allclose(first.q, second.q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(first.v, second.v, rtol=0, atol=1e-9)


def servo(machine: Mechanism, tasks: str) -> ServoController:
    read = Tasks.from_file(tasks, machine)
    return ServoController(machine, read, control_period=PERIOD, backend="compiled")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "tasks", "delay"),
    [
        ("five_bar", "five_bar_sweep", 0.0),
        ("rrr3", "rrr3_track", 0.001),
        ("excavator", "excavator_grade", 0.002),
        ("stewart_platform", "stewart_platform_heave_roll", 0.001),
        ("dual_panda", "dual_panda_load", 0.001),
    ],
)
def test_motions_behind_encoders_are_those_of_python(name: str, tasks: str, delay: float) -> None:
    machine = shipped(name)
    found = moved(servo(machine, tasks), 0.05, delay=delay)
    assert_alike(*found)
    assert np.abs(found[0].tracking_error).max() > 1e-7  # not the law of exact states


def corrected(machine: Mechanism, **more: Any) -> ServoController:
    sinusoid = {"offset": 0.9, "amplitude": 0.3, "frequency": 0.5, "phase": -np.pi / 2}
    sweep = {"type": "joint", "joint": "crank", "reference": {"type": "sinusoid", **sinusoid}}
    data = {
        "robust": {"parameters": {"links.coupler_link.mass": [1.0, 3.0]}, "delay": 0.001},
        "tasks": {"sweep": sweep},
        **more,
    }
    tasks = Tasks.from_data(data, machine)
    return ServoController(machine, tasks, control_period=PERIOD, backend="compiled")


@pytest.mark.slow
def test_laws_that_remember_periods_are_given_the_same() -> None:
    """The velocity observer, estimates and the robust term of a machine that is heavier."""
    machine = shipped("five_bar")
    law = corrected(machine, velocity_observer=40.0, adaptive=["links.coupler_link.mass"])
    plant = machine.with_parameters({"links.coupler_link.mass": 3.0})
    told = []
    for duration in (0.15, 0.3):
        found = moved(law, duration, EncoderSpec(resolution=BITS_17), plant, 0.001)
        # rounding of 1e-12 m passes through differences over 1 ms, and through the estimates
        np.testing.assert_allclose(found[0].q, found[1].q, rtol=0, atol=1e-9)
        told.append([run.estimates[-1, 0] for run in found])
    np.testing.assert_allclose(told[1][0], told[1][1], rtol=0, atol=1e-6)
    assert told[1][0] > 2.5


def test_readings_in_c_and_in_python_alternate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions, velocities, loops and noise, which is drawn again every seven readings."""
    machine = shipped("stewart_platform")
    heights, rates = 0.7 + 1e-3 * np.arange(20), {"platform_z": 0.1}
    states = [
        machine.start(velocities=rates, t=0.01 * k, platform_z=z) for k, z in enumerate(heights)
    ]
    whole = EncoderReadings(machine, NOISY)
    expected = [whole.read(state) for state in states]
    monkeypatch.setattr(encoder_readings, "_DRAWN", 7)
    alternating, told = EncoderReadings(machine, NOISY), []

    def tell(_: int, t: float, q: int, v: int, efforts: int, flags: int) -> int:
        told.append([(ctypes.c_double * machine.model.nv).from_address(x)[:] for x in (q, v)])
        return 0

    inner = LAW(tell)
    law = Law(ctypes.cast(inner, ctypes.c_void_p).value or 0, 0, (), inner)
    both = alternating.before(LawInC(law, (), lambda: None, lambda *_: None), "compiled")
    assert not isinstance(both, str)
    ask, nothing = LAW(both.law.function), np.zeros(1)
    for k, (state, wanted) in enumerate(zip(states, expected, strict=True)):
        if k % 5 in (1, 2):
            found = alternating.read(state)
            q, v = found.q, found.v
        else:
            both.set()
            places = (x.ctypes.data for x in (state.q, state.v, nothing, nothing))
            assert ask(both.law.controller, state.t, *places) == 0
            q, v = map(np.array, told[-1])
        np.testing.assert_allclose(q, wanted.q, rtol=0, atol=1e-11)
        np.testing.assert_allclose(v, wanted.v, rtol=0, atol=1e-9)
    assert len(told) == 12


@pytest.mark.slow
def test_lanes_are_single_motions() -> None:
    machine = shipped("five_bar")
    tasks = Tasks.from_file("five_bar_sweep", machine)
    machines = [machine.with_parameters({"links.coupler_link.mass": x}) for x in (1.0, 2.0, 3.0)]
    start = machine.start(tasks=tasks)

    def law() -> EncoderFeedback:
        return EncoderFeedback(servo(machine, "five_bar_sweep"), NOISY, "compiled")

    options: dict[str, Any] = {"control_period": PERIOD, "sample_period": PERIOD, "delay": 0.001}
    options["backend"] = "compiled"
    together = simulate_many(
        machines, [start] * 3, 0.1, controllers=[law() for _ in machines], **options
    )
    for one, found in zip(machines, together, strict=True):
        alone = simulate(one, start, 0.1, controller=law(), **options)
        np.testing.assert_allclose(found.q, alone.q, rtol=0, atol=1e-11)


def test_another_motion_begins_with_the_same_noise() -> None:
    machine = shipped("five_bar")
    tasks = Tasks.from_file("five_bar_sweep", machine)
    feedback = EncoderFeedback(servo(machine, "five_bar_sweep"), NOISY, "compiled")

    def run() -> Trajectory:
        feedback.controller.reset()
        feedback.reset()
        start, how = machine.start(tasks=tasks), {"control_period": PERIOD, "backend": "compiled"}
        return simulate(machine, start, 0.02, controller=feedback, **how)

    np.testing.assert_array_equal(run().q, run().q)


def test_readings_of_a_wrong_compiler_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = shipped("five_bar")
    inner = servo(machine, "five_bar_sweep").compiled()
    assert not isinstance(inner, str)
    monkeypatch.setenv("CC", str(wrong_compiler(tmp_path)))  # a sine that is off by a millionth
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    said = r"encoders of five_bar .* readings of encoders is off"
    with pytest.raises(WrongLibraryError, match=said):
        EncoderReadings(machine, NOISY).before(inner, "compiled")
    monkeypatch.delenv("UK_DYNAMICS_BACKEND")  # what is not compiled is told, and read in Python
    assert "answers wrongly" in str(EncoderReadings(machine, NOISY).before(inner))
