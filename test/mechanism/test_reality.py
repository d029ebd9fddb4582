# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Machines that are not as their controllers believe."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from support.mutations import mutated

from uk_dynamics import Mechanism, Reality, ServoController, State, Tasks, Trajectory, simulate
from uk_dynamics.cli.main import main
from uk_dynamics.control import EncoderFeedback
from uk_dynamics.exceptions import InputError, MechanismFileError, UkDynamicsError, UnknownNameError
from uk_dynamics.mechanism import EncoderSpec
from uk_dynamics.ros.simulation.simulated_machine import SimulatedMachine

PERIOD = 0.002
TEXT = """
schema: 1
parameters: {links.coupler_link.mass: 1.5, joints.crank.friction: 0.5}
forces:
  cable: {type: joint_spring, joints: {crank: 1.0}, stiffness: 0.8, rest: 0.1}
delay: 0.004
encoders: {resolution: 4.8e-5, noise: 1.0e-5, filter: 0.003, seed: 3}
"""


@pytest.fixture(scope="module")
def five_bar() -> Mechanism:
    return Mechanism.from_file("five_bar")


def run(
    plant: Mechanism, model: Mechanism, delay: float = 0.0, encoders: EncoderSpec | None = None
) -> Trajectory:
    tasks = Tasks.from_file("five_bar_sweep", model)
    servo = ServoController(model, tasks, control_period=PERIOD)
    controller = servo if encoders is None else EncoderFeedback(servo, encoders)
    start = model.start(tasks=tasks)
    return simulate(plant, start, 0.3, controller=controller, control_period=PERIOD, delay=delay)


def test_the_machine_moves_as_one_that_is_built_so(five_bar: Mechanism) -> None:
    data = {"parameters": {"links.coupler_link.mass": 1.5, "joints.crank.friction": 0.5}}
    plant = Reality.from_data(data).machine(five_bar)
    by_hand = five_bar.with_parameters(data["parameters"])
    first, second, exact = run(plant, five_bar), run(by_hand, five_bar), run(five_bar, five_bar)
    np.testing.assert_allclose(first.q, second.q, rtol=0, atol=1e-12)
    assert np.abs(first.tracking_error).max() > 100 * np.abs(exact.tracking_error).max()


def test_forces_are_added(five_bar: Mechanism) -> None:
    """A spring in the crank is an effort of its joint."""
    cable = {"type": "joint_spring", "joints": {"crank": 1.0}, "stiffness": 0.8, "rest": 0.1}
    plant = Reality.from_data({"forces": {"cable": cable}}).machine(five_bar)
    state = five_bar.start()
    crank = five_bar.model.velocity_index("crank")
    more = plant.terms(state).F - five_bar.terms(state).F
    expected = np.zeros(len(more))
    expected[crank] = -0.8 * (state.q[crank] - 0.1)
    np.testing.assert_allclose(more, expected, rtol=0, atol=1e-12)
    both = Reality.from_data(
        {"forces": {"cable": cable}, "parameters": {"links.coupler_link.mass": 2}}
    )
    assert both.machine(five_bar).parameters["links.coupler_link.mass"].value == 2.0


def test_nothing_said_is_the_model(five_bar: Mechanism) -> None:
    assert Reality.from_data({}).machine(five_bar) is five_bar


def test_the_command_says_what_the_library_does(
    five_bar: Mechanism, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "reality.yaml", tmp_path / "run.npz"
    file.write_text(TEXT)
    line = ["simulate", "five_bar", "--tasks", "five_bar_sweep", "--control-period", str(PERIOD)]
    line += ["--start-on-tasks", "--duration", "0.3", "--plant", str(file), "--out", str(out)]
    assert main(line) == 0
    reality = Reality.from_file(file)
    expected = run(reality.machine(five_bar), five_bar, reality.delay, reality.encoders)
    with np.load(out) as found:
        # compiled or not: rounding over 150 periods
        np.testing.assert_allclose(found["q"], expected.q, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"parameters": {"links.coupler.mass": 1.0}}, 'no parameter "links.coupler.mass"'),
        (
            {"parameters": {"links.coupler_link.mass": -1.0}},
            "found -1.0; give a finite number >= 0",
        ),
        ({"forces": {"pull": {"type": "effort", "joints": {"crnk": 1}, "effort": 1}}}, '"crnk"'),
        ({"delay": -0.1}, "delay"),
        ({"delays": 0.1}, "delays"),
    ],
)
def test_mistakes_are_named_with_the_file(data, problem: str, five_bar: Mechanism) -> None:
    with pytest.raises(InputError) as caught:
        Reality.from_data(data).machine(five_bar)
    assert "<data>" in str(caught.value)
    assert problem in str(caught.value)
    assert isinstance(caught.value, UnknownNameError | InputError | MechanismFileError)


