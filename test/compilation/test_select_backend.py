# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which evaluator answers, by the table of select_backend; and compiling in the background."""

import logging
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from support.mechanism_builder import near, pinned_arm, shipped
from support.waiting import wait_until

from uk_dynamics.compilation.build import library
from uk_dynamics.compilation.build.compiler import CompilationError, find_compiler
from uk_dynamics.compilation.build.export import state_export
from uk_dynamics.compilation.emit import generate, servo_source
from uk_dynamics.compilation.runtime.compiled_dynamics import CompiledDynamics
from uk_dynamics.compilation.runtime.compiled_servo import CompiledServo
from uk_dynamics.compilation.runtime.deferred import MANY, DeferredDynamics
from uk_dynamics.compilation.select_backend import Selection, select_backend
from uk_dynamics.compilation.trace.symbols import Graph
from uk_dynamics.control.servo.interpreted_servo import InterpretedServo
from uk_dynamics.control.servo.servo_backend import servo_evaluator
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.dynamics.servo_evaluation import Demand
from uk_dynamics.mechanism.resolution.state import Inputs
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics_studies.benchmarks.loop_ladder import loop_ladder

NOW = Selection(after=0)
PATIENCE = 60.0  # s, for a compiler that takes 4 s on an idle computer

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    """An empty cache, a log without a past, and ``auto`` as users have it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("UK_DYNAMICS_BACKEND")
    library.announce.cache_clear()


def soft():
    """A mechanism that cannot be compiled."""
    return pinned_arm("  hold: {type: joint, joint: j1, compliance: 1.0e-3}\n")


@pytest.mark.slow
@needs_compiler
def test_auto_is_interpreted_until_the_library_is_ready(caplog):
    machine = shipped("five_bar")
    state = machine.start()
    caplog.set_level(logging.INFO)
    # what is verified in this process says so; the one in the background has done it
    with caplog.at_level(logging.DEBUG, "uk_dynamics.compilation.verification"):
        dynamics = select_backend(machine)
        solution = dynamics.evaluate(state)
        assert dynamics.backend == "interpreted"
        # a few evaluations are not worth a library
        assert "uk_compile" not in {thread.name for thread in threading.enumerate()}
        for _ in range(MANY):
            dynamics.evaluate(state)
        wait_until(lambda: dynamics.backend == "compiled")
    assert isinstance(dynamics.fallback, CompiledDynamics)
    near(dynamics.evaluate(state).qdd, solution.qdd, relative=1e-12)
    near(dynamics.project(state).q, state.q, relative=1e-12)
    line = "compiling five_bar in the background; interpreted until it is ready"
    assert [record.message for record in caplog.records] == [line]
    assert isinstance(select_backend(machine), CompiledDynamics)  # at once: it is in the cache


@pytest.mark.slow
@needs_compiler
def test_a_servo_law_changes_over_too(caplog):
    """Tasks with expressions, which are sent to another process."""
    machine = shipped("rrr3")
    tasks = Tasks.from_file("rrr3_track", machine)
    state = machine.start()
    demand = Demand(np.ones(3), None, np.ones(3), None, Inputs())
    with caplog.at_level(logging.INFO):
        law = servo_evaluator(tasks, NOW)
        expected = law.evaluate(state, demand)
        wait_until(lambda: isinstance(law._deferred.current(), CompiledServo))
    assert "compiling the servo law of rrr3 in the background" in caplog.text
    near(law.evaluate(state, demand).servo.efforts, expected.servo.efforts)
    # the evaluation that changes over is answered by one evaluator alone
    limits = -np.ones(3), np.ones(3)
    outcome = law.evaluate(state, demand)
    assert law.allocate(outcome.servo, demand, *limits)[1]


@pytest.mark.slow
@needs_compiler
def test_without_deferring_auto_compiles_first():
    dynamics = select_backend(shipped("five_bar"), Selection(unready="wait"))
    assert isinstance(dynamics, CompiledDynamics)


@pytest.mark.parametrize("unready", ["defer", "wait"])
def test_above_60_velocities_one_long_loop_is_not_compiled_unasked(unready, caplog, tmp_path):
    tip = "parent: {link: base, xyz: [30.0, 0, 0]}, child: {link: l63}"
    machine = pinned_arm(f"  tip: {{type: point, {tip}}}\n", lengths=[1.0] * 63)
    dynamics = select_backend(machine, Selection(unready=unready, after=0))
    assert isinstance(dynamics, InterpretedDynamics)
    said = [record.message for record in caplog.records]
    assert len(said) == 1
    assert "63 velocities take minutes to compile; uk_dynamics compile does it" in said[0]
    assert not list(tmp_path.rglob("*.so"))


@pytest.mark.slow
@needs_compiler
def test_large_mechanisms_with_local_loops_share_a_library(tmp_path):
    for cells in (21, 30):  # 63 velocities and 90
        machine = loop_ladder(cells)
        dynamics = select_backend(machine, Selection(unready="wait"))
        assert isinstance(dynamics, CompiledDynamics)
        dynamics.load()
    # what moves them has their sizes, what evaluates them does not
    assert len([x for x in tmp_path.rglob("*.so") if ".motion-" not in x.name]) == 1
    with pytest.raises(CompilationError, match="90 velocities"):
        select_backend(machine, "gpu")


def test_what_cannot_be_compiled_is_interpreted_and_the_log_says_why(caplog):
    with caplog.at_level(logging.INFO):
        for _ in range(2):
            assert isinstance(select_backend(soft(), NOW), InterpretedDynamics)
    assert [r.message.count("constraints.hold.compliance") for r in caplog.records] == [1]
    with pytest.raises(CompilationError, match="compliance"):
        select_backend(soft(), "compiled")


def test_what_the_tracer_cannot_do_is_interpreted(monkeypatch, caplog):
    def branch(x, *_):
        return x if x > 0.0 else -x  # a symbol has no truth value

    monkeypatch.setattr(
        generate, "definitions", lambda *_, **__: branch(*Graph().variables("x", 1))
    )
    monkeypatch.setattr(servo_source, "definitions", generate.definitions)
    machine = shipped("five_bar")
    tasks = Tasks.from_file("five_bar_sweep", machine)
    for backend in (Selection(unready="wait"), "cached"):
        assert isinstance(select_backend(machine, backend), InterpretedDynamics)
        assert isinstance(servo_evaluator(tasks, backend), InterpretedServo)
    with pytest.raises(CompilationError, match="cannot be written, TypeError: a symbol"):
        select_backend(machine, "compiled")
    with pytest.raises(CompilationError, match="cannot be written, TypeError: a symbol"):
        servo_evaluator(tasks, "compiled")
    with pytest.raises(CompilationError, match="cannot be written"):
        state_export(machine)
    assert "five_bar is not compiled but interpreted" in caplog.text


@pytest.mark.parametrize("named", ["no-such-compiler", "gcc '"])
def test_without_a_compiler_auto_is_interpreted_and_says_so_once(named, monkeypatch, caplog):
    monkeypatch.setenv("CC", named)
    machine = shipped("five_bar")
    with pytest.raises(InputError, match="no C compiler; install a C compiler"):
        select_backend(machine, "compiled")
    for _ in range(3):
        assert isinstance(select_backend(machine), InterpretedDynamics)
    assert [r.message.count("no C compiler") for r in caplog.records] == [1]


@pytest.mark.slow
def test_a_compiler_that_fails_in_the_background_is_quoted(monkeypatch, tmp_path, caplog):
    script = tmp_path / "cc"
    script.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo 1 && exit 0\necho "no room" >&2\nexit 1'
    )
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    machine = shipped("five_bar")
    dynamics = select_backend(machine, NOW)
    wait_until(lambda: "five_bar is not compiled but interpreted: " in caplog.text)
    assert "failed: no room" in caplog.text
    assert isinstance(dynamics.fallback, InterpretedDynamics)
    assert np.isfinite(dynamics.evaluate(machine.start()).qdd).all()


def test_cached_compiles_nothing(tmp_path, caplog):
    tasks = Tasks.from_file("five_bar_sweep", shipped("five_bar"))
    assert isinstance(select_backend(tasks.mechanism, "cached"), InterpretedDynamics)
    assert isinstance(servo_evaluator(tasks, "cached"), InterpretedServo)
    assert not list(tmp_path.iterdir())
    assert not caplog.records


def test_the_environment_says_what_auto_stands_for(monkeypatch):
    machine = shipped("five_bar")
    monkeypatch.setenv("UK_DYNAMICS_BACKEND", "interpreted")
    assert isinstance(machine.dynamics(), InterpretedDynamics)
    monkeypatch.delenv("UK_DYNAMICS_BACKEND")
    if find_compiler() is not None:
        assert isinstance(machine.dynamics(), DeferredDynamics)


def test_the_backend_must_exist():
    with pytest.raises(InputError, match="there are: auto, cached, interpreted, compiled, gpu"):
        shipped("four_bar").dynamics("fastest")


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(
    "end",
    [
        signal.SIGKILL,
        *(
            pytest.param(end, marks=pytest.mark.slow)
            for end in (signal.SIGINT, signal.SIGTERM, None)
        ),
    ],
)
def test_the_compiling_process_ends_with_the_one_that_wants_it(end, tmp_path):
    program = (
        "import sys, uk_dynamics as ukd\n"
        "from uk_dynamics.compilation.select_backend import Selection, select_backend\n"
        "machine = ukd.Mechanism.from_file('stewart_platform')\n"
        "dynamics = select_backend(machine, Selection(after=0))\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    folder = tmp_path / "uk_dynamics" / "compiled"
    wait_until(lambda: list(folder.glob(".building-*")))
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert children
    if end is None:
        process.stdin.close()
    else:
        process.send_signal(end)
    process.wait(timeout=PATIENCE)
    wait_until(lambda: not any(os.path.exists(f"/proc/{child}") for child in children))
    assert not list(folder.glob(".building-*"))
    assert not list(folder.glob("*.sha256"))
