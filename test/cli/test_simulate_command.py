# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics simulate``: its figures are physics, its files hold the motion."""

import io
import json
import sys

import numpy as np
import pytest
from support.command_line import choices

from uk_dynamics import ServoController, simulate
from uk_dynamics.cli.main import main
from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.compilation.build.library import announce, is_cached
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.time_integration import METHODS


def summary(capsys, *arguments):
    assert main(["simulate", *arguments, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "", "no progress bar where nobody looks"
    return json.loads(captured.out)


def refused(capsys, *arguments):
    assert main(["simulate", *arguments]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    return captured.err


def test_a_free_fall_keeps_loops_and_energy(capsys):
    found = summary(capsys, "five_bar", "--set", "crank=0.9", "--duration", "0.5")
    assert found["simulated_time"] == pytest.approx(0.5, abs=1e-12)
    assert found["energy_should_be_constant"] is True
    assert found["energy_range"] > 1.0  # J: it does move
    # DOP853 at rtol 1e-9 over half a second; loops are projected to rounding after each step.
    assert abs(found["energy_change"]) <= 1e-7 * found["energy_range"]
    assert found["largest_violation"] <= 1e-10
    assert found["largest_violation_row"].split(".")[0] in ("middle_pin", "right_pin")
    assert found["lowest_rank"] == found["highest_rank"] == 3
    assert 0 < found["steps"] <= found["evaluations"]
    assert found["largest_tracking_error_row"] == ""


@pytest.mark.parametrize("name", ["spiral_particle", "swarm", "slider_crank"])
def test_a_driven_or_damped_machine_does_not_drift_in_energy(name, capsys):
    """Its energy changes because forces do work, which is no error of the integration."""
    found = summary(capsys, name, "--duration", "0.1")
    assert found["energy_should_be_constant"] is False
    assert abs(found["energy_change"]) > 1e-6  # J
    if name == "slider_crank":  # it is damped
        assert found["energy_change"] < 0.0


@pytest.mark.slow
def test_a_task_that_begins_on_its_reference_is_followed(capsys):
    arguments = ["five_bar", "--tasks", "five_bar_sweep", "--duration", "0.5"]
    continuous = summary(capsys, *arguments)
    sampled = summary(capsys, *arguments, "--control-period", "0.002")

    assert continuous["energy_should_be_constant"] is False
    assert continuous["largest_tracking_error_row"].startswith("sweep")
    # Exact law, continuous in time: what is left is the integrator's error.
    assert continuous["largest_tracking_error"] <= 1e-6
    # Efforts held for 2 ms lag by one period: v T is about 0.002 rad, and feedback makes it less.
    assert continuous["largest_tracking_error"] < sampled["largest_tracking_error"] <= 2e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "tolerance"),
    [
        (["--method", "RK45", "--rtol", "1e-8"], 1e-5),
        (["--method", "rk4", "--step", "0.002"], 1e-5),
        (["--method", "semi_implicit_euler", "--step", "0.0005"], 1e-2),  # first order
    ],
)
def test_every_method_finds_the_same_motion(options, tolerance, capsys, tmp_path):
    end = []
    for name, extra in (("reference", []), ("method", options)):
        file = tmp_path / f"{name}.npz"
        summary(capsys, "four_bar", "--duration", "0.2", "--out", str(file), *extra)
        with np.load(file) as data:
            end.append(data["q"][-1] - data["q"][0])
    assert np.max(np.abs(end[0])) > 0.05  # rad: it does move
    assert np.max(np.abs(end[1] - end[0])) <= tolerance


def test_every_method_of_the_library_is_offered():
    assert set(choices("simulate", "--method")) == set(METHODS)


def test_samples_are_written_by_name(tmp_path, capsys):
    file = tmp_path / "run.csv"
    summary(capsys, "four_bar", "--duration", "0.1", "--sample-period", "0.02", "--out", str(file))
    data = np.genfromtxt(file, delimiter=",", names=True, deletechars="")
    assert data["t"][0] == 0.0
    assert data["t"][-1] == pytest.approx(0.1, abs=1e-12)
    # The loop as the file declares it: four_bar's pin holds in every sample.
    assert np.max(np.abs(data["residual.rocker_pin.x"])) <= 1e-10
    assert np.diff(data["t"]) == pytest.approx(0.02, abs=1e-12)


def test_a_picture_is_drawn(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    file = tmp_path / "run.png"
    summary(capsys, "four_bar", "--duration", "0.05", "--plot", str(file))
    assert file.read_bytes().startswith(b"\x89PNG")


def test_the_table_says_what_matters(capsys):
    assert main(["simulate", "five_bar", "--duration", "0.05"]) == 0
    captured = capsys.readouterr()
    for label in ("steps", "evaluations", "largest residual", "energy drift", "real-time factor"):
        assert f"  {label}" in captured.out
    assert captured.err == ""


def test_a_terminal_sees_the_progress(monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(["simulate", "four_bar", "--duration", "0.05"]) == 0
    assert "of 0.05 s" in terminal.getvalue()


@pytest.mark.parametrize("option", ["--out", "--plot"])
@pytest.mark.parametrize(
    ("name", "remedy"), [("run.txt", "must end with"), ("nowhere/run.{}", "create it first")]
)
def test_files_that_cannot_be_written_are_told_before_simulating(
    option, name, remedy, tmp_path, capsys
):
    file = str(tmp_path / name.format({"--out": "npz", "--plot": "png"}[option]))
    # The mechanism does not exist either: the file is looked at first.
    message = refused(capsys, "no_such_mechanism", option, file)
    assert message.startswith(f"uk_dynamics: error: {file}: ")
    assert remedy in message


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--step", "0.001"], "--step is for rk4 and semi_implicit_euler"),
        (["--method", "rk4", "--rtol", "1e-6"], "--rtol is for DOP853"),
        (["--control-period", "0.01"], "--control-period needs --tasks"),
        (["--set", "crnk=1"], 'did you mean "crank"?'),
    ],
)
def test_options_that_would_do_nothing_are_refused(options, words, capsys):
    assert words in refused(capsys, "four_bar", *options)


def test_a_machine_without_motors_cannot_follow_tasks(tmp_path, capsys):
    file = tmp_path / "free.yaml"
    file.write_text("schema: 1\nmodel: {urdf: package://uk_dynamics/urdf/four_bar.urdf.xacro}\n")
    message = refused(capsys, str(file), "--tasks", "four_bar_turn")
    assert f"{file}: actuators: " in message


def test_constraints_are_switched_on_the_way(capsys):
    command = ["simulate", "landing_leg", "--duration", "0.4", "--switch", "0.3", "foot=on"]
    assert main([*command, "--json"]) == 0
    (switching,) = json.loads(capsys.readouterr().out)["switchings"]
    assert switching["t"] == 0.3
    assert switching["changes"] == {"foot": True}
    assert switching["energy_lost"] > 1.0
    assert main(command) == 0
    assert "foot on; " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("switch", "problem"),
    [
        (("0.1", "foot"), '"foot" is not NAME=on or NAME=off'),
        (("soon", "foot=on"), '"soon" is not a number'),
        (("9", "foot=on"), "expected a time between 0 and 0.4 s"),
        (("0.1", "hand=on"), 'no switchable constraint "hand"'),
    ],
)
def test_switching_that_cannot_be_is_refused(switch, problem, capsys):
    assert main(["simulate", "landing_leg", "--duration", "0.4", "--switch", *switch]) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("mode", ["hold", "gravity"])
