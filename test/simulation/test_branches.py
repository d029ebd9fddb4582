# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where the rank changes motions go on along each branch, and between them there is none."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate


@pytest.fixture(scope="module")
def parallelogram() -> Mechanism:
    """Cranks of 1 m, 2 m apart: a parallelogram or an antiparallelogram, which meet where flat."""
    parts = link("base") + link("left", com="0.5 0 0") + link("coupler", com="1 0 0")
    parts += link("right", com="0.5 0 0") + joint("a", "base", "left")
    parts += joint("b", "left", "coupler", xyz="1 0 0") + joint("c", "base", "right", xyz="2 0 0")
    pin = "type: frame, axes: [x, z], parent: {link: coupler, xyz: [2, 0, 0]}"
    return mechanism(
        parts, f"constraints: {{pin: {{{pin}, child: {{link: right, xyz: [1, 0, 0]}}}}}}"
    )


@pytest.mark.parametrize("ratio", [1.0, -3.0])
def test_a_motion_goes_on_through_the_flat_configuration(parallelogram, ratio):
    """To second order the closure is (c - a)(c + 3 a) = 0; neither direction is held there."""
    q = parallelogram.assemble({"a": -0.01, "b": 0.01 * (1 - ratio) / 2, "c": -0.01 * ratio})
    direction = np.linalg.svd(parallelogram.terms(parallelogram.state(q)).A)[2][-1]
    before = parallelogram.state(q, 3.0 * direction / direction[0])
    motion = simulate(parallelogram, before, 0.01, backend="interpreted")
    a, _, c = motion.q[-1]
    assert a > 0.01
    assert c / a == pytest.approx(ratio, abs=0.01)  # of the next order, a² times some ten
    # DOP853 is asked for 1e-9 of every step, of some 10 J
    assert np.ptp(motion.energy) < 1e-6


def test_between_the_branches_there_is_no_motion(parallelogram):
    with pytest.raises(SimulationError, match="near a singular configuration rows were left out"):
        simulate(parallelogram, parallelogram.start(velocities={"a": 3.0, "c": 0.0}), 0.05)
