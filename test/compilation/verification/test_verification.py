# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Libraries that answer wrongly, as a compiler may make them, are found and not used."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism, shipped
from support.repository import ROOT
from support.wrong_compiler import wrong_compiler

from uk_dynamics.cli.main import main
from uk_dynamics.compilation.build import library
from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.compilation.build.library import Library, library_of
from uk_dynamics.compilation.runtime.compiled_dynamics import CompiledDynamics
from uk_dynamics.compilation.runtime.compiled_loops import CompiledLoops
from uk_dynamics.compilation.runtime.compiled_motion import CompiledMotion
from uk_dynamics.compilation.runtime.compiled_servo import CompiledServo
from uk_dynamics.compilation.select_backend import Selection, select_backend
from uk_dynamics.compilation.verification import WrongLibraryError, batch_answers
from uk_dynamics.compilation.verification import verify_library as record_of_trials
from uk_dynamics.control.hold_and_gravity_compensation import Hold
from uk_dynamics.control.servo import ServoController
from uk_dynamics.control.servo.compiled_period import PeriodCall
from uk_dynamics.control.servo.interpreted_servo import InterpretedServo
from uk_dynamics.control.servo.servo_modes import ServoModes
from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate_many

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")

WAIT = Selection(unready="wait")


@pytest.fixture
def wrong_sine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler whose sine is off by a millionth, and an empty cache."""
    monkeypatch.setenv("CC", str(wrong_compiler(tmp_path)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("UK_DYNAMICS_BACKEND", raising=False)
    library.announce.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("wrong_sine")
def test_what_a_compiler_has_made_wrongly_is_not_used(caplog: pytest.LogCaptureFixture) -> None:
    machine = shipped("five_bar")
    said = r"made of five_bar answers wrongly on this processor: evaluate is off by 0\.00"
    with pytest.raises(WrongLibraryError, match=said) as caught:
        CompiledDynamics(machine)
    compiler = find_compiler()
    assert compiler is not None
    assert compiler.version.splitlines()[0] in str(caught.value)
    with pytest.raises(WrongLibraryError, match=said):
        select_backend(machine, "compiled")
    with caplog.at_level(logging.WARNING):
        assert isinstance(select_backend(machine, WAIT), InterpretedDynamics)
    assert "five_bar is not compiled but interpreted" in caplog.text
    assert "evaluate is off by" in caplog.text


@pytest.mark.slow
@pytest.mark.usefixtures("wrong_sine")
def test_what_is_loaded_later_is_tried_as_well(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    machine = shipped("five_bar")
    wrong = library_of(machine, Library.MOTION)
    monkeypatch.delenv("CC")
    monkeypatch.setattr(
        "uk_dynamics.compilation.runtime.compiled_dynamics.library_of",
        lambda subject, kind=None: wrong if kind is Library.MOTION else library_of(subject, kind),
    )
    with pytest.raises(WrongLibraryError):
        CompiledDynamics(machine).load()
    forgiving = CompiledDynamics(machine, strict=False)
    with caplog.at_level(logging.WARNING):
        forgiving.load()
    assert "motions are not compiled: what" in caplog.text
    assert forgiving.motion() is None
    open_loops = State(0.0, machine.initial_guess + 1e-3, np.zeros(4))
    closed = InterpretedDynamics(machine).project(open_loops).q
    np.testing.assert_array_equal(forgiving.project(open_loops).q, closed)


@pytest.mark.slow
@pytest.mark.usefixtures("wrong_sine")
def test_laws_are_tried() -> None:
    machine = shipped("five_bar")
    tasks = Tasks.from_file("five_bar_track", machine)
    with pytest.raises(WrongLibraryError, match="the servo law of five_bar"):
        CompiledServo(tasks, InterpretedServo(tasks))


@pytest.mark.slow
@pytest.mark.usefixtures("wrong_sine")
def test_hold_is_tried() -> None:
    machine = shipped("five_bar")
    library_of(machine)  # where the machine is compiled, hold is
    why = Hold(machine, control_period=1e-3).compiled()
    assert isinstance(why, str)
    assert "hold of five_bar answers wrongly" in why
    assert Hold(machine, control_period=1e-3, backend="interpreted").compiled() == ""
    with pytest.raises(WrongLibraryError, match="hold of five_bar answers wrongly"):
        Hold(machine, control_period=1e-3, backend="compiled").compiled()
    modes = ServoModes(machine, None, 1e-3, backend="compiled")
    for mode in modes.modes:
        modes.select(mode)
        with pytest.raises(WrongLibraryError, match="hold of five_bar"):
            modes.compiled()


@pytest.mark.slow
@pytest.mark.usefixtures("wrong_sine")
def test_closed_loops_are_tried(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    machine = shipped("five_bar")
    tasks = Tasks.from_file("five_bar_sweep", machine)
    wrong = library_of(tasks, Library.CLOSED_LOOPS)
    monkeypatch.delenv("CC")
    start = machine.start(tasks=tasks)

    def ends(backend: str) -> list[np.ndarray]:
        laws = [ServoController(machine, tasks, control_period=1e-3) for _ in range(2)]
        found = simulate_many(
            machine, [start] * 2, 0.02, controllers=laws, control_period=1e-3, backend=backend
        )
        return [one.q[-1] for one in found]

    alone = ends("interpreted")
    monkeypatch.setattr(
        "uk_dynamics.compilation.runtime.compiled_loops.library_of",
        lambda subject, kind=None: wrong if kind else library_of(subject),
    )
    with pytest.raises(WrongLibraryError, match=r"closed loops of five_bar .* closed loops is off"):
        ends("compiled")
    with caplog.at_level(logging.INFO):
        # to rounding: the plant is compiled here and interpreted there
        np.testing.assert_allclose(ends("auto"), alone, rtol=0.0, atol=1e-12)
    assert "closed loops is off by" in caplog.text


@pytest.mark.slow
@pytest.mark.usefixtures("wrong_sine")
def test_machines_of_closed_loops_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under laws that are asked one after the other, as hold and gravity compensation."""
    # wide lanes have a sine of their own
    monkeypatch.setenv("CC", str(wrong_compiler(tmp_path, "-DUK_WIDTH=2")))
    with pytest.raises(WrongLibraryError, match=r"closed loops of five_bar .* closed loops is off"):
        CompiledLoops(shipped("five_bar"))


