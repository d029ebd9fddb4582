# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Appell and Hamel's constraint, ẋ² + ẏ² = ż²: a row that is zero at rest."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics import Mechanism, simulate
from uk_dynamics.exceptions import SimulationError


def particle(velocity: str) -> Mechanism:
    """A particle on three slides that has this velocity."""
    robot, before = link("base"), "base"
    for name, axis in zip("xyz", ("1 0 0", "0 1 0", "0 0 1"), strict=True):
        robot += link(f"along_{name}", mass=0.0 if name < "z" else 1.0)
        robot += joint(name, before, f"along_{name}", kind="prismatic", axis=axis)
        before = f"along_{name}"
    row = "constraints: {speed: {type: expression, expression: d(x)**2 + d(y)**2 - d(z)**2}}\n"
    return mechanism(robot, f"{row}initial_velocity: {{{velocity}}}\n")


def test_from_rest_the_motion_is_not_determined():
    machine = particle("")
    with pytest.raises(SimulationError, match=r"t = 0 s: speed vanishes at the start.*give veloc"):
        simulate(machine, machine.start(), 0.2)


def test_slowly_or_through_rest_it_is_integrated():
    """g acts along z; with ẋ² + ẏ² = ż² both speeds change alike, so that ż falls by g/2."""
    for start in (0.5, 0.05):
        machine = particle(f"x: {0.6 * start}, y: {0.8 * start}, z: {-start}")
        motion = simulate(machine, machine.start(), 0.4)
        expected = -start - 9.81 / 2 * motion.t
        # relative tolerance of the steps 1e-6 or finer, on 2.5 m/s
        np.testing.assert_allclose(motion.velocity("z"), expected, rtol=0.0, atol=1e-6)
        np.testing.assert_allclose(np.hypot(*motion.v[:, :2].T), -expected, rtol=0.0, atol=1e-6)
        assert motion.statistics.evaluations < 2000
    through = particle("x: 0.3, y: 0.4, z: 0.5")
    motion = simulate(through, through.start(), 0.4)  # ż is 0 on the way
    assert motion.velocity("z")[-1] < 0.0 < motion.velocity("z")[0]
    violation = np.hypot(*motion.v[:, :2].T) ** 2 - motion.velocity("z") ** 2
    np.testing.assert_allclose(violation, 0.0, rtol=0.0, atol=1e-6)  # as above
    assert motion.statistics.evaluations < 20_000
