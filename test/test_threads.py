# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Evaluators and controllers that several threads share answer as those of one thread."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.mechanism_builder import arm, mechanism

import uk_dynamics as ukd
from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.derivatives import ProjectionDerivatives, ServoDerivatives

BACKENDS = [
    "interpreted",
    pytest.param(
        "compiled", marks=pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
    ),
]
THREADS, CALLS = 8, 40
MACHINE = ukd.Mechanism.from_file("five_bar")
MOVED = """
constraints:
  wave: {type: joint, joint: j1, reference: REFERENCE}
"""
TASKS = ukd.Tasks.from_file("five_bar_sweep", MACHINE)


@pytest.fixture(autouse=True)
def threads_change_often() -> Iterator[None]:
    """Between any two steps of the interpreter, so that memory in common is found at once."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def states() -> list[ukd.State]:
    found = []
    for k in range(THREADS):
        q = MACHINE.assemble(crank=0.5 + 0.1 * k)
        found.append(MACHINE.dynamics("interpreted").project(ukd.State(0.1 * k, q, 0.3 * q)))
    return found


def same_from_all(ask: Callable[[ukd.State], np.ndarray]) -> None:
    """Each thread asks at a state of its own, again and again; the answers are those of before."""
    given = states()
    expected = [ask(state) for state in given]

    def worker(k: int) -> int:
        return sum(not np.array_equal(ask(given[k]), expected[k]) for _ in range(CALLS))

    with ThreadPoolExecutor(THREADS) as pool:
        assert sum(pool.map(worker, range(THREADS))) == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_dynamics(backend: str) -> None:
    dynamics = MACHINE.dynamics(backend)
    tau = np.array([1.0, 0.0, 0.2, 0.0])

    def ask(state: ukd.State) -> np.ndarray:
        solution = dynamics.evaluate(state, ukd.Inputs(tau))
        residual = dynamics.residual(state)
        energy = dynamics.energy(state)
        return np.concatenate(
            (
                solution.qdd,
                solution.constraint_force,
                solution.multipliers,
                residual.position,
                residual.velocity,
                [energy.kinetic, energy.potential],
                dynamics.project(state).v,
                dynamics.acceleration(state.q, state.v, tau, state.t),
            )
        )

    same_from_all(ask)


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_that_follow_references(backend: str) -> None:
    text = MOVED.replace("REFERENCE", "{type: sinusoid, amplitude: 0.2, frequency: 0.7}")
    dynamics = mechanism(arm([1.0, 1.0]), text).dynamics(backend)

    def ask(state: ukd.State) -> np.ndarray:
        here = ukd.State(state.t, state.q[:2], state.v[:2])
        return np.concatenate((dynamics.evaluate(here).qdd, dynamics.project(here).q))

    same_from_all(ask)


@pytest.mark.parametrize("backend", BACKENDS)
def test_servo_controller(backend: str) -> None:
    controller = ukd.ServoController(MACHINE, TASKS, backend=backend)
    same_from_all(lambda state: controller.command(state).efforts)


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_derivatives(backend: str) -> None:
    derivatives = ukd.MotionDerivatives(MACHINE, backend)
    same_from_all(lambda state: derivatives.at(state).acceleration.q)


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_derivatives_of_efforts_projections_and_by_parameters(backend: str) -> None:
    by_mass = next(name for name in MACHINE.parameters if name.endswith("mass"))
    efforts = ServoDerivatives(TASKS, backend)
    projection = ProjectionDerivatives(MACHINE, backend)
    motion = ukd.ParameterDerivatives(MACHINE, [by_mass], backend)

    def ask(state: ukd.State) -> np.ndarray:
        of_efforts, projected = efforts.at(state), projection.at(state)
        return np.concatenate(
            (
                of_efforts.efforts.whole.ravel(),
                of_efforts.motions.ravel(),
                projected.velocity.whole.ravel(),
                projected.position.value,
                motion.at(state).acceleration.whole.ravel(),
            )
        )

    same_from_all(ask)


CHECKED = """
import time
import numpy as np
import uk_dynamics as ukd
from uk_dynamics.mechanism.dynamics.arguments import states
model = ukd.Mechanism.from_file("five_bar").model
many = np.ones((20_000, model.nv))
def of_others():
    return time.process_time() - time.thread_time()

before = of_others()
for _ in range(20):
    states(model, 0.0, many, many, many)
print(of_others() - before)
"""


def test_checks_of_many_states_wake_no_threads() -> None:
    """Threads of BLAS, which wait for more work, would take milliseconds for each batch."""
    free = {name: x for name, x in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", CHECKED], env=free, capture_output=True, text=True, check=True
    )
    # 20 checks that do wake them take them 0.02 to 0.2 s, others microseconds
    assert float(done.stdout) < 5e-3