@pytest.mark.slow
def test_motions_are_tried_where_the_state_was_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    machine = shipped("four_bar")
    CompiledDynamics(machine)
    right = CompiledMotion.project

    def off(*given):
        q, v = right(*given)
        return q * (1.0 + 1e-6), v

    monkeypatch.setattr(CompiledMotion, "project", off)
    with pytest.raises(WrongLibraryError, match="projection is off"):
        CompiledDynamics(machine).load()


@pytest.mark.slow
def test_steps_over_contacts_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ball = mechanism(
        joint("z", "world", "ball", kind="prismatic", axis="0 0 1", limits=(-9, 9))
        + link("ball", 2.0),
        "contacts: {floor: {parent: {link: world}, child: {link: ball}, radius: 0.1}}",
    )
    CompiledDynamics(ball)
    right = CompiledMotion.move

    def off(*given, **named):
        found = right(*given, **named)
        t, q, v = found.state.t, found.state.q, found.state.v
        return replace(found, state=State(t, q, v + 1e-6))

    monkeypatch.setattr(CompiledMotion, "move", off)
    with pytest.raises(WrongLibraryError, match="a step over contacts is off"):
        CompiledDynamics(ball).load()


def test_control_periods_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    machine = shipped("five_bar")
    tasks = Tasks.from_file("five_bar_sweep", machine)
    right = PeriodCall.run
    monkeypatch.setattr(PeriodCall, "run", lambda *given: (1.0 + 1e-6) * right(*given))
    with pytest.raises(WrongLibraryError, match="efforts of control periods is off"):
        ServoController(machine, tasks, backend="compiled")


def test_a_fault_in_one_lane_is_found() -> None:
    machine = shipped("five_bar")
    compiled, reference = CompiledDynamics(machine), InterpretedDynamics(machine)
    batch = compiled._batch
    assert batch is not None

    def problems(lane: int | None) -> set[str]:
        def evaluate(given, inputs, forces):
            found = compiled._by_batch(batch, given, inputs, forces=forces)
            if lane is not None:
                found.qdd[lane :: batch.width] *= 1.0 + 1e-6
            return found

        def roll(given, inputs):
            found = compiled._roll_by(batch, given, inputs)
            if lane is not None:
                found.q[lane, -1] += 1e-6
            return found

        comparisons = batch_answers(machine, reference, batch.width, evaluate, roll)
        return {each.function for each in comparisons if each.problem}

    assert problems(None) == set()
    for lane in range(batch.width):
        assert problems(lane) == {"batch", "batch with forces", "rollout"}