@pytest.mark.slow
def test_damaged_files_end_in_one_line(five_bar: Mechanism, tmp_path: Path) -> None:
    file = tmp_path / "reality.yaml"
    for seed in range(300):
        text = mutated(TEXT, random.Random(seed))
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        said = ""
        try:
            found = Reality.from_file(file).machine(five_bar)
            assert np.isfinite(found.terms(found.start()).F).all()
        except UkDynamicsError as error:
            said = str(error)
        assert len(said.splitlines()) <= 1


class Heard:
    """A controller that remembers what it was told."""

    def __init__(self, model: Mechanism) -> None:
        self.tasks = Tasks.from_file("five_bar_sweep", model)
        self.inner = ServoController(model, self.tasks, control_period=PERIOD)
        self.mechanism, self.active = model, None
        self.row_names = self.inner.row_names
        self.states: list[State] = []

    def command(self, state: State):
        self.states.append(state)
        return self.inner.command(state)

    def tracking_error(self, state: State):
        return self.inner.tracking_error(state)


def test_a_controller_behind_encoders_knows_what_they_resolve(five_bar: Mechanism) -> None:
    step = 2.0 * np.pi / 2**17
    heard = Heard(five_bar)
    encoders = EncoderSpec(resolution=step, filter=0.003)
    start = five_bar.start(tasks=heard.tasks)
    found = simulate(
        five_bar,
        start,
        0.3,
        controller=EncoderFeedback(heard, encoders),
        control_period=PERIOD,
        sample_period=PERIOD,
    )
    measured = [five_bar.model.position_index(name) for name in five_bar.measured.names]
    told = np.array([state.q for state in heard.states])
    exact = found.q[: len(told)]
    off = told[:, measured] - exact[:, measured]
    assert 0.1 * step < np.abs(off).max() <= 0.5 * step * (1 + 1e-9)
    steps = told[:, measured] / step
    np.testing.assert_allclose(steps, np.round(steps), rtol=0, atol=1e-6)
    # the others follow through the loops, which are closed to the solver's tolerance
    open_ = max(np.abs(five_bar.dynamics().residual(s).position).max() for s in heard.states[:20])
    assert open_ < 1e-9
    # 17 bits and differences over 2 ms make 24 mrad/s of velocity; the filter takes a part
    assert 1e-7 < np.abs(found.tracking_error).max() < 5e-3


@pytest.mark.parametrize("delay", [0.0, 0.004, 0.0047])
def test_commands_of_a_simulated_machine_act_late(five_bar: Mechanism, delay: float) -> None:
    """To the nearest step, as in simulate, which is told a whole number of them."""
    heard = Heard(five_bar)
    start = five_bar.start(tasks=heard.tasks)
    machine = SimulatedMachine(five_bar, PERIOD, start=start, delay=delay)
    expected = simulate(
        five_bar,
        start,
        0.1,
        controller=heard,
        control_period=PERIOD,
        sample_period=PERIOD,
        method="rk4",
        step=PERIOD,
        delay=PERIOD * round(delay / PERIOD),
    )
    other = Heard(five_bar)
    for k in range(51):
        np.testing.assert_allclose(machine.state.q, expected.q[k], rtol=0, atol=1e-10)
        machine.command(other.command(machine.state).efforts)
        machine.step()
    machine.reset()
    assert not machine.efforts.any()


def test_noise_can_be_repeated(five_bar: Mechanism) -> None:
    def noisy(seed: int) -> np.ndarray:
        encoders = EncoderSpec(noise=1e-5, filter=0.003, seed=seed)
        heard = Heard(five_bar)
        controller = EncoderFeedback(heard, encoders)
        start = five_bar.start(tasks=heard.tasks)
        return simulate(five_bar, start, 0.1, controller=controller, control_period=PERIOD).q

    np.testing.assert_array_equal(noisy(1), noisy(1))
    assert np.abs(noisy(1) - noisy(2)).max() > 1e-9


def test_encoders_need_a_controller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "reality.yaml"
    file.write_text("schema: 1\nencoders: {resolution: 1.0e-4}\n")
    assert main(["simulate", "five_bar", "--duration", "0.1", "--plant", str(file)]) == 2
    assert "encoders: encoders are for a servo controller" in capsys.readouterr().err
    line = ["--tasks", "five_bar_sweep", "--control-period", "0.002", "--duration", "0.1"]
    assert main(["simulate", "five_bar", *line, "--plant", str(file)]) == 0