def test_motors_may_hold_the_machine_without_tasks(mode, capsys, tmp_path):
    file = tmp_path / "run.npz"
    found = summary(
        capsys, "coordinated_robots", "--control", mode, "--duration", "0.2", "--out", str(file)
    )
    assert found["energy_should_be_constant"] is False
    run = np.load(file)
    assert np.abs(run["q"] - run["q"][0]).max() < 1e-9  # it would fall by 0.2 m
    assert np.abs(run["efforts"]).max() > 1.0


def test_modes_without_tasks_have_none(capsys):
    found = refused(capsys, "five_bar", "--control", "hold", "--tasks", "five_bar_sweep")
    assert "exclude --tasks" in found


@pytest.mark.slow
@pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")
def test_mechanism_and_law_are_compiled_at_the_first_start(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("UK_DYNAMICS_BACKEND", raising=False)
    announce.cache_clear()  # what other tests had compiled
    mechanism = Mechanism.from_file("two_mass_spring")
    tasks = Tasks.from_file("two_mass_spring_stretch", mechanism)
    asked = ["simulate", "two_mass_spring", "--tasks", "two_mass_spring_stretch"]
    assert main([*asked, "--duration", "0.01"]) == 0
    assert is_cached(mechanism)
    assert is_cached(tasks)
    said = capsys.readouterr().err
    assert "uk_dynamics: compiling two_mass_spring: " in said
    assert "uk_dynamics: compiling the servo law of two_mass_spring: " in said
    assert main([*asked, "--duration", "0.01"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")
def test_from_python_mechanism_and_law_are_compiled_too(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("UK_DYNAMICS_BACKEND", raising=False)
    announce.cache_clear()
    caplog.set_level("INFO")
    mechanism = Mechanism.from_file("two_mass_spring")
    tasks = Tasks.from_file("two_mass_spring_stretch", mechanism)
    simulate(mechanism, mechanism.start(), 0.01, backend="cached")
    simulate(mechanism, mechanism.start(), 0.01, backend="interpreted")
    assert not is_cached(mechanism)  # asked for
    controller = ServoController(mechanism, tasks)
    simulate(mechanism, mechanism.start(), 0.01, controller=controller)
    assert is_cached(mechanism)
    assert is_cached(tasks)
    begun = [said for said in caplog.messages if said.startswith("compiling ")]
    assert len(begun) == 2  # a line for each


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--duration", "1e40"), "step"),
        (("--duration", "1", "--sample-period", "1e-12"), "sample_period"),
        (("--duration", "1", "--control", "hold", "--control-period", "1e-12"), "control_period"),
        (
            ("--duration", "1e7", "--sample-period", "1", "--method", "rk4", "--step", "1e-10"),
            "step",
        ),
    ],
)
def test_sizes_without_sense_are_refused_at_once(options, named, capsys):
    assert main(["simulate", "five_bar", "--backend", "interpreted", *options]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert named in said[0]
