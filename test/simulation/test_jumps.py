# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""References that jump: the machine does not jump after them without a word."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism, shipped

from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism.dynamics import project_step
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.ros.simulation.simulated_machine import SimulatedMachine
from uk_dynamics.simulation import simulate

METHODS = ("DOP853", "rk4", "semi_implicit_euler")
TURNS = link("base") + link("rod", com="0.5 0 0") + joint("crank", "base", "rod")
SLIDES = (
    link("base") + link("cart") + joint("slide", "base", "cart", kind="prismatic", axis="1 0 0")
)


def driven(parts: str, name: str, law: str):
    """A joint whose position follows an expression of time."""
    reference = f"{{type: expression, value: {law!r}}}"
    return mechanism(
        parts, f"constraints: {{drive: {{type: joint, joint: {name}, reference: {reference}}}}}"
    )


JUMPS = {
    "an angle that wraps": (TURNS, "crank", "atan2(sin(6*t), cos(6*t))"),
    "a steep step": (SLIDES, "slide", "0.5 + 0.5*tanh(100000*(t - 0.50003))"),
}


@pytest.mark.slow
@pytest.mark.parametrize("method", [*METHODS, "node"])
@pytest.mark.parametrize("case", JUMPS)
def test_a_jump_is_an_error_that_names_the_row(case, method):
    machine = driven(*JUMPS[case])

    def run():
        if method != "node":
            return simulate(machine, machine.start(), 0.7, method=method)
        simulated = SimulatedMachine(machine, 1e-3)
        return [simulated.step() for _ in range(700)]

    with pytest.raises(SimulationError, match=r"drive.* jump") as caught:
        run()
    assert caught.value.time == pytest.approx(0.51, abs=0.2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", ["0.5*sin(60*t)", "2000*t**3", "6*t", "1.0 - cos(9*t)"])
def test_fast_references_are_no_jumps(law, method):
    """Continuous ones are followed exactly, also from rest, and by the coarsest method."""
    machine = driven(TURNS, "crank", law)
    motion = simulate(machine, machine.start(), 0.1, method=method)
    wanted = eval(law, {"t": motion.t[-1], "sin": np.sin, "cos": np.cos})
    assert motion.q[-1, 0] == pytest.approx(wanted, abs=1e-9)  # by projection


def test_short_steps_near_a_rank_change_are_no_jumps():
    """Rounding of 3e-14 m moves bars by 1e-9 rad there, which is further than the step did."""
    machine, flat, tilt = shipped("n_four_bar"), 3e-5, 1e-9
    q = {"crank_0": flat, "crank_1": flat + tilt, "crank_2": flat}
    q |= {"coupler_1": tilt - flat, "coupler_2": -flat - 2.0 * tilt}
    dynamics = machine.dynamics("interpreted")
    v = dict.fromkeys(("crank_0", "crank_1", "crank_2"), 5.0)
    start = machine.state(q, v | {"coupler_1": -5.0, "coupler_2": -5.0})
    assert 1e-14 < np.abs(dynamics.residual(start, machine.inputs()).position).max() < 1e-13
    reached = project_step(
        machine, dynamics, start, State(1e-11, start.q, start.v), machine.inputs()
    )
    assert 1e-10 < np.abs(reached.q - start.q).max() < 1e-8
