# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The conditions of many contacts in C hold wherever it says so, and it leaves hardly any."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from uk_dynamics.arrays import largest
from uk_dynamics.compilation.build.compiler import FLAGS, find_compiler
from uk_dynamics.compilation.emit.c_text import assemble, header, part
from uk_dynamics.compilation.emit.constants import config
from uk_dynamics.compilation.emit.generate import ONE_STATE, contacts
from uk_dynamics.core.contact import ConeProblem, ConeSolution, solve_cone_problem
from uk_dynamics.core.contact.cone_problem import ITERATIONS, _Scaled

compiler = find_compiler()
pytestmark = pytest.mark.skipif(compiler is None, reason="there is no C compiler on this machine")

Solve = Callable[[ConeProblem, NDArray[np.float64]], ConeSolution | None]

CALL = """
long long room_of(int n) { return UK_CONE_ROOM(n); }
int solve(int n, const double *W, const double *q, const double *friction, double *r,
          double *room, double *told) {
  uk_cone c = uk_cone_at(n, room);
  memcpy(c.W, W, sizeof(double) * 9 * n * n), memcpy(c.q, q, sizeof(double) * 3 * n);
  memcpy(c.friction, friction, sizeof(double) * n), memcpy(c.r, r, sizeof(double) * 3 * n);
  const int failed = uk_cone_solve(&c);
  memcpy(r, c.r, sizeof(double) * 3 * n);
  told[0] = c.error, told[1] = c.iterations, told[2] = c.fell_back;
  return failed;
}
"""


@pytest.fixture(scope="module")
def solve(tmp_path_factory: pytest.TempPathFactory) -> Solve:
    """``cone_problem.c`` alone."""
    folder = tmp_path_factory.mktemp("cones")
    text = "\n".join(
        [
            header("uk_mechanism.h", "#define UK_D 3"),
            config(),
            header("uk_lanes.h", ONE_STATE),
            contacts(3)[0],
            part("cone_problem.c"),
            CALL,
        ]
    )
    source, made = folder / "cones.c", folder / "cones.so"
    source.write_text(assemble(text))
    assert compiler is not None
    command = [*compiler.command, *FLAGS, "-O2", "-w", "-shared", "-fPIC", str(source), "-lm"]
    subprocess.run([*command, "-o", str(made)], check=True)
    return _solve(made)


def _solve(made: Path) -> Solve:
    library = ctypes.CDLL(str(made))
    library.room_of.restype = ctypes.c_longlong
    library.solve.argtypes = (ctypes.c_int, *[ctypes.c_void_p] * 6)

    def solve(problem: ConeProblem, start: NDArray[np.float64]) -> ConeSolution | None:
        count, r, told = problem.count, np.array(start, dtype=float), np.zeros(3)
        room = np.full(library.room_of(count) + 1, np.nan)
        room[-1] = 4.0
        arrays = [np.ascontiguousarray(x) for x in (problem.W, problem.q, problem.friction)]
        failed = library.solve(count, *(x.ctypes.data for x in (*arrays, r, room, told)))
        assert room[-1] == 4.0  # nothing is written behind it
        left, iterations, fell_back = told.tolist()
        found = ConeSolution(r, problem.motion(r), left, int(iterations), bool(fell_back))
        return None if failed else found

    return solve


def random_problem(seed: int) -> ConeProblem:
    """Up to twelve contacts of a mechanism, hyperstatic ones among them."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 13))
    freedoms = int(rng.integers(count, 3 * count + 4))
    rows = rng.normal(size=(3 * count, freedoms))
    mass = 10.0 ** rng.uniform(-1.0, 1.0, size=freedoms)
    mu = rng.uniform(0.05, 1.0, size=count)
    return ConeProblem(rows / mass @ rows.T, rows @ rng.normal(size=freedoms), mu)


def error(problem: ConeProblem, r: NDArray[np.float64]) -> float:
    """What is left of the conditions, relative to the motion without contacts."""
    return _Scaled.of(problem).error(r)


@pytest.mark.slow
def test_random_problems_are_solved(solve: Solve) -> None:
    left, alike, direct = [], 0, 0
    for seed in range(300):
        problem = random_problem(seed)
        start = np.zeros((problem.count, 3))
        found = solve(problem, start)
        if found is None:
            left.append(seed)
            continue
        assert error(problem, found.forces) <= 1e-11
        assert found.error == pytest.approx(error(problem, found.forces), abs=1e-13)  # it is told
        same = solve_cone_problem(problem, start)
        # where Newton's steps arrive they are the same, but for a few more of a derivative that is
        # kept while it is near enough
        if not (found.fell_back or same.fell_back):
            same_motion = largest(found.motion - same.motion) <= 1e-10 * largest(problem.q)
            alike += same_motion and found.iterations <= same.iterations + 4
            direct += 1
    assert alike > 0.9 * direct > 0.8 * 300  # rounding may also choose another way
    assert len(left) <= 3  # easier problems that become these ones are followed in Python alone


def test_what_sticks_is_solved_in_one_step(solve: Solve) -> None:
    """Where nothing slides the conditions are W r = −q, which Newton's method solves at once."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(12, 18))
    forces = np.column_stack((np.ones(4), rng.uniform(-0.1, 0.1, (4, 2))))
    W = rows @ rows.T
    problem = ConeProblem(W, -W @ forces.ravel(), np.full(4, 0.8))
    found = solve(problem, forces + rng.uniform(-0.01, 0.01, (4, 3)))
    assert found is not None
    assert found.iterations == 1
    # the condition of W is below 1e3
    np.testing.assert_allclose(found.forces, forces, rtol=0, atol=1e-11)


def test_newton_steps_that_stall_go_on_from_alternating_directions(solve: Solve) -> None:
    """Two feet of a leg that stick, which turns easily about the line between them."""
    upper = [
        [0.04289, -0.02219, -0.01033, 0.03074, -0.0221, -0.01022],
        [0.0, 0.16392, -0.00477, 0.02366, 0.16927, 0.0021],
        [0.0, 0.0, 0.1081, -0.05561, -0.01674, 0.09273],
        [0.0, 0.0, 0.0, 0.08663, 0.02355, -0.05575],
        [0.0, 0.0, 0.0, 0.0, 0.19329, 0.01413],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.1082],
    ]
    W = np.array(upper) + np.triu(upper, 1).T
    q = np.array([-9.79513e-03, 1.232e-05, 1.374e-05, -9.79912e-03, 1.056e-05, 1.366e-05])
    problem = ConeProblem(W, q, np.array([0.7, 0.7]))
    start = np.array([[0.1919, 0.0427, 0.0147], [0.0834, -0.0281, 0.0512]])
    found = solve(problem, start)
    assert found is not None
    assert error(problem, found.forces) <= 1e-11
    assert found.fell_back
    assert found.iterations > ITERATIONS[0]  # of alternating directions, and Newton's before them
    u = found.motion
    assert np.abs(u[:, 0]).max() <= 1e-11 * np.abs(q).max()  # both stay closed