@pytest.mark.slow
def test_a_library_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    machine = shipped("four_bar")
    CompiledDynamics(machine)
    (record,) = tmp_path.rglob("*.verified")

    def tried() -> bool:
        record_of_trials._right.clear()  # as another process
        written = record.stat().st_mtime_ns
        os.utime(record, ns=(1, 1))
        CompiledDynamics(machine)
        again = record.stat().st_mtime_ns != 1
        if not again:
            os.utime(record, ns=(written, written))
        return again

    assert not tried()
    record.write_text("of another processor\n")
    assert tried()
    assert not tried()
    record.unlink()
    record_of_trials._right.clear()
    CompiledDynamics(machine)
    assert record.is_file()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["five_bar", "rolling_disc", "flexible_joint_arm", "bricard"])
def test_right_libraries_are_far_within_what_is_allowed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def verify(_, name, comparisons, part=""):
        seen.extend(comparisons())

    monkeypatch.setattr("uk_dynamics.compilation.runtime.compiled_dynamics.verify", verify)
    compiled = CompiledDynamics(shipped(name))
    compiled.load()
    assert {"evaluate", "forces", "acceleration"} <= {each.function for each in seen}
    # an order is left for other processors
    assert [each.problem for each in seen if each.difference > 0.1 * each.allowed] == []


@pytest.mark.slow
def test_an_answer_that_is_no_number_is_wrong() -> None:
    machine = shipped("four_bar")
    compiled, reference = CompiledDynamics(machine), InterpretedDynamics(machine)
    batch = compiled._batch
    assert batch is not None

    def evaluate(given, inputs, forces):
        found = compiled._by_batch(batch, given, inputs, forces=forces)
        if forces:
            found.constraint_force = np.full(given.v.shape, np.nan)
        return found

    comparisons = batch_answers(machine, reference, batch.width, evaluate, None)
    assert {each.function for each in comparisons if each.problem} == {"forces"}


@pytest.mark.slow
def test_states_without_an_answer_are_not_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    """Far from the loops, where libraries are tried as well, this root has no value."""
    machine = mechanism(
        link("base") + link("l1") + joint("j1", "base", "l1"),
        "constraints:\n  root: {type: expression, expression: sqrt(j1 + 0.2) - sqrt(0.45)}\n",
    )
    q, v = np.full((3, 1), 0.25), np.zeros((3, 1))
    assert CompiledDynamics(machine).evaluate_batch(q, v).rank.tolist() == [1, 1, 1]
    assert not caplog.text


FIRST_WRONG = {  # what each program finds first where the sine is off by a millionth
    "five_bar": "the acceleration at state 0: off by 0.0018",
    "five_bar_servo": "the efforts at state 0: off by 0.0036",
    "five_bar_servo_derivatives": "the efforts at state 0: off by ",
    "five_bar_derivatives": "derivatives of the acceleration at state 0: off by ",
    "five_bar_parameters": "derivatives of the acceleration at state 0: off by ",
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [False, True])
def test_exported_c_verifies_itself(wrong: bool, tmp_path: Path) -> None:
    what = ["--tasks", "five_bar_sweep", "--derivatives", "--parameters", "links.left_leg.mass"]
    assert main(["compile", "five_bar", *what, "--export-c", str(tmp_path)]) == 0
    compiler = str(wrong_compiler(tmp_path)) if wrong else "cc"
    flags = ["-std=gnu11", "-O1", "-march=native", "-Wall", "-Wextra", "-Werror"]
    for name, said in FIRST_WRONG.items():
        files = [tmp_path / f"{name}{suffix}.c" for suffix in ("", "_batch", "_check")]
        present = [*filter(Path.exists, files), "-lm", "-o", "check"]
        subprocess.run([compiler, *flags, *present], cwd=tmp_path, check=True)
        done = subprocess.run([tmp_path / "check"], capture_output=True, text=True, check=False)
        assert done.returncode == wrong
        expected = f"five_bar: {said}" if wrong else "five_bar: right at "
        assert done.stdout.startswith(expected), done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "config").glob("*.yaml")))
def test_no_right_library_is_refused(name: str) -> None:
    CompiledDynamics(shipped(name)).load()


@pytest.mark.slow
def test_steps_are_tried_outside_of_surfaces(tmp_path: Path) -> None:
    # without its gears, feet of a sample state are 0.3 m inside of the ground, and which of the
    # places outside Newton's steps find from there depends on rounding
    shutil.copytree(ROOT / "examples" / "plantigrade" / "description", tmp_path / "description")
    lines = (ROOT / "examples" / "plantigrade" / "plantigrade.yaml").read_text().splitlines()
    free = tmp_path / "free.yaml"
    free.write_text("\n".join(line for line in lines if "_gear:" not in line))
    dynamics = CompiledDynamics(Mechanism.from_file(free))
    dynamics.load()
    assert dynamics.motion() is not None
