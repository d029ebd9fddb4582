# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The search within limits in C alone, for one motor and one foot, beside the interpreted one."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from support import hidden_limit as hidden

from uk_dynamics.compilation.build.compiler import FLAGS, find_compiler
from uk_dynamics.compilation.emit.c_text import assemble, header, part
from uk_dynamics.compilation.emit.constants import config
from uk_dynamics.compilation.emit.generate import ONE_STATE
from uk_dynamics.core.servo import LimitedAllocation

compiler = find_compiler()
pytestmark = pytest.mark.skipif(compiler is None, reason="there is no C compiler on this machine")

Array = NDArray[np.float64]
Solve = Callable[[Array, Array], tuple[Array, bool]]

SIZES = "#define UK_NU 4\n#define UK_MT 4\n#define UK_CONTACT_ROWS 3\n#define UK_BOUNDED 0"
TASKS = "#define UK_TASK_RANK_TOLERANCE 1e-6\nstatic const double *uk_task_handicap = 0;"
CALL = """
int solve(const double *weights, const double *lower, const double *upper, const double *closed,
          const double *map, const double *wanted, const double *friction, const double *most,
          double *efforts, double *finished) {
  const int level[] = {0, 0, 0, 1};
  const double asked[] = {1.0, 1.0, 1.0, 1.0};
  double pushed[UK_HARD_LIMITS] = {0.0};
  const uk_allocation a = {4, level, NULL, 0, weights, lower, upper, closed, map, wanted,
                           asked, friction, most, efforts, finished, pushed};
  return uk_allocate_efforts(&a);
}
"""


@pytest.fixture(scope="module")
def solve(tmp_path_factory: pytest.TempPathFactory) -> Solve:
    """``limited_allocation.c`` alone: efforts at rows and what is wanted of them."""
    folder = tmp_path_factory.mktemp("allocation")
    headers = [
        header("uk_mechanism.h", "#define UK_NV 4\n#define UK_M 0"),
        header("uk_motors.h", "#define UK_MOTORS 1"),
        header("uk_sizes.h", SIZES),
        header("uk_lanes.h", ONE_STATE),
        header("uk_allocation.h", TASKS),
    ]
    source, made = folder / "allocation.c", folder / "allocation.so"
    text = "\n".join([config(), *headers, part("limited_allocation.c"), CALL])
    source.write_text(assemble(text))
    assert compiler is not None
    command = [*compiler.command, *FLAGS, "-O2", "-w", "-shared", "-fPIC", str(source), "-lm"]
    subprocess.run([*command, "-o", str(made)], check=True)
    library = ctypes.CDLL(str(made))
    library.solve.argtypes = [ctypes.c_void_p] * 10

    def solve(rows: Array, wanted: Array) -> tuple[Array, bool]:
        efforts, finished = np.zeros(4), np.zeros(1)
        given = (hidden.WEIGHTS, hidden.LOWER, hidden.UPPER, hidden.CLOSED, rows, wanted)
        arrays = [*given, hidden.FRICTION, hidden.MOST, efforts, finished]
        assert library.solve(*(x.ctypes.data for x in arrays)) == 0
        return efforts, bool(finished[0])

    return solve


def interpreted(rows: Array, wanted: Array) -> Array:
    search = LimitedAllocation(np.ones(1, dtype=int), hidden.WEIGHTS, 1e-6)
    limits = hidden.LOWER, hidden.UPPER, hidden.CLOSED
    found = search.solve(rows, wanted, *limits, friction=hidden.FRICTION, most=hidden.MOST)
    assert search.finished
    return found


def test_a_limit_that_the_search_does_not_see(solve: Solve) -> None:
    found, finished = solve(hidden.ROWS, hidden.WANTED)
    assert finished
    expected = interpreted(hidden.ROWS, hidden.WANTED)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_limits_near_it(solve: Solve) -> None:
    """Rows and what is wanted of them a little off: which limits are hidden differs."""
    rng, root = np.random.default_rng(0), np.sqrt(hidden.WEIGHTS)
    for _ in range(200):
        rows = hidden.ROWS * (1.0 + 0.01 * rng.standard_normal((4, 4)))
        wanted = hidden.WANTED * (1.0 + 0.01 * rng.standard_normal(4))
        found, finished = solve(rows, wanted)
        assert finished
        expected = interpreted(rows, wanted)
        missed, least = (np.linalg.norm((rows @ x - wanted)[:3]) for x in (found, expected))
        # forces have 3e-6 of what the motor has of the rows, and the rank's tolerance is 1e-6
        assert missed - least <= 1e-6 * np.linalg.norm(rows / root) * np.linalg.norm(root * found)
