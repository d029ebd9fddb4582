# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The joint-state estimation in C follows the rule of the continuation in Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.mechanism_builder import shipped

from uk_dynamics.compilation.build import completion_export
from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.control.estimation.loop_continuation import LoopContinuation
from uk_dynamics.control.estimation.state_completion import StateCompletion
from uk_dynamics.conversion.controller_package.parts import loop_tables

compiler = find_compiler()
pytestmark = pytest.mark.skipif(compiler is None, reason="there is no C compiler on this machine")

TOLERANCE = 1e-3  # of regularity

# Each line of input: where the joints are, and where they go; 0 steps: not to be reached.
MAIN = """
#include <stdio.h>
#include "loops.h"
static int read(double *x) {
  for (int i = 0; i < LOOPS_MEASURED; ++i) if (scanf("%lf", x + i) != 1) return 0;
  return 1;
}
int main(void) {
  double from[LOOPS_MEASURED], to[LOOPS_MEASURED], still[LOOPS_MEASURED] = {0.0};
  static loops_completion c;
  while (read(from) && read(to)) {
    c.jump = 10.0, c.singular_tolerance = 1e-3;
    int failed = loops_complete_start(&c, 0.0, from, still, 200);
    if (!failed) failed = loops_complete(&c, 0.0, to, still);
    printf("%d %d", failed, failed ? 0 : c.near_singular);
    for (int i = 0; i < LOOPS_NV; ++i) printf(" %.17g", c.q[i]);
    printf("\\n");
  }
}
"""


def test_near_singularities_c_and_python_answer_alike(tmp_path: Path) -> None:
    """Steps of many lengths next to the flat configuration, where the loops are singular.

    One of the levers of the five-bar is shorter than a metre: both parts of the rule matter.
    """
    machine = shipped("five_bar")
    completion = StateCompletion(machine, singular_tolerance=TOLERANCE)
    places = completion.encoders.places
    header, source = completion_export(
        machine, loop_tables(completion), completion.encoders.names, "loops"
    )
    for file, text in {"loops.h": header, "loops.c": source, "main.c": MAIN}.items():
        (tmp_path / file).write_text(text)
    assert compiler is not None
    subprocess.run(
        [*compiler.command, "-O1", "main.c", "loops.c", "-lm", "-o", "loops"],
        cwd=tmp_path,
        check=True,
    )
    rng = np.random.default_rng(8)
    home = completion.home[places]
    count = 300
    starts = home * 10 ** rng.uniform(-2.0, 0.0, (count, 1))
    lengths = 10 ** rng.uniform(-3.0, -0.6, (count, 1))
    ends = starts + lengths * rng.choice([-1.0, 1.0], (count, len(home)))
    lines = "".join(" ".join(map(repr, map(float, x))) + "\n" for x in np.hstack([starts, ends]))
    done = subprocess.run(
        [tmp_path / "loops"], input=lines, capture_output=True, text=True, check=True
    )
    found = np.array([row.split() for row in done.stdout.splitlines()], dtype=float)
    flagged = answered = 0
    for start, end, row in zip(starts, ends, found, strict=True):
        continuation = LoopContinuation(
            completion.rows, machine.model, places, completion.split, TOLERANCE
        )
        q = continuation.follow(completion.home, (0.0, 0.0), start)
        if q is None or continuation.passed_singularity:
            continue
        before = continuation.factors.regularity
        after = continuation.step(q, 0.0, end)
        if after is None or continuation.factors.singular or row[0]:
            continue  # what is singular at its end is a failure in C
        nearest = min(before, continuation.factors.regularity)
        others = completion.split.others
        way = np.abs(after - q)[others] / np.maximum(completion.split.scale, 1.0)
        if 0.7 < nearest / way.max() < 1.4:
            continue  # regularity is that of the last correction, which begins at rounding
        answered += 1
        flagged += continuation.passed_singularity
        assert row[1] == continuation.passed_singularity, (start, end)
        # corrections end where the next one would be below 1e-11, of a condition of up to 1e3
        np.testing.assert_allclose(row[2:], after, rtol=0.0, atol=1e-8)
    assert 0 < flagged < answered, "both answers occur"
