# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Laws on machines that are drawn from intervals, and the command that tells of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from uk_dynamics import Mechanism, Tasks
from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import EncoderSpec
from uk_dynamics.sweeps.drawn_machines import LAWS, robustness

FRICTION = """
schema: 1
robust:
  parameters: {joints.crank.friction: [0.0, 1.0]}
  delay: 0.001
tasks:
  sweep:
    type: joint
    joint: crank
    reference: {type: sinusoid, offset: 0.9, amplitude: 0.3, frequency: 0.5, phase: -1.570796}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "robust.yaml"
    path.write_text(FRICTION)
    return path


@pytest.mark.slow
def test_bounds_are_kept_as_declared_and_broken_beyond(file: Path) -> None:
    machine = Mechanism.from_file("five_bar")
    tasks = Tasks.from_file(file, machine)
    found = robustness(machine, tasks, machines=4, duration=0.4)
    assert found.kept == 1.0
    np.testing.assert_array_equal(found.values["joints.crank.friction"][:2], [0.0, 1.0])
    nominal, robust = (found.laws[law].quantile(1.0)[0] for law in ("nominal", "robust"))
    # s and e decay with 2π·5 and (302 + 2π·5)/s instead of 2π·5/s: 10.6 times smaller
    assert 9.0 < nominal / robust < 12.0
    beyond = robustness(machine, tasks, machines=4, duration=0.4, scale=5.0)
    assert 0.0 < beyond.kept < 1.0
    assert beyond.values["joints.crank.friction"].max() == 5.0


@pytest.mark.slow
def test_learned_sizes_meet_what_is_larger_than_declared(file: Path) -> None:
    machine = Mechanism.from_file("five_bar")
    file.write_text(FRICTION.replace("  delay", "  leakage: 5.0\n  delay"))
    found = robustness(
        machine, Tasks.from_file(file, machine), machines=2, duration=2.0, scale=20.0
    )
    assert not found.promise.failing  # of the law with the declared sizes
    declared, learned = (found.laws[law].quantile(1.0)[0] for law in ("robust", "leakage"))
    # 20 N m where 1 N m is declared: the term is at ρ, and leaves most of the error
    assert learned < 0.5 * declared


@pytest.mark.slow
def test_encoders_are_between_machine_and_law(file: Path) -> None:
    machine = Mechanism.from_file("five_bar")
    tasks = Tasks.from_file(file, machine)
    encoders = EncoderSpec(resolution=4.8e-5, filter=0.001)
    exact, coarse, noisy = (
        robustness(machine, tasks, machines=1, duration=0.1, encoders=x)
        for x in (None, encoders, replace(encoders, noise=1e-4))
    )
    for law in LAWS:
        assert coarse.laws[law].chatter.max() > 2.0 * exact.laws[law].chatter.max()
        assert noisy.laws[law].chatter.max() > coarse.laws[law].chatter.max()


@pytest.mark.slow
def test_some_laws_are_tried_from_a_time_on(file: Path) -> None:
    """The first error of a machine that starts at rest decays, and friction remains."""
    machine = Mechanism.from_file("five_bar")
    tasks = Tasks.from_file(file, machine)
    whole, late = (
        robustness(machine, tasks, machines=1, duration=0.02, among=["robust"], settled=t)
        for t in (0.0, 0.015)
    )
    with pytest.raises(InputError, match=r"before 0\.02 s"):
        robustness(machine, tasks, machines=1, duration=0.02, settled=0.02)
    assert list(whole.laws) == list(late.laws) == ["robust"]
    assert (late.laws["robust"].errors <= whole.laws["robust"].errors).all()
    assert (late.laws["robust"].efforts < whole.laws["robust"].efforts).any()


@pytest.mark.slow
def test_the_command_tells_and_draws(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "errors.png"
    line = ["robustness", "five_bar", "--tasks", str(file), "--machines", "2", "--duration", "0.4"]
    assert main([*line, "--plot", str(picture)]) == 0
    said = capsys.readouterr().out
    assert "2, of which 100% stay within what robust promises" in said
    assert "sweep promised" in said
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main([*line, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["kept"] == 1.0
    assert set(facts["laws"]) == set(LAWS)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--machines", "0"], "expected at least 1 machine"),
        (["--filter", "0.01"], "--filter: that is of encoders; add --resolution"),
        (["--noise", "1e-5"], "--noise: that is of encoders; add --resolution"),
        (["--plot", "errors.txt"], ".png"),
        (["--tasks", "five_bar_sweep"], "no interval of a parameter"),
        (["--seed", "-1"], "found -1"),
    ],
)
def test_mistakes_are_one_line(
    more: list[str], problem: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["robustness", "five_bar", "--tasks", str(file), *more]) == 2
    said = capsys.readouterr().err
    assert problem in said
    assert len(said.strip().splitlines()) == 1


def test_tasks_without_intervals_are_named() -> None:
    machine = Mechanism.from_file("five_bar")
    with pytest.raises(InputError, match="no interval of a parameter"):
        robustness(machine, Tasks.from_file("five_bar_sweep", machine))
